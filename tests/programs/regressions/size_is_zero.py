"""A size compared with 0 was taken for unequal although the range has 0."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        if x.numel() == 0:
            return torch.ones([1]), True
        return x.sum(1), x.size(0) == 0


CAPTURE = 'script'
INPUTS = 'x=f32[b:0..64,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.zeros((0, 3), dtype=torch.float32)),
    dict(x=torch.zeros((2, 0), dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
]
