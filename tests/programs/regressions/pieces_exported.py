"""writes through pieces of chunk and tensor_split of axes with names, exported"""
import torch
from torch import nn


class Program(nn.Module):
    def forward(self, x, y):
        x = x.clone()
        p = x.chunk(3, 0)
        p[1].mul_(2)
        p[0].copy_(p[0] + 1)
        z = y + 0
        q = z.tensor_split(3, 1)
        q[2].zero_()
        q[0][:, 0] = 4
        return x, p[2], z, q[1]


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[0.0, 2.0, -1.0], [-2.0, 1.0, -1.0], [-2.0, 2.0, -1.0]], dtype=torch.float32), y=torch.tensor([[-1.0, 1.0, 0.0], [-1.0,
          -2.0, 0.0], [-1.0, -1.0, 0.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-0.5]], dtype=torch.float32), y=torch.tensor([[-0.25]], dtype=torch.float32)),
    dict(x=torch.tensor([[-0.75, 1.75]], dtype=torch.float32), y=torch.tensor([[0.25], [0.25], [1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]], dtype=torch.float32), y=torch.tensor([[1.0, -1.0], [-1.0, 0.0], [2.0, 0.0]], dtype=torch.float32)),
]
