"""Writes NAME_RELEASE.pt2 and .npz into this folder with the torch at hand: archives of one release, in its own layout and schema.

usage: make_samples.py [NAME...], with torch 2.1, 2.2, ... each. What a release cannot export is left out. Stack traces and example inputs, which
hold names of the machine, are replaced; the zip is written again for it, uncompressed as it was.
"""
import json
import pathlib
import sys
import zipfile

import numpy as np
import torch
from torch import nn

RELEASE = ".".join(torch.__version__.split(".")[:2])
HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {torch.float32: "f4", torch.int64: "i8", torch.bool: "?"}


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.bn = nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8)
        self.register_buffer("scale", torch.rand(8), persistent=False)

    def forward(self, x): return self.bn(self.c(x)).mean([2, 3]) * self.scale + torch.ones(x.shape[0], 8)


class Constants(nn.Module):
    def forward(self, x):
        return (x * torch.tensor([1.0, 2.0, 3.0])).masked_fill(torch.tensor([True, False, True]), float("-inf")), x.view(x.shape[0] * 3)


class Branch(nn.Module):
    def forward(self, x):
        from functorch.experimental import control_flow
        return getattr(torch, "cond", control_flow.cond)(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), [x])


class Nested(nn.Module):
    def forward(self, d, scale=2.0): return {"sum": d["a"] + d["b"][0], "extra": (d["b"][1] * scale,)}


class Types(nn.Module):
    """Weights of types whose storages torch.save writes as bytes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("wide", torch.tensor([1, 300, 65535]).to(torch.uint16))
        self.register_buffer("small", torch.tensor([0.5, -2.0, 448.0]).to(torch.float8_e4m3fn))

    def forward(self, x): return x * self.wide.to(torch.float32) + self.small.to(torch.float32)


def leaves(v):
    if isinstance(v, torch.Tensor): return [v]
    return [t for part in (v.values() if isinstance(v, dict) else v if isinstance(v, (list, tuple)) else ()) for t in leaves(part)]


def without_places(v):
    if isinstance(v, list): return [without_places(x) for x in v]
    if not isinstance(v, dict): return v
    dropped = ("from_node", "source_fn_stack", "torch_fn")
    return {k: 'File "net.py", line 8, in forward\n    return self.net(x)' if k == "stack_trace" else without_places(x) for k, x in v.items() if k not in dropped}


def repack(path):
    with zipfile.ZipFile(path) as z: records = [(name, z.read(name)) for name in z.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as z:
        for name, data in records:
            if "sample_inputs" in name or "example_inputs" in name: data = b""
            if name.endswith(".json") and data.startswith(b"{"): data = json.dumps(without_places(json.loads(data))).encode()
            z.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), data)


def array(t): return np.array(t.tolist(), DTYPES[t.dtype]).reshape(tuple(t.shape))  # old releases do not know new numpys


torch.manual_seed(0)
SAMPLES = [("conv", Convolution(), (torch.randn(2, 3, 16, 20),), {0: "batch"}), ("const", Constants(), (torch.randn(4, 3),), {0: "batch"}),
           ("cond", Branch(), (torch.randn(4),), None), ("nested", Nested(), ({"a": torch.randn(2), "b": [torch.randn(2), torch.randn(2)]},), None)]
if hasattr(torch, "uint16"): SAMPLES.append(("types", Types(), (torch.randn(2, 3),), None))
for name, module, args, sizes in SAMPLES:
    if sys.argv[1:] and name not in sys.argv[1:]: continue
    module.eval()
    options = {"dynamic_shapes": ({k: torch.export.Dim(v, min=2, max=512) for k, v in sizes.items()},)} if sizes and hasattr(torch.export, "Dim") else {}
    try:
        with torch.no_grad(): program, want = torch.export.export(module, args, **options), module(*args)
        path = HERE / f"{name}_{RELEASE}.pt2"
        torch.export.save(program, str(path))
    except Exception as e:
        print(f"{RELEASE} does not export {name}: {e}")
        continue
    repack(path)
    np.savez(path.with_suffix(".npz"), **{f"x{i}": array(t) for i, t in enumerate(leaves(args))}, **{f"y{i}": array(t) for i, t in enumerate(leaves(want))})
