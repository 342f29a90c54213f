"""clamp of whole numbers with a float as a bound gives floats."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, ids: Tensor, k: Tensor):
        return ids.clamp(0.5, 2), ids.clamp(min=1.5), ids.clamp_max(2.5), k.clamp_min(0.5), ids.clamp(1, 2), k.clamp(1)


CAPTURE = 'script'
INPUTS = 'ids=i64[t] k=i32[t]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([0, 1, 2, 3], dtype=torch.int64), k=torch.tensor([0, 3, 1, -2], dtype=torch.int32)),
]
