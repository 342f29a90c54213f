"""The mean of what a mask selects, which may be nothing: NaN, where ReduceMean is not defined."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, mask: Tensor):
        acc = 0.0
        t2 = x[~mask]
        if (float(t2.mean())) < (0.5):
            acc = acc * 0.5 + 0.5
        return acc


CAPTURE = 'script'
INPUTS = 'x=f32[b,t:1..64] mask=bool[b]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0]], dtype=torch.float32), mask=torch.tensor([True], dtype=torch.bool)),
]
