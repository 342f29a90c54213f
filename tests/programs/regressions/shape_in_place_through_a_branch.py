"""A view that got another shape in place, joined with another tensor: the branch gave the view as it was before."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, y: Tensor, flag: bool):
        row = y[:1]
        row.transpose_(0, 1)
        y[..., 0].mul_(2)
        chosen = row if flag else (row * row)
        return chosen.expand(-1, 3), row.sum(0)


CAPTURE = 'script'
INPUTS = 'y=f32[t:1..64,d] flag=bool[]'
EXPECT = 'right'
CALLS = [
    dict(y=torch.tensor([[1.0, 2.0], [3.0, 0.0]]), flag=True),
    dict(y=torch.tensor([[1.0, 2.0, 5.0]]), flag=False),
]
