"""a range whose step the inputs decide"""
from typing import List, Tuple

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, s: int) -> Tuple[Tensor, Tensor, int]:
        acc = torch.zeros_like(x)
        ids: List[int] = []
        for i in range(x.size(0) - 1, -1, -2):
            acc[i] = x[i] * 2
            ids.append(i)
        c = 0
        for i in range(1, x.size(0) + 1, s + 1):
            c += i
        for i in range(3, x.size(0)):
            acc[i - 3] += 1
        for i in range(x.size(0), 3):
            c += 100
        return acc, torch.tensor(ids, dtype=torch.long), c


CAPTURE = 'script'
INPUTS = 'x=f32[n] s=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([0.0, -1.0], dtype=torch.float32), s=1),
    dict(x=torch.tensor([-0.5], dtype=torch.float32), s=2),
    dict(x=torch.tensor([-1.5], dtype=torch.float32), s=2),
    dict(x=torch.tensor([-1.0, -2.0, 2.0], dtype=torch.float32), s=1),
]
