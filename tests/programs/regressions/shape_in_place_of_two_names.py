"""A view of all of a tensor is another tensor: t_ of one turned the other one, too."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        y = x * 1
        z = y[:]
        z.t_()
        z[0] = 5
        return y, z


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'refused stage.write-through'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0, -1.0], [0.0, 0.5, 3.0]])),
    dict(x=torch.tensor([[1.0], [2.0]])),
]
