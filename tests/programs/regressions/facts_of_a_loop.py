"""What holds inside a loop was taken to hold after it, where it may not have run."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        y = x
        for i in range(1, x.size(0)):
            y = y + 1
        if x.shape[0] > 1:
            return y
        return -y


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0], [0.0]], dtype=torch.float32)),
]
