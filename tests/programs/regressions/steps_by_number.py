"""Steps of slices, windows of unfold and bounds of lists that the inputs decide."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, k: int):
        numbers = [0, 1, 2, 3, 4]
        parts = [x, x * 2, x * 3]
        t = torch.zeros(())
        for p in parts[:k]:
            t = t + p.sum()
        y = x.unfold(0, k, 1).sum(-1)
        return x[::k], x[1::k], x[:-1:k], y, x.unfold(0, 2, k), torch.tensor(numbers[k:]), len(numbers[:x.size(0) - 4]), sum(numbers[-k:]), t


CAPTURE = 'script'
INPUTS = 'x=f32[n] k=i64[]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), k=2),
    dict(x=torch.tensor([1.0, 2.0]), k=1),
    dict(x=torch.tensor([1.0, 2.0, 3.0]), k=3),
    dict(x=torch.tensor([1.0, 2.0, 3.0, 4.0]), k=4),
]
