"""a window of one element is picked from a tensor whose first element was written: an index of two axes into a part of a Concat"""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor):
        t1 = torch.div(ids, 3)
        t1[0].zero_()
        acc = 0.0
        if t1.size(-1) > 1:
            ids = ids + 1
        else:
            acc = float(t1.unfold(0, 1, 1)[..., 0].sum()) + 1.0
        t1.div_(2)
        return acc, ids, t1


CAPTURE = 'script'
INPUTS = 'ids=i64[t]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([2, 2, 2], dtype=torch.int64)),
    dict(ids=torch.tensor([3], dtype=torch.int64)),
    dict(ids=torch.tensor([0, 1], dtype=torch.int64)),
]
