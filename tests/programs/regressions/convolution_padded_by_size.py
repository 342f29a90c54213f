"""Pads of a convolution that sizes decide."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        k = x.size(1) // 2 * 2 + 1
        w = torch.ones(1, 1, k)
        a = nn.functional.conv1d(x.unsqueeze(1), w, padding=k // 2)
        b = nn.functional.conv1d(x.unsqueeze(1), w, padding="same")
        return a, b, nn.functional.conv1d(x.unsqueeze(1), w[:, :, :1], padding=[x.size(0)])


CAPTURE = 'script'
INPUTS = 'x=f32[b,n]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0, 3.0, -4.0], [5.0, 1.0, 2.0, 0.5]])),
    dict(x=torch.tensor([[1.0]])),
    dict(x=torch.tensor([[1.0, 2.0, 3.0], [2.0, 0.0, 3.0], [1.0, 2.0, 3.0]])),
]
