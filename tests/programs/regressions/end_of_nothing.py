"""The last elements of an axis that is known to be empty: nothing."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        return torch.arange(abs(0))[-1:], x[:0][-1:], x[:0][:-1], x[:0][-3:-1]


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0], [3.0, 4.0]])),
]
