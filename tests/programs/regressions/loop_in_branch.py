"""Writes in a loop on one side of a branch failed at run time."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        total = 0.0
        if x.size(0) < 2:
            for i in range(x.size(0)):
                x[i] += 1
                total += float(x[i])
        return x, total


CAPTURE = 'script'
INPUTS = 'x=f32[t:0..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([-1.0], dtype=torch.float32)),
    dict(x=torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float32)),
    dict(x=torch.zeros((0,), dtype=torch.float32)),
]
