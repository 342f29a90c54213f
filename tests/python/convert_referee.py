"""Opset conversion judged by onnxruntime: the node cases that it passes as they are, converted to other opsets and run.

usage: convert_referee.py CASES_FOLDER [--cameo PATH] [--jobs N] [--opsets 9,11,...]
Prints per opset how many are right, wrong, do not run, and are refused; and lists what is wrong.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def values(folder, prefix, types):
    import numpy as np
    import onnx
    from onnx import numpy_helper
    out = []
    for i, t in enumerate(types):
        path = folder / f"{prefix}_{i}.pb"
        if not path.exists(): return out
        if t.type.WhichOneof("value") != "tensor_type": raise ValueError("not a tensor")
        proto = onnx.TensorProto()
        proto.ParseFromString(path.read_bytes())
        out.append(np.asarray(numpy_helper.to_array(proto)))
    return out


def run(path, feeds):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: f for i, f in zip(session.get_inputs(), feeds)})


def same(got, want, about):
    import numpy as np
    for a, b in zip(got, want):
        if a.shape != b.shape or a.dtype != b.dtype: return False
        if b.dtype.kind in "OSU":
            if list(map(str, a.ravel())) != list(map(str, b.ravel())): return False
        elif not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=max(about["rtol"], 1e-3), atol=max(about["atol"], 1e-5), equal_nan=True): return False
    return True


def work(task):
    folder, name, about, cameo, opsets = task
    import onnx
    model, data = folder / name / "model.onnx", folder / name / "test_data_set_0"
    try:
        graph = onnx.load(model).graph
        feeds, want = values(data, "input", graph.input), values(data, "output", graph.output)
        if not same(run(model, feeds), want, about): return name, {}
    except Exception:
        return name, {}
    verdicts = {}
    with tempfile.TemporaryDirectory() as scratch:
        for opset in opsets:
            target = os.path.join(scratch, "m.onnx")
            done = subprocess.run([cameo, "-q", "convert", str(model), target, "--opset", str(opset)], capture_output=True, text=True)
            if done.returncode != 0:
                verdicts[opset] = "refused" if done.returncode == 1 else "crash"
                continue
            try: verdicts[opset] = "right" if same(run(target, feeds), want, about) else "wrong"
            except Exception: verdicts[opset] = "does not run"
    return name, verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--opsets", default="9,11,13,15,17,18,21")
    args = parser.parse_args()
    opsets = [int(o) for o in args.opsets.split(",")]
    index = json.loads((args.folder / "index.json").read_text())
    tasks = [(args.folder, name, about, args.cameo, opsets) for name, about in index.items()]
    counts, judged = {o: collections.Counter() for o in opsets}, 0
    with multiprocessing.Pool(args.jobs) as pool:
        for name, verdicts in pool.imap_unordered(work, tasks, chunksize=16):
            judged += bool(verdicts)
            for opset, verdict in verdicts.items():
                counts[opset][verdict] += 1
                if verdict in ("wrong", "crash", "does not run"): print(verdict, name, "at", opset, flush=True)
    print(judged, "cases pass in onnxruntime as they are")
    for opset in opsets: print(opset, dict(counts[opset]))


if __name__ == "__main__":
    main()
