"""Simplified by Cameo, onnxsim, OnnxSlim, onnxoptimizer and onnxscript's optimizer: nodes, outputs, time, memory, bytes.

usage: bench/simplify_peers.py [--cameo PATH] [--python PEERS_PYTHON] [--results FILE.jsonl] [--out TABLE.md] [--peers a,b] [--operators] FILE.onnx|FOLDER...
       bench/simplify_models.py FOLDER makes the models; `make simplify-table` does both and writes docs/simplify-table.md
The Python of the peers has onnxsim, onnxslim, onnxoptimizer, onnxscript, onnx and onnxruntime. Nodes count bodies and
functions. Ours is the whole process (the middle of five), theirs the call after the import, load and save included. A result is right
when onnxruntime computes the same as from the input file, within 1e-3, on random signed inputs, and when it has no operators of domains that the input
has not; results that are not do not count as best. What the peers did stays in --results, so that a second run only
judges Cameo anew. Status 1 when one of ours is wrong, has more nodes than the best of theirs or changes when simplified again.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import onnx_nodes

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ["onnxsim", "onnxslim", "onnxoptimizer", "onnxscript"]


def peak_bytes():
    """Not getrusage's, which begins with what the parent had at the fork."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


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
    print(json.dumps({"seconds": time.perf_counter() - start, "peak": peak_bytes()}))


def feed_for(session, first, others, largest, rng):
    """Open sizes: `first` for the batch, `others` elsewhere."""
    import numpy as np
    feed = {}
    for i in session.get_inputs():
        fixed_first = i.shape and isinstance(i.shape[0], int)
        shape = [d if isinstance(d, int) and d > 0 else first if k == (1 if fixed_first else 0) else others for k, d in enumerate(i.shape)]
        if "float" in i.type or "double" in i.type:
            feed[i.name] = (rng.standard_normal(shape) * 2).astype({"tensor(float16)": "float16", "tensor(double)": "float64"}.get(i.type, "float32"))
        elif i.name == "sr":
            feed[i.name] = np.full(shape, 16000, "int64")
        else:
            feed[i.name] = rng.integers(0, 2 if "bool" in i.type else largest, shape).astype(
                {"tensor(int32)": "int32", "tensor(bool)": "bool", "tensor(uint8)": "uint8", "tensor(int8)": "int8"}.get(i.type, "int64"))
    return feed


def alike(x, y):
    import numpy as np
    if not hasattr(x, "dtype"):
        return str(x) == str(y) if not isinstance(x, list) else len(x) == len(y) and all(map(alike, x, y))
    if x.shape != y.shape:
        return False
    if x.dtype.kind != "f":
        return np.array_equal(x, y)
    scale = max(1.0, float(np.nanmax(np.abs(x)))) if x.size else 1.0
    return np.allclose(x, y, rtol=1e-3, atol=1e-3 * scale, equal_nan=True)


def worker_compare(source, *targets):
    import numpy as np
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    base = ort.InferenceSession(source, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    sets = []
    for first, others, largest in ((2, 64, 90), (2, 16, 90), (1, 96, 2), (1, 576, 2), (3, 3, 2), (1, 1, 2)):
        feed = feed_for(base, first, others, largest, rng)
        try:
            sets.append((feed, base.run(None, feed)))
        except Exception:
            continue
        if len(sets) == 2:
            break
    names = [o.name for o in base.get_outputs()]
    right = []
    for target in targets:
        try:
            session = ort.InferenceSession(target, providers=["CPUExecutionProvider"])
            right.append(bool(sets) and all(all(map(alike, want, session.run(names, feed))) for feed, want in sets))
        except Exception:
            right.append(False)
    print(json.dumps({"right": right, "sets": len(sets)}))


def call_worker(python, *arguments, timeout=300):
    try:
        run = subprocess.run([python, __file__, "--worker", *map(str, arguments)], capture_output=True, text=True, timeout=timeout)
        return json.loads(run.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return None


def ours(cameo, source, target, times=5):
    """Spawned without Python's own pipes and threads, which take longer than a small model."""
    runs, said = [], str(target) + ".json"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for _ in range(times):
        target.unlink(missing_ok=True)
        start = time.perf_counter()
        pid = os.posix_spawn(cameo, [cameo, "--json", "simplify", str(source), str(target)], os.environ,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, said, flags, 0o600), (os.POSIX_SPAWN_DUP2, 1, 2)])
        status = os.waitpid(pid, 0)[1]
        runs.append(time.perf_counter() - start)
        text = pathlib.Path(said).read_text()
        if status:
            print(text.strip()[:500], file=sys.stderr)
            return None
    os.unlink(said)
    return {"seconds": statistics.median(runs), "peak": json.loads(text.strip().splitlines()[-1])["peak_bytes"]}


def shape_of(path, folder):
    import onnx
    model = onnx.load(path, load_external_data=False)
    return {"nodes": dict(onnx_nodes.in_model(model)), "domains": sorted(onnx_nodes.foreign_domains(model)),
            "opset": [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")],
            "bytes": sum(p.stat().st_size for p in [pathlib.Path(path), *folder.glob(pathlib.Path(path).name + ".*")])}


class Results:
    """One line per model and tool; what is there is not done again."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self.rows[row["model"], row["tool"], row["size"]] = row

    def add(self, row):
        self.rows[row["model"], row["tool"], row["size"]] = row
        if self.path:
            with open(self.path, "a") as out:
                out.write(json.dumps(row) + "\n")


def judge(args, peers, source, folder, results):
    model, size = source.name, source.stat().st_size
    before = shape_of(source, source.parent)
    if args.stored and all((model, who, size) in results.rows for who in ["cameo", *peers]):
        return before, {who: results.rows[model, who, size] for who in ["cameo", *peers]}
    fresh = {}
    timed = results.rows.get((model, "cameo", size), {})
    for who in ["cameo", *peers]:
        if who != "cameo" and (model, who, size) in results.rows:
            continue
        target = folder / f"{who}.onnx"
        for old in folder.glob(target.name + "*"):
            old.unlink()
        made = ours(args.cameo, source, target) if who == "cameo" else call_worker(args.python, who, source, target)
        row = {"model": model, "tool": who, "size": size, "failed": not made or not target.exists()}
        if not row["failed"]:
            row.update(made, **shape_of(target, folder))
            fresh[who] = target
            if who == "cameo" and timed.get("quiet"):
                row.update(seconds=timed["seconds"], quiet=True)
        results.rows[model, who, size] = row
    again = folder / "again.onnx"
    if "cameo" in fresh and ours(args.cameo, fresh["cameo"], again, 1):
        results.rows[model, "cameo", size]["twice"] = sum(shape_of(again, folder)["nodes"].values())
    same = call_worker(args.python, "compare", source, *fresh.values()) or {"right": [False] * len(fresh), "sets": 0}
    for who, right in zip(fresh, same["right"]):
        row = results.rows[model, who, size]
        row["right"] = right and not set(row["domains"]) - set(before["domains"]) and row["opset"] == before["opset"]
        row["wrong"] = "" if row["right"] else "other domain" if right else "not run" if not same["sets"] else "wrong"
    for who in ["cameo", *peers]:
        if who in fresh or results.rows[model, who, size]["failed"]:
            results.add(results.rows[model, who, size])
    return before, {who: results.rows[model, who, size] for who in ["cameo", *peers]}


def retime(args, peers, sources, folder, results):
    """Ours and the fastest of theirs anew, on a machine that does nothing else; as many as there is time for, the others in the next run."""
    end = time.perf_counter() + args.retime
    for source in sources:
        key = (source.name, "cameo", source.stat().st_size)
        rows = [results.rows.get((source.name, p, key[2])) for p in peers]
        rows = [r for r in rows if r and not r["failed"]]
        if key not in results.rows or results.rows[key]["failed"] or results.rows[key].get("quiet") or not rows or time.perf_counter() > end:
            continue
        fastest = min(r["seconds"] for r in rows)
        for row in rows:
            if row["seconds"] <= 1.6 * fastest and (made := call_worker(args.python, row["tool"], source, folder / "retimed.onnx")):
                results.add({**row, "seconds": made["seconds"]})
        results.add({**results.rows[key], "seconds": ours(args.cameo, source, folder / "retimed.onnx")["seconds"], "quiet": True})
    return sum(not r.get("quiet") for r in results.rows.values() if r["tool"] == "cameo")


def total(row):
    return sum(row["nodes"].values())


def cell(row):
    if row["failed"]:
        return "fails"
    return f"{total(row)}{'' if row['right'] else ' (' + row['wrong'] + ')'}"


def ratio(value):
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


class Table:
    def __init__(self, peers):
        self.peers, self.lines, self.bad = peers, [], []
        self.faster, self.quiet, self.memory, self.growth = [], [], [], []
        self.head = ["| model | nodes | " + " | ".join(["cameo", *peers]) + " | ms | fastest other / ours | peak MB | lowest other / ours | bytes |", "|---" * (len(peers) + 8) + "|"]

    def add(self, source, before, row):
        good = [row[p] for p in self.peers if not row[p]["failed"]]
        best = min((total(r) for r in good if r["right"]), default=sum(before["nodes"].values()))
        mine = row["cameo"]
        lost = mine["failed"] or not mine["right"] or total(mine) > best or mine.get("twice", total(mine)) != total(mine)
        start = f"| {source.name.removesuffix('.onnx')} | {sum(before['nodes'].values())} | " + " | ".join(cell(row[w]) for w in row)
        if mine["failed"]:
            self.lines.append(start + " | | | | | |")
        else:
            time_ratio = min((r["seconds"] for r in good), default=0) / mine["seconds"]
            peak_ratio = min((r["peak"] for r in good), default=0) / mine["peak"]
            self.faster.append(time_ratio)
            if mine.get("quiet"):
                self.quiet.append(time_ratio)
            if before["bytes"] > 100e6:
                self.memory.append(peak_ratio)
            self.growth.append(mine["bytes"] / before["bytes"])
            self.lines.append(start + f" | {'' if mine.get('quiet') else '~'}{mine['seconds'] * 1000:.0f} "
                              f"| {ratio(time_ratio)} | {mine['peak'] / 1e6:.0f} | {ratio(peak_ratio)} | {mine['bytes'] / before['bytes']:.3f} |" + (" LOST" if lost else ""))
        if lost:
            self.bad.append(source.name)
        return lost, best

    def text(self):
        out = ["\n".join(self.head + self.lines), "", f"{len(self.lines)} models; {len(self.bad)} lost."]
        if self.faster:
            out.append(f"The fastest of the others takes {statistics.median(self.faster):.1f} times as long as our whole process (median; least {min(self.faster):.1f}, most {max(self.faster):.0f}).")
            if self.quiet and len(self.quiet) < len(self.faster):
                out.append(f"Of the {len(self.quiet)} timed on a machine that did nothing else: {statistics.median(self.quiet):.1f}.")
            out.append(f"The file is at most {max(self.growth):.3f} of the input.")
        if self.memory:
            out.append(f"On {len(self.memory)} models over 100 MB the others' lowest peak memory is at least {min(self.memory):.1f} times ours.")
        return "\n".join(out) + "\n"


def versions(python, peers):
    code = "import importlib.metadata as m, sys; print(', '.join(f'{p} {m.version(p)}' for p in sys.argv[1:]))"
    return subprocess.run([python, "-c", code, *peers, "onnxruntime"], capture_output=True, text=True).stdout.strip()


def main():
    if "--worker" in sys.argv[1:2]:
        what, *rest = sys.argv[2:]
        return worker_compare(*rest) if what == "compare" else worker_simplify(what, *rest)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--results")
    parser.add_argument("--out")
    parser.add_argument("--retime", type=float, metavar="SECONDS", help="only time ours and the fastest of the others anew, for so long")
    parser.add_argument("--stored", action="store_true", help="what --results has of ours stands as well")
    parser.add_argument("--only", default="", help="models whose name has this in it")
    parser.add_argument("--operators", action="store_true", help="which operators the best of the others has fewer of")
    args = parser.parse_args()
    peers = args.peers.split(",")
    results = Results(pathlib.Path(args.results) if args.results else None)
    table = Table(peers)
    sources = [p for f in map(pathlib.Path, args.files) for p in (sorted(f.glob("*.onnx")) if f.is_dir() else [f]) if args.only in p.name]
    with tempfile.TemporaryDirectory() as scratch:
        if args.retime:
            return print("left:", retime(args, peers, sources, pathlib.Path(scratch), results))
        print("\n".join(table.head))
        for source in sources:
            before, row = judge(args, peers, source, pathlib.Path(scratch), results)
            lost, best = table.add(source, before, row)
            print(table.lines[-1], flush=True)
            if args.operators and lost and not row["cameo"]["failed"]:
                for p in peers:
                    if not row[p]["failed"] and row[p]["right"] and total(row[p]) == best:
                        a, b = row["cameo"]["nodes"], row[p]["nodes"]
                        print("    ", p, ", ".join(f"{op} {a.get(op, 0)}/{b.get(op, 0)}" for op in sorted(set(a) | set(b)) if a.get(op, 0) != b.get(op, 0)), flush=True)
    print(table.text()[len("\n".join(table.head + table.lines)):])
    if args.out:
        legend = ("# Simplify against the others\n\n"
                  "Made by `make simplify-table` (`bench/simplify_models.py`, `bench/simplify_peers.py`). Nodes of the result, bodies and functions counted; a result in "
                  "brackets does not count: onnxruntime computes something else from it, or it needs operators of another domain. Ours is the whole process, theirs the call after the import. "
                  f"Bytes are relative to the input. Times with a ~ were measured while other programs ran.\n\nOthers: {versions(args.python, peers)}.\n\n")
        pathlib.Path(args.out).write_text(legend + table.text())
    return 1 if table.bad else 0


if __name__ == "__main__":
    sys.exit(main())
