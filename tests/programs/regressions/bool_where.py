"""onnxruntime has no Where for bool."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, mask: Tensor):
        mask[mask] = False
        return torch.where(mask, mask, ~mask)


CAPTURE = 'script'
INPUTS = 'mask=bool[b,t]'
EXPECT = 'right'
CALLS = [
    dict(mask=torch.tensor([[True, False], [True, True]], dtype=torch.bool)),
]
