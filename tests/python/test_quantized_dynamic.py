"""Layers of quantize_dynamic (tests/torch/quantized_dynamic.py), by both engines: the numbers, and what the file holds."""
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "torch"))
import quantized_dynamic as dynamic  # noqa: E402

STORED = {"qint8": (onnx.TensorProto.INT8, "DequantizeLinear"), "float16": (onnx.TensorProto.FLOAT16, "Cast")}
onnxruntime.set_default_logger_severity(4)


def export(cameo, case, folder, *flags):
    model = folder / "m.onnx"
    dynamic.archive(case, folder / "m.pt")
    done = cameo("-v", "export", folder / "m.pt", "-o", model, *[word for spec in case.flags for word in ("--input", spec)], *flags)
    assert done.returncode == 0, done.stderr
    return model, done.stderr


def engines(cameo, model, inputs, folder):
    graph = onnx.load(model).graph
    feeds = {v.name: x.numpy() for v, x in zip(graph.input, inputs)}
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")  # else it rounds the other operand of int8 weights itself
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    yield "onnxruntime", session.run(None, feeds)
    np.savez(folder / "in.npz", **feeds)
    done = cameo("-q", "run", model, "--inputs", folder / "in.npz", "-o", folder / "out.npz")
    assert done.returncode == 0, done.stderr
    arrays = np.load(folder / "out.npz")
    yield "cameo run", [arrays[v.name] for v in graph.output]


def differences(got, want):
    assert [(a.shape, a.dtype) for a in got] == [(b.shape, b.dtype) for b in want]
    return np.concatenate([np.abs(a.astype(np.float64) - b).ravel() for a, b in zip(got, want)])


@pytest.mark.parametrize("case", dynamic.cases(), ids=lambda c: c.name)
def test_numbers(cameo, tmp_path, case):
    model, said = export(cameo, case, tmp_path)
    for inputs in (case.inputs, *case.more):
        for engine, got in engines(cameo, model, inputs, tmp_path):
            error = differences(got, dynamic.results(case.model, inputs))
            assert error.max() <= case.most, engine
            if case.twin:
                assert differences(got, dynamic.results(case.twin, inputs)).max() < dynamic.CLOSE, engine
            else:
                assert np.median(error) < dynamic.CLOSE, engine
    rounds = case.twin is not None and case.dtype == dynamic.torch.qint8
    assert ("note[lower.float-activations]" in said) == rounds


def elements(model, data_type):
    return sum(int(np.prod(t.dims)) for t in onnx.load(model).graph.initializer if t.data_type == data_type)


@pytest.mark.parametrize("case", dynamic.linear(), ids=lambda c: c.name)
def test_linear_weights_feed_the_product(cameo, tmp_path, case):
    model, _ = export(cameo, case, tmp_path)
    data_type, node = STORED[str(case.dtype)[6:]]
    graph = onnx.load(model).graph
    made = {n.output[0] for n in graph.node if n.op_type == node}
    assert [n.op_type for n in graph.node if n.op_type in ("Gemm", "MatMul") and n.input[1] in made] == ["Gemm" if len(case.inputs[0].shape) == 2 else "MatMul"]
    assert elements(model, data_type) >= case.model.net.weight().numel()


@pytest.mark.parametrize("case", dynamic.large(), ids=lambda c: c.name)
def test_weights_stay_small(cameo, tmp_path, case):
    model, _ = export(cameo, case, tmp_path)
    weights, biases = case.model.net.get_weight().values(), case.model.net.get_bias().values()
    data_type, node = STORED[str(case.dtype)[6:]]
    zero_points = sum(w.q_per_channel_zero_points().numel() if "per channel" in case.name else 1 for w in weights) if case.dtype == dynamic.torch.qint8 else 0
    assert 0 <= elements(model, data_type) - sum(w.numel() for w in weights) <= zero_points
    assert elements(model, onnx.TensorProto.FLOAT) <= sum(b.numel() for b in biases) + zero_points  # scales
    assert sum(n.op_type == node for n in onnx.load(model).graph.node) == 4  # two layers: of the input, of the state
    for engine, got in engines(cameo, model, case.inputs, tmp_path):
        assert differences(got, dynamic.results(case.twin, case.inputs)).max() < dynamic.CLOSE, engine
