"""cameo prepare: detectors from PyTorch to boxes, pictures as input, steps, each compared with a pipeline in numpy."""
import json

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch

import detectors as d

try:
    import openvino
except ImportError:  # a second engine, where it is installed
    openvino = None

SIDE = 64
# name: module, (boxes as corners in pixels, scores) of one image from its outputs, what the pipeline does otherwise
FAMILIES = {
    "yolov3": (d.YOLOv3, lambda o: (d.corners(o[0][:, :4]), o[0][:, 4:5] * o[0][:, 5:]), {}),
    "yolov4": (d.YOLOv4, lambda o: (o[0][:, 0] * SIDE, o[1]), {}),
    "yolov5": (d.YOLOv5, lambda o: (d.corners(o[0][:, :4]), o[0][:, 4:5] * o[0][:, 5:]), {}),
    "yolov5 with heads": (d.YOLOv5Heads, lambda o: (d.corners(o[0][:, :4]), o[0][:, 4:5] * o[0][:, 5:]), {}),
    "yolov8": (d.YOLOv8, lambda o: (d.corners(o[0].T[:, :4]), o[0].T[:, 4:]), {}),
    "yolov8 one class": (lambda: d.YOLOv8(1), lambda o: (d.corners(o[0].T[:, :4]), o[0].T[:, 4:]), {}),
    "yolov8 as many boxes as columns": (lambda: d.YOLOv8(80), lambda o: (d.corners(o[0].T[:, :4]), o[0].T[:, 4:]), {}),
    "yolox": (d.YOLOX, lambda o: (d.corners(o[0][:, :4]), o[0][:, 4:5] * o[0][:, 5:]), {}),
    "ssd": (d.SSD, lambda o: (o[0], o[1][:, 1:]), {"best": False}),
    "retinanet": (d.RetinaNet, lambda o: (o[0], o[1]), {"best": False}),
    "detr": (d.DETR, lambda o: (d.corners(o[1]) * SIDE, d.softmax(o[0])[:, :-1]), {"suppress": False}),
}
WORDS = {"yolov4": "normalised,"}


def archive(tmp_path, make, images=1, side=SIDE):
    torch.manual_seed(3)
    model = make().eval()
    x = torch.rand(images, 3, side, side)
    with torch.no_grad():
        torch.jit.trace(model, x).save(tmp_path / "net.pt")
        wanted = model(x)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    return x.numpy(), [w.numpy() for w in wanted]


def prepared(cameo, tmp_path, *flags, source="net.pt", code=0):
    done = cameo("prepare", tmp_path / source, tmp_path / "out.onnx", "--ledger", tmp_path / "ledger.json", *flags)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads((tmp_path / "ledger.json").read_text())["ledger"]


def run(path, *inputs, second=True):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    got = session.run(None, dict(zip((i.name for i in session.get_inputs()), inputs)))
    if openvino and second and inputs[0].dtype != np.float16:
        core = openvino.Core()
        compiled = core.compile_model(core.read_model(str(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        result = compiled(list(inputs))
        for a, b in zip(got, (result[o] for o in compiled.outputs)):
            np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-3 * max(1, np.abs(a).max(initial=0)))
    return dict(zip(names, got))


def check(got, wanted):
    """Both are (boxes, scores, classes); what has the same score may change places."""
    assert len(got[1]) == len(wanted[1]), (len(got[1]), len(wanted[1]))
    assert np.all(np.diff(got[1]) <= 1e-6)
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-3, atol=1e-5)
    free = list(range(len(wanted[1])))
    for box, score, label in zip(*got):
        k = next((k for k in free if wanted[2][k] == label and abs(wanted[1][k] - score) < 1e-3 and np.abs(wanted[0][k] - box).max() < 1e-2 * max(1, np.abs(box).max())), None)
        assert k is not None, (box, score, label)
        free.remove(k)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_detector_from_pytorch_to_boxes(cameo, tmp_path, name):
    make, parts, how = FAMILIES[name]
    x, outputs = archive(tmp_path, make)
    boxes, scores = parts([o[0] for o in outputs])
    level = float(np.quantile(scores.max(-1), 0.5))
    wanted = d.pipeline(boxes, scores, score=level, **how)
    assert len(wanted[1]) > 2
    words = f"{WORDS.get(name, '')}score={level:.9g}"
    ledger = prepared(cameo, tmp_path, "--target", "onnxruntime", "--append-nms", words)
    step = next(s for s in ledger if s["step"] == "detections")
    assert step["checked"] == "equal to plain code on made-up inputs", step
    got = run(tmp_path / "out.onnx", x)
    check((got["nms_boxes"], got["nms_scores"], got["nms_classes"]), wanted)

    for form in ("padded", "topk"):
        prepared(cameo, tmp_path, "--append-nms", f"{words},form={form},max=20")
        got = run(tmp_path / "out.onnx", x)
        n = got["num_dets"][0, 0]
        rules = {**how, "suppress": False} if form == "topk" else how
        check((got["det_boxes"][0, :n], got["det_scores"][0, :n], got["det_classes"][0, :n]), d.pipeline(boxes, scores, score=level, most=20, **rules))
        assert not got["det_boxes"][0, n:].any() and not got["det_scores"][0, n:].any() and (got["det_classes"][0, n:] == -1).all()

    prepared(cameo, tmp_path, "--append-nms", f"{words},form=boxes")
    got = run(tmp_path / "out.onnx", x)
    np.testing.assert_allclose(got["boxes"][0], boxes, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(got["scores"][0], scores, rtol=1e-3, atol=1e-4)


def test_several_images_and_classes_that_suppress_each_other(cameo, tmp_path):
    x, (y,) = archive(tmp_path, d.YOLOv8, images=3)
    prepared(cameo, tmp_path, "--append-nms", "score=0.5,iou=0.3,agnostic,max=15")
    got = run(tmp_path / "out.onnx", x)
    for image in range(3):
        mine = got["nms_batch"] == image
        wanted = d.pipeline(d.corners(y[image].T[:, :4]), y[image].T[:, 4:], score=0.5, limit=0.3, most=15, agnostic=True)
        check((got["nms_boxes"][mine], got["nms_scores"][mine], got["nms_classes"][mine]), wanted)


def test_a_detector_without_suppression(cameo, tmp_path):
    x, (y,) = archive(tmp_path, d.YOLOv10)
    prepared(cameo, tmp_path, "--append-nms", "score=0.6")
    got = run(tmp_path / "out.onnx", x)
    keep = y[0][y[0][:, 4] > 0.6]
    check((got["nms_boxes"], got["nms_scores"], got["nms_classes"]), (keep[:, :4], keep[:, 4], keep[:, 5].astype(int)))


def test_nothing_passes(cameo, tmp_path):
    x, _ = archive(tmp_path, d.YOLOv8)
    prepared(cameo, tmp_path, "--append-nms", "score=0.99999")
    got = run(tmp_path / "out.onnx", x)
    assert got["nms_boxes"].shape == (0, 4) and got["nms_scores"].shape == (0,)


def test_yolox_is_decoded(cameo, tmp_path):
    x, (raw,) = archive(tmp_path, lambda: d.YOLOX(decode=False))
    torch.manual_seed(3)
    with torch.no_grad():
        y = d.YOLOX().eval()(torch.from_numpy(x))[0].numpy()
    assert not np.allclose(raw[0], y)
    ledger = prepared(cameo, tmp_path, "--append-nms", "form=boxes")
    assert "decoded for 3 levels" in next(s for s in ledger if s["step"] == "detections")["what"]
    got = run(tmp_path / "out.onnx", x)
    np.testing.assert_allclose(got["boxes"][0], d.corners(y[:, :4]), rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(got["scores"][0], y[:, 4:5] * y[:, 5:], rtol=1e-3, atol=1e-4)


def test_efficient_nms(cameo, tmp_path):
    archive(tmp_path, d.YOLOv5, images=2)
    prepared(cameo, tmp_path, "--target", "tensorrt", "--append-nms", "score=0.3,iou=0.5,max=50")
    model = onnx.load(tmp_path / "out.onnx")
    node = next(n for n in model.graph.node if n.op_type == "EfficientNMS_TRT")
    values = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert node.domain == "TRT" and values == {
        "background_class": -1, "box_coding": 0, "class_agnostic": 0, "iou_threshold": 0.5, "max_output_boxes": 50, "plugin_version": b"1",
        "score_activation": 0, "score_threshold": pytest.approx(0.3)}
    shapes = {o.name: [v.dim_value for v in o.type.tensor_type.shape.dim] for o in model.graph.output}
    assert shapes == {"num_dets": [2, 1], "det_boxes": [2, 50, 4], "det_scores": [2, 50], "det_classes": [2, 50]}


@pytest.mark.parametrize("make, words, why", [
    (lambda: d.SSD(decode=False), "auto", "offsets to anchors"),
    (lambda: d.SSD(softmax=False), "auto", "logits"),
    (d.Backbone, "auto", "raw heads"),
    (lambda: torch.nn.Conv2d(3, 4, 1), "auto", "no output looks like boxes"),
])
def test_what_is_refused(cameo, tmp_path, make, words, why):
    class One(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = make()

        def forward(self, x):
            y = self.inner(x)
            return tuple(y) if isinstance(y, list) else y

    archive(tmp_path, One)
    done = cameo("prepare", tmp_path / "net.pt", tmp_path / "out.onnx", "--append-nms", words)
    assert done.returncode == 1 and why in done.stderr and not (tmp_path / "out.onnx").exists(), done.stderr


class Net(torch.nn.Module):
    def __init__(self, channels=3, padding=1):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(channels, 6, 3, 2, padding), torch.nn.ReLU(), torch.nn.Conv2d(6, 4, 3, 2, 1))

    def forward(self, x):
        return self.layers(x).mean((2, 3))


MEAN, STD = np.array([0.485, 0.456, 0.406], "f4"), np.array([0.229, 0.224, 0.225], "f4")
NORM = "mean=0.485/0.456/0.406,std=0.229/0.224/0.225"


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("order", ["rgb", "bgr"])
@pytest.mark.parametrize("normalise", ["fold", "keep"])
def test_pictures_of_bytes(cameo, tmp_path, padding, order, normalise):
    torch.manual_seed(1)
    model = Net(padding=padding).eval()
    torch.jit.trace(model, torch.rand(1, 3, 32, 40)).save(tmp_path / "net.pt")
    ledger = prepared(cameo, tmp_path, "--image", f"{NORM},order={order},picture-size=32x40", "--normalise", normalise)
    assert "outputs agree" in next(s for s in ledger if s["step"] == "picture")["checked"]
    picture = np.random.default_rng(0).integers(0, 256, (1, 32, 40, 3), dtype=np.uint8)
    x = picture[..., ::-1] if order == "bgr" else picture
    x = ((x.astype("f4") / 255 - MEAN) / STD).transpose(0, 3, 1, 2)
    with torch.no_grad():
        wanted = model(torch.from_numpy(x.copy())).numpy()
    np.testing.assert_allclose(next(iter(run(tmp_path / "out.onnx", picture).values())), wanted, rtol=1e-3, atol=1e-4)
    ops = [n.op_type for n in onnx.load(tmp_path / "out.onnx").graph.node]
    if normalise == "fold":
        assert "Mul" not in ops and "Gather" not in ops and ops.count("Add") + ops.count("Sub") == (1 if padding else 0), ops
    else:
        assert "Mul" in ops, ops


@pytest.mark.parametrize("fit", ["stretch", "crop", "pad"])
@pytest.mark.parametrize("resize", ["antialias", "linear"])
def test_pictures_of_every_size(cameo, tmp_path, fit, resize):
    torch.manual_seed(1)
    model = Net().eval()
    torch.jit.trace(model, torch.rand(1, 3, 32, 40)).save(tmp_path / "net.pt")
    prepared(cameo, tmp_path, "--image", f"{NORM},fit={fit},resize={resize}")
    for height, width in ((32, 40), (75, 50), (50, 75), (20, 90), (11, 9)):
        picture = np.random.default_rng(0).integers(0, 256, (1, height, width, 3), dtype=np.uint8)
        x = torch.from_numpy(picture.astype("f4")).permute(0, 3, 1, 2)
        size = lambda h, w, x=x: torch.nn.functional.interpolate(x, (h, w), mode="bilinear", antialias=resize == "antialias")
        by_width, by_height = (2 * height * 40 + width) // (2 * width), (2 * width * 32 + height) // (2 * height)
        if fit == "stretch":
            x = size(32, 40)
        elif fit == "pad":
            h, w = min(max(by_width, 1), 32), min(max(by_height, 1), 40)
            top, left = (32 - h) // 2, (40 - w) // 2
            x = torch.nn.functional.pad(size(h, w), (left, 40 - w - left, top, 32 - h - top), value=114)
        else:
            h, w = max(by_width, 32), max(by_height, 40)
            top, left = (h - 32) // 2, (w - 40) // 2
            x = size(h, w)[:, :, top:top + 32, left:left + 40]
        x = (x / 255 - torch.from_numpy(MEAN).view(1, 3, 1, 1)) / torch.from_numpy(STD).view(1, 3, 1, 1)
        with torch.no_grad():
            wanted = model(x).numpy()
        second = resize == "linear"  # OpenVINO does not antialias
        np.testing.assert_allclose(next(iter(run(tmp_path / "out.onnx", picture, second=second).values())), wanted, rtol=2e-3, atol=2e-3)


def test_boxes_belong_to_the_picture_that_is_given(cameo, tmp_path):
    x, _ = archive(tmp_path, d.YOLOv8)
    torch.manual_seed(3)
    model = d.YOLOv8().eval()
    prepared(cameo, tmp_path, "--image", "fit=pad,resize=linear", "--append-nms", "score=0.5")
    picture = np.random.default_rng(0).integers(0, 256, (1, 100, 150, 3), dtype=np.uint8)
    scaled = torch.nn.functional.interpolate(torch.from_numpy(picture.astype("f4")).permute(0, 3, 1, 2), (43, 64), mode="bilinear")
    with torch.no_grad():
        y = model(torch.nn.functional.pad(scaled, (0, 0, 10, 11), value=114) / 255)[0].numpy().T
    boxes, scores, labels = d.pipeline(d.corners(y[:, :4]), y[:, 4:], score=0.5)
    boxes = (boxes - np.array([0, 10, 0, 10])) * np.array([150 / 64, 100 / 43] * 2)
    got = run(tmp_path / "out.onnx", picture)
    check((got["nms_boxes"], got["nms_scores"], got["nms_classes"]), (boxes, scores, labels))


class Normalised(Net):
    def forward(self, x):
        return super().forward((x - torch.from_numpy(MEAN).view(1, 3, 1, 1)) / torch.from_numpy(STD).view(1, 3, 1, 1))


@pytest.mark.parametrize("padding", [0, 1])
def test_a_normalisation_of_the_model(cameo, tmp_path, padding):
    torch.manual_seed(1)
    model = Normalised(padding=padding).eval()
    x = torch.rand(1, 3, 32, 32)
    torch.jit.trace(model, x).save(tmp_path / "net.pt")
    with torch.no_grad():
        wanted = model(x).numpy()
    prepared(cameo, tmp_path, "--normalise", "fold", "--no-simplify")
    ops = [n.op_type for n in onnx.load(tmp_path / "out.onnx").graph.node]
    assert not {"Div", "Mul"} & set(ops) and ops.count("Add") + ops.count("Sub") == padding, ops
    np.testing.assert_allclose(next(iter(run(tmp_path / "out.onnx", x.numpy()).values())), wanted, rtol=1e-3, atol=1e-5)
    step = next(s for s in prepared(cameo, tmp_path, "--normalise", "out", "--no-simplify") if s["step"] == "normalise")
    assert step["what"].startswith("taken out: give 'x' as (x - 0.485/0.456/0.406) / 0.229/0.224/0.225") and "outputs agree" in step["checked"], step
    outside = ((x.numpy() - MEAN[:, None, None]) / STD[:, None, None]).astype("f4")
    np.testing.assert_allclose(next(iter(run(tmp_path / "out.onnx", outside).values())), wanted, rtol=1e-3, atol=1e-5)


def test_quantized_and_half(cameo, tmp_path):
    x, (y,) = archive(tmp_path, d.YOLOv8)
    np.savez(tmp_path / "samples.npz", x=np.random.default_rng(0).random((8, 3, SIDE, SIDE), dtype="f4"))
    ledger = prepared(cameo, tmp_path, "--quantize", tmp_path / "samples.npz", "--append-nms", "score=0.5")
    assert {"quantize", "detections"} <= {s["step"] for s in ledger}
    assert "QuantizeLinear" in {n.op_type for n in onnx.load(tmp_path / "out.onnx").graph.node}
    run(tmp_path / "out.onnx", x, second=False)  # scores in 8 bits are often equal
    prepared(cameo, tmp_path, "--float", "f16", "--append-nms", "score=0.5")
    got = run(tmp_path / "out.onnx", x.astype("f2"))
    assert got["nms_boxes"].dtype == np.float32 and abs(len(got["nms_scores"]) - len(d.pipeline(d.corners(y[0].T[:, :4]), y[0].T[:, 4:], score=0.5)[1])) < 5
