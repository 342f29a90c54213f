"""a list of unknown length of pairs of numbers that a loop finds"""
from typing import List, Tuple

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, p: Tensor) -> Tuple[Tensor, int, float]:
        state = "silence"
        count = 0
        start = 0
        segs: List[Tuple[int, int]] = []
        energy = 0.0
        for i in range(p.size(0)):
            v = float(p[i])
            if state == "silence":
                if v > 0.5:
                    count += 1
                    if count >= 2:
                        state = "speech"
                        start = i - 1
                        count = 0
                else:
                    count = 0
            else:
                energy += v
                if v < 0.0:
                    count += 1
                else:
                    count = 0
                if count == 2:
                    state = "silence"
                    segs.append((start, i))
                    count = 0
        if state == "speech":
            segs.append((start, p.size(0)))
        flat: List[int] = []
        for s, e in segs:
            flat.append(s)
            flat.append(e)
        return torch.tensor(flat, dtype=torch.long).view(-1, 2), len(segs), energy


CAPTURE = 'script'
INPUTS = 'p=f32[t]'
EXPECT = 'right'
CALLS = [
    dict(p=torch.tensor([2.0, -2.0], dtype=torch.float32)),
    dict(p=torch.tensor([0.5], dtype=torch.float32)),
    dict(p=torch.tensor([1.5], dtype=torch.float32)),
    dict(p=torch.tensor([1.0, 0.0, -2.0], dtype=torch.float32)),
]
