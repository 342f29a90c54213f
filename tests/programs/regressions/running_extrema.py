"""running extrema along axes with names, which may be 0"""
from typing import List

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        v, i = torch.cummax(x, 1)
        w, j = torch.cummin(x, 0)
        return [x.cumsum(0), x.cumsum(-1), x.cumprod(1), v, i, w, j, x.logcumsumexp(1), x.diff(dim=1), torch.flip(torch.cumsum(torch.flip(x, [1]), 1), [1])]


CAPTURE = 'script'
INPUTS = 'x=f32[n:0..64,m:0..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-0.0, -0.375], [-0.625, -0.75]], dtype=torch.float32)),
    dict(x=torch.tensor([[3.125]], dtype=torch.float32)),
    dict(x=torch.tensor([[-0.625, -0.25]], dtype=torch.float32)),
    dict(x=torch.tensor([[0.5, -1.125], [0.0, -2.25], [-0.5, -0.25]], dtype=torch.float32)),
    dict(x=torch.zeros((0, 0), dtype=torch.float32)),
    dict(x=torch.zeros((0, 3), dtype=torch.float32)),
]
