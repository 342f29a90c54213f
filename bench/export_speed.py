"""Cameo's whole process against the torch.onnx.export call alone, in one run.

usage: bench/export_speed.py [--cameo PATH] [--models a,b] [--repeat N]
Needs torch, onnxscript, torchvision (its Python half is enough). Prints times and the ratios peer / Cameo.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "torch"))


def timed(call, repeat):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--models", default="resnet18,mobilenet_v3_large,swin_t")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    import torch
    from models import import_torchvision
    tv = import_torchvision()
    print("| model | Cameo, whole process | cp of the archive | dynamo=False | ratio | dynamo=True | ratio |\n|---|---|---|---|---|---|---|")
    for name in args.models.split(","):
        model, x = tv.models.get_model(name, weights=None).eval(), torch.randn(1, 3, 224, 224)
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            path = lambda f: os.path.join(folder, f)
            torch.jit.trace(model, x).save(path("m.pt"))
            ours = timed(lambda: subprocess.run([args.cameo, "-q", "export", path("m.pt"), "-o", path("ours.onnx")], check=True), args.repeat)
            copy = timed(lambda: shutil.copyfile(path("m.pt"), path("copy.pt")), args.repeat)
            script = timed(lambda: torch.onnx.export(model, (x,), path("a.onnx"), dynamo=False, opset_version=18), 1)
            dynamo = timed(lambda: torch.onnx.export(model, (x,), path("b.onnx"), dynamo=True, verbose=False), 1)
        print(f"| {name} | {ours * 1000:.0f} ms | {copy * 1000:.0f} ms | {script:.2f} s | {script / ours:.0f} | {dynamo:.2f} s | {dynamo / ours:.0f} |", flush=True)


main()
