"""Whole numbers divided by a size that is 0 where there are none: runtimes fail, or stop, at a division by 0."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor):
        n = ids.size(0)
        return ids % n, ids // n, torch.fmod(ids, n), torch.div(ids, n, rounding_mode="trunc"), ids.remainder(n)


CAPTURE = 'script'
INPUTS = 'ids=i64[t:0..64]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.zeros((0,), dtype=torch.int64)),
    dict(ids=torch.tensor([4, -3, 2], dtype=torch.int64)),
]
