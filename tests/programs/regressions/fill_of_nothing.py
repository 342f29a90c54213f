"""A write into an empty slice made an element."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        x[:1].fill_(2)
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b:0..64,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.zeros((0, 2), dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32)),
]
