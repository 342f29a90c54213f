"""A bound of a slice that is a number or None, as the inputs say."""
from typing import Optional

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        first: Optional[int] = None
        last: Optional[int] = None
        if x.size(0) > 2:
            first = 1
        if x.size(1) % 2 == 0:
            last = -1
        y = x.clone()
        y[first:last] += 1
        return x[first:last], x[:, first:], y


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])),
    dict(x=torch.tensor([[1.0, 2.0], [3.0, 4.0]])),
    dict(x=torch.tensor([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0], [5.0, 6.0, 7.0]])),
    dict(x=torch.tensor([[1.0]])),
]
