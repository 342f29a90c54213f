"""A count was taken for positive after a loop over it."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, n: int):
        for i in range(n):
            x = x + 1
        if 0 < n < 3:
            return x * 2
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b] n=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([-1.0, 0.0], dtype=torch.float32), n=0),
    dict(x=torch.tensor([-1.0, 0.0], dtype=torch.float32), n=1),
    dict(x=torch.tensor([-1.0, 0.0], dtype=torch.float32), n=4),
]
