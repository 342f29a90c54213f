"""A size that may be 0 was taken to be at least 1 where its name stands again without the range."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, ids: Tensor, w: Tensor, v: Tensor):
        n = 0
        if ids.size(0) == 0:
            n += 10
        if v.size(1) == 0:
            n += 100
        return n, len(x.split(2)), w.t() + v, ids.numel() == 0


CAPTURE = 'script'
INPUTS = 'x=f32[b:0..8,3] ids=i64[b] w=f32[c,d:2..4] v=f32[d,c:0..5]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.ones((3, 3)), ids=torch.tensor([1, 2, 0]), w=torch.ones((2, 3)), v=torch.ones((3, 2))),
    dict(x=torch.zeros((0, 3)), ids=torch.zeros((0,), dtype=torch.int64), w=torch.zeros((0, 2)), v=torch.zeros((2, 0))),
]
