"""Writes the small archives that the tests of `cameo export`'s flags use, with recorded outputs. Needs torch and numpy.

usage, in this folder: make_flag_samples.py FOLDER
Archives remember the name of the file they were scripted from: the code is compiled again under a name without a path.
"""
import pathlib
import sys

if __file__.startswith("/"):
    sys.path.insert(0, "")
    __file__ = "make_flag_samples.py"
    exec(compile(pathlib.Path(__file__).read_text(), __file__, "exec"))
    sys.exit()

from typing import Dict, List, Optional, Tuple

import numpy as np
import torch
from torch import nn

OUT = pathlib.Path(sys.argv[1])


def record(name, inputs, outputs):
    np.savez(OUT / f"{name}_in.npz", **{k: np.asarray(v) for k, v in inputs.items()})
    np.savez(OUT / f"{name}_out.npz", **{k: np.asarray(v) for k, v in outputs.items()})


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.norm(torch.relu(self.linear(x)))


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(6), Block(6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.second(self.first(x)))

    def features(self, x):
        return self.second(self.first(x))


class Arguments(nn.Module):
    """Arguments that are no tensors, and outputs of every kind."""

    def forward(self, x, n: int, scale: float = 2.0, mask: Optional[torch.Tensor] = None) -> Tuple[Dict[str, torch.Tensor], List[torch.Tensor], str, Optional[torch.Tensor]]:
        y = x * scale + n
        if mask is not None:
            y = y * mask
        return {"sum": y.sum(1), "twice": y * 2}, [y, y[:, :1]], "text", None


class Structures(nn.Module):
    def forward(self, images: List[torch.Tensor], extra: Dict[str, torch.Tensor]):
        return images[0] + images[1] * extra["scale"]


class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.calls = 0
        self.last = torch.zeros(3)

    def forward(self, x):
        self.total += x.sum(0)
        self.calls += 1
        self.last = x[0]
        return x * self.total


class Selected(nn.Module):
    """An output whose size depends on the data."""

    def forward(self, x):
        return x[x > 0], x.reshape(-1)


def main():
    torch.manual_seed(1)
    x = torch.randn(4, 6)
    net = Blocks().eval()
    with torch.no_grad():
        torch.jit.trace_module(net, {"forward": x, "features": x}, check_trace=False).save(str(OUT / "blocks.pt"))
        record("blocks", {"x": x}, {"output": net(x)})

        net = Arguments()
        torch.jit.script(net).save(str(OUT / "arguments.pt"))
        x = torch.randn(2, 3)
        named, listed, _, _ = net(x, 3)
        record("arguments", {"x": x, "n": 3}, {"output.0.sum": named["sum"], "output.0.twice": named["twice"], "output.1.0": listed[0], "output.1.1": listed[1]})

        torch.jit.script(Structures()).save(str(OUT / "structures.pt"))
        torch.jit.script(State()).save(str(OUT / "state.pt"))
        torch.jit.script(Selected()).save(str(OUT / "selected.pt"))

        torch.jit.trace(nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Dropout(0.5)).train(), torch.randn(4, 6), check_trace=False).save(str(OUT / "training.pt"))

    library = torch.library.Library("mylib", "DEF")
    library.define("scale_shift(Tensor x, float scale, int[] axes) -> Tensor")
    library.impl("scale_shift", lambda x, scale, axes: x * scale + float(sum(axes)), "CompositeImplicitAutograd")

    class Custom(nn.Module):
        def forward(self, x):
            return torch.relu(torch.ops.mylib.scale_shift(x, 2.5, [0, 1])) + 1

    # Traced, a composite operator would dissolve into its parts: scripting keeps it.
    x = torch.randn(2, 3)
    torch.jit.script(Custom()).save(str(OUT / "custom.pt"))
    record("custom", {"x": x}, {"output": Custom()(x)})


main()
