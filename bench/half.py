#!/usr/bin/env python3
"""Half precision beside onnxruntime's and onnxconverter-common's converters, on the f32 models of ../shared/real-models.tsv, judged in onnxruntime and OpenVINO.

usage: half.py [--cameo build/release/cameo] [--place build/real] [--only TEXT] [--no-peers] [--record FILE.jsonl] [--again] [--table FILE.md]

Inputs and outputs stay f32. Prints for every model and converter: whether onnxruntime and OpenVINO load the result, the largest error of an output as a part
of its largest number or of 0.1 (of integers the share that differs), and how many casts the file has. Needs numpy, onnx, onnxruntime and, where they are to be
compared, onnxconverter-common and openvino. With --record every model is measured once: a run resumes; --again measures our converter again and keeps what was
found of the others. --table writes what the record holds.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "real"))
import onnx_files  # noqa: E402

GOOD = 1e-2
OPENVINO = importlib.util.find_spec("openvino") is not None


def graphs(graph):
    yield graph
    for node in graph.node:
        for a in node.attribute:
            for inner in ([a.g] if a.HasField("g") else []) + list(a.graphs):
                yield from graphs(inner)


def casts(path):
    model = onnx.load(str(path), load_external_data=False)
    nodes = [n for g in graphs(model.graph) for n in g.node] + [n for f in model.functions for n in f.node]
    return sum(n.op_type == "Cast" for n in nodes)


def is_f32(path):
    model = onnx.load(str(path), load_external_data=False)
    weights = [w for g in graphs(model.graph) for w in g.initializer] + [a.t for g in graphs(model.graph) for n in g.node for a in n.attribute if a.HasField("t")]
    size = lambda kind: sum(int(np.prod(w.dims)) for w in weights if w.data_type == kind)
    return size(onnx.TensorProto.FLOAT) > 0 and size(onnx.TensorProto.FLOAT16) == 0 and size(onnx.TensorProto.INT8) + size(onnx.TensorProto.UINT8) < size(onnx.TensorProto.FLOAT)


def error(got, wanted):
    worst = 0.0
    for g, w in zip(got, wanted):
        if not isinstance(w, np.ndarray) or w.dtype.kind not in "fiub" or not w.size:
            continue
        if g.shape != w.shape:
            return float("inf")
        if w.dtype.kind != "f":
            worst = max(worst, float((g != w).mean()))
            continue
        g, w = g.astype("f8"), w.astype("f8")
        finite = np.isfinite(w)
        largest = np.abs(w[finite]).max(initial=0)
        difference = np.nan_to_num(np.abs(g - w)[finite], nan=np.inf, posinf=np.inf).max(initial=0)
        worst = max(worst, float(difference / max(largest, 0.1)))
    return worst


def by_cameo(cameo, source, out, work):
    done = subprocess.run([cameo, "convert", source, out, "--float", "f16", "--keep-io", "--report", work / "half.json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(next((line for line in done.stderr.splitlines() if line.startswith("error")), done.stderr[:100]))
    return json.loads((work / "half.json").read_text())


def by_onnxruntime(source, out):
    from onnxruntime.transformers.float16 import convert_float_to_float16
    onnx.save(convert_float_to_float16(onnx.load(str(source)), keep_io_types=True), str(out))


def by_common(source, out):
    from onnxconverter_common.float16 import convert_float_to_float16
    onnx.save(convert_float_to_float16(onnx.load(str(source)), keep_io_types=True), str(out))


def loads_in_openvino(path):
    """In a process of its own: some files end it."""
    if not OPENVINO:
        return None
    program = "import openvino, sys; openvino.Core().compile_model(sys.argv[1], 'CPU')"
    return subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True).returncode == 0


def judged(path, feeds, wanted):
    """{error in onnxruntime, or None where it fails; whether OpenVINO loads it; casts}"""
    out = {"error": None, "casts": casts(path)}
    try:
        out["error"] = error(onnx_files.session(str(path)).run(None, feeds), wanted)
    except Exception as e:
        out["why"] = str(e).splitlines()[0][:300]
    out["openvino"] = loads_in_openvino(path)
    return out


def told(r):
    if "casts" not in r:
        return f"{r['why']:17.17}"
    off = "fails" if r["error"] is None else f"{r['error']:.1e}"
    return f"{off:>8} {'-' if r['openvino'] is None else 'ov' if r['openvino'] else 'no':>2} {r['casts']:5}"


def models(place, only):
    run = importlib.machinery.SourceFileLoader("real_run", str(ROOT / "tests" / "real" / "run")).load_module()
    seen = set()
    for row in sorted(run.rows(only), key=lambda row: int(row["bytes"])):  # small ones first: a run that is cut short has measured many
        if row["format"] != "onnx" or (row["file"].rsplit("/", 1)[-1], row["bytes"]) in seen:
            continue
        seen.add((row["file"].rsplit("/", 1)[-1], row["bytes"]))
        path = run.fetched(row, place)
        if path is not None and is_f32(path):
            yield f"{row['name']}/{row['file'].rsplit('/', 1)[-1]}", path


def by_peers(path, feeds, wanted, work):
    found = {}
    for name, peer in (("onnxruntime", by_onnxruntime), ("onnxconverter-common", by_common)):
        try:
            peer(path, work / "peer.onnx")
            found[name] = judged(work / "peer.onnx", feeds, wanted)
        except Exception as e:
            found[name] = {"why": type(e).__name__}
    return found


def measured(name, path, args, known):
    """One row; `known` is an older one of the same model, whose peers are kept."""
    try:
        feeds, wanted = onnx_files.feeds_for(onnx_files.session(str(path)))
    except Exception as e:
        return {"model": name, "skipped": str(e).splitlines()[0][:200]}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        row = {"model": name, "openvino_before": known["openvino_before"] if known else loads_in_openvino(path)}
        start = time.perf_counter()
        try:
            report = by_cameo(args.cameo, path, work / "ours.onnx", work)
            row["ours"] = judged(work / "ours.onnx", feeds, wanted) | {"kept": len(report["kept"]), "tried": report["tried"]}
        except RuntimeError as e:
            row["ours"] = {"why": str(e)[:200]}
        row["ours"]["seconds"] = round(time.perf_counter() - start, 1)
        if row["openvino_before"] is False and "openvino" in row["ours"]:
            row["ours"]["openvino"] = None
        row["peers"] = known["peers"] if known else {} if args.no_peers else by_peers(path, feeds, wanted, work)
    return row


def good(row):
    r = row["ours"]
    return r.get("error") is not None and r["error"] <= GOOD and r["openvino"] is not False


def more_casts(row, peer):
    theirs = row["peers"].get(peer, {}).get("casts")
    return theirs is not None and row["ours"].get("casts", 0) > theirs


def summary(rows):
    ran = [r for r in rows if "ours" in r]
    parts = [f"{sum(map(good, ran))} of {len(ran)} load everywhere with an error of at most {GOOD:g}"]
    for peer in ("onnxruntime", "onnxconverter-common"):
        there = [r for r in ran if peer in r["peers"]]
        right = [r for r in there if (r["peers"][peer].get("error") if r["peers"][peer].get("error") is not None else 1) <= GOOD]
        parts.append(f"of {peer}'s {len(right)} of {len(there)}, and {sum(more_casts(r, peer) for r in there)} of ours have more casts than its file")
    return "; ".join(parts)


def table(rows):
    off = lambda r: "does not run" if r["error"] is None else f"{r['error']:.1e}"
    cell = lambda r: f"{r['why']} | " if "casts" not in r else f"{off(r)} | {r['casts']}"
    lines = ["# Half precision, measured", "",
             "`bench/half.py --record R.jsonl --table FILE`: the f32 models of published packages in f16, their inputs and outputs f32. An error is that of the worst output",
             "in onnxruntime, as a part of its largest number or of 0.1 (of integers the share that differs). *Kept* are the nodes that stay f32.", "",
             f"{summary(rows)}.", "",
             "| model | error | casts | kept | OpenVINO loads it | onnxruntime's: error | casts | onnxconverter-common's: error | casts |", "|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        if "ours" not in r:
            continue
        loads = {None: "nor the f32 file" if r["openvino_before"] is False else "not asked", True: "yes", False: "no"}[r["ours"].get("openvino")]
        peers = " | ".join(cell(r["peers"][p]) if p in r["peers"] else "- | -" for p in ("onnxruntime", "onnxconverter-common"))
        ours = cell(r["ours"])
        lines.append(f"| {r['model']} | {ours} | {r['ours'].get('kept', '')} | {loads} | {peers} |")
    return "\n".join(lines) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    p.add_argument("--place", type=pathlib.Path, default=pathlib.Path(os.environ.get("CAMEO_REAL", ROOT / "build" / "real")))
    p.add_argument("--only", default="")
    p.add_argument("--no-peers", action="store_true")
    p.add_argument("--record", type=pathlib.Path)
    p.add_argument("--again", action="store_true")
    p.add_argument("--table", type=pathlib.Path)
    args = p.parse_args()
    ort.set_default_logger_severity(4)
    rows = {}
    if args.record and args.record.exists():
        rows = {r["model"]: r for r in map(json.loads, args.record.read_text().splitlines())}
    print(f"{'error in onnxruntime, loads in OpenVINO, casts':46} {'cameo':>17} {'kept':>5} {'tried':>5} {'s':>5} | {'onnxruntime':>17} | {'onnxconverter-common':>20}")
    for name, path in models(args.place, args.only):
        known = rows.get(name)
        if known and not args.again:
            continue
        row = rows[name] = measured(name, path, args, known if known and "ours" in known else None)
        if args.record:
            with open(args.record, "a") as f:
                f.write(json.dumps(row) + "\n")
        if "ours" not in row:
            print(f"{name[-46:]:46} {row['skipped'][:90]}", flush=True)
            continue
        r = row["ours"]
        print(" ".join([f"{name[-46:]:46}", told(r), f"{r.get('kept', 0):5} {r.get('tried', 0):5} {r['seconds']:5.1f}", *(f"| {told(p)}" for p in row["peers"].values())]), flush=True)
    print(summary(list(rows.values())))
    if args.table:
        args.table.write_text(table(list(rows.values())))


if __name__ == "__main__":
    main()
