"""pairs are made one number on a side of an if that is never taken: PyTorch raises there"""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, y: Tensor):
        t1 = (y > 0).nonzero()
        if int(t1.sum()) in [-1, -2]:
            t1 = t1 + (2 ^ t1)
        return t1


CAPTURE = 'script'
INPUTS = 'y=f32[b,t:1..64]'
EXPECT = 'right'
CALLS = [
    dict(y=torch.tensor([[1.0, 2.0, 2.0], [2.0, 0.0, -1.0]], dtype=torch.float32)),
    dict(y=torch.tensor([[1.0]], dtype=torch.float32)),
    dict(y=torch.tensor([[-1.0, -1.0]], dtype=torch.float32)),
]
