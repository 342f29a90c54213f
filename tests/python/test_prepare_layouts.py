"""cameo prepare --append-nms on heads in layouts of their own: transposed, apart, without a batch, several outputs, parts of the picture; each beside numpy."""
import json

import numpy as np
import onnxruntime as ort
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import detectors as d
from test_prepare import check, run

HEIGHT, WIDTH = 48, 80
SIDES = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT], "f4")


class Head(nn.Module):
    """`f` makes the outputs of what a small network gives for each cell: [images, channels, h, w], and the centres of cells in cells."""

    def __init__(self, channels, f):
        super().__init__()
        layer = lambda a: nn.Sequential(nn.Conv2d(a, 8, 3, 2, 1), nn.SiLU())
        self.net, self.f = nn.Sequential(layer(3), layer(8), layer(8), nn.Conv2d(8, channels, 1)), f
        nn.init.normal_(self.net[-1].weight, 0, 3)

    def forward(self, x, *more):
        y = self.net(x)
        gy, gx = torch.meshgrid(torch.arange(y.shape[2]) + 0.5, torch.arange(y.shape[3]) + 0.5, indexing="ij")
        return self.f(y, torch.stack((gx, gy), -1).view(1, -1, 2), *more)


def rows_of_parts(y, cells):
    y = y.flatten(2).transpose(1, 2)
    size = F.softplus(y[..., 2:4]) * 6
    sides = torch.from_numpy(SIDES[:2])
    return torch.cat(((8 * (cells + torch.tanh(y[..., :2])) - size / 2) / sides, size / sides, torch.sigmoid(y[..., 4:])), -1)


def columns_with_objectness(y, cells):
    y = y.flatten(2)
    centre, size = (cells.transpose(1, 2) + torch.tanh(y[:, :2])) * 8, torch.exp(y[:, 2:4].clamp(-2, 2)) * 8
    return torch.cat((centre - size / 2, centre + size / 2, y[:, 4:].sigmoid()), 1)


def background_last(y, cells):
    y = y.flatten(2).transpose(1, 2)
    centre, size = cells / torch.tensor([10.0, 6.0]) + y[..., :2] * 0.02, 0.2 * torch.exp(y[..., 2:4].clamp(-3, 3) * 0.2)
    return y[..., 4:].softmax(-1).transpose(1, 2), torch.cat((centre - size / 2, centre + size / 2), -1)


def logits_and_features(y, cells):
    f = y.flatten(2)
    return torch.cat(((cells.transpose(1, 2) + f[:, :2] * 0.1) * 8, 10 * torch.exp(f[:, 2:4].clamp(-2, 2))), 1), f[:, 4:].transpose(1, 2), y.amax(1, keepdim=True)


def apart(y, cells):
    y = y.flatten(2).transpose(1, 2)
    away = F.relu(y[..., :4]) * 2 + 3
    return torch.cat((cells * 8 - away[..., :2], cells * 8 + away[..., 2:]), -1), y[..., 4:5].sigmoid(), y[..., 5:].sigmoid()


def apart_in_columns(y, cells):
    boxes, one, classes = apart(y, cells)
    return classes.transpose(1, 2), one.transpose(1, 2), boxes


def with_a_scale(y, cells, scale):
    f = y.flatten(2)
    away = F.softplus(f[:, :4].transpose(1, 2)) * 4
    return torch.cat((cells * 8 - away[..., :2], cells * 8 + away[..., 2:]), -1) / scale.flip(1).repeat(1, 2).unsqueeze(1), f[:, 4:].sigmoid()


def one_picture(y, cells):
    y = y[0].flatten(1).t()
    return torch.cat(((cells[0] + y[:, :2].sigmoid()) * 8, y[:, 2:4].sigmoid() * 30, y[:, 4:].sigmoid()), 1)


def faces(y, cells):
    y = y.flatten(2).transpose(1, 2)
    away, middle = y[..., :4].sigmoid() * 0.2, cells / torch.tensor([10.0, 6.0])
    return torch.cat((middle - away[..., :2], middle + away[..., 2:]), -1), y[..., 4].sigmoid()


# name: channels, f, words, what is asked for in place of silence ("" where the words are not needed), (boxes, scores) from the outputs, rules of the pipeline
HEADS = {
    "corner, size and classes in rows, as parts": (9, rows_of_parts, "objectness=no,format=xywh", None, lambda o: (np.concatenate((o[0][0, :, :2], o[0][0, :, :2] + o[0][0, :, 2:4]), 1) * SIDES,
                                                                                                                  o[0][0, :, 4:]), {}),
    "corners, objectness and classes in columns": (8, columns_with_objectness, "objectness=yes,format=xyxy", None, lambda o: (o[0][0, :4].T, (o[0][0, 4:5] * o[0][0, 5:]).T), {}),
    "scores first, background last, as parts": (9, background_last, "background=last", None, lambda o: (o[1][0] * SIDES, o[0][0, :-1].T), {"best": False}),
    "logits, and an output that stays": (10, logits_and_features, "format=cxcywh,activation=sigmoid", "are logits", lambda o: (d.corners(o[0][0].T), 1 / (1 + np.exp(-o[1][0]))), {"best": False}),
    "objectness apart": (9, apart, "objectness={1}", "objectness={1}", lambda o: (o[0][0], o[1][0] * o[2][0]), {"best": False}),
    "objectness apart, in columns": (9, apart_in_columns, "objectness={1}", "objectness={1}", lambda o: (o[2][0], (o[1][0] * o[0][0]).T), {"best": False}),
    "a second input": (7, with_a_scale, "auto", "", lambda o: (o[0][0], o[1][0].T), {"best": False}),
    "one picture": (8, one_picture, "auto", "", lambda o: (d.corners(o[0][:, :4]), o[0][:, 4:5] * o[0][:, 5:]), {}),
    "one class, as parts": (5, faces, "auto", "", lambda o: (o[0][0] * SIDES, o[1][0][:, None]), {}),
}


def made(cameo, tmp_path, name):
    channels, f, *_ = HEADS[name]
    torch.manual_seed(5)
    model = Head(channels, f).eval()
    given = (torch.rand(1, 3, HEIGHT, WIDTH) * 20, *([torch.tensor([[0.5, 2.0]])] if f is with_a_scale else []))
    with torch.no_grad():
        torch.jit.trace(model, given).save(tmp_path / "net.pt")
        outputs = model(*given)
    assert cameo("export", tmp_path / "net.pt", "-o", tmp_path / "net.onnx").returncode == 0
    names = [o.name for o in ort.InferenceSession(tmp_path / "net.onnx").get_outputs()]
    return [x.numpy() for x in given], [o.numpy() for o in (outputs if isinstance(outputs, tuple) else (outputs,))], names


@pytest.mark.parametrize("name", HEADS)
def test_boxes_are_those_of_the_pipeline(cameo, tmp_path, name):
    _, _, words, silence, parts, how = HEADS[name]
    given, outputs, names = made(cameo, tmp_path, name)
    boxes, scores = parts(outputs)
    level = float(np.quantile(scores.max(-1), 0.4))
    wanted = d.pipeline(boxes, scores, score=level, **how)
    assert len(wanted[1]) > 4
    for target, form in (("onnxruntime", "flat"), ("openvino", "flat"), ("opencv", "boxes"), ("tensorrt", "efficient")):
        done = cameo("prepare", tmp_path / "net.onnx", tmp_path / "out.onnx", "--target", target, "--append-nms", f"{words.format(*names)},score={level:.9g}", "--ledger", tmp_path / "ledger.json")
        assert done.returncode == 0, done.stderr
        step = next(s for s in json.loads((tmp_path / "ledger.json").read_text())["ledger"] if s["step"] == "detections")
        assert step["checked"] == "equal to plain code on made-up inputs", step
        if form == "efficient":
            continue  # no engine here has its plugin
        got = run(tmp_path / "out.onnx", *given)
        if form == "flat":
            check((got["nms_boxes"], got["nms_scores"], got["nms_classes"]), wanted)
        else:
            np.testing.assert_allclose(got["boxes"].reshape(boxes.shape), boxes, rtol=1e-3, atol=1e-2)
            np.testing.assert_allclose(got["scores"].reshape(scores.shape), scores, rtol=1e-3, atol=1e-4)
        assert len(got) == {"flat": 3, "boxes": 2}[form] + ("stays" in name)
    if silence:  # rather a question than other numbers
        done = cameo("prepare", tmp_path / "net.onnx", tmp_path / "asked.onnx", "--append-nms")
        assert done.returncode == 1 and silence.format(*names) in done.stderr and not (tmp_path / "asked.onnx").exists(), done.stderr


def test_objectness_is_one_number_for_each_box(cameo, tmp_path):
    _, _, names = made(cameo, tmp_path, "objectness apart")
    done = cameo("prepare", tmp_path / "net.onnx", tmp_path / "out.onnx", "--append-nms", f"objectness={names[2]},boxes={names[0]},scores={names[1]}")
    assert done.returncode == 1 and "is no objectness" in done.stderr, done.stderr
    done = cameo("prepare", tmp_path / "net.onnx", tmp_path / "out.onnx", "--append-nms", "objectness=no")
    assert done.returncode == 0, done.stderr


def test_parts_of_the_picture_may_be_denied(cameo, tmp_path):
    given, outputs, _ = made(cameo, tmp_path, "one class, as parts")
    for words, factor in (("form=boxes", SIDES), ("form=boxes,normalised=no", 1)):
        assert cameo("prepare", tmp_path / "net.onnx", tmp_path / "out.onnx", "--append-nms", words).returncode == 0
        np.testing.assert_allclose(run(tmp_path / "out.onnx", *given)["boxes"][0], outputs[0][0] * factor, rtol=1e-3, atol=1e-4)
