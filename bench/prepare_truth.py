#!/usr/bin/env python3
"""`cameo prepare` against the truth: trained models, prepared for an engine and run there, beside the outputs of the models as they are.

usage: prepare_truth.py [--place build/prepare] [--real build/real] [--cameo build/release/cameo] [--engines onnxruntime,openvino,opencv,ncnn] [--most 20]
                        [--set FOLDER]

Models are those of ../shared/real-models.tsv that tests/real/run left in REAL, at the sizes of made-up inputs; wanted outputs are those of `cameo run`, as in
lint_truth.py; or with --set the exports that lint_models.py left in that folder, evenly picked, and PyTorch's outputs. What lint still finds an error in after it was prepared is listed as left.
"""
import argparse
import itertools
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "targets"), str(ROOT / "bench")]
import pool  # noqa: E402

import lint_truth  # noqa: E402

LARGEST = 12 << 20  # bytes of a model
TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "i64", "int32": "i32", "uint8": "u8", "int8": "i8", "bool": "bool"}


def prepared(cameo, engine, job, out):
    """Exit status of the command, and its last line of errors."""
    with np.load(job["io"]) as z:
        inputs = [f"--input={n}={TYPES[z[f'in{i}'].dtype.name]}[{','.join(map(str, z[f'in{i}'].shape))}]" for i, n in enumerate(z["names"])]
    done = subprocess.run([cameo, "prepare", job["model"], out, "--target", engine, *inputs], capture_output=True, text=True, timeout=900)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
    return done.returncode, errors[0] if errors else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--place", default=ROOT / "build" / "prepare", type=pathlib.Path)
    parser.add_argument("--real", default=ROOT / "build" / "real", type=pathlib.Path)
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    parser.add_argument("--engines", default="onnxruntime,openvino,opencv,ncnn")
    parser.add_argument("--most", default=20, type=int)
    parser.add_argument("--set", type=pathlib.Path)
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    every = list(lint_truth.exported(args.set)) if args.set else []
    jobs = every[:: max(1, len(every) // args.most)][: args.most] if args.set else list(itertools.islice(lint_truth.trained(args.real, args.place, str(args.cameo), 0, LARGEST), args.most))
    for engine in args.engines.split(","):
        (args.place / engine).mkdir(parents=True, exist_ok=True)
        ready, left, refused = [], [], []
        for job in jobs:
            out = args.place / engine / (job["id"].replace("/", "_") + ("" if job["id"].endswith(".onnx") else ".onnx"))
            status, why = prepared(args.cameo, engine, job, out)
            if status > 1 or not out.exists():
                refused.append(f"  refused {job['id']}: {why}")
            elif status:
                left.append(f"  left {job['id']}: {why}")
            else:
                ready.append({**job, "model": str(out)})
        record = args.place / f"{engine}.jsonl"
        record.unlink(missing_ok=True)
        outcomes = pool.outcomes(engine, ready, record, limit=120)
        wrong = [f"  {o['outcome']} {o['id']}: {o['why']}" for o in outcomes.values() if o["outcome"] != "right"]
        print(f"{engine}: {len(jobs)} models, {len(ready)} prepared, {len(ready) - len(wrong)} right, {len(left)} with errors of lint left, {len(refused)} refused")
        print("\n".join(wrong + left + refused), flush=True)


if __name__ == "__main__":
    main()
