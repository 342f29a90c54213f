"""torch.tensor of sizes: torch.export records promote_types, whose result nobody reads."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        return torch.tensor(x.shape), torch.tensor([x.shape[0] * 0.5, 1.0]), x + torch.tensor([x.shape[1]])


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[2.0, 1.0, -1.0], [0.0, 1.0, 0.0]])),
    dict(x=torch.tensor([[2.0, 1.0], [0.0, 1.0], [0.5, 4.0]])),
]
