"""Text made of a size was compared and measured as if it were known."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, n: int):
        return str(x.size(0)) == "b", len(str(n)), "{}".format(n) == "12"


CAPTURE = 'script'
INPUTS = 'x=f32[b,t] n=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 0.0], [1.0, 2.0]], dtype=torch.float32), n=3),
    dict(x=torch.tensor([[-1.0, 0.0]], dtype=torch.float32), n=12),
]
