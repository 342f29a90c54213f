"""runs of equal tokens where there may be none"""
from typing import List

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.blank = 0
    def forward(self, logits: Tensor, lengths: Tensor) -> List[Tensor]:
        out: List[Tensor] = []
        for b in range(logits.size(0)):
            ids = logits[b, :int(lengths[b])].argmax(-1)
            ids = torch.unique_consecutive(ids)
            out.append(ids[ids != self.blank])
        return out


CAPTURE = 'script'
INPUTS = 'logits=f32[b:0..64,t:0..64,4] lengths=i64[b:0..64]'
EXPECT = 'right'
CALLS = [
    dict(logits=torch.tensor([[[-0.125, 0.5, 0.5, 1.0], [-0.125, 1.125, -0.125, -0.75]], [[0.25, 1.75, 1.0, 1.0], [0.875, 0.5, 1.125, -1.375]]],
          dtype=torch.float32), lengths=torch.tensor([2, 2], dtype=torch.int64)),
    dict(logits=torch.tensor([[[-1.625, -0.375, -0.375, 1.0]]], dtype=torch.float32), lengths=torch.tensor([1], dtype=torch.int64)),
    dict(logits=torch.tensor([[[-1.375, -0.0, 0.875, 0.75], [1.375, 0.75, -0.625, -0.375]]], dtype=torch.float32), lengths=torch.tensor([1], dtype=torch.int64)),
    dict(logits=torch.tensor([[[0.25, 0.5, 1.0, 0.125], [1.0, 1.75, 1.125, 0.25]], [[-1.25, 0.25, 0.125, -0.75], [0.75, 0.25, 1.5, 0.0]], [[-0.75,
          -0.75, -1.125, 0.5], [1.75, 1.0, -0.625, -0.25]]], dtype=torch.float32), lengths=torch.tensor([1, 2, 2], dtype=torch.int64)),
    dict(logits=torch.zeros((0, 0, 4), dtype=torch.float32), lengths=torch.zeros((0,), dtype=torch.int64)),
    dict(logits=torch.zeros((0, 3, 4), dtype=torch.float32), lengths=torch.zeros((0,), dtype=torch.int64)),
]
