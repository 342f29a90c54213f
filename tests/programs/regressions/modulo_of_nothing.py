"""A rest by a size of 0, of a tensor without elements: nothing is divided, and runtimes refuse the divisor."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor):
        acc = 0.0
        v24 = ids[:ids.size(0) - ids.size(0)]
        t26 = (v24 % v24.size(0))
        t27 = t26
        acc = acc * 0.5 + float(t27.sum())
        return acc


CAPTURE = 'script'
INPUTS = 'ids=i64[t]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([1], dtype=torch.int64)),
]
