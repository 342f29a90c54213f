"""contiguous, reshape and flatten of a transposed tensor were taken for views."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        v = x.transpose(0, 1).contiguous()
        x.transpose(0, 1).flatten().fill_(0.5)
        x.t().reshape(-1).zero_()
        x.neg_()
        return x, v


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0], [0.0, 1.0, 2.0]], dtype=torch.float32)),
]
