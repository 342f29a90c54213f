#!/usr/bin/env python3
"""Weights in few bits of trained models: every method on samples, beside rounding to nearest.

usage: weight_methods.py PICTURES [--speech DIR] [--cameo build/release/cameo] [--place build/real] [--only TEXT] [--samples 16] [--bits 8,4,2] [--blocks 16,32,128]

The models and pictures of quantize.py, those that have products or tables. The first `--samples` inputs calibrate, all others judge. Prints signal to noise of
the worst output in dB, for rtn, search, gptq and awq, as onnxruntime computes the file without its optimisations, and how many weights have which method; ends with how often
a method with samples is below rtn by more than 0.1 dB. Needs numpy, onnxruntime and Pillow.
"""
import collections
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import onnxruntime as ort

from quantize import MODELS, arguments, found

METHODS = ("rtn", "search", "gptq", "awq")


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # else data of products is rounded to bytes, too
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def noise(wanted, got):
    """dB of the worst output of floats."""
    worst = 200.0
    for i, first in enumerate(wanted[0]):
        if first.dtype.kind != "f":
            continue
        signal = sum((w[i].astype("f8") ** 2).sum() for w in wanted)
        wrong = sum(((w[i].astype("f8") - g[i]) ** 2).sum() for w, g in zip(wanted, got))
        if signal > 0 and wrong > 0:
            worst = min(worst, 10 * np.log10(signal / wrong))
    return worst


def quantized(args, source, made, flags):
    report = made.with_suffix(".json")
    done = subprocess.run([args.cameo, "quantize", source, made, "--report", report, "--threads", "1", *flags], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.splitlines()[0])
    return collections.Counter(w["method"] for w in json.loads(report.read_text())["weights"] if w["quantized"])


def judged(args, source, feeds, folder):
    """One row for every number of bits and block size: dB by method. Returns how often samples made it worse, and of how many."""
    samples = folder / "samples.npz"
    known, unknown = feeds[:args.samples], feeds[args.samples:] or feeds
    if len({v.shape for f in known for v in f.values()}) > len(known[0]):
        known = [f for f in known if all(f[k].shape == known[0][k].shape for k in f)]
    np.savez(samples, **{k: np.concatenate([f[k] for f in known]) for k in known[0]})
    whole = session(source)
    wanted = [whole.run(None, f) for f in unknown]
    worse = count = 0
    for bits in args.bits.split(","):
        for block in args.blocks.split(","):
            found_db, used = {}, {}
            for method in METHODS:
                flags = ["--bits", bits, "--block", block, "--method", method] + (["--calibrate", str(samples)] if method in ("gptq", "awq") else [])
                made = folder / "few.onnx"
                try:
                    used[method] = quantized(args, source, made, flags)
                    few = session(made)
                    found_db[method] = noise(wanted, [few.run(None, f) for f in unknown])
                except Exception as e:
                    print(f"    {bits} bits, block {block}, {method}: {str(e).splitlines()[0][:150]}", flush=True)
            if "rtn" not in found_db:
                return worse, count
            for method in ("gptq", "awq"):
                count += method in found_db
                worse += found_db.get(method, 999) < found_db["rtn"] - 0.1
            print(f"    {bits} bits, block {block:>3}: " + ", ".join(f"{m} {found_db[m]:.1f}" for m in METHODS if m in found_db) + f"   {dict(used.get('gptq', {}))}", flush=True)
    return worse, count


def main():
    p = arguments(__doc__)
    p.add_argument("--most", type=int, default=48, help="inputs of a model")
    p.add_argument("--bits", default="8,4,2")
    p.add_argument("--blocks", default="16,32,128")
    args = p.parse_args()
    ort.set_default_logger_severity(4)
    worse = count = 0
    for ending, made in MODELS:
        path = found(args.place, ending) if args.only in ending else None
        if path is None:
            continue
        inputs = session(path).get_inputs()
        shape = inputs[0].shape
        feeds = [x if isinstance(x, dict) else {inputs[0].name: x} for _, x in zip(range(args.most), made(args, shape))]
        print(ending, f"{len(feeds)} inputs", flush=True)
        if feeds:
            with tempfile.TemporaryDirectory() as folder:
                w, c = judged(args, path, feeds, pathlib.Path(folder))
                worse, count = worse + w, count + c
    print(f"below rtn with samples: {worse} of {count}")


if __name__ == "__main__":
    main()
