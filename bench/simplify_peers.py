"""Simplified by Cameo, onnxsim, OnnxSlim, onnxoptimizer and onnxscript's optimizer, in one run: nodes, time, bytes, outputs.

usage: bench/simplify_peers.py [--cameo PATH] [--python PEERS_PYTHON] [--out TABLE.md] [--peers a,b] FILE.onnx...
       bench/simplify_peers.py --make DIR [--models a,b]      # torchvision and transformers models by torch's two exporters
The Python of the peers has onnxsim, onnxslim, onnxoptimizer, onnxscript, onnx and onnxruntime. Nodes count bodies and
functions. Ours is the whole process, theirs the call after the import. A result is right when onnxruntime computes the
same as from the input file, within 1e-3, on random signed inputs; results that are wrong do not count as best. Status 1
when one of ours is wrong or has more nodes than the best of theirs.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import onnx_nodes

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ["onnxsim", "onnxslim", "onnxoptimizer", "onnxscript"]


def worker_simplify(peer, source, target):
    import onnx
    if peer == "onnxsim":
        import onnxsim
        call = lambda m: onnxsim.simplify(m)[0]
    elif peer == "onnxslim":
        import onnxslim
        call = onnxslim.slim
    elif peer == "onnxoptimizer":
        import onnxoptimizer
        call = lambda m: onnxoptimizer.optimize(m, onnxoptimizer.get_fuse_and_elimination_passes(), fixed_point=True)
    else:
        import onnxscript.optimizer
        call = onnxscript.optimizer.optimize
    start = time.perf_counter()
    model = onnx.load(source)
    onnx.save(call(model), target)
    print(json.dumps({"seconds": time.perf_counter() - start, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def worker_compare(source, target):
    import numpy as np
    import onnxruntime as ort
    ort.set_default_logger_severity(3)
    a, b = (ort.InferenceSession(p, providers=["CPUExecutionProvider"]) for p in (source, target))
    rng = np.random.default_rng(0)
    worst = 0.0
    for n in (1, 3):
        feed = {}
        for i in a.get_inputs():
            shape = [d if isinstance(d, int) and d > 0 else n for d in i.shape]
            feed[i.name] = (rng.standard_normal(shape) * 2).astype("float32") if i.type == "tensor(float)" else rng.integers(0, 2, shape).astype(
                {"tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(bool)": "bool"}.get(i.type, "int64"))
        for x, y in zip(a.run(None, feed), b.run(None, feed)):
            if x.dtype.kind == "f":
                scale = max(1.0, float(np.nanmax(np.abs(x))) if x.size else 1.0)
                if x.shape != y.shape or not np.allclose(x, y, rtol=1e-3, atol=1e-3 * scale, equal_nan=True):
                    print(json.dumps({"same": False}))
                    return
                worst = max(worst, float(np.nanmax(np.abs(x - y))) / scale if x.size else 0.0)
            elif not np.array_equal(x, y):
                print(json.dumps({"same": False}))
                return
    print(json.dumps({"same": True, "worst": worst}))


def call_worker(python, *arguments, timeout=600):
    try:
        run = subprocess.run([python, __file__, "--worker", *map(str, arguments)], capture_output=True, text=True, timeout=timeout)
        return json.loads(run.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return None


def ours(cameo, source, target):
    start = time.perf_counter()
    run = subprocess.run([cameo, "--json", "simplify", str(source), str(target)], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if run.returncode:
        print(run.stderr.strip()[:500], file=sys.stderr)
        return None
    return {"seconds": seconds, "peak": json.loads(run.stdout.strip().splitlines()[-1])["peak_bytes"]}


def judge(python, cameo, peers, source, folder):
    row = {}
    for who in ["cameo", *peers]:
        target = folder / f"{who}.onnx"
        target.unlink(missing_ok=True)
        made = ours(cameo, source, target) if who == "cameo" else call_worker(python, who, source, target)
        if not made or not target.exists():
            row[who] = None
            continue
        made["nodes"] = onnx_nodes.in_file(target)
        made["bytes"] = sum(p.stat().st_size for p in [target, *folder.glob(target.name + ".*")])
        same = call_worker(python, "compare", source, target)
        made["right"] = bool(same and same["same"])
        row[who] = made
    return row


def make(folder, models):
    sys.path.insert(0, str(ROOT / "bench"))
    import torch
    import node_counts
    for name in models.split(",") if models else node_counts.VISION + node_counts.TEXT:
        model, inputs = node_counts.build(name)
        for dynamic in (False, True):
            target = folder / f"{name}.script.{'dynamic' if dynamic else 'static'}.onnx"
            if target.exists():
                continue
            try:
                with torch.no_grad():
                    torch.onnx.export(model, inputs, str(target), dynamo=False, opset_version=17, input_names=["x"], dynamic_axes={"x": {0: "batch"}} if dynamic else None)
            except Exception as e:
                print(f"{target.name}: {type(e).__name__}: {str(e)[:200]}", file=sys.stderr)


def cell(made, before):
    if made is None:
        return "fails"
    return f"{sum(made['nodes'].values())}{'' if made['right'] else ' WRONG'} {made['seconds'] * 1000:.0f} ms {made['bytes'] / before:.2f}"


def main():
    if "--worker" in sys.argv[1:2]:
        what, *rest = sys.argv[2:]
        return worker_compare(*rest) if what == "compare" else worker_simplify(what, *rest)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--make")
    parser.add_argument("--models")
    parser.add_argument("--out")
    parser.add_argument("--operators", action="store_true", help="which operators the best of the others has fewer of")
    args = parser.parse_args()
    if args.make:
        folder = pathlib.Path(args.make)
        folder.mkdir(parents=True, exist_ok=True)
        return make(folder, args.models)
    peers = args.peers.split(",")
    lines = ["| model | nodes | " + " | ".join(["cameo", *peers]) + " |", "|---" * (len(peers) + 3) + "|"]
    print(lines[0], lines[1], sep="\n")
    bad, ratios = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for source in args.files:
            row = judge(args.python, args.cameo, peers, source, pathlib.Path(scratch))
            before, size = sum(onnx_nodes.in_file(source).values()), os.path.getsize(source)
            best = min((sum(row[p]["nodes"].values()) for p in peers if row[p] and row[p]["right"]), default=before)
            mine = row["cameo"]
            lost = not mine or not mine["right"] or sum(mine["nodes"].values()) > best
            bad += lost
            fastest = min((row[p]["seconds"] for p in peers if row[p]), default=None)
            if mine and fastest:
                ratios.append(fastest / mine["seconds"])
            lines.append(f"| {pathlib.Path(source).name} | {before} | " + " | ".join(cell(row[w], size) for w in ["cameo", *peers]) + (" | LOST |" if lost else " |"))
            print(lines[-1], flush=True)
            if args.operators and lost and mine:
                for p in peers:
                    if row[p] and row[p]["right"] and sum(row[p]["nodes"].values()) == best:
                        a, b = mine["nodes"], row[p]["nodes"]
                        print("    ", p, ", ".join(f"{op} {a[op]}/{b[op]}" for op in sorted(set(a) | set(b)) if a[op] != b[op]), flush=True)
    if ratios:
        lines.append(f"\nEach cell: nodes, time, bytes against the input's. The fastest of the others takes {sorted(ratios)[len(ratios) // 2]:.1f} times as long as ours (median).")
        print(lines[-1])
    if args.out:
        pathlib.Path(args.out).write_text("\n".join(lines) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
