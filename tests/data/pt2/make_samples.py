"""Writes the .pt2 archives of this folder with their inputs (x0, x1, ...) and PyTorch's results (y0, y1, ...).

usage: make_samples.py [NAME...]; all of them without names. Run in this folder with the pinned torch. Stack traces name files of the machine that exports: they are replaced.
"""
import sys

import numpy as np
import torch
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan_op
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.utils._pytree import tree_leaves

Dim = torch.export.Dim


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        y = self.norm(self.first(x)).relu().mean([2, 3])
        return y.add(torch.ones(x.shape[0], 8), alpha=2)


class Branch(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


class Nested(nn.Module):
    def forward(self, batch, scale, mask=None):
        return {"sum": batch["emb"][0] + batch["emb"][1], "extra": (batch["ids"] * scale, None)}


class Views(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 1:3] = x[:, 0:2] * 2
        y[0].mul_(3)
        return y + 1


class Chosen(nn.Module):
    def forward(self, x, n):
        k = n.item()
        torch._check(k >= 1)
        torch._check(k <= 4)
        return x[:k].sum(0), torch.zeros(k, 3), x[x > 0]


class Scan(nn.Module):
    def forward(self, x):
        return scan(lambda c, t: (c + t.sin(), c * t), torch.zeros(3), x)


class Turns(nn.Module):
    def forward(self, x):
        return while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 1.5 + 1), (torch.tensor(0), x))


class Autocast(nn.Module):
    """Small whole numbers, so that bfloat16 is exact; the product alone has to be cast, and 257 shows that it was."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, -1.0], [257.0, 0.0]]))

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            y = torch.nn.functional.linear(x, self.weight)
            z = torch.cat([y, x], 1)
        with torch.autocast("cpu", enabled=False):
            w = x @ self.weight.T
        with torch.no_grad():
            return y.float(), z, w


class Associative(nn.Module):
    def forward(self, x, y):
        return associative_scan_op(lambda a, b, c, d: (a * c, b * c + d), [x, y], ())


@torch.library.custom_op("sample::bump", mutates_args=("x",))
def bump(x: torch.Tensor, by: float) -> torch.Tensor:
    x.add_(by)
    return x * 2


@bump.register_fake
def _(x, by): return torch.empty_like(x)


class Custom(nn.Module):
    def forward(self, x):
        y = x.clone()
        z = bump(y[1:], 0.5)
        return y + 1, z


def forget_traces(module):
    for inner in module.modules():
        if not isinstance(inner, torch.fx.GraphModule): continue
        for node in inner.graph.nodes:
            node.meta.pop("from_node", None)
            if "stack_trace" in node.meta: node.meta["stack_trace"] = 'File "net.py", line 8, in forward\n    return self.net(x)'


def save(name, module, args, kwargs=None, shapes=None, decompose=False):
    if sys.argv[1:] and name not in sys.argv[1:]: return
    kwargs = kwargs or {}
    module.eval()
    program = torch.export.export(module, args, kwargs, dynamic_shapes=shapes)
    if decompose: program = program.run_decompositions()
    forget_traces(program.graph_module)
    program._example_inputs = None
    torch.export.save(program, name + ".pt2")
    with torch.no_grad(): result = module(*args, **kwargs)
    arrays = {}
    for i, t in enumerate(t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)): arrays[f"x{i}"] = t.numpy()
    for i, t in enumerate(t for t in tree_leaves(result) if isinstance(t, torch.Tensor)): arrays[f"y{i}"] = t.numpy()
    np.savez_compressed(name + ".npz", **arrays)


torch.manual_seed(0)
save("linear", nn.Linear(3, 2), (torch.randn(4, 3),))
sizes = {"x": {0: Dim("batch"), 2: Dim("h", min=16, max=512), 3: Dim("w", min=16, max=512)}}
for suffix, decompose in (("", False), ("_decomposed", True)):
    save("convolutions" + suffix, Convolutions(), (torch.randn(2, 3, 18, 20),), shapes=sizes, decompose=decompose)
    save("counter" + suffix, Counter(), (torch.randn(3),), decompose=decompose)
save("branch", Branch(), (torch.randn(4),))
save("nested", Nested(), ({"ids": torch.arange(2), "emb": [torch.randn(2), torch.randn(2)]},), {"scale": 0.5, "mask": None})
save("views", Views(), (torch.randn(3, 5),))
save("chosen", Chosen(), (torch.randn(5, 3), torch.tensor(3)))
save("scan", Scan(), (torch.randn(5, 3),))
save("turns", Turns(), (torch.randn(2, 3),))
save("autocast", Autocast(), (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),))
save("associative", Associative(), (torch.randn(5, 3), torch.randn(5, 3)))
save("custom", Custom(), (torch.randn(4, 3),), decompose=True)
if not sys.argv[1:] or "several" in sys.argv[1:]:
    from torch.export.pt2_archive._package import package_pt2
    programs = {name: torch.export.export(nn.Linear(2, n), (torch.randn(1, 2),)) for name, n in (("encode", 3), ("decode", 1))}
    for program in programs.values():
        forget_traces(program.graph_module)
        program._example_inputs = None
    package_pt2("several.pt2", exported_programs=programs)
