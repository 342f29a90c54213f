"""A piece of split is a view."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        x.split(2, 1)[0].mul_(2)
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0], [0.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0, 2.0, 3.0], [-1.0, 0.0, 1.0, 2.0, 3.0]], dtype=torch.float32)),
]
