"""com.microsoft's operators as quantised files use them: ours, by both engines, beside onnxruntime's."""
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

RNG = np.random.default_rng(0)


def f32(*shape):
    return (RNG.random(shape) * 2 - 1).astype(np.float32)


def u8(*shape):
    return RNG.integers(0, 255, shape).astype(np.uint8)


def i8(*shape):
    return RNG.integers(-100, 100, shape).astype(np.int8)


def scale(x):
    return np.float32(x).reshape(())


def zero(x, kind=np.uint8):
    return kind(x).reshape(())


Q = [scale(0.02), zero(128)]
Y = [scale(0.03), zero(120)]
# operator, operands (the first is an input, the others constants; None is absent), attributes, type of the output, steps that may differ
CASES = {
    "QLinearAdd": ("QLinearAdd", [u8(2, 3, 4), *Q, u8(3, 4), scale(0.01), zero(100), *Y], {}, TensorProto.UINT8, 1),
    "QLinearMul": ("QLinearMul", [u8(2, 3, 4), *Q, u8(3, 4), scale(0.01), zero(100), *Y], {}, TensorProto.UINT8, 1),
    "QLinearAdd of int8": ("QLinearAdd", [i8(2, 3), scale(0.02), zero(3, np.int8), i8(2, 3), scale(0.01), zero(-4, np.int8), scale(0.03), zero(1, np.int8)], {}, TensorProto.INT8, 1),
    "QLinearSigmoid": ("QLinearSigmoid", [u8(2, 3), *Q, scale(1 / 256), zero(0)], {}, TensorProto.UINT8, 1),
    "QLinearLeakyRelu": ("QLinearLeakyRelu", [u8(2, 3), *Q, *Y], {"alpha": 0.2}, TensorProto.UINT8, 1),
    "QLinearSoftmax": ("QLinearSoftmax", [u8(2, 5), *Q, scale(1 / 256), zero(0)], {"axis": -1, "opset": 13}, TensorProto.UINT8, 1),
    "QLinearGlobalAveragePool": ("QLinearGlobalAveragePool", [u8(1, 3, 4, 4), *Q, *Y], {"channels_last": 0}, TensorProto.UINT8, 1),
    "QLinearAveragePool": ("QLinearAveragePool", [u8(1, 3, 6, 6), *Q, *Y], {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 0]}, TensorProto.UINT8, 1),
    "QLinearConcat": ("QLinearConcat", [Y[0], Y[1], u8(2, 3), *Q, u8(2, 4), scale(0.01), zero(100)], {"axis": 1}, TensorProto.UINT8, 1),
    "DynamicQuantizeMatMul": ("DynamicQuantizeMatMul", [f32(3, 4), i8(4, 5), scale(0.02), zero(2, np.int8), f32(5)], {}, TensorProto.FLOAT, 0),
    "DynamicQuantizeMatMul by column": ("DynamicQuantizeMatMul", [f32(2, 3, 4), i8(4, 5), f32(5) ** 2 + np.float32(0.01), i8(5)], {}, TensorProto.FLOAT, 0),
    "MatMulIntegerToFloat": ("MatMulIntegerToFloat", [u8(3, 4), i8(4, 5), scale(0.02), scale(0.03), zero(128), zero(3, np.int8), f32(5)], {}, TensorProto.FLOAT, 0),
    "QGemm": ("QGemm", [u8(3, 4), *Q, i8(5, 4), scale(0.03), zero(0, np.int8), RNG.integers(-500, 500, 5).astype(np.int32), *Y], {"transB": 1}, TensorProto.UINT8, 1),
    "QGemm to float": ("QGemm", [u8(3, 4), *Q, i8(4, 5), scale(0.03), zero(0, np.int8)], {"alpha": 2.0}, TensorProto.FLOAT, 0),
    "QAttention": ("QAttention", [u8(2, 7, 8), i8(8, 24), f32(24), scale(0.02), scale(0.005), None, zero(113), zero(0, np.int8)], {"num_heads": 2}, TensorProto.FLOAT, 0),
    "QAttention with a scale": ("QAttention", [u8(1, 5, 8), i8(8, 24), f32(24), scale(0.02), scale(0.005), None, zero(128), zero(0, np.int8)],
                                {"num_heads": 4, "scale": 0.3}, TensorProto.FLOAT, 0),
    "Gelu": ("Gelu", [f32(3, 4)], {}, TensorProto.FLOAT, 0),
    "BiasGelu": ("BiasGelu", [f32(3, 4), f32(4)], {}, TensorProto.FLOAT, 0),
    "FastGelu": ("FastGelu", [f32(3, 4), f32(4)], {}, TensorProto.FLOAT, 0),
    "DynamicQuantizeLSTM": ("DynamicQuantizeLSTM", [f32(6, 2, 4), i8(1, 4, 20), i8(1, 5, 20), f32(1, 40), None, None, None, None,
                                                    np.float32([0.004]), np.int8([3]), np.float32([0.003]), np.int8([-2])],
                            {"hidden_size": 5}, TensorProto.FLOAT, 0.02),
    # One sequence, whose state has a range of its own in onnxruntime too.
    "DynamicQuantizeLSTM of one sequence": (
        "DynamicQuantizeLSTM", [f32(30, 1, 6), i8(1, 6, 68), i8(1, 17, 68), f32(1, 136), None, f32(1, 1, 17), f32(1, 1, 17), None,
                                f32(1, 68) ** 2 * np.float32(0.01) + np.float32(0.001), np.zeros((1, 68), np.int8),
                                f32(1, 68) ** 2 * np.float32(0.01) + np.float32(0.001), np.zeros((1, 68), np.int8)],
        {"hidden_size": 17, "direction": "reverse"}, TensorProto.FLOAT, 0),
    "DynamicQuantizeLSTM with peepholes, other activations and a clip": (
        "DynamicQuantizeLSTM", [f32(6, 1, 4), u8(1, 4, 20), u8(1, 5, 20), None, None, None, None, f32(1, 15), np.float32([0.004]), np.uint8([120]),
                                np.float32([0.003]), np.uint8([131])],
        {"hidden_size": 5, "clip": 1.5, "activations": ["HardSigmoid", "Softsign", "Tanh"]}, TensorProto.FLOAT, 0),
    "DynamicQuantizeLSTM in both directions, by column": (
        "DynamicQuantizeLSTM", [f32(6, 2, 4), i8(2, 4, 20), i8(2, 5, 20), f32(2, 40), None, None, None, None,
                                f32(2, 20) ** 2 * np.float32(0.01) + np.float32(0.001), np.zeros((2, 20), np.int8),
                                f32(2, 20) ** 2 * np.float32(0.01) + np.float32(0.001), np.zeros((2, 20), np.int8)],
        {"hidden_size": 5, "direction": "bidirectional"}, TensorProto.FLOAT, 0.02),
}


@pytest.mark.parametrize("name", CASES)
def test_beside_onnxruntime(cameo, tmp_path, name):
    op, operands, attributes, output, off = CASES[name]
    first = next(i for i, v in enumerate(operands) if v is not None and v.ndim)
    names = ["" if v is None else f"v{i}" for i, v in enumerate(operands)]
    node = helper.make_node(op, names, ["y"], domain="com.microsoft", **attributes)
    inputs = [helper.make_tensor_value_info(names[first], helper.np_dtype_to_tensor_dtype(operands[first].dtype), operands[first].shape)]
    constants = [onnx.numpy_helper.from_array(np.ascontiguousarray(v).reshape(v.shape), n) for i, (n, v) in enumerate(zip(names, operands)) if v is not None and i != first]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", output, None)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8), tmp_path / "m.onnx")
    feeds = {names[first]: operands[first]}
    np.savez(tmp_path / "in.npz", **feeds)
    wanted = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    for flags in ((), ("--reference",)):
        done = cameo("run", tmp_path / "m.onnx", "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.npz", *flags)
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "out.npz") as out:
            assert out["y"].dtype == wanted.dtype
            np.testing.assert_allclose(out["y"].astype("f8"), wanted.astype("f8"), rtol=1e-4, atol=max(off, 1e-4))
