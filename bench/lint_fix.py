#!/usr/bin/env python3
"""What `cameo lint --fix` leaves, target by target: of the models that lint finds errors in, how many have none after it, and whether ONNX Runtime still gives the same numbers.

usage: lint_fix.py [--place build/lint] [--sets third,second] [--real build/real] [--cameo build/release/cameo] [--targets all] [--report] [--left] [--only TEXT]

Models: exports that lint_models.py left in PLACE/SET, and the trained models that tests/real/run left in REAL, up to 24 MB. Outcomes are kept in PLACE/fix.jsonl by the
command's bytes, target and model: a run goes on where the last one stopped. --report puts the counts into docs/tables/lint.json and makes the tables anew; --left
lists what stays.
"""
import argparse
import collections
import datetime
import hashlib
import json
import pathlib
import subprocess

import numpy as np

import lint_table
import lint_truth

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGETS = "onnxruntime onnxruntime-web openvino opencv ncnn tflite tensorrt rknn qnn coreml".split()
TOLERANCE = 5e-3  # of the largest number


def jobs_of(args):
    for name in args.sets.split(","):
        yield from lint_truth.exported(args.place / ("models" if name == "mended" else name))
    yield from lint_truth.trained(args.real, args.place, str(args.cameo), 0, 24 << 20)


def answer(model, io):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    with np.load(io) as z:
        arrays = [z[f"in{i}"] for i in range(len(z["names"]))]
    inputs = session.get_inputs()
    kinds = {"tensor(float)": "f4", "tensor(float16)": "f2", "tensor(double)": "f8", "tensor(int64)": "i8", "tensor(int32)": "i4"}
    return session.run(None, {i.name: a.astype(kinds.get(i.type, a.dtype)) for i, a in zip(inputs, arrays)})


def same(fixed, job):
    """Whether numbers are those of the model as given; ONNX Runtime judges both."""
    try:
        before, after = answer(job["model"], job["io"]), answer(fixed, job["io"])
    except Exception as e:
        return f"not compared: {str(e).splitlines()[0][:120]}"
    for a, b in zip(before, after):
        if a.shape != b.shape:
            return f"shape {b.shape}, not {a.shape}"
        if a.dtype.kind == "f" and a.size:
            a, b = a.astype("f8"), b.astype("f8")
            if not np.array_equal(np.isfinite(a), np.isfinite(b)):
                return "other infinities"
            ok = np.isfinite(a)
            if ok.any() and np.abs(a - b)[ok].max() > TOLERANCE * max(1.0, np.abs(a[ok]).max()):
                return f"differs by {np.abs(a - b)[ok].max():.3g}"
        elif not np.array_equal(a, b):
            return "other whole numbers"
    return ""


known = {}


def found(args, job):
    """Errors of a model by target, of all targets at once."""
    if job["id"] not in known:
        errors = collections.defaultdict(list)
        for f in lint_truth.linted(args.cameo, job["model"], "all") or []:
            errors[f["target"]].append(f)
        known[job["id"]] = errors
    return known[job["id"]]


def tried(args, target, job):
    errors = found(args, job)[target]
    if not errors:
        return {"outcome": "no errors"}
    out = args.place / "fixed" / target / f"{job['id'].replace('/', '_').removesuffix('.onnx')}.onnx"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    with np.load(job["io"]) as z:
        sizes = [f"{n}:{','.join(map(str, z[f'in{i}'].shape))}" for i, n in enumerate(z["names"])]
    command = [args.cameo, "lint", job["model"], "--target", target, "--fix", out, "--json"]
    for shape in sizes:
        command += ["--overwrite-input-shape", shape]
    before = sorted({f"{f['rule']} {f['op']}" for f in errors})
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return {"outcome": "failed", "before": before, "why": "ten minutes"}
    if done.returncode > 1 or not out.exists():
        return {"outcome": "failed", "before": before, "why": (done.stderr.splitlines() or [""])[0][:200]}
    left = [f for f in json.loads(done.stdout)["after"]["findings"] if f["severity"] == "error"]
    entry = {"outcome": "left" if left else "clean", "before": before, "left": sorted({f"{f['rule']} {f['op']}" for f in left}), "numbers": same(out, job)}
    out.unlink()
    return entry


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--place", default=ROOT / "build" / "lint", type=pathlib.Path)
    parser.add_argument("--real", default=ROOT / "build" / "real", type=pathlib.Path)
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo", type=pathlib.Path)
    parser.add_argument("--sets", default="third,second")
    parser.add_argument("--targets", default="all")
    parser.add_argument("--only", default="")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--left", action="store_true")
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    jobs = [j for j in jobs_of(args) if args.only in j["id"]]
    version = hashlib.sha256(args.cameo.read_bytes()).hexdigest()[:12]
    record = args.place / "fix.jsonl"
    done = {(e["command"], e["target"], e["id"]): e for e in map(json.loads, record.read_text().splitlines())} if record.exists() else {}
    section = {"date": datetime.date.today().isoformat(), "models": len(jobs), "scores": [], "fixes": []}
    with open(record, "a") as log:
        for target in TARGETS if args.targets == "all" else args.targets.split(","):
            counts, left = collections.Counter(), collections.Counter()
            for job in jobs:
                key = (version, target, job["id"])
                if key not in done:
                    done[key] = {"command": version, "target": target, "id": job["id"], **tried(args, target, job)}
                    log.write(json.dumps(done[key]) + "\n")
                    log.flush()
                entry = done[key]
                counts[entry["outcome"]] += 1
                counts["changed"] += bool(entry.get("numbers")) and not entry["numbers"].startswith("not compared")
                left.update(entry.get("left", []) or ([entry["why"]] if entry["outcome"] == "failed" else []))
            failing = counts["clean"] + counts["left"] + counts["failed"]
            print(f"{target}: {failing} of {len(jobs)} with errors, {counts['clean']} without any after it, {counts['left']} with some left, {counts['failed']} failed, "
                  f"{counts['changed']} with other numbers", flush=True)
            if args.left:
                print("\n".join(f"  {n} {rule}" for rule, n in left.most_common(25)), flush=True)
            section["fixes"].append({"engine": target, **{k: counts[k] for k in ("clean", "left", "failed", "changed")}})
    if args.report:
        lint_table.record("fix", section)


if __name__ == "__main__":
    main()
