"""Writes the small archives and recorded outputs that the C++ tests export and run. Needs torch and numpy.

usage: make_samples.py FOLDER
"""
import pathlib
import sys

import numpy as np
import torch
from torch import nn

OUT = pathlib.Path(sys.argv[1])


def save(name, module, *inputs, script=False, fixed=()):
    module = module.eval()
    with torch.no_grad():
        outputs = module(*[x.clone() for x in inputs], *fixed)
        program = torch.jit.script(module) if script else torch.jit.trace(module, tuple(x.clone() for x in inputs))
    program.save(str(OUT / f"{name}.pt"))
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    arrays = {f"x{i}": x.numpy() for i, x in enumerate(inputs)} | {f"y{i}": y.numpy() for i, y in enumerate(outputs)}
    np.savez(OUT / f"{name}.npz", **arrays)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Conv2d(8, 12, 3, groups=2),
                                      nn.BatchNorm2d(12), nn.SiLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(12, 5)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                nn.init.uniform_(m.running_mean, -1, 1)
                nn.init.uniform_(m.running_var, 0.5, 1.5)

    def forward(self, x):
        return self.head(torch.flatten(self.features(x), 1))


class Shapes(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        y = x.view(b, c * h, w).permute(0, 2, 1).reshape(b, -1)
        y[:, 0] = 0
        return y * 2.5, x[:, 1:, :, -1]


class Counted(nn.Module):
    def forward(self, x, n: int):
        for i in range(n):
            x = torch.add(x, i) * 2
        return x


class Branches(nn.Module):
    def forward(self, x):
        if bool(x.sum() > 0):
            y = x + 1
        else:
            y = x - 1
        y[0] = 3.0
        return y


class Search(nn.Module):
    """A loop whose count depends on data."""

    def forward(self, x):
        n = 0
        while bool(x.sum() < 100.0) and n < 50:
            x = x * 2
            n += 1
        return x


class Indices(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[torch.tensor([[1, 2], [2, 3]]), torch.tensor([2, 3])] = 7.0
        return x[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])], y, x[:, :, torch.tensor([0, 1])]


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.lstm = nn.LSTM(16, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(12, 5)

    def forward(self, x):
        y, _ = self.attention(x, x, x, need_weights=False)
        z, _ = self.lstm(self.norm(x + y))
        return self.gru(z)[0]


def main():
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)
    save("convolutions", Convolutions(), torch.randn(2, 3, 16, 16))
    save("convolutions_scripted", Convolutions(), torch.randn(2, 3, 16, 16), script=True)
    save("shapes", Shapes(), torch.randn(2, 3, 4, 5))
    save("counted", Counted(), torch.randn(4, 3), script=True, fixed=(3,))
    save("branches", Branches(), torch.randn(4, 3), script=True)
    save("search", Search(), torch.rand(4, 3), script=True)
    save("indices", Indices(), torch.randn(4, 5, 3))
    save("layers", Layers(), torch.randn(2, 7, 16))


main()
