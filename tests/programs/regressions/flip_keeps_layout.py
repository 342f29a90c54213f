"""flip, sort and index_fill keep the order of axes in memory; tril does not."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        found = (x > 0).nonzero()
        n = 0 if found.flip(1).is_contiguous() else 1
        n += 0 if found.sort(0)[0].is_contiguous() else 2
        n += 0 if found.tril().is_contiguous() else 4
        return float(n)


CAPTURE = 'script'
INPUTS = 'x=f32[b:1..64,t:1..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0], [3.0, 0.0]], dtype=torch.float32)),
]
