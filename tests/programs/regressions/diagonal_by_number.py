"""diagonals at a number that the inputs decide"""
from typing import List

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, k: int) -> List[Tensor]:
        n = x.size(0)
        return [x.tril(k - 2), x.triu(k), torch.tril_indices(n, x.size(1), k - 1), torch.ones(n, n).tril(), torch.eye(n, x.size(1)),
                torch.diag(x[:, 0], k - 2), torch.linspace(0, 1, n), torch.arange(n, 0, -1), torch.arange(0.0, n / 2, 0.5)]


CAPTURE = 'script'
INPUTS = 'x=f32[n,m] k=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 1.0], [2.0, 2.0]], dtype=torch.float32), k=2),
    dict(x=torch.tensor([[-1.25]], dtype=torch.float32), k=2),
    dict(x=torch.tensor([[1.75, 0.75]], dtype=torch.float32), k=1),
    dict(x=torch.tensor([[1.0, 2.0], [1.0, 1.0], [-1.0, 2.0]], dtype=torch.float32), k=2),
]
