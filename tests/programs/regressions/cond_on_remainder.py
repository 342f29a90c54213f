"""torch.cond on the remainder of a size took the wrong side."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, ids: Tensor):
        return torch.cond(ids.size(0) % 2 == 1, lambda a: a + 1, lambda a: a.cos(), (x,))


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32), ids=torch.tensor([1, 2, 3], dtype=torch.int64)),
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], dtype=torch.float32), ids=torch.tensor([1, 2], dtype=torch.int64)),
]
