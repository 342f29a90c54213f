"""bits and shifts of bytes with numbers"""
from typing import List

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, u: Tensor, i: Tensor, b: Tensor, h: Tensor) -> List[Tensor]:
        return [u + i, u * b, i + h, u - 3, u // 2, (u + 250), i * 100, i // -3, i % -3, u.float() / i.clamp(min=1), h * 2.5, h + b, -i, i ** 2, b + b, b * 3,
                u & 3, u | 8, u ^ 255, u << 1, i >> 1, ~u, ~b, u > i, torch.div(i, 2, rounding_mode="floor"), torch.div(i, 3, rounding_mode="trunc"),
                torch.remainder(i, 3), torch.fmod(i, 3), u.sum(), i.sum(), b.sum(), i.max(), (i.float() / 2).round().to(torch.int8), i.abs()]


CAPTURE = 'script'
INPUTS = 'u=u8[n] i=i8[n] b=bool[n] h=f16[n]'
EXPECT = 'right'
CALLS = [
    dict(u=torch.tensor([100, 173], dtype=torch.uint8), i=torch.tensor([-94, 7], dtype=torch.int8), b=torch.tensor([False, True], dtype=torch.bool),
          h=torch.tensor([1.0, 1.0], dtype=torch.float16)),
    dict(u=torch.tensor([87], dtype=torch.uint8), i=torch.tensor([-96], dtype=torch.int8), b=torch.tensor([True], dtype=torch.bool), h=torch.tensor([0.75], dtype=torch.float16)),
    dict(u=torch.tensor([150], dtype=torch.uint8), i=torch.tensor([80], dtype=torch.int8), b=torch.tensor([True], dtype=torch.bool), h=torch.tensor([-1.5], dtype=torch.float16)),
    dict(u=torch.tensor([218, 58, 67], dtype=torch.uint8), i=torch.tensor([-73, 50, -55], dtype=torch.int8), b=torch.tensor([False, False, False],
          dtype=torch.bool), h=torch.tensor([-2.0, 2.0, -1.0], dtype=torch.float16)),
]
