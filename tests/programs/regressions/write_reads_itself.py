"""A column to which the row through it is added in place: PyTorch reads what it has just written, in an order of its own."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, z: Tensor):
        row = z[0]
        columns = z.t()
        columns[1] += row
        return z


CAPTURE = 'script'
INPUTS = 'z=f32[b,b]'
EXPECT = 'right'
CALLS = [
    dict(z=torch.tensor([[1., 2.], [4., 8.]], dtype=torch.float32)),
]
