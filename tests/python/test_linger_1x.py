"""Models of linger 1.x (domain "thinker"), with the attributes that its exporter writes: `convert --to-qdq`, against their formulas."""
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 4, 6, 6)).astype(np.float32)
PLATFORM = {"platform_quant": "luna_quant"}


def q(v, scale, bits=8):
    """A real number as linger stores it, half up."""
    return np.clip(np.floor(np.asarray(v, np.float64) * scale + 0.5), -2.0 ** (bits - 1), 2.0 ** (bits - 1) - 1)


def thinker(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], domain="thinker", **PLATFORM, **attributes)


def constant(name, values, dtype):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def saved(path, nodes, weights, x=X, opset=12):
    """The nodes between a Quant of the input, `a` on the scale 32, and a Dequant of `z`."""
    nodes = [thinker("Quant", ["x"], "a", data_bits=8, scale_x=32.0), *nodes]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("thinker", 1)], ir_version=7), path)


def converted(cameo, folder, *flags):
    done = cameo("convert", folder / "old.onnx", folder / "new.onnx", "--to-qdq", *flags)
    assert done.returncode == 0, done.stderr
    model = onnx.load(folder / "new.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert {n.domain for n in model.graph.node} == {""} and [o.domain for o in model.opset_import] == [""]


def results(cameo, folder, x=X):
    """What onnxruntime and Cameo's engine make of the exact form."""
    converted(cameo, folder, "--exact-rounding")
    got = onnxruntime.InferenceSession(str(folder / "new.onnx"), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    np.savez(folder / "in.npz", x=x)
    assert cameo("run", folder / "new.onnx", "--inputs", folder / "in.npz", "-o", folder / "out.npz").returncode == 0
    np.testing.assert_allclose(np.load(folder / "out.npz")["y"], got, atol=1e-6)
    converted(cameo, folder)
    near = onnxruntime.InferenceSession(str(folder / "new.onnx"), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    return got, near


A = q(X, 32)  # the input as stored
SECOND = q(RNG.normal(size=X.shape), 64)
ELEMENTWISE = {
    "iqAdd": ({"scale_x": 32.0, "scale_y": 64.0, "scale_o": 16.0}, lambda: q(A / 32, 16) + q(SECOND / 64, 16)),
    "iqMul": ({"scale_x": 32.0, "scale_y": 64.0, "scale_o": 16.0}, lambda: q(A * SECOND / 2048, 16)),
    "iqMax": ({"scale_x": 32.0, "scale_y": 32.0, "scale_o": 32.0}, lambda: np.maximum(A, SECOND)),
    "iqDiv": ({"scale_x": 32.0, "scale_y": 64.0, "scale_o": 4.0}, lambda: q(A / 32 / ((np.abs(SECOND) + 1) / 64), 4)),
}


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_two_operands(cameo, tmp_path, op):
    attributes, formula = ELEMENTWISE[op]
    second = np.abs(SECOND) + 1 if op == "iqDiv" else SECOND
    nodes = [thinker(op, ["a", "b"], "z", **attributes), thinker("Dequant", ["z"], "y", scale_o=attributes["scale_o"])]
    saved(tmp_path / "old.onnx", nodes, [constant("b", np.clip(second, -128, 127), np.int8)])
    if op == "iqDiv":
        wanted = q(A / 32 / (np.clip(second, -128, 127) / 64), 4)
    else:
        wanted = np.clip(formula(), -128, 127)
    exact, near = results(cameo, tmp_path)
    np.testing.assert_allclose(exact, wanted / attributes["scale_o"], atol=1e-6)
    assert np.abs(near - exact).max() <= 1.01 / attributes["scale_o"]


@pytest.mark.parametrize("op, formula", [("iqAdd", lambda: q(A / 32 + 0.3, 32)), ("iqDiv", lambda: q(A / 32 / 0.3, 32))])
def test_a_number_that_the_model_was_written_with(cameo, tmp_path, op, formula):
    nodes = [thinker(op, ["a", "b"], "z", scale_x=32.0, scale_y=1.0, scale_o=32.0), thinker("Dequant", ["z"], "y", scale_o=32.0)]
    saved(tmp_path / "old.onnx", nodes, [constant("b", 0.3, np.float32)])
    exact, _ = results(cameo, tmp_path)
    assert np.abs(exact - formula() / 32).max() <= 1.01 / 32 and np.mean(exact != formula() / 32) < 1e-2  # 0.3 is not a round number


def conv(x, w, b, pad):
    import torch
    return torch.nn.functional.conv2d(torch.tensor(x), torch.tensor(w), torch.tensor(b), padding=pad).numpy()


def test_a_network(cameo, tmp_path):
    """Convolution, batch norm with the running sums that nothing reads, ReLU, pooling, linear: with a float result as linger leaves out o_bits for."""
    w, b = RNG.integers(-128, 128, (8, 4, 3, 3)).astype(np.float64), RNG.integers(-4000, 4000, 8).astype(np.float64)
    alpha, beta = RNG.integers(20, 100, 8).astype(np.float64), RNG.integers(-3000, 3000, 8).astype(np.float64)
    full, bias = RNG.integers(-128, 128, (5, 72)).astype(np.float64), RNG.integers(-3000, 3000, 5).astype(np.float64)
    bits = {"data_bits": 8, "parameter_bits": 8}
    nodes = [
        thinker("Conv2dInt", ["a", "w", "b"], "c", **bits, o_bits=8, scale_x=32.0, scale_w=512.0, scale_o=16.0, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1],
                dilations=[1, 1], group=1, castor_mode="luna"),
        thinker("BatchNorm2dInt", ["c", "alpha", "beta", "mean", "var"], "n", **bits, o_bits=8, scale_x=16.0, scale_w=64.0, scale_o=32.0),
        helper.make_node("Relu", ["n"], ["r"]),
        thinker("AvgPool2dInt", ["r"], "p", data_bits=8, o_bits=8, scale_x=32.0, scale_o=32.0, kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0], ceil_mode=0),
        helper.make_node("Flatten", ["p"], ["f"]),
        thinker("LinearInt", ["f", "full", "bias"], "y", **bits, scale_x=32.0, scale_w=256.0),
    ]
    weights = [constant("w", w, np.int8), constant("b", b, np.int32), constant("alpha", alpha, np.int8), constant("beta", beta, np.int32),
               constant("mean", np.zeros(8), np.float32), constant("var", np.ones(8), np.float32), constant("full", full, np.int8), constant("bias", bias, np.int32)]
    saved(tmp_path / "old.onnx", nodes, weights)
    c = q(conv(A, w, b, 1) / (32 * 512), 16)
    r = np.maximum(q((c * alpha.reshape(1, -1, 1, 1) + beta.reshape(1, -1, 1, 1)) / (16 * 64), 32), 0)
    p = np.floor(r.reshape(2, 8, 3, 2, 3, 2).sum((3, 5)) / 4 + 0.5)
    wanted = (p.reshape(2, -1) @ full.T + bias) / (32 * 256)
    exact, near = results(cameo, tmp_path)
    np.testing.assert_allclose(exact, wanted, rtol=1e-5, atol=1e-4)
    assert np.abs(near - exact).max() < 0.1 * np.abs(exact).max()


ONE = {
    "iqSum": ({"dims": -1, "scale_o": 8.0}, lambda a: q(a.sum(-1), 8)),
    "iqClamp": ({"min": 0.0, "max": 127 / 128, "scale_o": 128.0}, lambda a: q(np.clip(a, 0, 127 / 128), 128)),
    "iqVar": ({"dim": 1, "unbiased": 1, "scale_o": 32.0, "castor_mode": "luna"}, lambda a: np.clip(np.round(a.var(1, ddof=1) * 32), -128, 127)),
    "iqSigmoid": ({"scale_o": 128.0, "castor_mode": "luna"}, lambda a: q(1 / (1 + np.exp(-a)), 128)),
    "iqTanh": ({"scale_o": 128.0, "castor_mode": "luna"}, lambda a: q(np.tanh(a), 128)),
    "SoftmaxInt": ({"dim": -1, "data_bits": 8, "o_bits": 8, "scale_o": 128.0}, lambda a: q(np.exp(a) / np.exp(a).sum(-1, keepdims=True), 128)),
    "LogSoftmaxInt": ({"dim": 1, "data_bits": 8, "o_bits": 8, "scale_o": 16.0}, lambda a: q(a - np.log(np.exp(a).sum(1, keepdims=True)), 16)),
    "Requant": ({"data_bits": 8, "o_bits": 16, "scale_o": 8192.0}, lambda a: q(a, 8192, 16)),
    "ShuffleChannel": ({"groups": 2}, lambda a: (a * 32).reshape(2, 2, 2, 6, 6).swapaxes(1, 2).reshape(a.shape)),
}


@pytest.mark.parametrize("op", ONE)
def test_one_operand(cameo, tmp_path, op):
    attributes, formula = ONE[op]
    scale = attributes.get("scale_o", 32.0)
    own = attributes if op == "ShuffleChannel" else {"scale_x": 32.0, **attributes}
    saved(tmp_path / "old.onnx", [thinker(op, ["a"], "z", **own), thinker("Dequant", ["z"], "y", scale_o=scale)], [], opset=13)
    exact, near = results(cameo, tmp_path)
    wanted = formula(A / 32) / scale
    off = np.abs(exact - wanted)
    assert off.max() <= 1.01 / scale and np.mean(off > 1e-6) < 2e-2  # f32 against f64 on a tie
    assert np.abs(near - exact).max() <= 1.01 / scale


def test_parts_are_joined_on_one_scale(cameo, tmp_path):
    nodes = [thinker("iqCat", ["a", "b"], "z", dim=1, scale_x_0=32.0, scale_x_1=64.0, scale_o=16.0), thinker("Dequant", ["z"], "y", scale_o=16.0)]
    saved(tmp_path / "old.onnx", nodes, [constant("b", SECOND, np.int8)])
    exact, _ = results(cameo, tmp_path)
    np.testing.assert_allclose(exact, np.concatenate([q(A / 32, 16), q(SECOND / 64, 16)], 1) / 16, atol=1e-6)


@pytest.mark.parametrize("change, word", [({"scale_w": 0.0}, "above 0"), ({"scale_w": None}, "scale_w"), ({"data_bits": 99}, "between 1 and 32"), ({"o_bits": "8"}, "whole number"),
                                          ({"scale_x": float("nan")}, "above 0"), ({"op": "GRUInt"}, "GRUInt")])
def test_what_is_missing_or_wrong_is_named(cameo, tmp_path, change, word):
    attributes = {"data_bits": 8, "parameter_bits": 8, "o_bits": 8, "scale_x": 32.0, "scale_w": 256.0, "scale_o": 32.0, **change}
    op = attributes.pop("op", "LinearInt")
    node = thinker(op, ["a", "w"], "z", **{k: v for k, v in attributes.items() if v is not None})
    saved(tmp_path / "old.onnx", [node, thinker("Dequant", ["z"], "y", scale_o=32.0)], [constant("w", np.ones((3, 6)), np.int8)])
    done = cameo("convert", tmp_path / "old.onnx", tmp_path / "new.onnx", "--to-qdq")
    assert done.returncode == 1 and word in done.stderr and not (tmp_path / "new.onnx").exists(), done.stderr


@pytest.mark.parametrize("opset", [12, 21])
def test_layers_on_three_axes(cameo, tmp_path, opset):
    """ONNX Runtime puts a Reshape and QuantizeLinear before such a product; it kept no signs below opset 21."""
    x = RNG.normal(size=(2, 4, 6)).astype(np.float32)
    w, b = RNG.integers(-128, 128, (5, 6)), RNG.integers(-3000, 3000, 5)
    nodes = [thinker("LinearInt", ["a", "w", "b"], "z", data_bits=8, parameter_bits=8, o_bits=8, scale_x=32.0, scale_w=256.0, scale_o=16.0), thinker("Dequant", ["z"], "y", scale_o=16.0)]
    saved(tmp_path / "old.onnx", nodes, [constant("w", w, np.int8), constant("b", b, np.int32)], x, opset)
    exact, near = results(cameo, tmp_path, x)
    np.testing.assert_allclose(exact, q((q(x, 32) @ w.T + b) / (32 * 256), 16) / 16, atol=1e-6)
    assert np.abs(near - exact).max() <= 1.01 / 16
