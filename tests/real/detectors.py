#!/usr/bin/env python3
"""Trained detectors to boxes: `cameo prepare --append-nms`, run by onnxruntime and, where it is installed, OpenVINO, beside the packages' pipelines in numpy.

usage: detectors.py REAL [--cameo build/release/cameo]

REAL is the folder that tests/real/run leaves packages in. The least score is set so that some dozens of boxes pass on made-up pictures. Ends with
`N passed, N failed, N skipped`.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
import detectors  # noqa: E402

try:
    import openvino
except ImportError:
    openvino = None


def nudenet(raw):
    """YOLOv8 with 18 classes; boxes of every class suppress each other."""
    rows = raw[0].T
    return detectors.corners(rows[:, :4]), rows[:, 4:]


def ddddocr(raw, side=416):
    """YOLOX as its network gives it: cells of three levels are decoded in the package."""
    cells, strides = [], []
    for stride in (8, 16, 32):
        y, x = np.meshgrid(np.arange(side // stride), np.arange(side // stride), indexing="ij")
        cells.append(np.stack((x, y), -1).reshape(-1, 2))
        strides.append(np.full((cells[-1].shape[0], 1), stride))
    cells, strides = np.concatenate(cells), np.concatenate(strides)
    rows = raw[0]
    boxes = np.concatenate([(rows[:, :2] + cells) * strides, np.exp(rows[:, 2:4]) * strides], 1)
    return detectors.corners(boxes), rows[:, 4:5] * rows[:, 5:]


MODELS = [("nudenet/nudenet/320n.onnx", 320, 1.0, nudenet, True), ("ddddocr/ddddocr/common_det.onnx", 416, 255.0, ddddocr, False)]


def picture(side, seed):
    """Rectangles on a slope."""
    rng = np.random.default_rng(seed)
    out = np.linspace(0.2, 0.8, side, dtype="f4")[None, None, :, None] * np.ones((1, 3, side, side), "f4")
    for _ in range(12):
        y, x, h, w = rng.integers(0, side - 40, 2).tolist() + rng.integers(10, side // 3, 2).tolist()
        out[0, :, y:y + h, x:x + w] = rng.random((3, 1, 1))
    return out


def engines(path):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    yield "onnxruntime", lambda x: session.run(None, {session.get_inputs()[0].name: x})[:3]
    if openvino:
        core = openvino.Core()
        compiled = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        yield "openvino", lambda x: [compiled([x])[o] for o in compiled.outputs][:3]


def same(got, wanted):
    order = np.lexsort((wanted[2], -wanted[1]))
    found = np.lexsort((got[2], -got[1]))
    return len(got[1]) == len(wanted[1]) and np.allclose(got[1][found], wanted[1][order], rtol=1e-3, atol=1e-5) and np.allclose(
        got[0][found], wanted[0][order], rtol=1e-3, atol=0.2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("real", type=pathlib.Path)
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    args = parser.parse_args()
    passed = failed = skipped = 0
    for name, side, scale, parts, agnostic in MODELS:
        path = args.real / name
        if not path.exists():
            print(f"{name}: not there")
            skipped += 1
            continue
        raw = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        for seed in range(3):
            x = picture(side, seed) * scale
            boxes, scores = parts(raw.run(None, {raw.get_inputs()[0].name: x.astype("f4")})[0])
            level = float(np.sort(scores.max(-1))[-60:].mean())
            wanted = detectors.pipeline(boxes, scores, score=level, agnostic=agnostic)
            with tempfile.TemporaryDirectory() as folder:
                out = f"{folder}/out.onnx"
                words = f"score={level:.9g}" + (",agnostic" if agnostic else "")
                done = subprocess.run([args.cameo, "prepare", path, out, "--append-nms", words, "-q"], capture_output=True, text=True)
                for engine, run in engines(out) if not done.returncode else [("prepare", None)]:
                    right = run is not None and same(run(x.astype("f4")), wanted)
                    print(f"{name} picture {seed} {engine}: {len(wanted[1])} boxes, {'equal' if right else 'DIFFERENT ' + done.stderr[:200]}")
                    passed, failed = passed + right, failed + (not right)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
