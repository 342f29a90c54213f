"""is_contiguous was answered without knowing it."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        v = x.split(2, 1)[0]
        return v.is_contiguous(), x.t().is_contiguous(), x[:, 0].is_contiguous()


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0, 2.0, 3.0], [-1.0, 0.0, 1.0, 2.0, 3.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0, 1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0], [0.0], [1.0]], dtype=torch.float32)),
]
