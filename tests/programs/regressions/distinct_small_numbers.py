"""element types for which onnxruntime has no Unique, NonZero, Trilu or ArgMax"""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, k: Tensor):
        y = x[None].expand(2, -1)
        values, places, counts = torch.unique(k, return_inverse=True, return_counts=True)
        shorts = x.to(torch.int16)
        return (values, places, counts, torch.unique(x), torch.unique(shorts), x.to(torch.float64).nonzero(), x.to(torch.int8).nonzero(), y.tril(),
                y.to(torch.int8).triu(1), shorts.argmax(0), shorts.max(0)[1], shorts.argmin())


CAPTURE = 'script'
INPUTS = 'x=u8[n] k=i32[n]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([3, 0, 3, 7], dtype=torch.uint8), k=torch.tensor([2, -1, 2, 0], dtype=torch.int32)),
    dict(x=torch.tensor([0], dtype=torch.uint8), k=torch.tensor([5], dtype=torch.int32)),
    dict(x=torch.tensor([1, 2, 2], dtype=torch.uint8), k=torch.tensor([1, 1, 1], dtype=torch.int32)),
]
