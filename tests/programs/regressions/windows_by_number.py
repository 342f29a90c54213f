"""Pooling by windows whose size the inputs say, with padding and windows that hang over the end."""
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, n: int):
        a = F.avg_pool2d(x, n, n, 0, True)
        b = F.avg_pool2d(x, [n, 3], [1, 2], 1, True, False)
        c = F.max_pool2d(x, [3, n], [2, 2], 1, 1, True)
        d = F.avg_pool2d(x, n, 2, 1, False, True, 3)
        e = F.max_pool1d(x.flatten(1), n, 2, 1)
        return a, b, c, d, e


CAPTURE = 'script'
INPUTS = 'x=f32[b,1,h,w] n=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.arange(20.0).reshape(1, 1, 4, 5), n=2),
    dict(x=torch.arange(42.0).reshape(2, 1, 3, 7) % 5, n=3),
    dict(x=torch.arange(25.0).reshape(1, 1, 5, 5) % 7, n=2),
]
