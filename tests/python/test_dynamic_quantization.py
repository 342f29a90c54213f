"""cameo quantize --dynamic, judged by onnxruntime and our engine."""
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper


def floats(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def saved(path, nodes, inputs, outputs, weights=None, opset=13):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(v, k) for k, v in (weights or {}).items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def run(path, feeds):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, feeds)


def quantized(cameo, folder, feeds, *flags, most=0.03):
    """Quantizes m.onnx, and compares it with the float model in onnxruntime and in our engine."""
    done = cameo("quantize", folder / "m.onnx", folder / "q.onnx", "--dynamic", "--report", folder / "r.json", *flags)
    assert done.returncode == 0, done.stderr
    assert cameo("check", folder / "q.onnx").returncode == 0
    np.savez(folder / "in.npz", **feeds)
    ours = cameo("run", folder / "q.onnx", "--inputs", folder / "in.npz", "-o", folder / "out.npz")
    assert ours.returncode == 0, ours.stderr
    names = [o.name for o in onnx.load(folder / "m.onnx").graph.output]
    for name, wanted, theirs in zip(names, run(folder / "m.onnx", feeds), run(folder / "q.onnx", feeds)):
        for got in (theirs, np.load(folder / "out.npz")[name]):
            assert np.abs(got - wanted).max() <= most * np.abs(wanted).max(), name
    return onnx.load(folder / "q.onnx"), {n["name"]: n for n in json.loads((folder / "r.json").read_text())["nodes"]}


@pytest.mark.parametrize("flags", [[], ["--target", "generic"], ["--per-tensor"], ["--target", "generic", "--per-tensor"]])
def test_products(cameo, tmp_path, flags):
    """Two products of one value, a Gemm that reads its weights transposed, weights in a Constant node, one in a body, a convolution with groups."""
    info = helper.make_tensor_value_info
    body = lambda op: helper.make_graph([helper.make_node("MatMul", ["sum", "in_body"], ["m"]), helper.make_node(op, ["m"], ["r"])], "b", [], [floats("r", "n", 16)])
    nodes = [
        helper.make_node("Conv", ["x", "w", "wb"], ["c"], group=2, pads=[1, 1, 1, 1], name="conv"),
        helper.make_node("GlobalAveragePool", ["c"], ["p"]), helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Constant", [], ["held"], value=numpy_helper.from_array(normal(8, 16), "held")),
        helper.make_node("MatMul", ["f", "held"], ["a"], name="one"), helper.make_node("Gemm", ["f", "g", "gb"], ["b"], transB=1, name="two"),
        helper.make_node("Add", ["a", "b"], ["sum"]),
        helper.make_node("If", ["which"], ["y"], then_branch=body("Neg"), else_branch=body("Relu")),
    ]
    weights = {"w": normal(8, 2, 3, 3), "wb": normal(8), "g": normal(16, 8, seed=1), "gb": normal(16), "in_body": normal(16, 16, seed=2)}
    saved(tmp_path / "m.onnx", nodes, [floats("x", "n", 4, 12, 12), info("which", TensorProto.BOOL, [])], [floats("y", "n", 16)], weights)
    for which in (True, False):
        model, rows = quantized(cameo, tmp_path, {"x": normal(2, 4, 12, 12, seed=3), "which": np.array(which)}, *flags, most=0.06)
    assert all(rows[name]["quantized"] for name in ("conv", "one", "two"))
    count = lambda op: sum(n.op_type == op for n in model.graph.node)
    assert count("DynamicQuantizeLinear") == 3  # x, f, sum: each once
    assert (count("MatMulIntegerToFloat") == 2) == ("generic" not in flags)
    assert {i.name for i in model.graph.initializer if i.data_type == TensorProto.INT8} >= {"w_quantized", "g_quantized", "in_body_quantized"}


@pytest.mark.parametrize("flags", [[], ["--per-tensor"]])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_lstm(cameo, tmp_path, flags, direction):
    both = 2 if direction == "bidirectional" else 1
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h"], hidden_size=16, direction=direction, name="lstm"),
             helper.make_node("GRU", ["x", "gw", "gr"], ["z"], hidden_size=4, name="gru")]
    weights = {"w": 0.3 * normal(both, 64, 8), "r": 0.3 * normal(both, 64, 16, seed=1), "b": 0.1 * normal(both, 128), "gw": normal(1, 12, 8), "gr": normal(1, 12, 4)}
    saved(tmp_path / "m.onnx", nodes, [floats("x", 5, 2, 8)], [floats("y", 5, both, 2, 16), floats("h", both, 2, 16), floats("z", 5, 1, 2, 4)], weights)
    model, rows = quantized(cameo, tmp_path, {"x": normal(5, 2, 8, seed=4)}, *flags, most=0.05)
    assert rows["lstm"]["quantized"] and not rows["gru"]["quantized"] and "GRU" in rows["gru"]["why"]
    assert "DynamicQuantizeLSTM" in [n.op_type for n in model.graph.node]


@pytest.mark.parametrize("hidden", [16, 40])
def test_lstm_of_several_sequences(cameo, tmp_path, hidden):
    """onnxruntime takes the range of a state over the sequences that one thread computes, and differs from itself by threads: with a thread for each, it is ours."""
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h"], hidden_size=hidden, name="lstm")]
    weights = {"w": 0.3 * normal(1, 4 * hidden, 8), "r": 0.3 * normal(1, 4 * hidden, hidden, seed=1), "b": 0.1 * normal(1, 8 * hidden)}
    saved(tmp_path / "m.onnx", nodes, [floats("x", 9, 4, 8)], [floats("y", 9, 1, 4, hidden), floats("h", 1, 4, hidden)], weights)
    feeds = {"x": normal(9, 4, 8, seed=4)}
    quantized(cameo, tmp_path, feeds, most=0.05)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 4
    theirs = onnxruntime.InferenceSession(str(tmp_path / "q.onnx"), options, providers=["CPUExecutionProvider"]).run(None, feeds)
    ours = np.load(tmp_path / "out.npz")
    for name, wanted in zip(("y", "h"), theirs):
        assert np.abs(ours[name] - wanted).max() <= 1e-5


def test_a_model_without_constant_weights_stays_as_it_is(cameo, tmp_path):
    saved(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "x"], ["y"])], [floats("x", 8, 8)], [floats("y", 8, 8)], {})
    done = cameo("quantize", tmp_path / "m.onnx", tmp_path / "q.onnx", "--dynamic")
    assert done.returncode == 0 and "quantize.nothing" in done.stderr
    assert [n.op_type for n in onnx.load(tmp_path / "q.onnx").graph.node] == ["MatMul"]


def test_wrong_use(cameo, tmp_path):
    saved(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], name="p")], [floats("x", "n", 8)], [floats("y", "n", 8)], {"w": normal(8, 8)})
    for flags in (["--target", "qnn"], ["--min-db", "10"], ["--keep", "nothing"], ["--keep", "p"], ["--bits", "4"]):
        assert cameo("quantize", tmp_path / "m.onnx", tmp_path / "q.onnx", "--dynamic", *flags).returncode in (1, 2), flags
    assert not (tmp_path / "q.onnx").exists()
