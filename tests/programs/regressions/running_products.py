"""a running product along an axis with a name"""
from typing import Tuple

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, draft: Tensor, best: Tensor) -> Tuple[Tensor, Tensor]:
        match = (draft == best[:, :-1]).long()
        n = match.cumprod(1).sum(1)
        pos = torch.arange(best.size(1)).unsqueeze(0)
        out = torch.where(pos <= n.unsqueeze(1), best, torch.full_like(best, -1))
        return out[:, :int(n.max()) + 1], n


CAPTURE = 'script'
INPUTS = 'draft=i64[b,k] best=i64[b,best1]'
EXPECT = 'right'
CALLS = [
    dict(draft=torch.tensor([[0, 2], [2, 1]], dtype=torch.int64), best=torch.tensor([[0, 1, 0], [2, 2, 2]], dtype=torch.int64)),
    dict(draft=torch.tensor([[1]], dtype=torch.int64), best=torch.tensor([[1, 1]], dtype=torch.int64)),
    dict(draft=torch.tensor([[2, 2]], dtype=torch.int64), best=torch.tensor([[2, 2, 1]], dtype=torch.int64)),
    dict(draft=torch.tensor([[0, 2], [1, 0], [0, 1]], dtype=torch.int64), best=torch.tensor([[1, 1, 1], [1, 2, 0], [2, 1, 1]], dtype=torch.int64)),
]
