"""A list that one side appends to and the other replaces lost what was appended."""
from typing import List

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, flag: bool):
        l: List[int] = [1]
        if flag:
            l = l[:2]
        else:
            l.append(2)
        m: List[Tensor] = [x]
        if x.sum().item() > 0:
            m.append(x)
        else:
            m = m[::-1]
        return len(l), m


CAPTURE = 'script'
INPUTS = 'x=f32[b,t] flag=bool[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32), flag=True),
    dict(x=torch.tensor([[1.0, -0.0], [-1.0, -2.0]], dtype=torch.float32), flag=False),
]
