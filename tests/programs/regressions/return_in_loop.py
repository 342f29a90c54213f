"""A return inside a loop failed at run time."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        for i in range(x.shape[1] - 1):
            return x.flatten(1).sum(1)
        return x.sum(2).sum(1)


CAPTURE = 'script'
INPUTS = 'x=f32[b,c:1..64,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], [[0.0, 1.0], [2.0, 3.0], [-1.0, 0.0]]], dtype=torch.float32)),
    dict(x=torch.tensor([[[-1.0, 0.0]], [[1.0, 2.0]]], dtype=torch.float32)),
]
