"""split, exported, of an axis with a name: as many pieces as the program takes."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, mask: Tensor, g: Tensor):
        t1 = x.reshape(-1)
        t2 = torch.split(t1, 2, 0)[-1]
        t3 = torch.relu(torch.maximum(t2, t2))
        for i4 in range(g.size(0)):
            g[i4] = t3.dim()
        t5 = t1.split(2, 0)[0]
        return mask, g, t1, t2, t3, t5


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[-1.0, 1.25, 0.75], [1.75, 1.25, 1.25]], dtype=torch.float32), mask=torch.tensor([False, False], dtype=torch.bool), g=torch.tensor([[[1.0, 1.0, 0.0], [-1.0, 2.0, -1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]], [[-1.0, 2.0, 2.0], [-1.0, 1.0, 2.0], [0.0, 1.0, 1.0], [2.0, 2.0, 0.0]]], dtype=torch.float32)),
    dict(x=torch.tensor([[-1.0, 2.0, -1.0], [1.0, 0.0, 0.0], [1.0, 2.0, -1.0]], dtype=torch.float32), mask=torch.tensor([True, False, True], dtype=torch.bool), g=torch.tensor([[[2.0, -1.25, 0.75], [1.75, -1.25, -1.25], [-0.25, -1.5, -2.0]], [[0.0, 1.5, -0.25], [0.5, 1.0, -0.5], [-1.25, -1.5, -1.0]], [[1.25, -0.75, 1.0], [1.0, -0.25, -0.25], [0.0, 1.25, 1.75]]], dtype=torch.float32)),
    dict(x=torch.tensor([[2.0, -1.0, 1.0, 1.0], [0.0, -1.0, 2.0, 2.0]], dtype=torch.float32), mask=torch.tensor([True, True], dtype=torch.bool), g=torch.tensor([[[1.0, -1.0, 2.0, 2.0], [2.0, -1.0, -1.0, 1.0]], [[2.0, 0.0, -1.0, 1.0], [1.0, 0.0, 2.0, 0.0]]], dtype=torch.float32)),
    dict(x=torch.tensor([[0.25, -1.5], [0.5, 1.0], [1.75, -0.25], [1.0, 0.5]], dtype=torch.float32), mask=torch.tensor([False, False, True, False], dtype=torch.bool), g=torch.tensor([[[-0.25, -1.5], [-1.5, 0.75]], [[-2.0, -1.5], [1.25, -1.5]], [[1.25, -0.25], [-1.5, 1.25]], [[1.0, -0.5], [1.5, -1.5]]], dtype=torch.float32)),
    dict(x=torch.tensor([[2.0, 1.0], [2.0, 0.0], [1.0, -1.0], [2.0, 1.0], [2.0, 0.0]], dtype=torch.float32), mask=torch.tensor([False, False, False, True, False], dtype=torch.bool), g=torch.tensor([[[1.0, 0.0], [1.0, -1.0], [2.0, 1.0], [-1.0, 1.0], [1.0, 2.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 2.0], [-1.0, 2.0], [2.0, -1.0], [0.0, 0.0], [2.0, 0.0]], [[1.0, 2.0], [2.0, 2.0], [2.0, 1.0], [2.0, -1.0], [-1.0, 1.0], [2.0, 2.0]], [[1.0, 2.0], [1.0, -1.0], [0.0, -1.0], [2.0, 0.0], [-1.0, 0.0], [1.0, 2.0]], [[2.0, -1.0], [-1.0, 2.0], [1.0, 0.0], [-1.0, 1.0], [2.0, 2.0], [2.0, 1.0]]], dtype=torch.float32)),
]
