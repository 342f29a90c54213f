#!/usr/bin/env python3
"""Dynamic quantization beside onnxruntime.quantization.quantize_dynamic, on the f32 models of ../shared/real-models.tsv, judged in onnxruntime.

usage: dynamic.py [--cameo build/release/cameo] [--place build/real] [--only TEXT]

Prints for every model and quantizer: whether onnxruntime loads and runs the result, the largest error of an output as a part of its largest number or of 0.1
(of integers the share that differs), and the size of the file as a part of the float one.
"""
import argparse
import functools
import os
import pathlib
import subprocess
import tempfile

import onnxruntime as ort

from half import ROOT, error, models, onnx_files


def judged(path, source, feeds, wanted):
    try:
        off = error(onnx_files.session(str(path)).run(None, feeds), wanted)
        return f"{off:8.1e} {100 * path.stat().st_size / source.stat().st_size:5.0f} %", off
    except Exception:
        return f"{'fails':>8} {'':7}", None


def by_cameo(cameo, source, out):
    done = subprocess.run([cameo, "quantize", source, out, "--dynamic"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(next((line for line in done.stderr.splitlines() if line.startswith("error")), ""))


def by_onnxruntime(source, out):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(str(source), str(out), per_channel=True, weight_type=QuantType.QInt8)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    p.add_argument("--place", type=pathlib.Path, default=pathlib.Path(os.environ.get("CAMEO_REAL", ROOT / "build" / "real")))
    p.add_argument("--only", default="")
    args = p.parse_args()
    ort.set_default_logger_severity(4)
    count, loads = 0, [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "q.onnx"
        for name, path in models(args.place, args.only):
            try:
                feeds, wanted = onnx_files.feeds_for(onnx_files.session(str(path)))
            except Exception:
                continue
            count += 1
            line = f"{name[-46:]:46}"
            for i, quantizer in enumerate((functools.partial(by_cameo, args.cameo), by_onnxruntime)):
                out.unlink(missing_ok=True)
                try:
                    quantizer(path, out)
                    text, off = judged(out, path, feeds, wanted)
                    loads[i] += off is not None
                except Exception as e:
                    text = f"{str(e).splitlines()[0] if str(e) else type(e).__name__:.40}"
                line += f" | {text}"
            print(line, flush=True)
    print(f"of {count} models onnxruntime runs {loads[0]} of cameo's and {loads[1]} of onnxruntime.quantization's")


if __name__ == "__main__":
    main()
