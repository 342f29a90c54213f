"""a letter of a word by a number that the inputs decide, as a key"""
from typing import Tuple

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "mean"
        self.table = {"a": 1, "b": 2, "c": 3}
    def forward(self, x: Tensor, key: int) -> Tuple[Tensor, int]:
        mode = self.mode
        if x.size(0) % 2 == 1:
            mode = "max"
        k = "abc"[key % 3]
        v = self.table[k]
        if mode == "mean":
            y = x.sum(0)
        elif mode == "max":
            y = x.max(0)[0]
        else:
            raise RuntimeError("mode " + mode)
        s = "x".join(["a", "b"])
        if k in s:
            v += len(s)
        return y, v


CAPTURE = 'script'
INPUTS = 'x=f32[n,d] key=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[0.0, 0.0], [-2.0, 1.0]], dtype=torch.float32), key=3),
    dict(x=torch.tensor([[-1.75]], dtype=torch.float32), key=1),
    dict(x=torch.tensor([[0.0, -1.75]], dtype=torch.float32), key=3),
    dict(x=torch.tensor([[-1.0, 2.0], [-1.0, 0.0], [1.0, -1.0]], dtype=torch.float32), key=0),
]
