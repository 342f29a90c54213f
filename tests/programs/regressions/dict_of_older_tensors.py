"""A dict whose tensors were there before a branch that joins it: the export ran into itself."""
from typing import Dict

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, k: Tensor):
        acc = 0.0
        d2: Dict[int, Tensor] = {1: torch.bitwise_not(k), 2: k}
        if (x == 1).any():
            t3 = d2[1]
            acc = acc * 0.5 + float(t3.sum())
        elif k.size(0) == 1:
            d2[1] = k
        return acc


CAPTURE = 'script'
INPUTS = 'x=f32[b:1..64,t] k=i32[t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 0.0], [0.0, 2.0, -1.0]], dtype=torch.float32), k=torch.tensor([1, 3, 2], dtype=torch.int32)),
]
