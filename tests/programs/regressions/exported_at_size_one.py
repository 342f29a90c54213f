"""torch.export writes that sizes are 2 or more, and PyTorch runs its archives at 1: there t().contiguous() is a view."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        x = x * 1
        a = x.t()
        b = a.contiguous()
        b[0] = 7
        y = (x * 2).permute(1, 0)
        f = y.flatten()
        f.zero_()
        return x, a, b, y, f


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[2.0, 1.0, -1.0], [0.0, 1.0, 0.0]])),
    dict(x=torch.tensor([[2.0, 1.0, 3.0]])),
    dict(x=torch.tensor([[2.0], [1.0], [3.0]])),
    dict(x=torch.tensor([[2.0]])),
]
