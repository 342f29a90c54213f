"""Tuples are sorted by parts that depend on the inputs; their number may, too."""
from typing import List, Tuple

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor, x: Tensor):
        many: List[Tuple[int, int]] = []
        for i in range(ids.size(0)):
            many.append((int(ids[i]), -i))
        many.sort()
        few = [(float(x[0]), 1, True), (float(x[1]), 0, False), (float(x[0]), 0, True)]
        few.sort(reverse=True)
        first = [a for a, _ in many]
        return torch.tensor(first), torch.tensor([b for _, b in many]), few[0][1], few[1][0], few[2][2]


CAPTURE = 'script'
INPUTS = 'ids=i64[t] x=f32[n]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([3, 1, 2, 1, 3], dtype=torch.int64), x=torch.tensor([1.0, 2.0])),
    dict(ids=torch.tensor([1], dtype=torch.int64), x=torch.tensor([2.0, 2.0])),
    dict(ids=torch.tensor([0, 0, 0], dtype=torch.int64), x=torch.tensor([2.0, -1.0])),
]
