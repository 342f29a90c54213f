"""A view that got another shape in place kept its own, as did the tensor it is a view of."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        v = x[:, 0]
        v.unsqueeze_(1)
        w = v + 1
        u = x[0]
        u.unsqueeze_(0)
        u += 2
        l = [x[-1]]
        l[0].unsqueeze_(-1)
        y = x * 1
        y.unsqueeze_(0)
        y.transpose_(1, 2)
        z = y.squeeze(0)
        z.t_()
        z[0] = 5
        s = x * 2
        s.as_strided_([1, 1], [1, 1])
        return x, v, w, u, torch.cat([u, u]), l[0], y, z, s


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, 2.0, -1.0], [0.0, 0.5, 3.0]])),
    dict(x=torch.tensor([[1.0], [2.0]])),
    dict(x=torch.tensor([[1.0, 2.0]])),
]
