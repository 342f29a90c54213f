#!/usr/bin/env python3
"""Time and memory of calibration, beside plain float runs of the same engine and onnxruntime's quantizer.

usage: calibration.py MODEL [--shape 1,3,320,320] [--cameo build/release/cameo] [--samples 16,1000] [--peer]

Samples are made up. What one more sample costs is the difference in processor time of `cameo quantize` with many and few samples, one fixed method
and no search; a float run's time is that of `cameo run`. Memory is the peak of each process, less that of `cameo run`. With --peer the
methods MinMax and Entropy of onnxruntime.quantization on the few samples, and `cameo quantize --method entropy` on the same, checked on one of them.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXED = ["--no-compensation", "--no-equalization", "--no-bias-correction", "--max-float-macs", "0", "--min-db", "0", "--check-samples", "4", "--threads", "1"]
PEER = """
import sys, numpy as np
from onnxruntime import quantization as q
model, out, samples, name, method = sys.argv[1:]
x = np.load(samples, mmap_mode="r")
class Reader(q.CalibrationDataReader):
    def __init__(self):
        self.left = iter(x)
    def get_next(self):
        v = next(self.left, None)
        return None if v is None else {name: np.array(v[None])}
q.quantize_static(model, out, Reader(), per_channel=True, activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8,
                  calibrate_method=getattr(q.CalibrationMethod, method))
"""


def measured(command):
    """Seconds of processor time, of wall clock, and the peak of memory in MB."""
    start = time.perf_counter()  # a process starts with the memory of the one that forks: time is a small one
    done = subprocess.run(["/usr/bin/time", "-f", "%U %S %M", *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    user, system, memory = done.stderr.strip().splitlines()[-1].split()
    return float(user) + float(system), time.perf_counter() - start, int(memory) / 1024


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--shape", default="1,3,320,320")
    p.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    p.add_argument("--samples", default="16,1000")
    p.add_argument("--peer", action="store_true")
    args = p.parse_args()
    few, many = map(int, args.samples.split(","))
    shape = [int(s) for s in args.shape.split(",")]
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        (place / "many").mkdir()
        (place / "few").mkdir()
        x = np.empty((few, *shape[1:]), np.float32)
        for i in range(many):
            one = np.random.default_rng(i).normal(0, 1, (1, *shape[1:])).astype(np.float32)
            np.save(place / "many" / f"{i:05}.npy", one)
            if i < few:
                np.save(place / "few" / f"{i:05}.npy", one)
                x[i] = one[0]
        np.save(place / "few.npy", x)
        np.save(place / "one.npy", x[:1])
        run = [args.cameo, "run", args.model, "--inputs", place / "one.npy", "--threads", "1", "-o", place / "y.npz"]
        once, _, engine = measured([*run, "--repeat", "1"])
        more, _, _ = measured([*run, "--repeat", "41"])
        float_run = (more - once) / 40
        quantize = [args.cameo, "quantize", args.model, place / "q.onnx", *FIXED, "--method", "minmax", "--calibrate"]
        a, _, memory_few = measured([*quantize, place / "few"])
        b, _, memory_many = measured([*quantize, place / "many"])
        each = (b - a) / (many - few)
        print(f"float run {1e3 * float_run:.1f} ms, a sample {1e3 * each:.1f} ms: {each / float_run:.2f} times; memory above `run` ({engine:.0f} MB): "
              f"{memory_few - engine:.0f} MB with {few} samples, {memory_many - engine:.0f} MB with {many}", flush=True)
        if not args.peer:
            return
        inputs = json.loads(subprocess.run([args.cameo, "show", args.model, "--json"], capture_output=True, text=True).stdout)
        name = inputs["inputs"][0]["name"]
        quantize[quantize.index("minmax")] = "entropy"
        quantize[quantize.index("--check-samples") + 1] = "1"  # onnxruntime does not look at what it made
        ours = measured([*quantize, place / "few"])
        print(f"entropy, {few} samples: {ours[0]:.1f} s, {ours[2]:.0f} MB")
        for method in ("MinMax", "Entropy"):
            used = measured([sys.executable, "-c", PEER, args.model, place / "peer.onnx", place / "few.npy", name, method])
            print(f"onnxruntime {method}, {few} samples: {used[0]:.1f} s, {used[2]:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
