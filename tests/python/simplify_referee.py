"""Generated models simplified by the command and judged by onnxruntime.

usage: tests/python/simplify_referee.py [--count 1000] [--build build/release]
property_tests writes the models. Half of them are smooth and meet every rule; the others have steps, where a last digit
decides, and are simplified with --exact. Outputs must agree for N = 1 and N = 3: closely, and to the last bit with --exact. A model
that onnxruntime does not run before is left out, and so are outputs that have no elements. Ends with a plain line of counts.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ort.set_default_logger_severity(4)


def session(path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs(s, n, seed):
    rng = np.random.default_rng(seed)
    out = {}
    for i in s.get_inputs():
        shape = [d if isinstance(d, int) else n for d in i.shape]
        out[i.name] = (rng.integers(-400, 400, shape) / 100 * rng.choice([0, 1, 1, 1, 1, 1, 1, 10], shape)).astype("float32")
    return out


def alike(want, got, exact):
    if want.shape != got.shape or want.dtype != got.dtype:
        return False
    if exact or want.dtype.kind != "f":
        return np.array_equal(want, got, equal_nan=want.dtype.kind == "f")
    return np.allclose(got, want, rtol=5e-3, atol=5e-3 * max(1.0, float(np.nanmax(np.abs(np.where(np.isfinite(want), want, 0))))), equal_nan=True)


def judge(cameo, before, after):
    """'' when all is well, None when there is nothing to compare, else what is wrong."""
    try:
        old = session(before)
        runs = []
        for n in (1, 3):
            x = inputs(old, n, n)
            try:
                runs.append((n, x, old.run(None, x)))
            except Exception:
                continue  # sizes that do not fit for this N
        if not runs:
            return None
    except Exception:
        return None
    exact = ".steps." in before.name
    made = subprocess.run([cameo, "-q", "simplify", str(before), str(after), *(["--exact"] if exact else [])], capture_output=True, text=True)
    if made.returncode:
        return made.stderr.strip()[:300]
    try:
        new = session(after)
        for n, x, wanted in runs:
            for output, want, got in zip(old.get_outputs(), wanted, new.run([o.name for o in old.get_outputs()], x)):
                if want.size and not alike(want, got, exact):
                    return f"output {output.name} differs with N = {n}"
    except Exception as e:
        return str(e)[:300]
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    args = parser.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{args.build}/tests/property_tests", "--gtest_filter=GeneratedModels*", "--gtest_brief=1"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "CAMEO_WRITE_GRAPHS": folder, "CAMEO_GRAPHS": str(args.count)})
        for before in sorted(pathlib.Path(folder).glob("*.s*.onnx"), key=lambda p: int(p.name.split(".")[0])):
            wrong = judge(f"{args.build}/cameo", before, pathlib.Path(folder) / "after.onnx")
            passed += wrong == ""
            skipped += wrong is None
            failed += bool(wrong)
            if wrong:
                print(f"{before.name}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
