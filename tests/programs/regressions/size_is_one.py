"""A size compared with 1 was taken for unequal."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        if x.size(1) == 1:
            return x
        return x * 2


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0], [0.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
]
