"""A slice whose end may be None, and a bound made of its size: the number for None is more than any size, and nothing overflows."""
from typing import Optional

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, y: Tensor):
        acc = 0.0
        t1 = y[:-1]
        lo2: Optional[int] = None
        if y.shape[0] % 2 == 1:
            lo2 = 2
        t3 = t1[:lo2]
        t8 = t3[:, :t3.size(1) - t3.size(0)]
        acc = acc * 0.5 + float(t8.sum())
        return acc


CAPTURE = 'script'
INPUTS = 'y=f32[c:1..64,t]'
EXPECT = 'right'
CALLS = [
    dict(y=torch.tensor([[1.0, 2.0], [3.0, 0.0]], dtype=torch.float32)),
]
