"""Models of operators that ONNX does not have, and of quantised forms: what its schemas and node cases leave out.

Each is valid, with arrays for its inputs; mutations start from here.
"""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import linger_cases  # noqa: E402

RNG = np.random.default_rng(14)
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("linger", 1)]


def value(name, kind, rank):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), [None] * rank)


def model(nodes, feeds, weights, outputs=("y",), kinds=(np.float32,), ranks=(2,)):
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()]
    constants = [w if isinstance(w, TensorProto) else numpy_helper.from_array(w, n) for n, w in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, [value(*o) for o in zip(outputs, [*kinds, *kinds], [*ranks, *ranks])], constants)
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=10), feeds


def codes(*shape, bits=8):
    return RNG.integers(0, 1 << bits, shape).astype(np.uint8)


def signed(*shape):
    return RNG.integers(-9, 9, shape).astype(np.int8)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def scales(*shape):
    return RNG.uniform(0.02, 0.1, shape).astype(np.float32)


def four_bits(name, kind, *shape):
    return helper.make_tensor(name, kind, shape, RNG.integers(0, 7, int(np.prod(shape))).tolist())


def linger():
    for name, case in linger_cases.cases().items():
        names = [f"x{i}" for i in range(len(case.operands))]
        outs = [f"y{i}" for i in range(case.outputs)]
        node = helper.make_node(case.op, names, outs, domain="linger", **case.attributes)
        results = case.expect(*case.operands)
        yield f"linger {name}", model([node], {names[i]: case.operands[i] for i in case.inputs},
                                      {names[i]: v for i, v in enumerate(case.operands) if i not in case.inputs}, outs, [v.dtype for v in results], [v.ndim for v in results])


def blocked_products():
    """MatMulNBits, with zero points, groups and bias or without."""
    for bits, depth, zeros, groups, bias in [(4, 64, "", 0, 0), (4, 40, "packed", 0, 1), (8, 32, "packed", 0, 0), (2, 70, "packed", 0, 0), (4, 64, "floats", 0, 0), (4, 64, "", 1, 1)]:
        blocks, columns = -(-depth // 32), 6
        weights = {"w": codes(columns, blocks, 32 * bits // 8), "s": scales(columns, blocks)}
        if zeros:
            weights["z"] = codes(columns, -(-blocks * bits // 8)) if zeros == "packed" else floats(columns, blocks)
        if groups:
            weights["i"] = RNG.integers(0, blocks, depth).astype(np.int32)
        if bias:
            weights["b"] = floats(columns)
        names = ["x", "w", "s", "z" if zeros else "", "i" if groups else "", "b" if bias else ""]
        node = helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", K=depth, N=columns, bits=bits, block_size=32)
        yield f"MatMulNBits {bits} {zeros}", model([node], {"x": floats(3, depth)}, weights)


def blocked_tables():
    """GatherBlockQuantized of packed bytes, and of elements of four bits."""
    for bits, zeros in [(4, 1), (8, 0), (2, 1)]:
        weights = {"t": codes(5, 64 * bits // 8), "s": scales(5, 2), "z": codes(5, -(-2 * bits // 8))}
        node = helper.make_node("GatherBlockQuantized", ["t", "i", "s"] + ["z"] * zeros, ["y"], domain="com.microsoft", bits=bits, block_size=32)
        yield f"GatherBlockQuantized {bits}", model([node], {"i": np.array([[0, 4], [2, 1]])}, weights, ranks=[3])
    for kind in (TensorProto.INT4, TensorProto.UINT4):
        weights = {"t": four_bits("t", kind, 5, 3, 32), "s": scales(5, 3, 2)}
        node = helper.make_node("GatherBlockQuantized", ["t", "i", "s"], ["y"], domain="com.microsoft", block_size=16, gather_axis=1, quantize_axis=2)
        yield "GatherBlockQuantized elements", model([node], {"i": np.array([2, -1], np.int32)}, weights, ranks=[3])


def dynamic_lstm():
    """DynamicQuantizeLSTM in both directions, with a scale for each column, and with one and a state that is given."""
    for directions, per_column in ((2, True), (1, False)):
        scale = (directions, 20) if per_column else (directions,)
        weights = {"w": RNG.integers(-127, 128, (directions, 4, 20)).astype(np.int8), "r": RNG.integers(-127, 128, (directions, 5, 20)).astype(np.int8),
                   "b": floats(directions, 40), "s": scales(*scale), "z": np.zeros(scale, np.int8)}
        state = "" if per_column else "h"
        if state:
            weights["h"] = floats(directions, 2, 5)
        node = helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "b", "", state, state, "", "s", "z", "s", "z"], ["y", "yh"], domain="com.microsoft", hidden_size=5,
                                direction="bidirectional" if per_column else "reverse")
        yield f"DynamicQuantizeLSTM {directions}", model([node], {"x": floats(3, 2, 4)}, weights, ["y", "yh"], ranks=[4, 3])


def few_bit_weights():
    """DequantizeLinear with blocks before a product and before a lookup; one weight that several read."""
    for kind, axis in ((TensorProto.INT4, 0), (TensorProto.UINT4, 1)):
        shape = (32, 6) if axis == 0 else (6, 32)
        weights = {"w": four_bits("w", kind, *shape), "s": scales(*[d // 16 if i == axis else d for i, d in enumerate(shape)])}
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=axis, block_size=16)]
        if axis:
            nodes.append(helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0]))
            nodes.append(helper.make_node("Gather", ["f", "i"], ["z"]))
        nodes.append(helper.make_node("MatMul", ["x", "t" if axis else "f"], ["y"]))
        yield "blocks", model(nodes, {"x": floats(2, 32), **({"i": np.array([0, 3])} if axis else {})}, weights, ["y", "z"][:1 + axis])


def float_models():
    """What quantize works on: products, convolutions, a lookup, a recurrent network."""
    weights = {"t": floats(9, 64), "w": floats(64, 48), "v": floats(16, 48), "b": floats(48)}
    nodes = [helper.make_node("Gather", ["t", "i"], ["e"]), helper.make_node("LayerNormalization", ["e", "n", "m"], ["a"]), helper.make_node("MatMul", ["a", "w"], ["h"]),
             helper.make_node("Add", ["h", "b"], ["g"]), helper.make_node("Relu", ["g"], ["r"]), helper.make_node("Gemm", ["r", "v"], ["y"], transB=1)]
    yield "float products", model(nodes, {"i": np.array([0, 8, 3])}, {**weights, "n": floats(64), "m": floats(64)})
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["r"]), helper.make_node("MaxPool",
        ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Conv", ["p", "d"], ["e"], group=8), helper.make_node("Add", ["e", "p"], ["s"]), helper.make_node("GlobalAveragePool", ["s"], ["y"])]
    yield "float convolutions", model(nodes, {"x": floats(2, 3, 8, 8)}, {"w": floats(8, 3, 3, 3), "b": floats(8), "d": floats(8, 1, 1, 1)}, ranks=[4])
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h"], hidden_size=4)
    yield "float LSTM", model([node], {"x": floats(3, 2, 5)}, {"w": floats(1, 16, 5), "r": floats(1, 16, 4), "b": floats(1, 32)}, ["y", "h"], ranks=[4, 3])


def quantised_nodes():
    """QuantizeLinear and DequantizeLinear around operators, and the same as QLinear operators."""
    around = {"xs": np.float32(0.05), "xz": np.uint8(128), "ws": scales(4), "wz": np.zeros(4, np.int8), "ys": np.float32(0.1), "yz": np.uint8(120)}
    ends = [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]), helper.make_node("DequantizeLinear", ["r", "ys", "yz"], ["y"])]
    middle = [helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]), helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["f"], axis=0),
              helper.make_node("Conv", ["d", "f"], ["c"]), helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["r"])]
    conv = {"w": signed(4, 3, 3, 3), **around}
    yield "Q and DQ", model([ends[0], *middle, ends[1]], {"x": floats(1, 3, 6, 5)}, conv, ranks=[4])
    joined = helper.make_node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["r"])
    yield "QLinearConv", model([ends[0], joined, ends[1]], {"x": floats(1, 3, 6, 5)}, conv, ranks=[4])
    product = helper.make_node("QLinearMatMul", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["r"])
    yield "QLinearMatMul", model([ends[0], product, ends[1]], {"x": floats(3, 8)}, {"w": signed(8, 4), **around})
    dynamic = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["i"]),
               helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), helper.make_node("Mul", ["f", "s"], ["y"])]
    yield "dynamic", model(dynamic, {"x": floats(3, 8)}, {"w": signed(8, 4), "wz": np.zeros(4, np.int8)})


def microsoft():
    """Operators of onnxruntime that are read as ONNX's (src/ops/foreign.cpp)."""
    q = {"s": np.float32(0.1), "z": np.uint8(3), "a": codes(3, 4), "c": codes(3, 4), "w": codes(4, 5), "t": scales(5), "b": floats(5)}
    rows = [("QLinearAdd", ["a", "s", "z", "c", "s", "z", "s", "z"], {}), ("QLinearMul", ["a", "s", "z", "c", "s", "z", "s", "z"], {}), ("QLinearSigmoid", ["a", "s", "z", "s", "z"], {}),
            ("QLinearLeakyRelu", ["a", "s", "z", "s", "z"], {"alpha": 0.1}), ("QLinearSoftmax", ["a", "s", "z", "s", "z"], {"axis": 1, "opset": 13}),
                ("QLinearConcat", ["s", "z", "a", "s", "z", "c", "s", "z"], {"axis": 0}),
            ("QLinearReduceMean", ["a", "s", "z", "s", "z"], {"axes": [1]}), ("DynamicQuantizeMatMul", ["f", "w", "t", "", "b"], {}), ("MatMulIntegerToFloat", ["a", "w", "s", "t", "z", "z", "b"], {}),
            ("QGemm", ["a", "s", "z", "w", "t", "", "", "s", "z"], {}), ("QuantizeLinear", ["f", "s", "z"], {}), ("DequantizeLinear", ["a", "s", "z"],
                {}), ("Gelu", ["f"], {}), ("BiasGelu", ["f", "d"], {}), ("FastGelu", ["f", "d"], {})]
    for op, names, attributes in rows:
        feeds = {"a": q["a"]} if "a" in names else {"f": floats(3, 4)}
        weights = {n: np.asarray(v) for n, v in {**q, "d": floats(4)}.items() if n in names and n not in feeds}
        kind = np.uint8 if names[-1] == "z" and op != "DequantizeLinear" else np.float32
        yield f"com.microsoft {op}", model([helper.make_node(op, names, ["y"], domain="com.microsoft", **attributes)], feeds, weights, kinds=[kind])
    picture = {"p": codes(1, 3, 4, 4)}
    for op, attributes in (("QLinearGlobalAveragePool", {"channels_last": 0}), ("QLinearAveragePool", {"kernel_shape": [2, 2]})):
        yield f"com.microsoft {op}", model([helper.make_node(op, ["p", "s", "z", "s", "z"], ["y"], domain="com.microsoft", **attributes)], picture,
            {n: np.asarray(q[n]) for n in "sz"}, kinds=[np.uint8], ranks=[4])


def seeds():
    """(name, bytes, arrays)"""
    for family in (linger, blocked_products, blocked_tables, dynamic_lstm, few_bit_weights, float_models, quantised_nodes, microsoft):
        for name, (made, feeds) in family():
            yield name, made.SerializeToString(), dict(feeds)
