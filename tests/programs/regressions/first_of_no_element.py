"""an element is written on a side of an if where the tensor has none: PyTorch raises there, and the side is not taken"""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, z: Tensor):
        if z.size(-2) == 0:
            if z.is_contiguous():
                return x * 2
        if z.numel() > 0:
            x = x + 1
        else:
            x[:, ::2] += 0.5
            x[0, 0] *= 3
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b,t:0..64] z=f32[b,t:0..64,3]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[0.75, -0.25], [1.0, -1.0]], dtype=torch.float32), z=torch.ones(2, 2, 3)),
    dict(x=torch.zeros((1, 0), dtype=torch.float32), z=torch.zeros((1, 0, 3), dtype=torch.float32)),
]
