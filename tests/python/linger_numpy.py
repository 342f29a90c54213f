"""linger's operators stated once more, in numpy: what docs/linger.md says, independent of the kernels. A case is a node with operands."""
import dataclasses

import numpy as np

RNG = np.random.default_rng(19)
FULL = {8: np.int8, 16: np.int16, 32: np.int32}


@dataclasses.dataclass
class Case:
    op: str
    operands: list
    attributes: dict
    expect: object  # of the operands: the results, in order
    outputs: int = 1
    steps: int = 1  # between linger's result and QuantizeLinear's; 0 with exact rounding
    exact: int = 0  # steps that f32 may be off with exact rounding
    inputs: tuple = (0,)  # which of the operands are inputs; the others are constants


def ints(*shape, bits=8, most=None):
    most = most or 2 ** (bits - 1) - 1
    return RNG.integers(-most - 1, most + 1, shape).astype(FULL[bits])


def up(v):
    return np.floor(np.asarray(v, np.float64) + 0.5)


def clip(v, bits=8):
    return np.clip(v, -2 ** (bits - 1), 2 ** (bits - 1) - 1).astype(FULL[bits])


def common(sx, so, **more):
    return {"platform": "venusA", "quant_mode": "floor_add", "x_bits": 8, "scale_x": float(sx), "o_bits": 8, "scale_o": float(so)} | more


def weighted(sx, sw, so, **more):
    return common(sx, so, w_bits=8, scale_w=float(sw), **more)


def pair(sx, sy, so, **more):
    return common(sx, so, y_bits=8, scale_y=float(sy), **more)


def out(v, from_scale, a):
    return clip(up(np.asarray(v, np.float64) * a["scale_o"] / from_scale), a["o_bits"])


def conv(x, w, b, a, spatial):
    """A convolution, tap by tap."""
    x, w = x.astype(np.int64), w.astype(np.int64)
    n = spatial
    pads = [(0, 0), (0, 0)] + [(a["pads"][i], a["pads"][i + n]) for i in range(n)]
    x = np.pad(x, pads)
    sizes = [(x.shape[i + 2] - (w.shape[i + 2] - 1) * a["dilations"][i] - 1) // a["strides"][i] + 1 for i in range(n)]
    y = np.zeros((x.shape[0], w.shape[0], *sizes), np.int64)
    per = w.shape[0] // a["group"]
    for m in range(w.shape[0]):
        group = x[:, m // per * w.shape[1]:(m // per + 1) * w.shape[1]]
        for tap in np.ndindex(*w.shape[2:]):
            at = tuple(slice(t * d, t * d + (s - 1) * st + 1, st) for t, d, s, st in zip(tap, a["dilations"], sizes, a["strides"]))
            y[:, m] += np.tensordot(group[(slice(None), slice(None), *at)], w[(m, slice(None), *tap)], ([1], [0]))
    return y if b is None else y + b.astype(np.int64).reshape(-1, *[1] * n)


def conv_transpose(x, w, b, a, spatial):
    """Every input number, times the kernel, added where it lies in the result."""
    n = spatial
    sizes = [(x.shape[i + 2] - 1) * a["strides"][i] + (w.shape[i + 2] - 1) * a["dilations"][i] + 1 + a["output_padding"][i] for i in range(n)]
    per = w.shape[1]
    y = np.zeros((x.shape[0], per * a["group"], *sizes), np.int64)
    for c in range(x.shape[1]):
        group = c // (x.shape[1] // a["group"])
        for at in np.ndindex(*x.shape[2:]):
            for tap in np.ndindex(*w.shape[2:]):
                place = tuple(p * s + t * d for p, s, t, d in zip(at, a["strides"], tap, a["dilations"]))
                y[(slice(None), slice(group * per, (group + 1) * per), *place)] += np.outer(x[(slice(None), c, *at)].astype(np.int64), w[(c, slice(None), *tap)].astype(np.int64))
    cut = tuple(slice(a["pads"][i], sizes[i] - a["pads"][i + n]) for i in range(n))
    y = y[(slice(None), slice(None), *cut)]
    return y if b is None else y + b.astype(np.int64).reshape(-1, *[1] * n)


def average(x, a, spatial):
    n, k = spatial, a["kernel_shape"]
    area = int(np.prod(k))
    stops = []
    for i in range(n):
        room = x.shape[i + 2] + a["pads"][i] + a["pads"][i + n] - k[i]
        count = (-(-room // a["strides"][i]) if a["ceil_mode"] else room // a["strides"][i]) + 1
        if a["ceil_mode"] and (count - 1) * a["strides"][i] >= x.shape[i + 2] + a["pads"][i]:
            count -= 1
        stops.append(count)
    sums, by = np.zeros((*x.shape[:2], *stops)), np.zeros(stops)
    for o in np.ndindex(*stops):
        first = [o[i] * a["strides"][i] - a["pads"][i] for i in range(n)]
        cut = tuple(slice(max(f, 0), max(0, min(f + k[i], x.shape[i + 2]))) for i, f in enumerate(first))
        part = x[(slice(None), slice(None), *cut)].astype(np.int64)
        sums[(slice(None), slice(None), *o)] = part.sum(tuple(range(2, 2 + n)))
        by[o] = a["divisor_override"] if a["divisor_override"] > 0 else area if a["count_include_pad"] else max(1, np.prod(part.shape[2:]))
    return divided(sums, by, a)


def divided(sums, by, a):
    shift = np.all(np.log2(by) % 1 == 0)
    mean = sums / by
    return out(mean if shift else up(mean), a["scale_x"], a)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def q15(v):
    return up(v * 2 ** 15) / 2 ** 15


def layer_norm(x, w, b, a):
    v = x.astype(np.float64) / a["scale_x"]
    normal = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
    sums = up(normal * 2 ** 15) * w.astype(np.int64) + (0 if b is None else b.astype(np.int64))
    return out(sums, 2 ** 15 * a["scale_w"], a)


def softmax(x, a):
    v = x.astype(np.float64) / a["scale_x"]
    e = np.exp(v - v.max(a["axis"], keepdims=True))
    return out(q15(e / e.sum(a["axis"], keepdims=True)), 1, a)


def gates(w, b, x, scale):
    return (x.astype(np.int64) @ w.astype(np.int64).T + (0 if b is None else b.astype(np.int64))) / scale


def lstm(x, h0, c0, w, r, b, c, a):
    sequence = x.transpose(1, 0, 2) if a["batch_first"] else x
    batch, n = sequence.shape[1], a["hidden_size"]
    h = np.zeros((batch, n)) if h0 is None else clip(up(h0[0] * a["scale_h"])).astype(np.float64)
    cell = np.zeros((batch, n)) if c0 is None else c0[0].astype(np.float64)
    made = {}
    steps = range(len(sequence)) if a["go_forward"] else range(len(sequence) - 1, -1, -1)
    for t in steps:
        g = gates(w, b, sequence[t], a["scale_x"] * a["scale_iw"]) + gates(r, c, h, a["scale_h"] * a["scale_hw"])
        i, f, fresh, o = np.split(g, 4, 1)
        i, f, fresh, o = q15(sigmoid(i)), q15(sigmoid(f)), q15(np.tanh(fresh)), q15(sigmoid(o))
        raw = np.clip(q15(cell) * f, -2, 2 - 2 ** -30) + i * fresh
        cell = up(raw * 2 ** 27) / 2 ** 27
        h = clip(up(q15(np.tanh(raw)) * o * a["scale_h"])).astype(np.float64)
        made[t] = h
    y = np.stack([made[t] for t in range(len(sequence))])
    y = out(y, a["scale_h"], a)
    return y.transpose(1, 0, 2) if a["batch_first"] else y, (h / a["scale_h"])[None].astype(np.float32), cell[None].astype(np.float32)


def gru(x, h0, w, r, b, c, a):
    n = a["hidden_size"]
    h = np.zeros((x.shape[1], n)) if h0 is None else clip(up(h0[0] * a["scale_h"])).astype(np.float64)
    made = []
    for t in range(len(x)):
        gi, gh = gates(w, b, x[t], a["scale_x"] * a["scale_iw"]), gates(r, c, h, a["scale_h"] * a["scale_hw"])
        reset, update = q15(sigmoid(gi[:, :n] + gh[:, :n])), q15(sigmoid(gi[:, n:2 * n] + gh[:, n:2 * n]))
        fresh = q15(np.tanh(gi[:, 2 * n:] + reset * gh[:, 2 * n:]))
        h = clip(up(((1 - update) * fresh + update * h / a["scale_h"]) * a["scale_h"])).astype(np.float64)
        made.append(h)
    return out(np.stack(made), a["scale_h"], a), (h / a["scale_h"])[None].astype(np.float32)
