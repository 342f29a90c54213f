"""Branches in branches: what a tensor may be was counted once for every way to it (over 20 s)."""
import math

import torch
from torch import Tensor, nn


def halves(x: Tensor, n: int) -> Tensor:
    if x.size(0) % 2 == 1:
        x = x[1:]
    return x + n


class Program(nn.Module):
    def forward(self, x: Tensor, g: Tensor, mask: Tensor):
        acc = 0.0
        count = 0
        if (count + 4 & count * 0) >= max(count, count):
            if (g == 1).any():
                g[(torch.full([g.size(0), g.size(1), g.size(2)], True, dtype=torch.bool) & torch.ones([g.shape[0], g.shape[1], g.size(2)], dtype=torch.bool))] = abs(acc)
            elif mask.dim() == 2:
                t1 = halves(x, count + 4)
                if bool((t1 >= 0).all()):
                    return mask.to(torch.float32)
                acc = acc * 0.5 + float(t1.sum())
        else:
            g.clamp_(-1, 2)
        n2 = int(g.sum())
        c3 = not (n2 // 1 in [1, 2])
        l4 = [i5 * 2 for i5 in range(4)]
        t6 = mask.split(2, 0)[0]
        acc += 0.5
        t6.logical_not_()
        for e7 in l4:
            c8 = (((n2 if c3 else count) ^ 2), n2 + 3) == (2, 4)
            if g.sum() == 0:
                if bool(t6.any()):
                    if e7 not in l4:
                        t9 = g.repeat(2, 1, 1)
                        acc = acc * 0.5 + float(t9.sum())
                    if c8:
                        f10 = float(x.mean())
                        g = (g).clamp(-4, 4)
                        mask = mask
                    else:
                        t11 = g
                    t12 = halves(x, t6.shape[-2])
                    acc = acc * 0.5 + float(t12.sum())
                else:
                    v13 = t6[:, 0]
                    t14 = mask.t()
                if c8:
                    v15 = mask.view(mask.shape[0], -1)
                    v16 = v15.view_as(v15)
                    acc = acc * 0.5 + float(v16.sum())
                else:
                    if 5 * 4 + max(e7, e7) >= 1:
                        f17 = math.cos(max(0.25, acc))
                    else:
                        f17 = abs(acc)
                    acc = acc * 0.5 + f17
                x[:, 0] = acc + acc
            l18 = [i19 == 1 for i19 in l4]
            mask = ((x != 0) & mask)
            acc = acc * 0.5 + float(c8)
        t6 |= ~t6
        n2 = (int(t6.sum())) % 11
        v20 = g.select(0, 0)
        return (x + x.sum(1, keepdim=True))


CAPTURE = 'script'
INPUTS = 'x=f32[b,t:1..64] g=f32[b,c,t:1..64] mask=bool[b,t:1..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[0.5, 0.5, 0.25], [-2.0, 1.5, 2.0]], dtype=torch.float32), g=torch.tensor([[[0.0, -1.0, 2.0], [0.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 2.0, 0.0]], [[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [1.0, 0.0, 1.0]]], dtype=torch.float32), mask=torch.tensor([[False, False, False], [False, False, False]], dtype=torch.bool)),
]
