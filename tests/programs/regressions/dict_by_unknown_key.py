"""A key that is data was never there."""
from typing import Dict

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, n: int, x: Tensor):
        d: Dict[int, int] = {1: 10, 2: 20}
        d[n] = 5
        return d.get(n + 1, 0), n in d, d[1], x


CAPTURE = 'script'
INPUTS = 'n=i64[] x=f32[b]'
EXPECT = 'refused stage.unavailable'
CALLS = [
    dict(n=1, x=torch.tensor([-1.0, 0.0], dtype=torch.float32)),
    dict(n=0, x=torch.tensor([-1.0, 0.0], dtype=torch.float32)),
    dict(n=2, x=torch.tensor([-1.0], dtype=torch.float32)),
]
