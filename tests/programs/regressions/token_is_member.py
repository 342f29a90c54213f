"""A token was never a member of a list."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor, x: Tensor):
        for i in range(ids.size(0)):
            if int(ids[i]) in [1, 2]:
                x[i] += 10
        return x, int(ids[0]) not in (3, 4), ids.size(0) in [1, 2]


CAPTURE = 'script'
INPUTS = 'ids=i64[t] x=f32[t]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([1, 0, 2], dtype=torch.int64), x=torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float32)),
    dict(ids=torch.tensor([3], dtype=torch.int64), x=torch.tensor([-1.0], dtype=torch.float32)),
    dict(ids=torch.tensor([0, 4], dtype=torch.int64), x=torch.tensor([-1.0, 0.0], dtype=torch.float32)),
]
