"""torch.vmap as torch.export records it: another axis, one inside another, what is not mapped."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, y: Tensor):
        rows = torch.vmap(lambda a: torch.where(a > 0, a.sort()[0], -a) + a.max())(x)
        columns = torch.vmap(lambda a: a.flip(0) - a.sum(), in_dims=1)(x)
        pairs = torch.vmap(torch.vmap(lambda a, b: a * b + 1, in_dims=(None, 0)), in_dims=(0, None))(y, y)
        picked = torch.vmap(lambda a: a.index_select(0, a.argmax().unsqueeze(0)) + y.sum())(x)
        return rows, columns, pairs, picked


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[2.0, 1.0, -1.0], [0.0, 1.0, 0.5]]), y=torch.tensor([1.0, 2.0, 4.0, 3.0])),
    dict(x=torch.tensor([[2.0, 1.0], [2.0, -3.0], [0.5, 1.25]]), y=torch.tensor([1.0, 2.0])),
]
