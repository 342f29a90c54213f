"""Shapes of different names were taken for unequal."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, y: Tensor):
        if x.shape == y.shape:
            return x + y, x.size() != y.size()
        return x, x.size() != y.size()


CAPTURE = 'script'
INPUTS = 'x=f32[a,b] y=f32[c,d]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32), y=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32), y=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], dtype=torch.float32)),
]
