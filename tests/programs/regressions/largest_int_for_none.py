"""The largest int for "none yet", and a minimum with it: 1 was added to it before the two were compared."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, n: int):
        first = 9223372036854775807
        for i in range(x.size(0)):
            if x[i] > 0.5 and first > i:
                first = i
        end = 9223372036854775807
        if x.size(0) > 2:
            end = x.size(0) - 1
        for i in range(2):
            end = min(end, x.size(0) - i)
        low = -9223372036854775807
        if n > 1:
            low = n
        return min(first, 100), x[min(first, x.size(0) - 1)], end, max(low, x.size(0) + 3), min(end, x.size(0) - 1) + 1


CAPTURE = 'script'
INPUTS = 'x=f32[t] n=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([0.0, 1.0, 2.0]), n=0),
    dict(x=torch.tensor([0.0]), n=1),
    dict(x=torch.tensor([0.0, -1.0]), n=2),
    dict(x=torch.tensor([1.0, -1.0, 0.0, 0.5]), n=9),
]
