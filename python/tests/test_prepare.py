"""cameo.prepare: models as deployment targets want them."""
import numpy as np
import pytest

import cameo

NET = '<ir_version: 8, opset_import: ["" : 17]> g (float[b,20,7] x) => (float[b,20,7] y) { y = Sigmoid(x) }'
PICTURE = '<ir_version: 8, opset_import: ["" : 17]> g (float[1,3,4,4] x) => (float[1,3,4,4] y) { y = Relu(x) }'


def write(folder, text):
    path = folder / "net.onnxtxt"
    path.write_text(text)
    return path


def test_detections(tmp_path):
    ready = cameo.prepare(write(tmp_path, NET), tmp_path / "out.onnx", target="tensorrt", append_nms={"score": 0.5, "max": 9, "objectness": True}, sizes={"b": 2}, ignore="custom")
    assert ready.ok and [s.step for s in ready.ledger][-2:] == ["detections", "check"], ready.ledger
    assert "2 classes" in ready.ledger[-2].what and ready.ledger[-2].checked == "equal to plain code on made-up inputs"
    assert [o.name for o in cameo.load(tmp_path / "out.onnx").outputs] == ["num_dets", "det_boxes", "det_scores", "det_classes"]
    assert ready.report["ledger"][0]["step"] == "read" and "Prepared for tensorrt" in repr(ready)
    padded = cameo.prepare(write(tmp_path, NET), append_nms="form=padded,score=0.5", target="openvino").model
    x = np.random.default_rng(0).normal(size=(2, 20, 7)).astype("f4")
    got = cameo.Session(padded).run({"x": x})
    assert got["det_boxes"].shape == (2, 40, 4) and got["num_dets"].shape == (2, 1)


def test_pictures_and_words(tmp_path):
    ready = cameo.prepare(write(tmp_path, PICTURE), image="mean=0.5,std=0.5,picture-size=4x4")
    x = np.arange(48, dtype=np.uint8).reshape(1, 4, 4, 3)
    got = next(iter(cameo.Session(ready.model).run({"x": x}).values()))
    np.testing.assert_allclose(got, np.maximum((x.transpose(0, 3, 1, 2) / 255 - 0.5) / 0.5, 0), atol=1e-5)
    for wrong in ({"float_type": "f8"}, {"normalise": "in"}, {"target": "none"}, {"append_nms": "boxs=x"}, {"image": "sizes=3"}):
        with pytest.raises(cameo.Error):
            cameo.prepare(write(tmp_path, PICTURE), **wrong)


def test_samples_quantize(tmp_path):
    w = np.random.default_rng(0).normal(size=(8, 3, 3, 3)).astype("f4")
    g = cameo.Builder()
    g.output("y", g.Relu(g.Conv(g.input("x", "f32[1,3,8,8]"), w)))
    samples = [np.random.default_rng(k).random((1, 3, 8, 8)).astype("f4") for k in range(4)]
    ready = cameo.prepare(g.model(), samples=samples, target="openvino", min_db=10)
    assert "quantize" in [s.step for s in ready.ledger] and ready.report["quantized"]["target"] == "openvino"
