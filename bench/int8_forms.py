"""Every form of quantized operators: cameo run against onnxruntime (its default optimisations), in one run on one machine.

usage: bench/int8_forms.py [--only PATTERN] [--rounds N] [--repeat N] [--before OLDER_CAMEO] [--cameo CAMEO]
Needs onnx and onnxruntime. Each form is a model of one operator (with the DequantizeLinear and QuantizeLinear around it, where that is the
form). Processor time of one thread; rounds of both in turn, the least of the rounds' medians. The ratio is onnxruntime's time over Cameo's:
above 1, Cameo is faster. `off` is the largest difference of the results: in steps for bytes, relative to the largest number for floats.
"""
import argparse
import fnmatch
import pathlib
import statistics
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from integer_speed import ROOT, ours, peer_session

MICROSOFT = "com.microsoft"
FORMS = {}


class Model:
    """One model under construction. The first tensor that is fed is `x`."""

    def __init__(self):
        self.nodes, self.weights, self.feeds = [], [], {}
        self.random = np.random.default_rng(0)

    def feed(self, name, array):
        self.feeds[name] = array
        return name

    def bytes(self, *shape, name="x", kind=np.uint8):
        info = np.iinfo(kind)
        return self.feed(name, self.random.integers(info.min, info.max + 1, shape).astype(kind))

    def floats(self, *shape, name="x"):
        return self.feed(name, self.random.standard_normal(shape).astype(np.float32))

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape, kind=np.int8):
        low = -127 if kind == np.int8 else 0
        return self.constant(self.random.integers(low, low + 255, shape).astype(kind))

    def scale(self, value=0.02, zero=113, kind=np.uint8):
        return [self.constant(np.float32(value)), self.constant(kind(zero))]

    def node(self, op, inputs, domain="", outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def read(self, name, *scale, **attributes):
        return self.node("DequantizeLinear", [name, *(scale or self.scale())], **attributes)

    def write(self, name, *scale):
        return self.node("QuantizeLinear", [name, *(scale or self.scale(0.05, 121))])

    def save(self, path, out):
        self.nodes[-1].output[0] = "y"
        del out
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in self.feeds.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, [helper.make_value_info("y", onnx.TypeProto())], self.weights)
        imports = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=10)
        onnx.save(model, str(path))


def form(name):
    def add(build):
        FORMS[name] = build
        return build
    return add


# ---- convolutions: channels in, out, kernel, stride, groups, spatial sizes ----
LAYERS = {
    "1x1 64-64": (64, 64, 1, 1, 1, (56, 56)), "1x1 32-64 large": (32, 64, 1, 1, 1, (256, 256)), "1x1 256-64": (256, 64, 1, 1, 1, (28, 28)),
    "3x3 64-64": (64, 64, 3, 1, 1, (56, 56)), "3x3 64-64 large": (64, 64, 3, 1, 1, (128, 128)), "3x3 3-32 stride 2": (3, 32, 3, 2, 1, (224, 224)),
    "3x3 128-128 stride 2": (128, 128, 3, 2, 1, (28, 28)), "depthwise 64": (64, 64, 3, 1, 64, (56, 56)), "depthwise 96 stride 2": (96, 96, 3, 2, 96, (112, 112)),
    "groups of 16": (64, 64, 3, 1, 4, (56, 56)), "1-D": (64, 64, 5, 1, 1, (2000,)), "3-D": (16, 16, 3, 1, 1, (16, 28, 28)),
}


def convolution(layer, kind, weights=np.int8, zero=0, channels=False):
    def build(m):
        inside, outside, kernel, stride, groups, size = LAYERS[layer]
        axes = len(size)
        attributes = {"pads": [kernel // 2] * axes * 2, "strides": [stride] * axes, "group": groups, "kernel_shape": [kernel] * axes}
        w = m.weight(outside, inside // groups, *[kernel] * axes, kind=weights)
        per = m.constant(m.random.uniform(0.005, 0.02, outside).astype(np.float32)) if channels else m.constant(np.float32(0.01))
        wz = m.constant(np.full(outside, zero, weights) if channels else weights(zero))
        (xs, xz), (ys, yz) = m.scale(), m.scale(0.05 * (inside // groups) ** 0.5 * kernel ** (axes / 2), 121)
        if kind == "dynamic":
            q, s, z = m.node("DynamicQuantizeLinear", [m.floats(1, inside, *size)], outputs=3)
            sums = m.node("ConvInteger", [q, w, z, wz], **attributes)
            return m.node("Mul", [m.node("Cast", [sums], to=TensorProto.FLOAT), m.node("Mul", [s, per])])
        x = m.bytes(1, inside, *size)
        if kind == "integer": return m.node("ConvInteger", [x, w, xz, wz], **attributes)
        if kind == "qlinear": return m.node("QLinearConv", [x, xs, xz, w, per, wz, ys, yz], **attributes)
        f, v = m.read(x, xs, xz), m.read(w, per, wz, axis=0)
        return m.write(m.node("Conv", [f, v], **attributes), ys, yz)
    return build


for layer_name in LAYERS:
    FORMS[f"ConvInteger i8, {layer_name}"] = convolution(layer_name, "integer")
    FORMS[f"ConvInteger u8, {layer_name}"] = convolution(layer_name, "integer", np.uint8, 121)
    FORMS[f"QLinearConv, {layer_name}"] = convolution(layer_name, "qlinear", channels=True)
    FORMS[f"QDQ Conv, {layer_name}"] = convolution(layer_name, "qdq", channels=True)
FORMS["dynamic Conv u8, 3x3 64-64"] = convolution("3x3 64-64", "dynamic", np.uint8, 121)
FORMS["dynamic Conv i8, 1x1 64-64"] = convolution("1x1 64-64", "dynamic")


# ---- products ----
def product(op, rows, zero=0, kind=np.int8, depth=768, columns=768):
    def build(m):
        w, ws, wz = m.weight(depth, columns, kind=kind), m.constant(np.float32(0.01)), m.constant(kind(zero))
        if op == "DynamicQuantizeMatMul": return m.node(op, [m.floats(rows, depth), w, ws, wz], MICROSOFT)
        if op == "dynamic MatMul":
            q, s, z = m.node("DynamicQuantizeLinear", [m.floats(rows, depth)], outputs=3)
            return m.node("Mul", [m.node("Cast", [m.node("MatMulInteger", [q, w, z, wz])], to=TensorProto.FLOAT), m.node("Mul", [s, ws])])
        x, (xs, xz), (ys, yz) = m.bytes(rows, depth), m.scale(), m.scale(5, 121)
        if op == "MatMulInteger": return m.node(op, [x, w, xz, wz])
        if op == "MatMulIntegerToFloat": return m.node(op, [x, w, xs, ws, xz, wz], MICROSOFT)
        if op == "QLinearMatMul": return m.node(op, [x, xs, xz, w, ws, wz, ys, yz])
        if op == "QGemm": return m.node(op, [x, xs, xz, w, ws, wz, m.constant(m.random.integers(-500, 500, columns).astype(np.int32)), ys, yz], MICROSOFT)
        return m.write(m.node("MatMul", [m.read(x, xs, xz), m.read(w, ws, wz)]), ys, yz)
    return build


for op_name in ("MatMulInteger", "QLinearMatMul", "QDQ MatMul", "MatMulIntegerToFloat", "QGemm", "DynamicQuantizeMatMul", "dynamic MatMul"):
    for row_count in (1, 128): FORMS[f"{op_name}, {row_count} rows"] = product(op_name, row_count)
FORMS["MatMulInteger u8, 128 rows"] = product("MatMulInteger", 128, 121, np.uint8)


# ---- elementwise operators, pools, moves: QLinear form, and between DequantizeLinear and QuantizeLinear ----
IMAGE = (1, 64, 56, 56)


def qlinear(op, shape=IMAGE, out=(0.05, 121), more=(), **attributes):
    return lambda m: m.node(op, [m.bytes(*shape), *m.scale(), *m.scale(*out), *more], MICROSOFT, **attributes)


def qlinear_binary(op, other=IMAGE):
    return lambda m: m.node(op, [m.bytes(*IMAGE), *m.scale(), m.bytes(*other, name="b"), *m.scale(0.01, 100), *m.scale(0.05, 121)], MICROSOFT)


def between(op, out=(0.05, 121), shape=IMAGE, scale=(0.02, 113), extra=lambda m: [], **attributes):
    return lambda m: m.write(m.node(op, [m.read(m.bytes(*shape), *m.scale(*scale)), *extra(m)], **attributes), *m.scale(*out))


def between_two(op, other=IMAGE, **attributes):
    def build(m):
        a, b = m.read(m.bytes(*IMAGE)), m.read(m.bytes(*other, name="b"), *m.scale(0.01, 100))
        return m.write(m.node(op, [a, b], **attributes))
    return build


@form("QDQ Add, Relu")
def add_relu(m):
    a, b = m.read(m.bytes(*IMAGE)), m.read(m.bytes(*IMAGE, name="b"), *m.scale(0.01, 100))
    return m.write(m.node("Relu", [m.node("Add", [a, b])]), *m.scale(0.03, 0))


@form("QLinearConcat")
def qlinear_concat(m):
    return m.node("QLinearConcat", [*m.scale(0.03, 120), m.bytes(*IMAGE), *m.scale(), m.bytes(*IMAGE, name="b"), *m.scale(0.01, 100)], MICROSOFT, axis=1)


@form("QLinearWhere")
def qlinear_where(m):
    chosen = m.feed("chosen", m.random.integers(0, 2, IMAGE).astype(bool))
    return m.node("QLinearWhere", [chosen, m.bytes(*IMAGE), *m.scale(), m.bytes(*IMAGE, name="b"), *m.scale(0.01, 100), *m.scale(0.03, 120)], MICROSOFT)


WINDOW = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
SAME = (0.02, 113)
FORMS |= {
    "QLinearAdd": qlinear_binary("QLinearAdd"), "QLinearMul": qlinear_binary("QLinearMul"), "QLinearMul by channel": qlinear_binary("QLinearMul", (1, 64, 1, 1)),
    "QLinearSigmoid": qlinear("QLinearSigmoid", out=(1 / 256, 0)), "QLinearLeakyRelu": qlinear("QLinearLeakyRelu", alpha=0.1),
    "QLinearGlobalAveragePool": qlinear("QLinearGlobalAveragePool"), "QLinearAveragePool": qlinear("QLinearAveragePool", **WINDOW),
    "QLinearSoftmax": qlinear("QLinearSoftmax", (128, 1000), (1 / 256, 0), axis=-1, opset=13),
    "QDQ Add": between_two("Add"), "QDQ Mul": between_two("Mul"), "QDQ Mul by channel": between_two("Mul", (1, 64, 1, 1)), "QDQ Concat": between_two("Concat", axis=1),
    "QDQ Sigmoid": between("Sigmoid", (1 / 256, 0)), "QDQ HardSwish": between("HardSwish"), "QDQ LeakyRelu": between("LeakyRelu", alpha=0.1), "QDQ Tanh": between("Tanh", (1 / 128, 128)),
    "QDQ Clip": between("Clip", SAME, extra=lambda m: [m.constant(np.float32(0)), m.constant(np.float32(1.5))]), "QDQ Relu": between("Relu", (0.02, 0)),
    "QDQ MaxPool": between("MaxPool", SAME, **WINDOW), "QDQ AveragePool": between("AveragePool", **WINDOW), "QDQ GlobalAveragePool": between("GlobalAveragePool"),
    "QDQ Softmax": between("Softmax", (1 / 256, 0), (128, 1000), axis=-1),
    "QDQ Resize nearest": between("Resize", SAME, extra=lambda m: ["", m.constant(np.float32([1, 1, 2, 2]))], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    "QDQ Transpose": between("Transpose", SAME, perm=[0, 2, 3, 1]),
    "QuantizeLinear": lambda m: m.write(m.floats(*IMAGE)), "DequantizeLinear": lambda m: m.read(m.bytes(*IMAGE)),
}


# ---- sequences ----
@form("QAttention")
def attention(m):
    q = [m.bytes(1, 128, 256), m.weight(256, 768), m.constant((m.random.standard_normal(768) * 0.1).astype(np.float32)), m.constant(np.float32(0.02)),
         m.constant(np.float32(0.005)), "", m.constant(np.uint8(113)), m.constant(np.int8(0))]
    return m.node("QAttention", q, MICROSOFT, num_heads=4)


@form("DynamicQuantizeLSTM")
def lstm(m):
    one = [np.float32([0.004]), np.int8([0])]
    return m.node("DynamicQuantizeLSTM", [m.floats(50, 1, 128), m.weight(1, 128, 1024), m.weight(1, 256, 1024), m.constant(np.zeros((1, 2048), np.float32)),
                                          "", "", "", "", *map(m.constant, one), *map(m.constant, one)], MICROSOFT, outputs=1, hidden_size=256)


# ---- weights only ----
def blocked(rows, bits, block, zeros=False, level=0, depth=2048, columns=2048):
    def build(m):
        blocks = depth // block
        w = m.constant(m.random.integers(0, 256, (columns, blocks, block * bits // 8)).astype(np.uint8))
        inputs = [m.floats(rows, depth), w, m.constant(m.random.uniform(0.001, 0.01, (columns, blocks)).astype(np.float32))]
        if zeros: inputs.append(m.constant(m.random.integers(0, 256, (columns, blocks * bits // 8)).astype(np.uint8)))
        return m.node("MatMulNBits", inputs, MICROSOFT, K=depth, N=columns, bits=bits, block_size=block, accuracy_level=level)
    return build


for bit_count, block_size, has_zeros, accuracy in ((4, 32, False, 0), (4, 32, True, 0), (4, 128, True, 0), (4, 16, False, 0), (4, 256, False, 0), (8, 32, False, 0), (8, 128, True, 0),
                                                   (2, 64, False, 0), (4, 32, False, 4), (4, 128, True, 4), (8, 32, False, 4)):
    for row_count in (1, 64):
        FORMS[f"MatMulNBits {bit_count} bits of {block_size}{', zeros' if has_zeros else ''}, level {accuracy}, {row_count} rows"] = blocked(row_count, bit_count, block_size, has_zeros, accuracy)


def dequantized(kind, rows, depth=1024, columns=1024, block=32):
    def build(m):
        low = -8 if kind == TensorProto.INT4 else -128
        high = 8 if kind == TensorProto.INT4 else 128
        w = helper.make_tensor("w", kind, (depth, columns), m.random.integers(low, high, depth * columns).tolist())
        m.weights.append(w)
        scales = m.constant(m.random.uniform(0.001, 0.01, (depth // block, columns)).astype(np.float32))
        return m.node("MatMul", [m.floats(rows, depth), m.node("DequantizeLinear", ["w", scales], axis=0, block_size=block)])
    return build


for row_count in (1, 64):
    FORMS[f"DequantizeLinear int4 of 32, MatMul, {row_count} rows"] = dequantized(TensorProto.INT4, row_count)
    FORMS[f"DequantizeLinear int8 of 32, MatMul, {row_count} rows"] = dequantized(TensorProto.INT8, row_count)


@form("GatherBlockQuantized")
def gather(m):
    table = m.constant(m.random.integers(0, 256, (5000, 512)).astype(np.uint8))
    return m.node("GatherBlockQuantized", [table, m.feed("x", m.random.integers(0, 5000, 256)), m.constant(m.random.uniform(0.01, 0.02, (5000, 32)).astype(np.float32))],
                  MICROSOFT, bits=4, block_size=32)


def off(got, wanted):
    difference = np.abs(got.astype(float) - wanted.astype(float)).max()
    return difference / max(np.abs(wanted).max(), 1e-9) if wanted.dtype == np.float32 else difference


def measure(path, feeds, asked):
    session, inputs, out = peer_session(path, 1), path.with_suffix(".npz"), path.with_suffix(".y.npz")
    np.savez(inputs, **feeds)
    wanted, times = session.run(None, feeds)[0], {"ours": [], "theirs": [], "before": []}
    start = time.process_time()
    session.run(None, feeds)
    repeat = max(3, min(200, int(asked.repeat / max(time.process_time() - start, 1e-4))))
    for _ in range(asked.rounds):
        times["ours"].append(ours(asked.cameo, path, inputs, 1, repeat + 1, out, "cpu_ms"))
        got = next(iter(np.load(out).values()))
        if asked.before: times["before"].append(ours(asked.before, path, inputs, 1, repeat + 1, path.with_suffix(".b.npz"), "cpu_ms"))
        runs = []
        for _ in range(repeat):
            start = time.process_time()
            session.run(None, feeds)
            runs.append((time.process_time() - start) * 1000)
        times["theirs"].append(statistics.median(runs))
    return {k: min(v) if v else None for k, v in times.items()}, off(got, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="forms whose name fits the pattern")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=float, default=0.1, help="seconds of each side per round")
    parser.add_argument("--before")
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    asked = parser.parse_args()
    print(f"{'form':58}{'cameo ms':>10}{'peer ms':>10}{'ratio':>7}{'before':>8}  off")
    slow = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, build in FORMS.items():
            if not fnmatch.fnmatch(name, asked.only): continue
            m, path = Model(), pathlib.Path(folder) / "m.onnx"
            m.save(path, build(m))
            try:
                t, difference = measure(path, m.feeds, asked)
            except Exception as fault:  # noqa: BLE001  one form that a side refuses must not end the table
                print(f"{name:58}  {type(fault).__name__}: {str(fault)[:160]}", flush=True)
                continue
            ratio = t["theirs"] / t["ours"]
            slow += ratio < 1
            before = f"{t['before'] / t['ours']:8.2f}" if t["before"] else "       -"
            print(f"{name:58}{t['ours']:10.3f}{t['theirs']:10.3f}{ratio:7.2f}{before}  {difference:.2g}", flush=True)
    print(f"{slow} below 1")


if __name__ == "__main__":
    main()
