"""A value of a branch that is merged with the same one outside: what the branch knows of its size holds only there."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, z: Tensor, mask: Tensor):
        acc = 0.0
        t2 = (mask != 0).sum()
        if z.shape[1] == 1:
            t2 = torch.ones([], dtype=torch.int64)
        elif mask.size(0) == 1:
            v4 = mask.reshape(-1)
            acc = acc * 0.5 + float(v4.sum())
        mask[-1] = (t2 >= t2)
        return acc


CAPTURE = 'script'
INPUTS = 'z=f32[b,t,3] mask=bool[b]'
EXPECT = 'right'
CALLS = [
    dict(z=torch.tensor([[[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]], [[3.0, 0.0, 1.0], [2.0, 3.0, 0.0]]], dtype=torch.float32), mask=torch.tensor([True, True], dtype=torch.bool)),
]
