"""An item compared with 1 was taken for unequal."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        for i in range(3):
            if int(x.argmax()) == 1:
                break
            x = x.roll(1, 0)
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([5.0, 1.0, 2.0], dtype=torch.float32)),
    dict(x=torch.tensor([1.0, 2.0, 5.0], dtype=torch.float32)),
    dict(x=torch.tensor([1.0, 5.0], dtype=torch.float32)),
]
