"""The counter of a kept loop was never 1."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        for i in range(3):
            if i == 1:
                continue
            x = x + i
        for i in range(x.size(0)):
            if i == 1:
                break
            x = x * 2
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float32)),
    dict(x=torch.tensor([-1.0], dtype=torch.float32)),
]
