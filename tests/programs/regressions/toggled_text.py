"""A string that a loop toggles."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        mode = "add"
        for i in range(x.size(0)):
            if mode == "add":
                x = x + 1
                mode = "double"
            else:
                x = x * 2
                mode = "add"
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([-1.0], dtype=torch.float32)),
    dict(x=torch.tensor([-1.0, 0.0, 1.0, 2.0], dtype=torch.float32)),
]
