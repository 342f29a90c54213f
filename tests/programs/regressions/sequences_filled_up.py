"""sequences of unknown number and lengths, filled up"""
from typing import List, Tuple

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, dur: Tensor) -> Tuple[Tensor, Tensor]:
        out: List[Tensor] = []
        for b in range(x.size(0)):
            rows: List[Tensor] = []
            for i in range(x.size(1)):
                n = int(dur[b, i])
                rows.append(x[b, i:i + 1].expand(n, -1))
            out.append(torch.cat(rows))
        lens = torch.tensor([o.size(0) for o in out])
        return nn.utils.rnn.pad_sequence(out, batch_first=True), lens


CAPTURE = 'script'
INPUTS = 'x=f32[b,t,2] dur=i64[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[[1.0, -1.0], [-2.0, 1.0]], [[0.0, -1.0], [0.0, -2.0]]], dtype=torch.float32), dur=torch.tensor([[0, 1], [2, 1]], dtype=torch.int64)),
    dict(x=torch.tensor([[[0.25, -0.75]]], dtype=torch.float32), dur=torch.tensor([[1]], dtype=torch.int64)),
    dict(x=torch.tensor([[[-2.0, 1.5], [2.0, -2.0]]], dtype=torch.float32), dur=torch.tensor([[1, 2]], dtype=torch.int64)),
    dict(x=torch.tensor([[[0.0, 1.0], [-2.0, -1.0]], [[0.0, 0.0], [-1.0, 1.0]], [[-2.0, 1.0], [1.0, 1.0]]], dtype=torch.float32),
          dur=torch.tensor([[1, 2], [0, 1], [2, 1]], dtype=torch.int64)),
]
