"""a loop in a loop, the inner one without turns at a size that its body cannot take"""
from typing import List

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, img: Tensor) -> Tensor:
        out: List[Tensor] = []
        for y in range(0, img.size(1), 2):
            for x in range(0, img.size(2), 2):
                p = img[:, y:y + 2, x:x + 2]
                p = F.pad(p, [0, 2 - p.size(2), 0, 2 - p.size(1)])
                out.append(p)
        if len(out) == 0:
            return torch.zeros([0, 1, 2, 2])
        return torch.stack(out)


CAPTURE = 'script'
INPUTS = 'img=f32[1,h:0..64,w:0..64]'
EXPECT = 'right'
CALLS = [
    dict(img=torch.tensor([[[-0.75, 0.75, 1.0], [1.75, 0.5, 0.5], [-1.5, -0.75, -2.0]]], dtype=torch.float32)),
    dict(img=torch.tensor([[[1.0]]], dtype=torch.float32)),
    dict(img=torch.tensor([[[-0.4612218737602234, 0.7292428612709045, -0.6083701252937317, 1.3609092235565186, -0.08661987632513046]]], dtype=torch.float32)),
    dict(img=torch.zeros((1, 0, 0), dtype=torch.float32)),
    dict(img=torch.zeros((1, 0, 2), dtype=torch.float32)),
    dict(img=torch.zeros((1, 2, 0), dtype=torch.float32)),
    dict(img=torch.zeros((1, 0, 1), dtype=torch.float32)),
    dict(img=torch.zeros((1, 1, 0), dtype=torch.float32)),
]
