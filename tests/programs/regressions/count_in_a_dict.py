"""d[k] += 1 by an unknown key: what was read is there to be written"""
from typing import Dict

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor):
        d: Dict[int, int] = {0: 0, 1: 0, 2: 0, 3: 0}
        for i in range(ids.size(0)):
            d[int(ids[i])] += 1
        best = 0
        for k, v in d.items():
            if v > d[best]:
                best = k
        return best, d[0], d[3], len(d)


CAPTURE = 'script'
INPUTS = 'ids=i64[t]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([1, 3], dtype=torch.int64)),
    dict(ids=torch.tensor([2, 0, 3], dtype=torch.int64)),
    dict(ids=torch.tensor([0], dtype=torch.int64)),
    dict(ids=torch.tensor([3, 1, 2, 3], dtype=torch.int64)),
    dict(ids=torch.tensor([3, 3, 0, 2, 2, 0], dtype=torch.int64)),
]
