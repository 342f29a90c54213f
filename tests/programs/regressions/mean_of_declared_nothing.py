"""the mean of an axis that may be declared empty is NaN there, and a layer norm over it is nothing"""
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        return x.mean(1).isnan(), x.mean().isnan(), F.layer_norm(x, [x.size(1)]), x.var(1, unbiased=False).isnan()


CAPTURE = 'script'
INPUTS = 'x=f32[b:0..64,t:0..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.75, 0.75, -1.25], [-0.25, -1.75, 0.5]], dtype=torch.float32)),
    dict(x=torch.zeros((2, 0), dtype=torch.float32)),
    dict(x=torch.zeros((0, 2), dtype=torch.float32)),
    dict(x=torch.tensor([[1.0]], dtype=torch.float32)),
]
