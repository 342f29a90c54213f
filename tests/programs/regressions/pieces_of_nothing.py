"""chunk, split and tensor_split of axes that may be empty: how many pieces there are"""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        s = 0
        n = 0
        for c in x.chunk(3, 0):
            n += 1
            s += c.size(0) * n
        m = 0
        for c in x.split(2, 1):
            m += 10 * c.size(1) + 1
        k = 0
        for c in torch.tensor_split(x, 3, dim=1):
            k = k * 10 + c.size(1)
        return n, s, m, k, len(x.chunk(2, 1)), len(x.unbind(0))


CAPTURE = 'script'
INPUTS = 'x=f32[b:0..64,t:0..64]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.0, -1.5, 1.5], [-0.75, -1.0, -1.25], [-1.25, 1.5, 0.25]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.75]], dtype=torch.float32)),
    dict(x=torch.tensor([[-0.8998154997825623, -1.4308180809020996, -0.8096644282341003, -0.5587785840034485, 0.3459259867668152]], dtype=torch.float32)),
    dict(x=torch.zeros((0, 0), dtype=torch.float32)),
    dict(x=torch.zeros((0, 2), dtype=torch.float32)),
    dict(x=torch.zeros((2, 0), dtype=torch.float32)),
    dict(x=torch.zeros((0, 1), dtype=torch.float32)),
    dict(x=torch.zeros((1, 0), dtype=torch.float32)),
]
