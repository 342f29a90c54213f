#!/usr/bin/env python3
"""Networks that the package of linger 1.x itself quantizes and exports (PyPI's pylinger 1.1.1), converted with `cameo convert --to-qdq --exact-rounding`.

usage: linger_package.py [--cameo build/release/cameo] [--place build/real/packages] [--only TEXT]

The package is fetched with pip and unpacked, not installed: it asks for PyTorch 1.9. What it misses in a newer one is private to PyTorch's exporter and stands in for
operators that are not used here; its compiled part (sigmoid, tanh, softmax, recurrent layers) is for other Pythons, so networks with those are left out.
Every result has to be that of the package's own modules, number by number, in our engine and in onnxruntime; without --exact-rounding numbers are a step off at ties.
Ends with the line `N passed, N failed, N skipped`.
"""
import argparse
import contextlib
import importlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import warnings
import zipfile
from unittest.mock import MagicMock

import numpy as np
import onnxruntime
import torch
import torch.nn.functional as F
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "pylinger==1.1.1"


def missing(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*args, **kwargs):
        raise RuntimeError(f"{name} is not there")
    return refuse


def fetched(place):
    """The unpacked package's folder; None where it is not available."""
    place.mkdir(parents=True, exist_ok=True)
    wheel = next(place.glob("pylinger-1.1.1*.whl"), None)
    if wheel is None:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(place), PACKAGE], capture_output=True)
        wheel = next(place.glob("pylinger-1.1.1*.whl"), None)
    if wheel is None:
        return None
    folder = place / "pylinger"
    if not folder.exists():
        with zipfile.ZipFile(wheel) as z:
            z.extractall(folder)
    return folder


def imported(folder):
    """linger, whose exporter calls PyTorch's of today."""
    sys.path.insert(0, str(folder))
    sys.modules["lingerext"] = types.ModuleType("lingerext")
    sys.modules["lingerext"].__getattr__ = missing
    sys.modules["prettytable"] = MagicMock()
    for name in ("torch.onnx.symbolic_opset9", "torch.onnx.symbolic_opset11", "torch.onnx.symbolic_helper", "torch.onnx.utils", "torch.onnx"):
        importlib.import_module(name).__getattr__ = missing
    export = torch.onnx.export
    linger = importlib.import_module("linger")

    def today(model, args, f, export_params=True, verbose=False, training=False, input_names=None, output_names=None, *rest):
        export(model, args, f, dynamo=False, input_names=input_names, output_names=output_names, opset_version=12, do_constant_folding=False,
               operator_export_type=torch.onnx.OperatorExportTypes.ONNX_FALLTHROUGH)
    sys.modules["linger.onnx.export"].torch_onnx_export = today
    return linger


class Net(nn.Module):
    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.call = forward

    def forward(self, x):
        return self.call(self, x)


def image():
    return torch.randn(2, 4, 8, 8)


def sequence():
    return torch.randn(2, 4, 12)


def row():
    return torch.randn(3, 16)


def conv(inside=4, outside=8, kernel=3, **options):
    return nn.Conv2d(inside, outside, kernel, **({"padding": kernel // 2} | options))


CASES = {
    "Conv1d": (lambda n, x: n.a(x), sequence, lambda: {"a": nn.Conv1d(4, 6, 3, stride=2, padding=1)}),
    "groups": (lambda n, x: n.a(x), image, lambda: {"a": conv(groups=2)}),
    "depthwise": (lambda n, x: n.b(n.a(x)), image, lambda: {"a": conv(4, 4, groups=4, stride=2), "b": conv(4, 8, 1)}),
    "ConvTranspose2d": (lambda n, x: n.a(x), image, lambda: {"a": nn.ConvTranspose2d(4, 6, 4, stride=2, padding=1)}),
    "BatchNorm2d, relu6": (lambda n, x: F.relu6(n.b(n.a(x))), image, lambda: {"a": conv(), "b": nn.BatchNorm2d(8)}),
    "ReLU6": (lambda n, x: n.b(n.a(x)), image, lambda: {"a": conv(), "b": nn.ReLU6()}),
    "max_pool2d": (lambda n, x: n.b(F.max_pool2d(n.a(x), 2)), image, lambda: {"a": conv(), "b": conv(8, 4, 1)}),
    "AvgPool2d of nine": (lambda n, x: n.b(n.a(x)), image, lambda: {"a": conv(), "b": nn.AvgPool2d(3, 2, 1)}),
    "cat": (lambda n, x: torch.cat([n.a(x), n.b(x)], 1), image, lambda: {"a": conv(), "b": conv(4, 3, 1)}),
    "product": (lambda n, x: n.a(x) * n.b(x), image, lambda: {"a": conv(), "b": conv(4, 8, 1)}),
    "times a number": (lambda n, x: n.a(x) * 0.5, image, lambda: {"a": conv()}),
    "over a number": (lambda n, x: n.a(x) / 2.0, image, lambda: {"a": conv()}),
    "residual": (lambda n, x: F.relu(n.b(n.a(x)) + n.a(x)), image, lambda: {"a": conv(), "b": conv(8, 8)}),
    "clamp": (lambda n, x: torch.clamp(n.a(x), 0, 127 / 128), image, lambda: {"a": conv()}),
    "Linear": (lambda n, x: n.b(F.relu(n.a(x))), row, lambda: {"a": nn.Linear(16, 32), "b": nn.Linear(32, 5)}),
    "bmm": (lambda n, x: torch.bmm(n.a(x), n.b(x).transpose(1, 2)), sequence, lambda: {"a": nn.Conv1d(4, 6, 3, padding=1), "b": nn.Conv1d(4, 6, 1)}),
    "transpose and view": (lambda n, x: n.b(n.a(x).transpose(1, 2).contiguous().view(2, -1)), sequence, lambda: {"a": nn.Conv1d(4, 6, 3, padding=1), "b": nn.Linear(72, 5)}),
    "chunks the other way": (lambda n, x: torch.cat(list(torch.chunk(n.a(x), 2, 1))[::-1], 1), image, lambda: {"a": conv()}),
    "sum": (lambda n, x: n.a(x).sum(), image, lambda: {"a": conv()}),
    "adaptive average": (lambda n, x: F.adaptive_avg_pool2d(n.a(x), 1).flatten(1), image, lambda: {"a": conv()}),
    "interpolate": (lambda n, x: n.b(F.interpolate(n.a(x), scale_factor=2)), image, lambda: {"a": conv(), "b": conv(8, 4, 1)}),
    "a small network": (lambda n, x: n.d(n.c(F.relu(n.b(n.a(x)))).flatten(1)), image,
                        lambda: {"a": conv(), "b": nn.BatchNorm2d(8), "c": nn.AvgPool2d(2), "d": nn.Linear(128, 10)}),
}


def exported(linger, case, folder):
    """The package's own result, and its file."""
    forward, make, parts = case
    torch.manual_seed(1)
    net = linger.init(Net(forward, **parts()))
    net.train()
    for _ in range(12):  # scales are learned
        net(make())
    net.eval().requires_grad_(False)
    x = make()
    result = np.asarray(net(x).detach().numpy())
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(net, x, str(folder / "m.onnx"), input_names=["x"], output_names=["y"], opset_version=12)
    np.savez(folder / "x.npz", x=x.numpy())
    return result


def wrong(cameo, folder, result):
    """Why the converted file is not the package's module; empty where it is."""
    for command in (["convert", "m.onnx", "q.onnx", "--to-qdq", "--exact-rounding"], ["run", "q.onnx", "--inputs", "x.npz", "-o", "y.npz"]):
        done = subprocess.run([cameo, *command], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip().splitlines()[0]
    with np.load(folder / "y.npz") as ours, np.load(folder / "x.npz") as feeds:
        theirs = onnxruntime.InferenceSession(folder / "q.onnx", providers=["CPUExecutionProvider"]).run(None, dict(feeds))[0]
        for name, got in (("ours", ours[ours.files[0]]), ("onnxruntime", theirs)):
            if got.shape != result.shape or not np.array_equal(got, result):
                return f"{name} differs by {np.abs(got - result).max() if got.shape == result.shape else got.shape}"
    return ""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cameo", type=pathlib.Path, default=ROOT / "build/release/cameo")
    p.add_argument("--place", type=pathlib.Path, default=pathlib.Path(os.environ.get("CAMEO_REAL", ROOT / "build/real")) / "packages")
    p.add_argument("--only", default="")
    args = p.parse_args()
    folder = fetched(args.place)
    if folder is None:
        print(f"{PACKAGE} is not available\n0 passed, 0 failed, 1 skipped")
        return 0
    warnings.simplefilter("ignore")
    linger = imported(folder)
    passed = failed = 0
    for name, case in CASES.items():
        if args.only not in name:
            continue
        with tempfile.TemporaryDirectory() as work:
            result = exported(linger, case, pathlib.Path(work))
            why = wrong(args.cameo.resolve(), pathlib.Path(work), result)
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print(f"{name}: {why}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
