#!/usr/bin/env python3
"""Half precision beside onnxruntime's and onnxconverter-common's converters, on the f32 models of ../shared/real-models.tsv, judged in onnxruntime and OpenVINO.

usage: half.py [--cameo build/release/cameo] [--place build/real] [--only TEXT] [--no-peers]

Inputs and outputs stay f32. Prints for every model and converter: whether onnxruntime and OpenVINO load the result, the largest error of an output as a part
of its largest number or of 0.1 (of integers the share that differs), and how many casts the file has. Needs numpy, onnx, onnxruntime and, where they are to be
compared, onnxconverter-common and openvino.
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
    """(loads in onnxruntime, loads in OpenVINO, error, casts)"""
    try:
        outputs = onnx_files.session(str(path)).run(None, feeds)
        off = error(outputs, wanted)
    except Exception:
        off = None
    return off, loads_in_openvino(path), casts(path)


def told(off, second, count):
    return f"{'fails' if off is None else f'{off:8.1e}':>8} {'-' if second is None else 'ov' if second else 'no':>2} {count:5}"


def models(place, only):
    run = importlib.machinery.SourceFileLoader("real_run", str(ROOT / "tests" / "real" / "run")).load_module()
    seen = set()
    for row in run.rows(only):
        if row["format"] != "onnx" or (row["file"].rsplit("/", 1)[-1], row["bytes"]) in seen:
            continue
        seen.add((row["file"].rsplit("/", 1)[-1], row["bytes"]))
        path = run.fetched(row, place)
        if path is not None and is_f32(path):
            yield f"{row['name']}/{row['file'].rsplit('/', 1)[-1]}", path


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    p.add_argument("--place", type=pathlib.Path, default=pathlib.Path(os.environ.get("CAMEO_REAL", ROOT / "build" / "real")))
    p.add_argument("--only", default="")
    p.add_argument("--no-peers", action="store_true")
    args = p.parse_args()
    peers = [] if args.no_peers else [by_onnxruntime, by_common]
    ort.set_default_logger_severity(4)
    print(f"{'error in onnxruntime, loads in OpenVINO, casts':46} {'cameo':>17} {'kept':>5} {'tried':>5} {'s':>5} | {'onnxruntime':>17} | {'onnxconverter-common':>20}")
    right = more = count = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, path in models(args.place, args.only):
            try:
                feeds, wanted = onnx_files.feeds_for(onnx_files.session(str(path)))
            except Exception as e:
                print(f"{name:46.46} {str(e).splitlines()[0][:90]}")
                continue
            count += 1
            start = time.perf_counter()
            try:
                report = by_cameo(args.cameo, path, work / "ours.onnx", work)
            except RuntimeError as e:
                print(f"{name:46.46} {str(e)[:120]}", flush=True)
                continue
            spent = time.perf_counter() - start
            before = loads_in_openvino(path)
            ours = judged(work / "ours.onnx", feeds, wanted)
            if before is False:
                ours = (ours[0], None, ours[2])
            line = f"{name[-46:]:46} {told(*ours)} {len(report['kept']):5} {report['tried']:5} {spent:5.1f}"
            fewest = []
            for peer in peers:
                try:
                    peer(path, work / "peer.onnx")
                    theirs = judged(work / "peer.onnx", feeds, wanted)
                    line += f" | {told(*theirs)}"
                    fewest.append(theirs[2])
                except Exception as e:
                    line += f" | {type(e).__name__:>17.17}"
            right += ours[0] is not None and ours[0] <= 1e-2 and ours[1] is not False
            more += any(ours[2] > c for c in fewest[:1])
            print(line, flush=True)
    print(f"{right} of {count} load everywhere with an error of at most 1e-2; {more} have more casts than onnxruntime's converter writes")


if __name__ == "__main__":
    main()
