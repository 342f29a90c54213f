"""torch.equal of different sizes failed at run time."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, y: Tensor):
        return torch.equal(x, y)


CAPTURE = 'script'
INPUTS = 'x=f32[b,t] y=f32[c,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32), y=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32), y=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0], [0.0, 1.0, 2.0], [3.0, -1.0, 0.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0]], dtype=torch.float32), y=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0], [0.0, 1.0, 2.0], [3.0, -1.0, 0.0]], dtype=torch.float32)),
]
