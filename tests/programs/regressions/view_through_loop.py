"""A view that a loop made shorter did not see later writes."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        v = x
        for i in range(2):
            v = v[1:]
        x.add_(0.5)
        return v


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'refused stage.write-joined'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0], [0.0, 1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0], [0.0], [1.0]], dtype=torch.float32)),
]
