"""Views kept in a list did not see later writes."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        rows = [x[i] for i in range(x.size(0))]
        x.mul_(2)
        return torch.stack(rows)


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'refused stage.write-joined'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, -1.0]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 0.0]], dtype=torch.float32)),
]
