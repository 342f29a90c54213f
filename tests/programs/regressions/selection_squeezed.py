"""a guess about a size that only a run knows: the model checks it"""

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        i = (x > 0).nonzero().squeeze()
        return x[i]


CAPTURE = 'script'
INPUTS = 'x=f32[n]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([1.0, -1.0], dtype=torch.float32)),
    dict(x=torch.tensor([1.25], dtype=torch.float32)),
    dict(x=torch.tensor([0.0], dtype=torch.float32)),
    dict(x=torch.tensor([-2.0, 1.0, 0.0], dtype=torch.float32)),
]
