"""What all roads share: a PyTorch module becomes the file that a target wants, an engine runs it, and the outputs are compared with PyTorch's.

A road is `travel(target, engine)`. `engine(path)` loads a model and returns a function of {name: array} that returns the outputs in order. Every line that is printed is one
network, fixed or dynamic, in one precision. Exit status 1 where an output is too far from PyTorch's; what `cameo lint` finds no way around is not run, and said.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import nets
import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAMEO = os.environ.get("CAMEO", str(ROOT / "build" / "release" / "cameo"))
PLACE = pathlib.Path(os.environ.get("ROADS", ROOT / "build" / "roads")).resolve()
OUTPUTS = {"detector": "cells", "transformer": "scores"}
# Of the largest number of an output; for int8 the noise, in dB.
TOLERANCE = {"f32": 1e-4, "f16": 2e-2}
LEAST_DB = 15
OPSETS = {"tflite": 20}  # with Gelu whole; LiteRT has no Erf
SIZES = {"fixed": [(1, 32)], "dynamic": [(1, 32), (3, 32), (2, 64)]}  # batch and height of the pictures


def cameo(*words, may_fail=False):
    done = subprocess.run([CAMEO, *map(str, words)], capture_output=True, text=True)
    if done.returncode and not may_fail:
        sys.exit(f"cameo {' '.join(map(str, words))}\n{done.stderr}")
    return done


def exported(net, name, form, target, folder):
    """A module becomes ONNX: traced, then exported; sizes with a name stay free."""
    archive, model = folder / f"{name}.pt", folder / f"{name}.{form}.onnx"
    torch.jit.trace(net, nets.pictures(1)).save(str(archive))
    free = {"fixed": "1,3,32,32", "dynamic": "batch,3,height,width" if name == "detector" else "batch,3,32,32"}[form]
    cameo("export", archive, "-o", model, "--input", f"image=f32[{free}]", "--output-names", OUTPUTS[name], "--opset", OPSETS.get(target, 18))
    return model


def ready(model, target):
    """As the target wants it: `cameo lint --fix` applies the cures. What is left is returned."""
    made = model.with_suffix(f".{target}.onnx")
    report = json.loads(cameo("lint", model, "--target", target, "--fix", made, "--json", may_fail=True).stdout or "{}")
    errors = [f for f in report.get("after", {}).get("findings", []) if f["severity"] == "error"]
    return made, "; ".join(sorted({f["what"] for f in errors}))


def precise(model, precision, name, target, folder):
    """The same in half precision, or in 8 bits measured on 64 pictures."""
    if precision == "f32":
        return model
    made = model.with_suffix(f".{precision}.onnx")
    if precision == "f16":
        cameo("convert", model, made, "--float", "f16", "--keep-io")
    else:
        np.savez(folder / "samples.npz", image=nets.pictures(64).numpy())
        cameo("quantize", model, made, "--calibrate", folder / "samples.npz", "--target", target if target in ("onnxruntime", "openvino") else "generic")
    return made


def judged(got, wanted, precision):
    """How far it is from PyTorch, in words, and whether that is too far."""
    scale = float(np.abs(wanted).max())
    worst = float(np.abs(got - wanted).max())
    if precision == "int8":
        noise = 10 * np.log10(float((wanted ** 2).sum()) / max(float(((got - wanted) ** 2).sum()), 1e-30))
        return f"{noise:.1f} dB", noise < LEAST_DB
    return f"{worst:.1e} of {scale:.1f}", not worst <= TOLERANCE[precision] * scale


def milliseconds(run, feeds):
    if hasattr(run, "ms"):  # measured where it runs
        return run.ms
    times = []
    for _ in range(20):
        start = time.perf_counter()
        run(feeds)
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def one(net, name, form, precision, target, engine, folder):
    made, left = ready(exported(net, name, form, target, folder), target)
    if left:
        return {"outcome": "refused", "what": f"lint: {left}"}
    run = engine(precise(made, precision, name, target, folder))
    differences, wrong = [], False
    for batch, size in SIZES[form]:
        if size != 32 and name == "transformer":
            continue
        image = nets.pictures(batch, size)
        with torch.no_grad():
            wanted = net(image).numpy()
        got = np.asarray(run({"image": image.numpy()})[0], dtype=np.float32)
        if got.shape != wanted.shape and got.size != wanted.size:
            return {"outcome": "failed", "what": f"its output is {got.shape}, PyTorch's {wanted.shape}"}
        text, far = judged(got.reshape(wanted.shape), wanted, precision)
        differences.append(text)
        wrong |= far
    first = nets.pictures(1).numpy()
    return {"outcome": "failed" if wrong else "right", "what": ", ".join(differences), "ms": round(milliseconds(run, {"image": first}), 3)}


def travel(target, engine, precisions=("f32", "f16", "int8"), forms=("fixed", "dynamic"), lints=None):
    """`lints`: the target that lint knows, where that is not the road's name."""
    torch.set_num_threads(1)
    folder = PLACE / target
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in ("detector", "transformer"):
        net = nets.made(name)
        for form in forms:
            for precision in precisions:
                try:
                    row = one(net, name, form, precision, lints or target, engine, folder)
                except Exception as e:
                    row = {"outcome": "failed", "what": f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"[:200]}
                row = {"target": target, "net": name, "form": form, "precision": precision, **row}
                print(json.dumps(row) if "--json" in sys.argv else f"{target} {name} {form} {precision}: {row['outcome']}, {row['what']}" + (f", {row['ms']} ms" if "ms" in row else ""), flush=True)
                failed |= row["outcome"] == "failed"
    sys.exit(failed)
