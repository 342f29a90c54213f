"""cameo.to_half, cameo.quantize_weights and cameo.quantize_dynamic: the calls; tests/python judges the models."""
import numpy as np
import pytest

import cameo


@pytest.fixture
def model():
    g = cameo.Builder("product")
    w = g.weight("w", np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32))
    g.output("y", g.MatMul(g.input("x", "f32[n,16]"), w))
    return g.model()


def test_to_half(model, tmp_path):
    half = cameo.to_half(model, tmp_path / "half.onnx", keep_io=True, samples=[np.ones((2, 16), np.float32)])
    assert half.error < 1e-2 and half.report["weights"] == 1 and not half.report["made_up"]
    assert cameo.load(tmp_path / "half.onnx").inputs[0].name == "x"


def test_quantize_weights(model, tmp_path):
    small = cameo.quantize_weights(model, tmp_path / "int4.onnx", bits=4, block=16, form="qdq")
    assert small.report["weights"][0]["quantized"] and small.report["bytes_after"] < small.report["bytes_before"]
    with pytest.raises(cameo.Error, match="method"):
        cameo.quantize_weights(model, method="best")


def test_quantize_dynamic(model, tmp_path):
    made = cameo.quantize_dynamic(model, tmp_path / "int8.onnx", target="generic")
    assert made.report["nodes"][0]["quantized"]
    x = np.random.default_rng(1).normal(size=(3, 16)).astype(np.float32)
    wanted, got = (cameo.run(m, {"x": x})["y"] for m in (model, made.model))
    assert np.abs(got - wanted).max() < 0.05 * np.abs(wanted).max()
