"""Rows that a loop over a tensor gives are views of it."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        for row in x:
            row.add_(1)
        last = [x[i] for i in range(x.size(0))][-1]
        last.fill_(0)
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'refused stage.write-joined'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0]], dtype=torch.float32)),
]
