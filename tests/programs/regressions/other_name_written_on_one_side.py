"""A name that an if made another one of a tensor: the next if writes to the tensor on one side, and gives the name a new one on the other."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, y: Tensor):
        t2 = x
        for i8 in range(1, 4):
            if bool(1 - y.size(0)):
                x *= 0.5
            else:
                t2 = (t2).clamp(-4, 4)
        return float(t2.sum())


CAPTURE = 'script'
INPUTS = 'x=f32[b:1..64,t:0..64] y=f32[b:1..64,t:0..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0], [3.0, 0.0]], dtype=torch.float32), y=torch.tensor([[1.0, 2.0], [3.0, 0.0]], dtype=torch.float32)),
]
