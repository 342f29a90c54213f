"""A name that is a view on one side of a branch and a copy on the other: a write in a loop was lost."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor, flag: bool):
        if flag:
            v = ids
        else:
            v = ids + ids
        for i in range(ids.shape[0] - 1):
            v[i].add_(1)
        return ids


CAPTURE = 'script'
INPUTS = 'ids=i64[d] flag=bool[]'
EXPECT = 'right or refused'
CALLS = [
    dict(ids=torch.tensor([1, 2], dtype=torch.int64), flag=True),
    dict(ids=torch.tensor([3, 1, 2], dtype=torch.int64), flag=False),
]
