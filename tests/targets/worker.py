"""Tries models in one engine, in a process of its own: jobs as JSON lines on standard input, outcomes on standard output.

usage: worker.py ENGINE

A job is {"id", "model", "io"}; io is an .npz with in0, in1, ... and out0, out1, ..., and the names of the inputs. Outcomes: right, wrong (another result), load and
run (where it failed). What crashes or hangs is told by who started this process (pool.py).
"""
import json
import os
import sys
import warnings

import numpy as np

TOLERANCE = {"float16": 2e-2, "float64": 1e-4, "float32": 2e-3}


def same(got, wanted, tolerance=None):
    if isinstance(got, tuple):  # an engine that may have changed the order of axes
        whys = [same(g, wanted, tolerance) for g in got]
        return "" if "" in whys else whys[0]
    got = np.asarray(got)
    if got.size == wanted.size and got.shape != wanted.shape and got.squeeze().shape == wanted.squeeze().shape:
        got = got.reshape(wanted.shape)  # engines that drop axes of 1 or scalars
    if got.shape != wanted.shape:
        return f"shape {got.shape}, not {wanted.shape}"
    if wanted.dtype.kind not in "fiub" or not wanted.size:
        return ""
    g, w = got.astype("f8"), wanted.astype("f8")
    equal = (g == w) | (np.isnan(g) & np.isnan(w))
    finite = np.isfinite(w)
    scale = max(1.0, float(np.abs(w[finite]).max(initial=0)))
    error = np.where(equal, 0, np.where(finite & np.isfinite(g), np.abs(g - w), np.inf))
    worst = float(error.max()) / scale
    allowed = (tolerance or TOLERANCE.get(wanted.dtype.name, 0)) if wanted.dtype.kind == "f" else 0
    return "" if worst <= allowed else f"differs by {worst:.3g}"


def tried(engine, job):
    with np.load(job["io"]) as z:
        feeds = {str(n): z[f"in{i}"] for i, n in enumerate(z["names"])}
        wanted = [z[f"out{i}"] for i in range(int(z["outputs"]))]
        loose = bool(z["loose"]) if "loose" in z else False
    try:
        run = engine(job["model"])
    except Exception as e:
        return "load", str(e)
    try:
        got = run(feeds)
    except Exception as e:
        return "run", str(e)
    if len(got) < len(wanted):
        return "wrong", f"{len(got)} outputs, not {len(wanted)}"
    for i, (g, w) in enumerate(zip(got, wanted)):
        if not loose and (why := same(g, w, job.get("tolerance"))):
            return "wrong", f"output {i}: {why}"
    return "right", ""


def main():
    import engines
    engine = engines.ENGINES[sys.argv[1]]
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # engines print
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for line in sys.stdin:
        job = json.loads(line)
        outcome, why = tried(engine, job)
        first = next((part for part in why.splitlines() if part.strip()), "")
        print(json.dumps({"id": job["id"], "outcome": outcome, "why": first[:300]}), file=answers, flush=True)


if __name__ == "__main__":
    main()
