"""The same where the declared range has 1."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        if x.size(1) != 1:
            x = x + 1
        return x, x.shape[1] <= 1


CAPTURE = 'script'
INPUTS = 'x=f32[b,t:1..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0], [0.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
]
