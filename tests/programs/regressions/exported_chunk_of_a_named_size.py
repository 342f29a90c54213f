"""chunk and split, exported, of axes with names: as many pieces as the program takes."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        return x.chunk(2, 1)[0], x.reshape(-1).split(2, 0)[0]


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[2.0, 1.0, -1.0], [0.0, 1.0, 0.0]])),
    dict(x=torch.tensor([[2.0, 1.0], [2.0, 1.0], [0.5, 1.25]])),
    dict(x=torch.tensor([[2.0, -1.0, -0.75, -0.75, 1.0, 3.0]])),
]
