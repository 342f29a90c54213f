"""copy_ of a number, and chunks of nothing."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, k: Tensor):
        y = x.clone()
        y[:, :1].copy_(x.size(0))
        y[-1].copy_(0.5)
        k = k.clone()
        k[0].copy_(int(x.sum()))
        parts = torch.arange(abs(0)).chunk(3)
        return y, k, parts[0], parts[2], x[:0].chunk(2)[1]


CAPTURE = 'script'
INPUTS = 'x=f32[b,t] k=i64[b]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0], [3.0, 4.0]]), k=torch.tensor([1, 2])),
    dict(x=torch.tensor([[1.0, 2.0, 3.0]]), k=torch.tensor([7])),
]
