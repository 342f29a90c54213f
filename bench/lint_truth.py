#!/usr/bin/env python3
"""`cameo lint` against the truth: which of many models an engine loads, runs and gets right, and which lint says it does.

usage: lint_truth.py [--set mended|first|second|third|fourth|fifth|sixth|idioms] [--place build/lint] [--real build/real] [--cameo build/release/cameo]
                     [--engines onnxruntime,openvino,opencv,ncnn,onnxruntime-web,tflite] [--report LABEL] [--only TEXT] [--fix] [--misses] [--recorded]

Models: exports that lint_models.py left in PLACE/models, or PLACE/first and PLACE/second for the held-out sets, and (set mended) the trained models of
../shared/real-models.tsv that tests/real/run left in REAL; those over 24 MB belong to the set second. An engine
is tried in a process of its own (tests/targets/pool.py); outcomes are kept in PLACE/ENGINE.jsonl. Wanted outputs are PyTorch's for exports, and for trained models those of
`cameo run`, where onnxruntime agrees with it or is the one that is tried. --report puts the scores under that label into docs/tables/lint.json, and
makes the tables anew (lint_table.py). --fix also tries `lint --fix` on every model that lint finds errors in. --misses prints where lint and the engine differ.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("CAMEO_SHARED", ROOT.parent / "shared"))
sys.path[:0] = [str(ROOT / "tests" / "targets"), str(ROOT / "tests" / "real")]
import pool  # noqa: E402

import lint_table  # noqa: E402
import onnx_files  # noqa: E402

ENGINES = ("onnxruntime", "onnxruntime-web", "openvino", "opencv", "ncnn", "tflite")
BYTES = {"mended": (0, 24 << 20), "second": (24 << 20, 60 << 20), **dict.fromkeys(("first", "third", "fourth", "fifth", "sixth", "idioms"), (0, 0))}  # of the trained models of a set
RANDOM = {"transformers_vit_mae"}  # draws random numbers: no two runs agree
NARROW = 8e-2  # of models in half precision or 8 bits: a number that falls on the other side of a rounding is a whole level away, and goes on through the layers
TOLERANCE = 5e-3  # of the largest number: rounding through whole models, some of them in 8 bits


def trained(real, place, cameo, least, most):
    """Trained models, with made-up inputs and what they give."""
    with open(SHARED / "real-models.tsv", newline="") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t") if r["format"] == "onnx"]
    for row in rows:
        path = real / row["name"] / row["file"]
        if not path.exists() or not least < path.stat().st_size <= most:
            continue
        io = place / "io" / (f"{row['name']}_{row['file']}".replace("/", "_") + ".npz")
        if not io.exists() and not record_io(path, io, cameo):
            continue
        yield {"id": f"{row['name']}/{path.name}", "model": str(path), "io": str(io), "kind": "trained", "tolerance": TOLERANCE}


def record_io(path, io, cameo):
    io.parent.mkdir(parents=True, exist_ok=True)
    failed = io.with_suffix(".failed")
    if failed.exists():
        return False
    try:
        session = onnx_files.session(str(path))
        feeds, wanted = onnx_files.feeds_for(session)
        if any(not isinstance(a, np.ndarray) or a.dtype.kind not in "fiub" for a in [*feeds.values(), *wanted]):
            raise ValueError("strings or sequences")
        np.savez(io.with_suffix(".in.npz"), **feeds)
        done = subprocess.run([cameo, "run", path, "--inputs", io.with_suffix(".in.npz"), "-o", io.with_suffix(".out.npz")], capture_output=True, text=True, timeout=300)
        if not done.returncode:
            with np.load(io.with_suffix(".out.npz")) as z:
                wanted = [z[o.name] for o in session.get_outputs()]
        np.savez(io, names=np.array(list(feeds), dtype=str), outputs=np.array(len(wanted)), **{f"in{i}": a for i, a in enumerate(feeds.values())},
                 **{f"out{i}": np.asarray(a) for i, a in enumerate(wanted)})
    except Exception as e:
        failed.write_text(str(e))
        return False
    return True


def exported(folder):
    """Of every architecture fixed sizes at opset 18, and one of the two other forms, by turns; from the third set on all that there is."""
    if folder.name in ("third", "fourth", "fifth", "sixth", "idioms"):
        for model in sorted(folder.glob("*.onnx")):
            if model.stem.split(".")[0] in RANDOM:
                continue
            if model.with_suffix(".npz").exists():
                narrow = model.stem.rsplit(".", 1)[-1].startswith(("half", "int8"))
                yield {"id": model.stem, "model": str(model), "io": str(model.with_suffix(".npz")), "kind": "export", "tolerance": NARROW if narrow else TOLERANCE}
        return
    for turn, first in enumerate(sorted(folder.glob("*.fixed18.onnx"))):
        for form in ("fixed18", ("batch18", "fixed13")[turn % 2]):
            model = first.with_name(first.name.replace("fixed18", form))
            if not model.with_suffix(".npz").exists():
                continue
            yield {"id": model.stem, "model": str(model), "io": str(model.with_suffix(".npz")), "kind": "export", "tolerance": TOLERANCE}


def linted(cameo, model, target):
    done = subprocess.run([cameo, "lint", model, "--target", target, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return None
    return [f for f in json.loads(done.stdout)["findings"] if f["severity"] == "error"]


class Score:
    def __init__(self):
        self.fail, self.found, self.both, self.all = 0, 0, 0, 0

    def add(self, fails, predicted):
        self.all += 1
        self.fail += fails
        self.found += predicted
        self.both += fails and predicted


def fixed(args, engine, job):
    """How `lint --fix` leaves a model: "clean" without errors, "left" with some, "failed"; and where it was written."""
    out = args.place / "fixed" / engine / f"{job['id'].replace('/', '_')}.onnx"
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.exists():  # by an earlier run
        return ("left" if linted(args.cameo, out, engine) else "clean"), out
    if args.recorded:
        return None, None
    with np.load(job["io"]) as z:
        sizes = [f"{n}:{','.join(map(str, z[f'in{i}'].shape))}" for i, n in enumerate(z["names"])]
    command = [args.cameo, "lint", job["model"], "--target", engine, "--fix", out, "--json"]
    for shape in sizes:
        command += ["--overwrite-input-shape", shape]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode > 1 or not out.exists():
        return "failed", None
    return ("clean" if done.returncode == 0 else "left"), out


def judge(args, engine, jobs):
    record = args.place / f"{args.set}.{engine}.jsonl"
    if args.recorded:
        there = {json.loads(line)["id"] for line in record.read_text().splitlines()}
        jobs = [j for j in jobs if j["id"] in there]
    outcomes = pool.outcomes(engine, jobs, record, limit=120)
    scores = {"export": Score(), "trained": Score()}
    cures, lines = {"clean": 0, "left": 0, "failed": 0}, []
    for job in jobs:
        entry, errors = outcomes[job["id"]], linted(args.cameo, job["model"], engine)
        if errors is None:
            continue
        fails = entry["outcome"] != "right"
        scores[job["kind"]].add(fails, bool(errors))
        if fails != bool(errors):
            why = entry["why"][:150] if fails else "; ".join(sorted({f"{f['rule']} {f['op']}: {f['what']}" for f in errors})[:4])
            lines.append(f"{engine} {'missed' if fails else 'false alarm'} {job['id']} {entry['outcome']}: {why}")
        if args.fix and errors:
            how, out = fixed(args, engine, job)
            if how is None:
                continue
            cures[how] += 1
            if how != "clean" and args.misses:
                left = linted(args.cameo, out, engine) if out else []
                lines.append(f"{engine} fix {how} {job['id']}: " + "; ".join(sorted({f"{f['rule']} {f['op']}" for f in left})[:5]))
    return scores, cures, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--place", default=ROOT / "build" / "lint", type=pathlib.Path)
    parser.add_argument("--real", default=ROOT / "build" / "real", type=pathlib.Path)
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--set", default="mended", choices=BYTES)
    parser.add_argument("--report", metavar="LABEL")
    parser.add_argument("--only", default="")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--recorded", action="store_true", help="only models that an engine was tried on already")
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    jobs = [*exported(args.place / ("models" if args.set == "mended" else args.set)), *trained(args.real, args.place, args.cameo, *BYTES[args.set])]
    jobs = [j for j in jobs if args.only in j["id"]]
    print(f"{len(jobs)} models", flush=True)
    import measure
    args.versions = {e: measure.version_of(e) for e in args.engines.split(",")}
    results = {}
    for engine in args.engines.split(","):
        results[engine] = judge(args, engine, jobs)
        if args.misses:
            print("\n".join(results[engine][2]), flush=True)
    section = {"date": datetime.date.today().isoformat(), "scores": [], "fixes": []}
    for engine, (scores, cures, _) in results.items():
        for kind, score in scores.items():
            if score.all:
                section["scores"].append({"engine": engine, "version": args.versions[engine], "kind": kind, **vars(score)})
        if args.fix and sum(cures.values()):
            section["fixes"].append({"engine": engine, **cures})
    print(lint_table.scores_text(section, "en"))
    if args.report:
        lint_table.record(args.report, section)


if __name__ == "__main__":
    main()
