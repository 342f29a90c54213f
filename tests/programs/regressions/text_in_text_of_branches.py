"""a part is looked for in a string that branches made, up to its own unknown length"""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor):
        name = "small"
        if x.size(0) > 2:
            name = "large"
        if x.sum() > 0:
            name = name + "_pos"
        scale = 1.0
        if name == "large_pos":
            scale = 3.0
        elif name.startswith("small"):
            scale = 2.0
        return x * scale, len(name), name.endswith("pos"), name.count("l"), "ar" in name


CAPTURE = 'script'
INPUTS = 'x=f32[b,t]'
EXPECT = 'right'
CALLS = [
    dict(x=torch.tensor([[1.1012624502182007, 0.3384312689304352, -0.5399715304374695], [-1.2602418661117554, -1.8946212530136108, 0.018638290464878082]], dtype=torch.float32)),
    dict(x=torch.tensor([[0.5, -1.75, 1.0], [2.0, 0.0, -2.0], [-1.5, -0.5, -1.75]], dtype=torch.float32)),
    dict(x=torch.tensor([[0.25]], dtype=torch.float32)),
    dict(x=torch.tensor([[-0.26444166898727417, 1.1836092472076416, -0.4304683804512024, -1.163918137550354, 0.748330295085907]], dtype=torch.float32)),
    dict(x=torch.tensor([[1.5], [-1.0], [1.0], [1.75]], dtype=torch.float32)),
]
