"""reshape of a contiguous tensor and a detached one are views."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        x.reshape(-1).add_(1)
        x.detach()[0].mul_(2)
        x[:, 1:].view(x.size(0), -1).fill_(3)
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], dtype=torch.float32)),
]
