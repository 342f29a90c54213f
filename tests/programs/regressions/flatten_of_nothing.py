"""flatten where two sizes are 0."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        return x.flatten(1)


CAPTURE = 'script'
INPUTS = 'x=f32[b:0..64,c,t:0..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.zeros((0, 2, 0), dtype=torch.float32)),
    dict(x=torch.zeros((2, 3, 0), dtype=torch.float32)),
    dict(x=torch.tensor([[[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], [[0.0, 1.0], [2.0, 3.0], [-1.0, 0.0]]], dtype=torch.float32)),
]
