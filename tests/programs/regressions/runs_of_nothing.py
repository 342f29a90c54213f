"""unique_consecutive of nothing has no counts."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor):
        return torch.unique_consecutive(ids, return_inverse=True, return_counts=True)


CAPTURE = 'script'
INPUTS = 'ids=i64[t:0..64]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.zeros((0,), dtype=torch.int64)),
    dict(ids=torch.tensor([1, 1, 2], dtype=torch.int64)),
    dict(ids=torch.tensor([3], dtype=torch.int64)),
]
