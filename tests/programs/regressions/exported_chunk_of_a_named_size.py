"""chunk, exported, of an axis with a name: as many pieces as the program takes."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, mask: Tensor):
        t1 = torch.logical_and(mask.logical_not(), mask)
        t2 = mask.chunk(2, 1)[0]
        t1.fill_(False)
        return x, mask, t1, t2


CAPTURE = 'export'
INPUTS = ''
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[2.0, 1.0, -1.0], [0.0, 1.0, 0.0]], dtype=torch.float32), mask=torch.tensor([[True, True, True], [False, False, False]], dtype=torch.bool)),
    dict(x=torch.tensor([[2.0, -1.0, -1.0], [-1.0, 1.0, 2.0], [-1.0, -1.0, 0.0]], dtype=torch.float32), mask=torch.tensor([[True, True, True], [False, False, True], [True, False, True]], dtype=torch.bool)),
    dict(x=torch.tensor([[2.0, 1.0], [2.0, 1.0]], dtype=torch.float32), mask=torch.tensor([[True, False], [False, True]], dtype=torch.bool)),
    dict(x=torch.tensor([[-2.0, -1.0], [0.5, 1.25], [-0.5, -0.25], [1.75, -1.5]], dtype=torch.float32), mask=torch.tensor([[False, False], [True, False], [True, True], [True, True]], dtype=torch.bool)),
    dict(x=torch.tensor([[2.0, -1.0, -0.75, -0.75], [-1.25, -0.75, -2.0, 0.75]], dtype=torch.float32), mask=torch.tensor([[True, True, True, False], [True, True, False, True]], dtype=torch.bool)),
]
