"""slices that may be empty at legal sizes: their mean is NaN"""
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        y = F.max_pool1d(x, 2)
        return (x[1:].mean().isnan(), x[:, 1:].mean(1).isnan(), x[: x.shape[0] // 2].mean(0).isnan(), F.l1_loss(x[:, 1:], x[:, :-1]).isnan(),
                x[1:].var(0, unbiased=False).isnan(), y.mean(1))


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.75, 0.75, -1.25], [-0.25, -1.75, 0.5]], dtype=torch.float32)),
    dict(x=torch.tensor([[1.0, 2.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[1.0, 2.0, -1.0, 0.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[0.5, 0.5], [1.0, 1.0], [2.0, -2.0]], dtype=torch.float32)),
]
