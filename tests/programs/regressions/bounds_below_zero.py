"""Bounds of slices that are differences of sizes, of either sign: what a slice does says nothing about the sizes."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, y: Tensor):
        n, m = x.size(0), y.size(0)
        a = x[n - 3:]
        if n < 3:
            a = a * 10
        b = x[:n - m]
        c = y[m - n:]
        z = x.clone()
        z[n - 3:] += 1
        z[m - n:] *= 2
        if m > n:
            z[n - m:] -= 3
        return a, b, c, x[n // 2 - 1:], x[1 - n::2], z, n > m, m >= 3


CAPTURE = 'script'
INPUTS = 'x=f32[n] y=f32[m]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), y=torch.tensor([1.0, 2.0, 3.0])),
    dict(x=torch.tensor([1.0]), y=torch.tensor([1.0])),
    dict(x=torch.tensor([1.0, 2.0]), y=torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])),
    dict(x=torch.tensor([1.0, 2.0]), y=torch.tensor([1.0, 2.0, 3.0])),
    dict(x=torch.tensor([1.0, 2.0, 3.0]), y=torch.tensor([1.0, 2.0, 3.0])),
]
