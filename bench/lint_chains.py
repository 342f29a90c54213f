#!/usr/bin/env python3
"""`cameo lint` against engines on small random networks (tests/targets/chains.py): where they differ, the network is short enough to show which form of which operator it is.

usage: lint_chains.py [--seed a] [--count 500] [--place build/lint/chains] [--cameo build/release/cameo] [--engines opencv,openvino,ncnn]

Networks are exported by Cameo, every fourth by PyTorch's own exporter, at opsets 11 to 21. What is there already is not made or run again. Printed are the score, networks
that failed without an error of lint, and for each rule how many networks it alone found, of which how many are right.
"""
import argparse
import collections
import contextlib
import io
import logging
import pathlib
import random
import subprocess
import sys
import warnings

import numpy as np

import lint_truth

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "targets"))
import pool  # noqa: E402

OPSETS = (11, 12, 13, 14, 15, 16, 17, 17, 18, 18, 18, 19, 20, 21)


def make(seed, number, place, cameo):
    import chains
    import torch
    stem = place / f"{seed}-{number:05d}"
    if stem.with_suffix(".txt").exists():
        return
    module, x = chains.network(seed, number)
    r = random.Random(f"{seed}.{number}.form")
    opset, by_torch = r.choice(OPSETS), r.random() < 0.25
    model = stem.with_suffix(".onnx")
    with torch.no_grad():
        y = module(x)
        try:
            if by_torch:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    torch.onnx.export(module, (x,), str(model), opset_version=min(opset, 20), dynamo=False, input_names=["x"])
            else:
                archive = stem.with_suffix(".pt")
                torch.jit.trace(module, x, check_trace=False).save(str(archive))
                kind = {torch.float32: "f32", torch.int64: "i64"}[x.dtype]
                subprocess.run([cameo, "export", archive, "-o", model, "--input", f"x={kind}[{','.join(map(str, x.shape))}]", "--opset", str(opset)], capture_output=True, check=True)
                archive.unlink()
            np.savez(stem.with_suffix(".npz"), names=np.array(["x"]), outputs=np.array(1), in0=x.numpy(), out0=y.numpy())
        except Exception as e:  # an operator that the exporter lacks at this opset
            print(stem.name, "not exported:", type(e).__name__, flush=True)
    stem.with_suffix(".txt").write_text(f"{'script' if by_torch else 'cameo'} {opset} {module.text()}")


def named(finding):
    rule = f"{finding['rule']}"
    return f"{rule} {finding['op']}" if rule.endswith((".operator", ".type", ".form")) else rule


def judge(engine, jobs, args):
    outcomes = pool.outcomes(engine, jobs, args.place / f"{engine}.jsonl")
    score, alone = lint_truth.Score(), collections.defaultdict(collections.Counter)
    for job in jobs:
        entry, errors = outcomes[job["id"]], lint_truth.linted(args.cameo, job["model"], engine)
        if errors is None:
            continue
        fails, rules = entry["outcome"] != "right", {named(f) for f in errors}
        score.add(fails, bool(rules))
        if fails and not rules:
            print("missed", pathlib.Path(job["model"]).with_suffix(".txt").read_text(), job["id"], entry["outcome"], entry["why"][:90])
        if len(rules) == 1:
            alone[next(iter(rules))]["fail" if fails else "right"] += 1
    for rule, counts in sorted(alone.items(), key=lambda r: -r[1]["right"]):
        if counts["right"]:
            print(f"found by {rule} only: {counts['right']} right, {counts['fail']} fail")
    print(f"{engine}: {score.all} networks, {score.fail} fail, {score.found} predicted, precision {score.both / max(1, score.found):.1%}, recall {score.both / max(1, score.fail):.1%}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="a")
    parser.add_argument("--count", default=500, type=int)
    parser.add_argument("--place", default=ROOT / "build" / "lint" / "chains", type=pathlib.Path)
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    parser.add_argument("--engines", default="opencv,openvino,ncnn")
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    import torch
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    for number in range(args.count):
        make(args.seed, number, args.place, args.cameo)
    stems = [args.place / f"{args.seed}-{n:05d}" for n in range(args.count)]
    jobs = [{"id": s.name, "model": str(s.with_suffix(".onnx")), "io": str(s.with_suffix(".npz"))} for s in stems if s.with_suffix(".npz").exists()]
    for engine in args.engines.split(","):
        judge(engine, jobs, args)


if __name__ == "__main__":
    main()
