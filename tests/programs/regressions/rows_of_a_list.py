"""a tensor of a list of unknown length of lists"""
from typing import List, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, img: Tensor) -> Tuple[Tensor, Tensor]:
        C, H, W = img.shape
        ts = 4
        tiles: List[Tensor] = []
        pos: List[List[int]] = []
        for y in range(0, H, ts):
            for x in range(0, W, ts):
                y0 = max(min(y, H - ts), 0)
                x0 = max(min(x, W - ts), 0)
                t = img[:, y0:y0 + ts, x0:x0 + ts]
                ph, pw = ts - t.size(1), ts - t.size(2)
                if ph > 0 or pw > 0:
                    t = F.pad(t, [0, pw, 0, ph])
                tiles.append(t)
                pos.append([y0, x0])
        return torch.stack(tiles), torch.tensor(pos)


CAPTURE = 'script'
INPUTS = 'img=f32[c,h,w]'
EXPECT = 'right'
CALLS = [
    dict(img=torch.tensor([[[0.0, 2.0], [1.0, -2.0]], [[0.0, -1.0], [2.0, 2.0]]], dtype=torch.float32)),
    dict(img=torch.tensor([[[1.0]]], dtype=torch.float32)),
    dict(img=torch.tensor([[[1.5, -1.0, 0.5], [-1.5, 1.0, 0.25]]], dtype=torch.float32)),
    dict(img=torch.tensor([[[1.0, 2.0, 0.0], [-2.0, 2.0, -1.0]], [[-1.0, 1.0, -1.0], [2.0, -1.0, 2.0]], [[-2.0, 1.0, 2.0], [-1.0, 0.0, 0.0]]], dtype=torch.float32)),
]
