"""cameo prepare on detectors that end in their heads: decoded inside the model, beside the same in PyTorch and suppression in numpy."""
import json

import numpy as np
import onnxruntime as ort
import pytest
import torch

import detector_heads as h
import detectors as d
from test_prepare import check, run

# name: module, words, the side of the picture, the score that is asked for by quantile, how the pipeline picks
HEADS = {
    "yolov3": (lambda: h.Anchored(squared=False), "head=yolov3", 64, {}),
    "yolov4": (lambda: h.Anchored(h.LATER, squared=False), "head=yolov4", 64, {}),
    "yolov5": (lambda: h.Anchored(), "head=yolov5", 64, {}),
    "yolov5 five axes": (lambda: h.Anchored(layout="five axes"), "head=yolov5", 64, {}),
    "yolov5 channels last": (lambda: h.Anchored(layout="last"), "head=yolov5", 96, {}),
    "yolov7": (lambda: h.Anchored(h.LATER), "head=yolov7", 64, {}),
    "yolov7 own anchors": (lambda: h.Anchored([[(5, 6), (7, 8), (9, 10)], [(11, 12), (13, 14), (15, 16)], [(17, 18), (19, 20), (40, 30)]]),
                           "head=yolov7,anchors=5x6/7x8/9x10/11x12/13x14/15x16/17x18/19x20/40x30", 64, {}),
    "yolov8": (lambda: h.YOLOv8(), "head=yolov8", 64, {}),
    "yolov8 apart": (lambda: h.YOLOv8(apart=True), "head=yolov8", 64, {}),
    "yolov8 apart, probabilities": (lambda: h.YOLOv8(apart=True, sigmoid=True), "head=yolov8", 64, {}),
    "yolov8 one class": (lambda: h.YOLOv8(1), "head=yolov8", 64, {}),
    "yolov6": (h.YOLOv6, "auto", 64, {}),
    "nanodet": (h.NanoDet, "head=nanodet", 64, {}),
    "scrfd": (h.Scrfd, "head=scrfd", 64, {}),
    "fcos": (h.Fcos, "head=fcos", 64, {"best": False}),
    "rtmdet": (h.RTMDet, "head=rtmdet", 64, {"best": False}),
    "retinanet": (h.RetinaNet, "head=retinanet", 128, {"best": False}),
    "retinaface": (h.RetinaFace, "head=retinaface", 64, {}),
    "retinaface logits": (lambda: h.RetinaFace(softmax=False), "head=retinaface", 64, {}),
    "centernet": (h.CenterNet, "head=centernet", 64, {"suppress": False, "best": False}),
    "centernet logits": (lambda: h.CenterNet(sigmoid=False), "head=centernet", 64, {"suppress": False, "best": False}),
    "pp-yoloe": (h.PPYOLOE, "auto", 64, {"best": False}),
    "rt-detr": (h.RTDETR, "auto", 64, {"suppress": False, "best": False}),
}


class Tuple(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        y = self.inner(x)
        return tuple(y) if len(y) > 1 else y[0]


def made(tmp_path, make, side, images=1):
    torch.manual_seed(5)
    model = make().eval()
    x = torch.rand(images, 3, side, side)
    with torch.no_grad():
        boxes, scores = model.decoded(x)
        torch.jit.trace(Tuple(model), x).save(tmp_path / "net.pt")
    return x.numpy(), boxes.numpy(), scores.numpy()


def prepared(cameo, tmp_path, *flags, code=0):
    done = cameo("prepare", tmp_path / "net.pt", tmp_path / "out.onnx", "--ledger", tmp_path / "ledger.json", *flags)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads((tmp_path / "ledger.json").read_text())["ledger"]


@pytest.mark.parametrize("name", HEADS)
def test_heads_become_boxes(cameo, tmp_path, name):
    make, words, side, how = HEADS[name]
    x, boxes, scores = made(tmp_path, make, side)
    level = float(np.quantile(scores[0].max(-1), 0.7))
    wanted = d.pipeline(boxes[0], scores[0], score=level, **how)
    assert len(wanted[1]) > 1
    ledger = prepared(cameo, tmp_path, "--append-nms", f"{words},score={level:.9g}")
    for step in ledger:
        if step["step"] in ("heads", "detections"):
            assert step["checked"] == "equal to plain code on made-up inputs", step
    assert ("head=" in words) == any(s["step"] == "heads" for s in ledger)
    got = run(tmp_path / "out.onnx", x)
    check((got["nms_boxes"], got["nms_scores"], got["nms_classes"]), wanted)


@pytest.mark.parametrize("name", ["yolov5", "yolov8", "nanodet", "fcos"])
def test_any_number_of_images_and_half_precision(cameo, tmp_path, name):
    make, words, side, how = HEADS[name]
    x, boxes, scores = made(tmp_path, make, side, images=3)
    prepared(cameo, tmp_path, "--input", f"x=f32[batch,3,{side},{side}]", "--append-nms", f"{words},form=boxes")
    got = run(tmp_path / "out.onnx", x)
    np.testing.assert_allclose(got["boxes"], boxes, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(got["scores"], scores, rtol=1e-3, atol=1e-4)
    prepared(cameo, tmp_path, "--input", f"x=f32[batch,3,{side},{side}]", "--float", "f16", "--append-nms", f"{words},form=boxes")
    session = ort.InferenceSession(str(tmp_path / "out.onnx"), providers=["CPUExecutionProvider"])
    feed = session.get_inputs()[0]
    half = session.run(None, {feed.name: x.astype("f2" if "16" in feed.type else "f4")})
    assert np.abs(half[1] - scores).max() < 3e-2
    assert np.abs(half[0] - boxes).max() < 2e-2 * np.abs(boxes).max()


@pytest.mark.parametrize("name, words, why", [
    ("yolov5", "auto", "head=yolov5, yolov7, yolov4 or yolov3"),
    ("yolov8 apart", "auto", "head=yolov8"),
    ("yolov8", "auto", "3 classes: head=yolov8"),
    ("scrfd", "auto", "head=scrfd"),
    ("retinaface", "auto", "head=retinaface"),
    ("yolov5", "head=yolov5,anchors=5x6/7x8", "2 anchors"),
    ("fcos", "head=yolov5", "anchors"),
    ("yolov8", "head=scrfd", "does not fit"),
])
def test_what_is_refused_says_what_to_do(cameo, tmp_path, name, words, why):
    make, _, side, _ = HEADS[name]
    made(tmp_path, make, side)
    done = cameo("prepare", tmp_path / "net.pt", tmp_path / "out.onnx", "--append-nms", words)
    assert done.returncode == 1 and why in done.stderr and not (tmp_path / "out.onnx").exists(), done.stderr


def test_words_that_make_no_sense(cameo, tmp_path):
    made(tmp_path, HEADS["yolov5"][0], 64)
    for words, why in (("head=yolo99", "yolov8"), ("anchors=1x2", "without head="), ("head=yolov5,anchors=12", "10x13/16x30")):
        done = cameo("prepare", tmp_path / "net.pt", tmp_path / "out.onnx", "--append-nms", words)
        assert done.returncode == 2 and why in done.stderr, done.stderr
