"""An index that is the size itself is always outside. In a branch it raises there only; the other branch is exported."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, y: Tensor, flag: bool):
        for e in [y.size(i) for i in range(2)]:
            if e in [1, 2]:
                part = y[:-1]
                part[:, e] += 1
        if flag:
            y = y[:, :2]
            y = y + y[:, y.size(1)].unsqueeze(1)
        return y


CAPTURE = 'script'
INPUTS = 'y=f32[c,d:1..64] flag=bool[]'
EXPECT = 'right'
CALLS = [
    dict(y=torch.tensor([[-1.25, -0.5, 2.0], [-0.5, 1.75, 1.75], [0.75, 1.5, -0.5]]), flag=False),
    dict(y=torch.tensor([[1.25, 0.25, 1.0], [0.0, 2.0, 3.0]]), flag=False),
    dict(y=torch.tensor([[1.25, 0.25, 1.0, -1.0]]), flag=False),
]
