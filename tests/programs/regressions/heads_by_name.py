"""attention whose number of heads has a name, exported"""
import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True), F.scaled_dot_product_attention(q, k[:, :1], v[:, :1], enable_gqa=True)


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(q=torch.tensor([[[[2.0, -2.0], [2.0, 2.0]], [[0.0, -1.0], [-2.0, -2.0]]], [[[0.0, 0.0], [-1.0, -1.0]], [[-1.0, 0.0], [0.0, 1.0]]]],
          dtype=torch.float32), k=torch.tensor([[[[2.0, -2.0], [1.0, 1.0]], [[1.0, 2.0], [1.0, 0.0]]], [[[2.0, -2.0], [0.0, 1.0]], [[2.0, -1.0],
          [0.0, 1.0]]]], dtype=torch.float32), v=torch.tensor([[[[1.0, 0.0], [-2.0, 1.0]], [[-1.0, 1.0], [1.0, 1.0]]], [[[-2.0, -2.0], [2.0, 0.0]],
          [[-2.0, -2.0], [0.0, -2.0]]]], dtype=torch.float32)),
    dict(q=torch.tensor([[[[0.5, -2.0]]]], dtype=torch.float32), k=torch.tensor([[[[0.75, -0.75]]]], dtype=torch.float32), v=torch.tensor([[[[0.0, 2.0]]]], dtype=torch.float32)),
    dict(q=torch.tensor([[[[-1.75, 0.0]], [[-1.0, 0.25]]]], dtype=torch.float32), k=torch.tensor([[[[-1.75, -0.25]], [[0.25, -1.25]]]],
          dtype=torch.float32), v=torch.tensor([[[[0.5, 0.0]], [[1.0, 1.5]]]], dtype=torch.float32)),
    dict(q=torch.tensor([[[[0.0, -2.0], [2.0, 2.0]]], [[[1.0, 1.0], [2.0, 2.0]]]], dtype=torch.float32), k=torch.tensor([[[[1.0, 0.0], [-2.0, 2.0]]],
          [[[0.0, 0.0], [2.0, 1.0]]]], dtype=torch.float32), v=torch.tensor([[[[2.0, 2.0], [-1.0, -1.0]]], [[[-1.0, -1.0], [-2.0, -1.0]]]], dtype=torch.float32)),
]
