"""Branches in branches: what a tensor may share memory with was found once for every way to it (over 20 s)."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, g: Tensor, mask: Tensor):
        first = mask.split(2, 0)[0]
        first.logical_not_()
        for e in [0, 2, 4, 6, 8, 10]:
            if g.sum() == e:
                if bool(first.any()):
                    if int(g.max()) == 2:
                        g = g.clamp(-4, 4)
                        mask = mask
                    else:
                        g = g
                if int(g.min()) == 2:
                    x = x
                x[:, 0] = float(e)
            mask = (x != 0) & mask
        first |= ~first
        return x + x.sum(1, keepdim=True), mask


CAPTURE = 'script'
INPUTS = 'x=f32[b,t:1..64] g=f32[b,c,t:1..64] mask=bool[b,t:1..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[0.5, 0.5, 0.25], [-2.0, 1.5, 2.0]]), g=torch.zeros(2, 4, 3), mask=torch.zeros(2, 3, dtype=torch.bool)),
    dict(x=torch.tensor([[0.5, 0.5, 0.25], [-2.0, 1.5, 2.0]]), g=torch.ones(2, 1, 3), mask=torch.ones(2, 3, dtype=torch.bool)),
]
