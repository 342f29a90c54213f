"""Two unknown bools were taken for unequal."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, flag: bool):
        c = bool(x.sum() > 0)
        if flag == c:
            x = x + 1
        return x, c != flag, flag == False, c == True


CAPTURE = 'script'
INPUTS = 'x=f32[b,t] flag=bool[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32), flag=True),
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32), flag=False),
    dict(x=torch.tensor([[-1.0]], dtype=torch.float32), flag=False),
]
