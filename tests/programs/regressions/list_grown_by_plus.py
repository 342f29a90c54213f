"""A list that grew by += in a loop was not an output."""
from typing import List

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            rows += [x[i] * i]
        return rows, len(rows)


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0], [0.0], [1.0]], dtype=torch.float32)),
]
