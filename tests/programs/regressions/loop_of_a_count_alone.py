"""A loop that carries nothing and only collects: ONNX's Loop needs its second operand to be named, empty."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, g: Tensor, ids: Tensor):
        parts = [ids.clone()]
        for i in range(g.size(0)):
            parts.append(torch.arange(ids.size(0), dtype=torch.int64))
        return len(parts), torch.stack(parts).sum(0)


CAPTURE = 'script'
INPUTS = 'g=f32[b:1..64,t] ids=i64[n]'
EXPECT = 'right'
CALLS = [
    dict(g=torch.zeros(2, 3), ids=torch.tensor([3, 1])),
    dict(g=torch.zeros(1, 3), ids=torch.tensor([3, 1, 5])),
]
