"""An output that needs a missing operator was silently left out."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor, n: int):
        for token in ids:
            n = (n >> 1) % 5
        return ids, n


CAPTURE = 'script'
INPUTS = 'ids=i64[b] n=i64[]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([1, 2], dtype=torch.int64), n=7),
    dict(ids=torch.tensor([1], dtype=torch.int64), n=0),
]
