"""The remainder of a size compared with 1 was taken for unequal."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        if x.size(0) % 2 == 1:
            x = nn.functional.pad(x, [0, 0, 0, 1])
        return x


CAPTURE = 'script'
INPUTS = 'x=f32[h,w]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0], [3.0, -1.0], [0.0, 1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0]], dtype=torch.float32)),
]
