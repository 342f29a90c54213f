"""unbind of indices that the data count, and writes at them, exported"""
import torch
from torch import nn


class Program(nn.Module):
    def forward(self, x):
        idx = (x > 0).nonzero()
        r, c = idx.unbind(1)
        y = x.clone()
        y[r, c] = -1
        r2, c2 = torch.where(x < 0)
        y[r2, c2] += c2.float()
        return y, r, c


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0], [0.0, 1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[0.75]], dtype=torch.float32)),
    dict(x=torch.tensor([[-0.25, 1.25]], dtype=torch.float32)),
    dict(x=torch.tensor([[2.0, 2.0], [1.0, -2.0], [2.0, -2.0]], dtype=torch.float32)),
]
