#!/usr/bin/env python3
"""Opset conversion judged by onnxruntime: the node cases that it passes as they are, converted to other opsets and run.

  python tests/python/convert_referee.py [CASES] [--cameo PATH] [--opsets 9,11,...] [--filter TEXT] [--sample N] [--again]

Each case is converted to each opset, from there back up to its own and on to the newest that onnxruntime knows; all
three must keep the outputs. A pair (case, opset) whose converted model holds the same operators is a re-encoding; in
all others the target lacks the operator, one of its types or this use of it, and there refusals count against us.
Where onnxruntime lacks an operator at that opset which the model had before, the pair is not judged.
Exit status 1: something is wrong, does not run or crashes, or fewer than 80 % of those pairs are converted and right.

Results are kept in build/release/referee, per version of the command: a run that was stopped goes on where it was.
"""
import argparse
import collections
import hashlib
import json
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPSETS = [9, 11, 13, 15, 17, 18, 21]
BAD = ("wrong", "does not run", "crash")


def session(model):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def newest_opset():
    """The newest opset that onnxruntime takes."""
    from onnx import TensorProto, helper
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [value("x")], [value("y")])
    for opset in range(40, 20, -1):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        try:
            session(model.SerializeToString())
            return opset
        except Exception:
            continue
    raise RuntimeError("onnxruntime takes no opset from 21 to 40")


def value(path, kind):
    """One recorded value: an array, or a list of them."""
    import numpy as np
    import onnx
    from onnx import numpy_helper
    raw = path.read_bytes()
    what = kind.WhichOneof("value")
    if what == "optional_type":
        proto = onnx.OptionalProto.FromString(raw)
        return numpy_helper.to_optional(proto)
    if what == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(raw))
    if what != "tensor_type":
        raise ValueError("neither a tensor nor a sequence")
    return np.asarray(numpy_helper.to_array(onnx.TensorProto.FromString(raw)))


def values(folder, prefix, infos):
    return [value(folder / f"{prefix}_{i}.pb", v.type) for i, v in enumerate(infos) if (folder / f"{prefix}_{i}.pb").exists()]


def run(model, feeds):
    s = session(model)
    return s.run(None, {i.name: f for i, f in zip(s.get_inputs(), feeds)})


def same(got, want, about):
    import numpy as np
    if isinstance(want, (list, tuple)) or want is None:
        return (got is None) == (want is None) and (want is None or len(got) == len(want) and all(same(a, b, about) for a, b in zip(got, want)))
    got = np.asarray(got)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.dtype.kind in "OSU":
        return list(map(str, got.ravel())) == list(map(str, want.ravel()))
    if want.dtype.kind in "iub":  # in their own type: float64 holds no 64-bit integers
        return np.array_equal(got, want) or bool(np.all(np.abs(got.astype(np.float64) - want.astype(np.float64)) <= about["atol"]))
    return np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=max(about["rtol"], 1e-3), atol=max(about["atol"], 1e-5), equal_nan=True)


def operators(graph):
    out = []
    for node in graph.node:
        if node.op_type != "Constant":
            out.append(node.op_type)
        for a in node.attribute:
            for body in list(a.graphs) + ([a.g] if a.HasField("g") else []):
                out += operators(body)
    return sorted(out)


def reason(stderr):
    """The first finding of a refusal, in one line."""
    lines = [line.strip() for line in stderr.splitlines()]
    what = next((line for line in lines if line.startswith("error[")), "error")
    because = next((line for line in lines if line.startswith("= because:")), "")
    operator = re.sub(r"^error\[[^]]*\]: (\S+).*", r"\1", what)
    return f"{operator}: {because[len('= because: '):] or what}"


class Case:
    def __init__(self, folder, name, about, cameo):
        import onnx
        self.cameo, self.about, self.path = cameo, about, str(folder / name / "model.onnx")
        self.model = onnx.load(self.path)
        data = folder / name / "test_data_set_0"
        self.feeds, self.want = values(data, "input", self.model.graph.input), values(data, "output", self.model.graph.output)
        self.opset = next((o.version for o in self.model.opset_import if o.domain in ("", "ai.onnx")), None)

    def passes(self, path):
        return same(run(path, self.feeds), self.want, self.about)

    def convert(self, source, target, opset):
        """(verdict, reason) of one conversion, judged by running the result."""
        import onnx
        try:
            done = subprocess.run([self.cameo, "-q", "convert", source, target, "--opset", str(opset)], capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "crash", "over 300 seconds"
        if done.returncode == 1:
            return "refused", reason(done.stderr)
        if done.returncode != 0:
            return "crash", f"status {done.returncode}: {reason(done.stderr)}"
        try:
            return ("right", "") if self.passes(target) else ("wrong", "")
        except Exception as e:
            missing = re.search(r"Could not find an implementation for (\w+)\(", str(e))
            if missing and missing[1] in operators(onnx.load(source).graph):
                return "not judged", f"onnxruntime has no {missing[1]} at opset {opset}"
            return "does not run", " ".join(str(e).split())[:300]


def work(task):
    import onnx
    folder, name, about, cameo, opsets, newest = task
    try:
        case = Case(folder, name, about, cameo)
        if case.opset is None or not case.passes(case.path):
            return name, None
    except Exception:
        return name, None
    verdicts = {}
    with tempfile.TemporaryDirectory() as scratch:
        there, back = f"{scratch}/there.onnx", f"{scratch}/back.onnx"
        for opset in opsets:
            verdict, why = case.convert(case.path, there, opset)
            row = verdicts[opset] = {"verdict": verdict, "why": why}
            if verdict in ("refused", "crash", "not judged"):
                row["lacking"] = verdict != "not judged"
                continue
            row["lacking"] = operators(onnx.load(there).graph) != operators(case.model.graph)
            for up in ("own", "newest"):
                target = case.opset if up == "own" else newest
                if opset < target <= newest:
                    row[up], row[up + " why"] = case.convert(there, back, target)
    return name, verdicts


def finished(path):
    if not path.exists():
        return {}
    out = {}
    for line in path.read_text().splitlines():
        try:
            name, verdicts = json.loads(line)
            out[name] = verdicts
        except ValueError:  # the line at which the last run was stopped
            continue
    return out


def judge(tasks, jobs, state, again):
    """All verdicts, by case; those of an earlier run of the same command are taken from `state`."""
    if again:
        state.unlink(missing_ok=True)
    done = finished(state)
    todo = [t for t in tasks if t[1] not in done]
    state.parent.mkdir(parents=True, exist_ok=True)
    with multiprocessing.Pool(jobs) as pool, state.open("a") as log:
        for count, (name, verdicts) in enumerate(pool.imap_unordered(work, todo, chunksize=4), 1):
            done[name] = json.loads(json.dumps(verdicts))
            log.write(json.dumps([name, verdicts]) + "\n")
            log.flush()
            if sys.stderr.isatty() or count % 200 == 0:
                print(f"\r{count} of {len(todo)} cases", end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
    return {t[1]: done[t[1]] for t in tasks}


def tell(verdicts, opsets):
    """Prints the tables; gives the number of bad verdicts and the smallest share of the lacking pairs that are right."""
    judged = {name: rows for name, rows in verdicts.items() if rows}
    bad, reasons, shares = 0, collections.defaultdict(list), []
    for name, rows in sorted(judged.items()):
        for opset, row in rows.items():
            for what, verdict in [("to", row["verdict"]), ("back to its own from", row.get("own")), ("up to the newest from", row.get("newest"))]:
                if verdict in BAD or (verdict == "refused" and what != "to"):
                    bad += 1
                    print(f"{verdict}: {name} {what} {opset}: {row['why'] if what == 'to' else row['own why'] if 'own' in what else row['newest why']}")
            if row["verdict"] == "refused":
                reasons[row["why"]].append(f"{name}@{opset}")
    print("\nrefused, by reason:")
    for why, pairs in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"  {len(pairs):4} {why}   ({pairs[0]})")
    print(f"\n{len(judged)} of {len(verdicts)} cases pass in onnxruntime as they are\n")
    print("opset   right  refused    bad   | back to own: right   to newest: right |  target lacks it: pairs, converted and right")
    total = collections.Counter()
    for opset in map(str, opsets):
        rows = [r[opset] for r in judged.values()]
        lacking = [r for r in rows if r["lacking"]]
        c = collections.Counter(right=sum(r["verdict"] == "right" for r in rows), refused=sum(r["verdict"] == "refused" for r in rows),
                                bad=sum(r["verdict"] in BAD for r in rows), unjudged=sum("not judged" in (r["verdict"], r.get("own"), r.get("newest")) for r in rows),
                                own=sum(r.get("own") == "right" for r in rows), owns=sum(r.get("own", "not judged") != "not judged" for r in rows),
                                newest=sum(r.get("newest") == "right" for r in rows), newests=sum(r.get("newest", "not judged") != "not judged" for r in rows),
                                lacking=len(lacking), made=sum(r["verdict"] == "right" for r in lacking))
        total += c
        shares.append(line(opset, c))
    shares.append(line("all", total))
    if total["unjudged"]:
        print(f"{total['unjudged']} pairs not judged in one direction: onnxruntime lacks the operator at that opset")
    return bad, min(shares)


def line(name, c):
    share = c["made"] / c["lacking"] if c["lacking"] else 1.0
    ups = f"{c['own']} of {c['owns']}", f"{c['newest']} of {c['newests']}"
    print(f"{name:>5} {c['right']:7} {c['refused']:8} {c['bad']:6}   | {ups[0]:>18}   {ups[1]:>16} | {c['lacking']:6} {c['made']:6}  {100 * share:5.1f} %")
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "build/release/conformance/onnx-node-tests")
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--opsets", default="")
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--sample", type=int, default=1, help="only every Nth case")
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    args = parser.parse_args()
    newest = newest_opset()
    opsets = [int(o) for o in args.opsets.split(",")] if args.opsets else OPSETS + [newest]
    index = json.loads((args.folder / "index.json").read_text())
    names = [n for n in sorted(index) if args.filter in n][:: args.sample]
    tasks = [(args.folder, n, index[n], args.cameo, opsets, newest) for n in names]
    version = hashlib.sha256(pathlib.Path(args.cameo).read_bytes() + pathlib.Path(__file__).read_bytes() + repr(opsets).encode()).hexdigest()[:16]
    verdicts = judge(tasks, args.jobs, ROOT / "build/release/referee" / f"{version}.jsonl", args.again)
    bad, share = tell(verdicts, opsets)
    print(f"\n{bad} bad, {100 * share:.1f} % at the worst opset")
    return 1 if bad or share < 0.8 else 0


if __name__ == "__main__":
    sys.exit(main())
