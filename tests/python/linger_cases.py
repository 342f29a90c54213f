"""A case or more of every operator that linger writes."""
import math

import numpy as np

import linger_numpy as ln
from linger_numpy import Case, clip, common, ints, out, pair, q15, sigmoid, up, weighted

WINDOW = {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 0, 1, 2], "dilations": [1, 1], "group": 1}
LINE = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "dilations": [1], "group": 1}
POOL = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 0], "ceil_mode": 0, "count_include_pad": 1, "divisor_override": -1}
STATES = {"hidden_size": 5, "input_size": 4, "num_layers": 1, "scale_h": 128.0, "scale_iw": 256.0, "scale_hw": 128.0, "w_bits": 8}


def b32(*shape):
    return ints(*shape, bits=32, most=20000)


def convolution(name, x, w, b, a, spatial):
    return Case(name, [x, w] + [b] * (b is not None), a, lambda *o: [out(ln.conv(o[0], o[1], o[2] if len(o) > 2 else None, a, spatial), a["scale_x"] * a["scale_w"], a)])


def transposed(name, x, w, b, a, spatial):
    return Case(name, [x, w] + [b] * (b is not None), a,
                lambda *o: [out(ln.conv_transpose(o[0], o[1], o[2] if len(o) > 2 else None, a, spatial), a["scale_x"] * a["scale_w"], a)])


def linear(x, w, b, a):
    def expect(x, w, b=None):
        sums = x.astype(np.int64) @ w.astype(np.int64).T + (0 if b is None else b.astype(np.int64))
        return [out(sums, a["scale_x"] * a["scale_w"], a)]
    return Case("QLinear", [x, w] + [b] * (b is not None), a, expect)


def batch_norm(name, x, a):
    def expect(x, alpha, beta):
        along = (-1, *[1] * (x.ndim - 2))
        return [out(x.astype(np.int64) * alpha.astype(np.int64).reshape(along) + beta.astype(np.int64).reshape(along), a["scale_x"] * a["scale_w"], a)]
    return Case(name, [x, ints(x.shape[1]), b32(x.shape[1])], a, expect)


def pool(name, x, a, spatial, **how):
    return Case(name, [x], a, lambda x: [ln.average(x, a, spatial)], **how)


def activation(name, function, x, a):
    return Case(name, [x], a, lambda x: [out(function(x.astype(np.float64) / a["scale_x"]), 1, a)], exact=1)


def add(x, y, a):
    def expect(x, y):
        return [clip(up(x.astype(np.float64) * a["scale_o"] / a["scale_x"]) + up(y.astype(np.float64) * a["scale_o"] / a["scale_y"]), a["o_bits"])]
    return Case("QAdd", [x, y], a, expect)


def product(name, x, y, a, multiply):
    return Case(name, [x, y], a, lambda x, y: [out(multiply(x.astype(np.int64), y.astype(np.int64)), a["scale_x"] * a["scale_y"], a)])


def concat(parts, scales, a):
    a = a | {f"x_{i}_bits": 8 for i in range(len(parts))} | {f"scale_x_{i}": float(s) for i, s in enumerate(scales)}
    return Case("QCat", parts, a, lambda *o: [np.concatenate([out(v, s, a) for v, s in zip(o, scales)], a["axis"])])


def glu(x, a):
    def expect(x):
        left, right = np.split(x.astype(np.float64) / a["scale_x"], 2, a["dim"])
        return [out(left * q15(sigmoid(right)), 1, a)]
    return Case("QGLU", [x], a, expect, exact=1)


def lstm(states, biases, a):
    x = ints(6, 2, 4)
    operands = [x] + states + [ints(20, 4), ints(20, 5)] + biases

    def expect(*o):
        o = list(o)
        first, h0, c0 = o.pop(0), o.pop(0) if a["has_hidden"] else None, o.pop(0) if a["has_cell"] else None
        return list(ln.lstm(first, h0, c0, o[0], o[1], *(o[2:] or [None, None]), a))
    return Case("QLSTM", operands, a, expect, outputs=3, steps=3, exact=3, inputs=tuple(range(1 + len(states))))


def gru(states, a):
    def expect(*o):
        o = list(o)
        return list(ln.gru(o.pop(0), o.pop(0) if a["has_hidden"] else None, *o, a))
    return Case("QGRU", [ints(6, 2, 4), *states, ints(15, 4), ints(15, 5), b32(15), b32(15)], a, expect, outputs=2, steps=3, exact=3, inputs=tuple(range(1 + len(states))))


def state():
    return ln.RNG.uniform(-0.9, 0.9, (1, 2, 5)).astype(np.float32)


def gelu(v):
    return v * 0.5 * (1 + np.vectorize(math.erf)(v / math.sqrt(2)))


def cases():
    return {
        "Quant": Case("Quant", [(ln.RNG.normal(size=(3, 50)) * 3).astype(np.float32)], {"data_bits": 8, "scale_x": 32.0, "platform": "venusA", "zero_point": 0},
                      lambda x: [clip(up(x.astype(np.float64) * 32))]),
        "Quant of halves": Case("Quant", [(np.arange(-40, 40) / 64).astype(np.float32)], {"data_bits": 8, "scale_x": 32.0}, lambda x: [clip(up(x.astype(np.float64) * 32))]),
        "Quant to 16 bits": Case("Quant", [(ln.RNG.normal(size=(3, 5)) * 3).astype(np.float32)], {"data_bits": 16, "scale_x": 2048.0}, lambda x: [clip(up(x.astype(np.float64) * 2048), 16)]),
        "Quant to 4 bits": Case("Quant", [(ln.RNG.normal(size=(3, 5)) * 3).astype(np.float32)], {"data_bits": 4, "scale_x": 2.0},
                                lambda x: [np.clip(up(x.astype(np.float64) * 2), -8, 7).astype(np.int8)]),
        "Dequant": Case("Dequant", [ints(3, 5)], {"scale_o": 64.0}, lambda x: [(x / 64).astype(np.float32)], steps=0),
        "QConv2d": convolution("QConv2d", ints(2, 3, 7, 6), ints(4, 3, 3, 3), b32(4), weighted(32, 512, 16, **WINDOW), 2),
        "QConv2d, depthwise, no bias": convolution("QConv2d", ints(1, 4, 5, 5), ints(4, 1, 3, 3), None, weighted(32, 256, 32, **WINDOW | {"group": 4}), 2),
        "QConv2d, dilated": convolution("QConv2d", ints(1, 2, 9, 9), ints(2, 2, 3, 3), b32(2), weighted(32, 256, 32, **WINDOW | {"dilations": [2, 2]}), 2),
        "QConv1d": convolution("QConv1d", ints(2, 3, 9), ints(4, 3, 3), b32(4), weighted(32, 512, 16, **LINE), 1),
        "QConvTranspose2d": transposed("QConvTranspose2d", ints(1, 4, 3, 4), ints(4, 2, 3, 3), b32(4), weighted(32, 512, 16, **WINDOW | {"strides": [2, 2], "group": 2, "output_padding": [1, 0]}), 2),
        "QConvTranspose1d": transposed("QConvTranspose1d", ints(2, 3, 5), ints(3, 4, 3), None, weighted(32, 512, 16, **LINE | {"output_padding": [1]}), 1),
        "QLinear": linear(ints(2, 3, 16), ints(10, 16), b32(10), weighted(32, 1024, 16)),
        "QLinear, no bias, 16 bits": linear(ints(4, 16), ints(10, 16), None, weighted(32, 1024, 2048, o_bits=16)),
        "QBatchNorm2d": batch_norm("QBatchNorm2d", ints(2, 3, 4, 5), weighted(64, 64, 32)),
        "QBatchNorm1d": batch_norm("QBatchNorm1d", ints(2, 3, 5), weighted(64, 64, 32)),
        "QBatchNorm1d of features": batch_norm("QBatchNorm1d", ints(4, 3), weighted(64, 64, 32)),
        "QLayerNorm": Case("QLayerNorm", [ints(2, 3, 16), ints(16), b32(16)], a := weighted(32, 64, 32, scale_y_normal=32768.0), lambda *o: [ln.layer_norm(*o, a)], exact=1),
        "Gather": Case("Gather", [ints(7, 4), np.int64([[0, 3], [6, 1]])], {"platform": "venusA", "w_bits": 8, "scale_w": 64.0}, lambda w, ids: [w[ids]], inputs=(1,), steps=0),
        "QAvgPool2d": pool("QAvgPool2d", ints(2, 3, 6, 6), common(32, 32, **POOL), 2),
        "QAvgPool2d to another scale": pool("QAvgPool2d", ints(2, 3, 6, 6), common(32, 64, **POOL), 2),
        "QAvgPool2d, 3x3, padded": pool("QAvgPool2d", ints(2, 3, 7, 7), common(32, 64, **POOL | {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}), 2, steps=2),
        "QAvgPool2d without padding in the count": pool("QAvgPool2d", ints(2, 3, 7, 7), common(32, 16, **POOL | {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 0}), 2),
        "QAvgPool2d, ceil": pool("QAvgPool2d", ints(2, 3, 7, 8), common(32, 32, **POOL | {"ceil_mode": 1}), 2),
        "QAvgPool2d, divisor": pool("QAvgPool2d", ints(2, 3, 6, 6, most=60), common(32, 32, **POOL | {"divisor_override": 3}), 2),
        "QAvgPool1d": pool("QAvgPool1d", ints(2, 3, 9), common(32, 32, kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=0, count_include_pad=1, divisor_override=-1), 1),
        "QGlobalAveragePool2d": Case("QGlobalAveragePool2d", [ints(2, 3, 4, 4)], g := common(32, 64), lambda x: [ln.divided(x.astype(np.int64).sum((2, 3), keepdims=True), np.float64(16), g)]),
        "QGlobalAveragePool2d of 7x7": Case("QGlobalAveragePool2d", [ints(2, 3, 7, 7)], f := common(32, 128),
                                            lambda x: [ln.divided(x.astype(np.int64).sum((2, 3), keepdims=True), np.float64(49), f)], steps=4),
        "QAdd": add(ints(2, 3, 4), ints(3, 1), pair(32, 16, 16)),
        "QAdd to a coarser scale": add(ints(2, 3, 40), ints(2, 3, 40), pair(32, 64, 8)),
        "QMul": product("QMul", ints(2, 3, 4), ints(4), pair(32, 16, 8), np.multiply),
        "QMatmul": product("QMatmul", ints(2, 3, 8), ints(8, 5), pair(32, 64, 16), np.matmul),
        "QMatmul to 32 bits": product("QMatmul", ints(2, 3, 8), ints(8, 5), pair(32, 64, 2048, o_bits=32), np.matmul),
        "QBmm": product("QBmm", ints(2, 3, 8), ints(2, 8, 5), pair(32, 64, 16), np.matmul),
        "QCat": concat([ints(2, 3, 4), ints(2, 2, 4), ints(2, 1, 4)], [32.0, 16.0, 64.0], {"platform": "venusA", "quant_mode": "floor_add", "axis": 1, "o_bits": 8, "scale_o": 16.0}),
        "QSoftmax": Case("QSoftmax", [ints(3, 7)], s := common(16, 128, axis=-1), lambda x: [ln.softmax(x, s)], exact=1),
        "QGLU": glu(ints(2, 8, 3), common(32, 32, dim=1)),
        "QSigmoid": activation("QSigmoid", sigmoid, ints(3, 40), common(16, 128)),
        "QTanh": activation("QTanh", np.tanh, ints(3, 40), common(32, 128)),
        "QGelu": activation("QGelu", gelu, ints(3, 40), common(32, 32)),
        "QSwish": activation("QSwish", lambda v: v * sigmoid(v), ints(3, 40), common(16, 16)),
        "QLSTM": lstm([], [b32(20), b32(20)], common(32, 128, **STATES, batch_first=0, go_forward=1, has_hidden=0, has_cell=0)),
        "QLSTM, reversed, with states": lstm([state(), state()], [], common(32, 128, **STATES, batch_first=0, go_forward=0, has_hidden=1, has_cell=1)),
        "QLSTM, batch first": lstm([], [b32(20), b32(20)], common(32, 64, **STATES, batch_first=1, go_forward=1, has_hidden=0, has_cell=0)),
        "QGRU": gru([], common(32, 128, **STATES, batch_first=0, go_forward=1, has_hidden=0)),
        "QGRU with a state": gru([state()], common(32, 128, **STATES, batch_first=0, go_forward=1, has_hidden=1)),
        "Squeeze": Case("Squeeze", [ints(2, 1, 3, 1)], {"axes": [1, 3]}, lambda x: [x.reshape(2, 3)], steps=0),
    }
