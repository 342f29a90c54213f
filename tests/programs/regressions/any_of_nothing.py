"""any and all of no elements."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, mask: Tensor):
        return bool(mask.any()), bool(mask.all())


CAPTURE = 'script'
INPUTS = 'mask=bool[b:0..64]'
EXPECT = 'right'
CALLS = [
    dict(mask=torch.zeros((0,), dtype=torch.bool)),
    dict(mask=torch.tensor([True, False], dtype=torch.bool)),
    dict(mask=torch.tensor([False], dtype=torch.bool)),
]
