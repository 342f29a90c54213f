"""Tuples and lists with unknown parts were taken for unequal."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, n: int):
        return (n, x.size(0)) == (2, 3), [n, x.size(1)] == [1, 2], [n] != [2]


CAPTURE = 'script'
INPUTS = 'x=f32[b,t] n=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], dtype=torch.float32), n=2),
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32), n=1),
]
