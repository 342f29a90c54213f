"""Models of one operator each in the forms that networks have: ranks, axes, attributes, constant or computed operands, batches, types, opsets.

A variant is a job of worker.py with its features, written as conditions of lint's rows (docs/lint.md); facts_rules.py finds which of them tell what fails.
"""
import hashlib
import itertools

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPES = {1: (6,), 2: (1, 6), 3: (1, 4, 6), 4: (1, 4, 6, 8), 5: (1, 2, 4, 6, 8)}
TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "i64": TensorProto.INT64, "i32": TensorProto.INT32, "bool": TensorProto.BOOL, "u8": TensorProto.UINT8}
DTYPES = {"f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "bool": np.bool_, "u8": np.uint8}


class In:
    """An operand: a shape with a type, or an array; constant or an input of the model."""

    def __init__(self, value, constant=None, kind="f32", low=-1.0, high=1.0):
        self.array = np.asarray(value) if not isinstance(value, tuple) else None
        self.shape, self.kind, self.low, self.high = (value if self.array is None else self.array.shape), kind, low, high
        self.constant = self.array is not None if constant is None else constant

    def made(self, rng):
        if self.array is not None:
            return self.array
        if self.kind in ("f32", "f16"):
            return rng.uniform(self.low, self.high, self.shape).astype(DTYPES[self.kind])
        return rng.integers(0, 2 if self.kind == "bool" else 5, self.shape).astype(DTYPES[self.kind])


def ints(*values):
    return In(np.array(values, np.int64))


def variants():
    """(operator, operands, attributes, opset, number of outputs, further features)"""
    for make in (unary, binary, reductions, softmax, moves, cuts, products, windows, norms, resizes, picks, recurrent, types):
        yield from make()


def v(op, operands, opset=18, outputs=1, features=(), **attributes):
    return op, operands, attributes, opset, outputs, tuple(features)


def full(rank, batch=1):
    return (batch, *SHAPES[rank][1:]) if rank > 1 else SHAPES[1]


UNARY = {"Relu": [{}], "Sigmoid": [{}], "Tanh": [{}], "Erf": [{}], "Exp": [{}], "Log": [{}], "Sqrt": [{}], "Neg": [{}], "Abs": [{}], "Reciprocal": [{}], "Softplus": [{}], "Softsign": [{}],
         "HardSigmoid": [{}, {"alpha": 1 / 6}], "HardSwish": [{}], "Elu": [{}, {"alpha": 0.5}], "Selu": [{}, {"alpha": 1.5, "gamma": 1.2}], "Celu": [{}, {"alpha": 0.5}],
         "LeakyRelu": [{}, {"alpha": 0.2}], "Mish": [{}], "Floor": [{}], "Ceil": [{}], "Round": [{}], "Sign": [{}], "Sin": [{}], "Cos": [{}], "Tan": [{}], "Asin": [{}], "Acos": [{}],
         "Atan": [{}], "Sinh": [{}], "Cosh": [{}], "ThresholdedRelu": [{"alpha": 0.3}], "Shrink": [{"lambd": 0.3}, {"lambd": 0.3, "bias": 0.3}], "Identity": [{}], "Dropout": [{}],
         "Gelu": [{}, {"approximate": "tanh"}], "Swish": [{}]}
POSITIVE = {"Log", "Sqrt", "Reciprocal"}


def unary():
    for op, forms in UNARY.items():
        for attributes, rank in itertools.product(forms, (2, 3, 4, 5)):
            x = In(full(rank), low=0.2 if op in POSITIVE else -0.9, high=0.9)
            yield v(op, [x], opset={"Gelu": 20, "Swish": 24}.get(op, 18), **attributes)
    for rank in (2, 3, 4):
        low, high = In(np.float32(-0.3)), In(np.float32(0.4))
        for operands in ([low, high], [low], [None, high]):
            yield v("Clip", [In(full(rank)), *operands])
        yield v("Clip", [In(full(rank))], opset=10, min=-0.3, max=0.4)


ONE_MODE = {"nearest_mode": "nearest", "cubic_coeff_a": "cubic"}  # attributes of Resize that belong to one of its modes
BROADCAST = {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "MatMul", "Expand"}


# Second operands of a rank: the shapes that broadcasting meets.
def partners(rank):
    whole = full(rank)
    yield whole
    yield ()
    yield (1,)
    for keep in range(1, rank):
        yield tuple(d if i == keep else 1 for i, d in enumerate(whole))  # along one axis
        yield whole[keep:]  # the last axes
        if rank > 2:
            yield tuple(1 if i == keep else d for i, d in enumerate(whole))  # all but one axis
    if rank > 2:
        yield (whole[1], *([1] * (rank - 2)))


def binary():
    for op, rank in itertools.product(("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"), (2, 3, 4, 5)):
        low = 0.3 if op in ("Div", "Pow") else -1.0
        for shape in dict.fromkeys(partners(rank)):
            for constant in (True, False):
                yield v(op, [In(full(rank), low=low), In(shape, constant, low=low)])
                if op in ("Sub", "Div", "Add", "Mul") and (op in ("Sub", "Div") or not constant):
                    yield v(op, [In(shape, constant, low=low), In(full(rank), low=low)])
    for rank in (2, 3, 4):
        for slope in {(full(rank)[1],) + (1,) * (rank - 2), (1,), (1,) * rank}:
            yield v("PRelu", [In(full(rank)), In(slope, True)])
        for op, second in itertools.product(("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"), ((), full(rank))):
            yield v(op, [In(full(rank)), In(second, second == ())])
        yield v("Where", [In(full(rank), kind="bool"), In(full(rank)), In(np.float32(0.5))])
        yield v("Where", [In(full(rank), kind="bool"), In(full(rank)), In(full(rank))])
        yield v("Mod", [In(full(rank), low=0.1), In(np.float32(0.3))], fmod=1)


REDUCTIONS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare")


def reductions():
    for op, rank in itertools.product(REDUCTIONS, (2, 3, 4, 5)):
        whole = range(1, rank)
        chosen = [(a,) for a in whole] + [tuple(whole)] + ([(rank - 2, rank - 1), (1, rank - 1)] if rank > 3 else []) + ([(-1,)] if rank == 3 else [])
        for axes, keep in itertools.product(dict.fromkeys(chosen), (0, 1)):
            yield v(op, [In(full(rank), low=0.1), ints(*axes)], opset=18, keepdims=keep)
            if op != "ReduceSum":
                yield v(op, [In(full(rank), low=0.1)], opset=13, keepdims=keep, axes=list(axes))
    for op, rank in itertools.product(("ArgMax", "ArgMin"), (2, 3, 4)):
        for axis, keep in itertools.product(range(1, rank), (0, 1)):
            yield v(op, [In(full(rank))], axis=axis, keepdims=keep)
    for rank, axis in ((2, 1), (3, 1), (3, 2), (4, 1), (4, 3)):
        yield v("CumSum", [In(full(rank)), In(np.int64(axis))])


def softmax():
    for op, rank in itertools.product(("Softmax", "LogSoftmax", "Hardmax"), (2, 3, 4, 5)):
        for axis in [*range(1, rank), -1]:
            yield v(op, [In(full(rank))], opset=18, axis=axis)
    for p, rank in itertools.product((1, 2), (2, 4)):
        yield v("LpNormalization", [In(full(rank))], axis=1, p=p)


def moves():
    for rank in (2, 3, 4, 5):
        perms = list(itertools.permutations(range(rank))) if rank < 5 else [(0, 1, 3, 2, 4), (0, 2, 1, 3, 4), (0, 1, 2, 4, 3), (0, 3, 1, 2, 4), (0, 1, 4, 2, 3), (0, 4, 1, 2, 3), (2, 0, 1, 3, 4),
                                                                           (2, 0, 3, 1, 4), (0, 1, 3, 4, 2), (0, 2, 3, 4, 1), (0, 3, 4, 1, 2), (1, 0, 2, 3, 4)]
        for perm in perms:
            if list(perm) != sorted(perm):
                yield v("Transpose", [In(full(rank))], perm=list(perm))
    for source, wanted in (((1, 24), (1, 4, 6)), ((1, 24), (1, 2, 3, 4)), ((1, 4, 6), (1, 24)), ((1, 4, 6), (1, 2, 2, 6)), ((1, 4, 6), (1, 4, 2, 3)), ((1, 4, 6), (4, 6)), ((1, 4, 6), (24,)),
                           ((1, 4, 6), (1, 2, 2, 2, 3)), ((1, 4, 6), (2, 2, 6)), ((1, 4, 6, 8), (1, 4, 48)), ((1, 4, 6, 8), (1, 192)), ((1, 4, 6, 8), (4, 48)), ((1, 4, 6, 8), (4, 6, 8)),
                           ((1, 4, 6, 8), (1, 2, 2, 6, 8)), ((1, 4, 6, 8), (1, 24, 8)), ((1, 4, 6, 8), (2, 2, 6, 8)), ((1, 4, 6, 8), (1, 4, 3, 2, 4, 2)), ((1, 4, 6, 8), (1, 8, 3, 8)),
                           ((1, 2, 4, 6, 8), (1, 8, 6, 8)), ((1, 2, 4, 6, 8), (1, 2, 192)), ((1, 2, 4, 6, 8), (2, 4, 6, 8)), ((1, 2, 4, 6, 8), (1, 8, 48)), ((1, 2, 4, 6, 8), (1, 384)),
                           ((4, 6), (1, 4, 6)), ((4, 6), (2, 2, 6)), ((1, 24), (24, 1)), ((1, 24), (2, 12)), ((6,), (1, 6))):
        yield v("Reshape", [In(source), ints(*wanted)])
        if source[0] == wanted[0] == 1:
            yield v("Reshape", [In(source), ints(0, *wanted[1:-1], -1)])
            yield v("Reshape", [In(source), ints(-1, *wanted[1:])])
    for rank in (2, 3, 4, 5):
        for axis in range(rank):
            yield v("Flatten", [In(full(rank))], axis=axis)
        for axis in range(rank + 1):
            yield v("Unsqueeze", [In(full(rank)), ints(axis)])
            shape = (*full(rank)[:axis], 1, *full(rank)[axis:])
            if axis and len(shape) < 6:
                yield v("Squeeze", [In(shape), ints(axis)])
        yield v("Squeeze", [In(full(rank)), ints(0)])
    for rank in (2, 3, 4, 5):
        for axis, constant in itertools.product(range(1, rank), (False, True)):
            yield v("Concat", [In(full(rank)), In(full(rank), constant)], axis=axis)
            if constant:
                yield v("Concat", [In(full(rank), True), In(full(rank))], axis=axis)
        yield v("Concat", [In(full(rank)), In(full(rank))], axis=-1)
        yield v("Concat", [In(full(rank)), In(full(rank))], axis=0)
        yield v("Concat", [In(full(rank)), In(full(rank)), In(full(rank))], axis=1)
    for rank in (2, 3, 4):
        for shape in dict.fromkeys(s for s in partners(rank) if len(s) == rank):
            yield v("Expand", [In(shape), ints(*full(rank))])
        for k in range(rank):
            yield v("Tile", [In(full(rank)), ints(*[2 if i == k else 1 for i in range(rank)])])
    for mode, block in itertools.product(("DCR", "CRD"), (2,)):
        yield v("DepthToSpace", [In((1, 8, 4, 6))], blocksize=block, mode=mode)
    yield v("SpaceToDepth", [In((1, 3, 4, 6))], blocksize=2)


def cuts():
    for rank in (2, 3, 4, 5):
        for axis in range(1, rank):
            size = full(rank)[axis]
            half = size // 2
            yield v("Split", [In(full(rank)), ints(half, size - half)], outputs=2, axis=axis)
            yield v("Split", [In(full(rank)), ints(1, size - 1)], outputs=2, axis=axis)
            yield v("Split", [In(full(rank))], outputs=2, axis=axis, num_outputs=2)
            yield v("Split", [In(full(rank))], opset=11, outputs=2, axis=axis, split=[half, size - half])
            for start, end, step in ((1, 2**31, 1), (0, -1, 1), (0, 2**31, 2), (-1, -2**31, -1), (1, 2, 1)):
                yield v("Slice", [In(full(rank)), ints(start), ints(end), ints(axis), ints(step)])
        if rank > 2:
            yield v("Slice", [In(full(rank)), ints(1, 1), ints(-1, -1), ints(rank - 2, rank - 1), ints(1, 1)])
            yield v("Slice", [In(full(rank)), ints(1, 0), ints(3, 4), ints(1, 2), ints(1, 1)])
        pads = [(rank - 1, rank), (0,), (rank - 2, rank - 1), (1,)]
        for mode, axes in itertools.product(("constant", "reflect", "edge"), pads):
            amounts = [0] * (2 * rank)
            for a in axes:
                if 0 < a < rank:
                    amounts[a], amounts[rank + a] = 1, 2 if full(rank)[a] > 2 else 1
            if any(amounts):
                yield v("Pad", [In(full(rank)), ints(*amounts)], mode=mode)
                if mode == "constant":
                    yield v("Pad", [In(full(rank)), ints(*amounts), In(np.float32(0.5))], mode=mode)
        for axis in range(rank):
            yield v("Gather", [In(full(rank)), In(np.int64(0))], axis=axis)
            yield v("Gather", [In(full(rank)), ints(0)], axis=axis)
            if axis:
                yield v("Gather", [In(full(rank)), ints(1, 0)], axis=axis)
                yield v("GatherElements", [In(full(rank)), In(np.zeros(full(rank), np.int64))], axis=axis)
    for rank in (1, 2):
        yield v("Gather", [In((10, 6), True), In((1, 4)[-rank:], False, kind="i64")], axis=0)


def products():
    for a, b in (((1, 6), (6, 4)), ((1, 4, 6), (6, 5)), ((1, 4, 6), (1, 6, 5)), ((1, 4, 6, 8), (8, 5)), ((1, 4, 6, 8), (1, 4, 8, 5)), ((1, 4, 6, 8), (4, 8, 5)), ((1, 4, 6, 8), (1, 1, 8, 5)),
                 ((4, 6), (6, 5)), ((4, 3, 6), (4, 6, 5)), ((4, 3, 6), (6, 5)), ((2, 4, 6, 8), (2, 4, 8, 5)), ((1, 2, 4, 6, 8), (1, 2, 4, 8, 5)), ((1, 2, 4, 6, 8), (8, 5)), ((6,), (6, 4)),
                 ((1, 4, 6), (6,)), ((1, 1, 6), (1, 6, 5)), ((5, 4), (1, 4, 6)), ((1, 5, 4), (1, 4, 6)), ((1, 1, 5, 4), (1, 3, 4, 6))):
        for constant in (True, False):
            yield v("MatMul", [In(a), In(b, constant)])
        yield v("MatMul", [In(a, True), In(b)])
    for trans, constant, rows, c in itertools.product((0, 1), (True, False), (1, 4), ((5,), (1, 5), None)):
        operands = [In((rows, 6)), In((5, 6) if trans else (6, 5), constant)]
        yield v("Gemm", [*operands, *([In(c, True)] if c else [])], transB=trans)
    yield v("Gemm", [In((1, 6)), In((5, 6), True), In((5,), True)], transB=1, alpha=0.5)
    yield v("Gemm", [In((1, 6)), In((5, 6), True), In((5,), True)], transB=1, beta=0.5)
    yield v("Gemm", [In((6, 1)), In((6, 5), True), In((5,), True)], transA=1)
    for equation, a, b in (("bij,bjk->bik", (1, 4, 6), (1, 6, 5)), ("bhid,bhjd->bhij", (1, 2, 4, 6), (1, 2, 5, 6)), ("bhij,bhjd->bhid", (1, 2, 4, 5), (1, 2, 5, 6)), ("bij,jk->bik", (1, 4, 6), (6, 5)),
                           ("bchw,oc->bohw", (1, 4, 6, 8), (3, 4)), ("nchw,ncd->nhwd", (1, 4, 6, 8), (1, 4, 5)), ("bi,bj->bij", (1, 4), (1, 6)), ("bhwc,hkc->bhwk", (1, 4, 6, 8), (4, 5, 8))):
        for constant in (True, False):
            yield v("Einsum", [In(a), In(b, constant)], equation=equation)


def windows():
    for n in (1, 2, 3):
        size, kernel = (1, 4, *(9, 10, 8)[:n]), (3, 3, 3)[:n]
        base = {"kernel_shape": list(kernel)}
        for group, out in ((1, 6), (4, 4), (4, 8), (2, 6)):
            w = In((out, 4 // group, *kernel), True)
            for more in ({}, {"pads": [1] * 2 * n}, {"strides": [2] * n, "pads": [1] * 2 * n}, {"dilations": [2] * n, "pads": [2] * 2 * n}, {"auto_pad": "SAME_UPPER"},
                         {"auto_pad": "SAME_UPPER", "strides": [2] * n}, {"auto_pad": "SAME_LOWER", "strides": [2] * n}, {"auto_pad": "VALID"},
                         {"pads": [0] * n + [1] * n}, {"pads": [1, 2, 0][:n] + [0, 1, 2][:n]}):
                if more in ({}, {"pads": [1] * 2 * n}) or group in (1, 4):
                    yield v("Conv", [In(size), w, In((out,), True)], group=group, **base, **more)
            yield v("Conv", [In(size), w], group=group, **base)
            for pads, stride in itertools.product((0, 1), (1, 2)):
                yield v("Conv", [In(size), In((out, 4 // group, *[1] * n), True)], group=group, kernel_shape=[1] * n, pads=[pads] * 2 * n, strides=[stride] * n)
        yield v("Conv", [In(size), In((6, 4, *kernel), False)], **base)
        for group, out in ((1, 6), (4, 1), (2, 3)):
            w = In((4, out, *kernel), True)
            for more in ({}, {"strides": [2] * n}, {"strides": [2] * n, "pads": [1] * 2 * n, "output_padding": [1] * n}, {"pads": [1] * 2 * n}, {"auto_pad": "SAME_UPPER", "strides": [2] * n},
                         {"strides": [2] * n, "pads": [0] * n + [1] * n}, {"dilations": [2] * n}, {"strides": [2] * n, "pads": [1] * 2 * n},
                         {"strides": [2] * n, "output_shape": [2 * s for s in size[2:]]}):
                yield v("ConvTranspose", [In(size), w, In((out * group,), True)], group=group, **base, **more)
        for op in ("MaxPool", "AveragePool"):
            forms = [{}, {"strides": [2] * n}, {"strides": [2] * n, "pads": [1] * 2 * n}, {"strides": [2] * n, "ceil_mode": 1}, {"strides": [2] * n, "pads": [1] * 2 * n, "ceil_mode": 1},
                     {"auto_pad": "SAME_UPPER", "strides": [2] * n}, {"auto_pad": "SAME_LOWER", "strides": [2] * n}, {"strides": [2] * n, "pads": [0] * n + [1] * n}, {"pads": [1] * 2 * n}]
            forms += [{**f, "count_include_pad": 1} for f in forms if "pads" in f] if op == "AveragePool" else [{"dilations": [2] * n}]
            for more in forms:
                yield v(op, [In(size)], **base, **more)
        for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
            yield v(op, [In(size)])
        yield v("LpPool", [In(size)], **base)


def norms():
    for rank in (2, 3, 4, 5):
        c = full(rank)[1]
        scale = [In((c,), True, low=0.5), In((c,), True)]
        yield v("BatchNormalization", [In(full(rank)), *scale, In((c,), True), In((c,), True, low=0.5)])
        for rows in (2, 4):
            yield v("BatchNormalization", [In(full(rank, rows)), *scale, In((c,), True), In((c,), True, low=0.5)])
        if rank > 2:
            yield v("InstanceNormalization", [In(full(rank)), *scale])
        for axis in range(1, rank):
            shape = full(rank)[axis:]
            yield v("LayerNormalization", [In(full(rank)), In(shape, True), In(shape, True)], axis=axis)
            yield v("LayerNormalization", [In(full(rank)), In(shape, True)], axis=axis - rank)
            yield v("RMSNormalization", [In(full(rank)), In(shape, True)], opset=23, axis=axis)
        if rank > 2:
            yield v("GroupNormalization", [In((1, 4, *full(rank)[2:])), In((4,), True), In((4,), True)], opset=21, num_groups=2)
            yield v("LRN", [In(full(rank))], size=3)
            yield v("MeanVarianceNormalization", [In(full(rank))], axes=[0, *range(2, rank)])


def resizes():
    whole = {3: (1, 2, 6), 4: (1, 2, 6, 8), 5: (1, 2, 4, 6, 8)}
    for rank, mode in itertools.product((3, 4, 5), ("nearest", "linear", "cubic")):
        if mode == "cubic" and rank != 4:
            continue
        for place in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
            extra = [{"nearest_mode": m} for m in ("floor", "round_prefer_floor", "ceil")] if mode == "nearest" else [{}] if mode == "linear" else [{"cubic_coeff_a": -0.75}, {"cubic_coeff_a": -0.5}]
            for more, factor in itertools.product(extra, (2, 0.5, 1.5)):
                scales = In(np.array([1, 1] + [factor] * (rank - 2), np.float32))
                sizes = ints(1, 2, *[int(d * factor) for d in whole[rank][2:]])
                yield v("Resize", [In(whole[rank]), None, scales], mode=mode, coordinate_transformation_mode=place, features=[f"in 2 value {'>' if factor > 1 else '<'} 1"], **more)
                if factor != 0.5:
                    yield v("Resize", [In(whole[rank]), None, None, sizes], mode=mode, coordinate_transformation_mode=place, **more)
    for mode, corners, padding, rank in itertools.product(("linear", "nearest", "cubic"), (0, 1), ("zeros", "border", "reflection"), (4, 5)):
        grid = (1, 5, 5, 2) if rank == 4 else (1, 3, 5, 5, 3)
        if mode != "cubic" or rank == 4:
            for constant in (True, False):
                yield v("GridSample", [In(whole[rank]), In(grid, constant, low=-0.95, high=0.95)], opset=20, mode=mode, align_corners=corners, padding_mode=padding)


def picks():
    for rank in (2, 3, 4):
        for largest, axis in itertools.product((0, 1), range(1, rank)):
            yield v("TopK", [In(full(rank)), ints(2)], outputs=2, axis=axis, largest=largest)
    for upper in (0, 1):
        yield v("Trilu", [In((1, 6, 6))], upper=upper)
    yield v("OneHot", [In((1, 4), False, kind="i64"), In(np.int64(5)), In(np.array([0, 1], np.float32))])
    yield v("ScatterND", [In((4, 6)), In(np.array([[1], [2]], np.int64)), In((2, 6))])
    yield v("ScatterElements", [In((1, 6)), In(np.array([[1, 2]], np.int64)), In((1, 2))], axis=1)
    yield v("GatherND", [In((1, 4, 6)), In(np.array([[0, 1]], np.int64))])
    yield v("NonZero", [In((1, 6))])


def recurrent():
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}
    for op, direction, bias, state in itertools.product(gates, ("forward", "reverse", "bidirectional"), (True, False), (True, False)):
        d, h, n = 2 if direction == "bidirectional" else 1, 5, gates[op]
        operands = [In((7, 1, 6)), In((d, n * h, 6), True), In((d, n * h, h), True), In((d, 2 * n * h), True) if bias else None, None, In(np.zeros((d, 1, h), np.float32)) if state else None]
        if op == "LSTM":
            operands.append(In(np.zeros((d, 1, h), np.float32)) if state else None)
        for more, named in itertools.product([{}] if op != "GRU" else [{"linear_before_reset": 1}, {}], (1, 2)):
            yield v(op, operands, outputs=named, features=[f"{'' if named > 1 else 'not '}out 1 given"], direction=direction, hidden_size=h, **more)


def types():
    for source, target in itertools.product(("f32", "i64", "i32", "bool", "u8", "f16"), repeat=2):
        if source != target:
            yield v("Cast", [In((1, 4, 6), kind=source)], to=TYPES[target])
    for op, kind in itertools.product(("Add", "Mul", "Sub", "Concat", "Reshape", "Transpose", "Relu", "MatMul", "ReduceSum", "Gather", "Slice", "Unsqueeze"), ("f16", "i64", "i32")):
        x = In((1, 4, 6), kind=kind)
        second = {"Concat": [x], "Reshape": [ints(1, 24)], "Transpose": [], "Relu": [], "MatMul": [In((1, 6, 4), kind=kind)], "ReduceSum": [ints(1)], "Gather": [ints(0)],
                  "Slice": [ints(1), ints(3), ints(1)],
                  "Unsqueeze": [ints(1)]}.get(op, [In((1, 4, 6), kind=kind)])
        if op == "Relu" and kind == "i64":
            continue
        yield v(op, [x, *second], **({"axis": 1} if op in ("Concat", "Gather") else {}))


def behind_conv(variant):
    """Whether the same behind a Conv says more: engines keep what a Conv gives in another layout."""
    op, operands, _, _, _, _ = variant
    x = operands[0]
    return op not in ("Conv", "Cast") and x.array is None and not x.constant and x.kind == "f32" and 3 <= len(x.shape) <= 5 and x.shape[0] == 1 and x.low < 0


def model_of(variant, conv=False, seed=0):
    """The model, what it is fed, and the wanted outputs (of ONNX Runtime); None where that refuses it."""
    op, operands, attributes, opset, outputs, _ = variant
    rng = np.random.default_rng(seed)
    inputs, constants, feeds, names = [], [], {}, []
    for i, operand in enumerate(operands):
        names.append("" if operand is None else f"x{i}")
        if operand is None:
            continue
        array = operand.made(rng)
        if operand.constant:
            constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), names[-1]))
        else:
            inputs.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
            feeds[names[-1]] = array
    while names and not names[-1]:
        names.pop()
    nodes = [helper.make_node(op, names, [f"y{i}" for i in range(outputs)], name="tried", **attributes)]
    if conv:
        channels, spatial = feeds["x0"].shape[1], feeds["x0"].ndim - 2
        constants.append(numpy_helper.from_array(rng.uniform(-0.5, 0.5, (channels, channels, *[1] * spatial)).astype(np.float32), "w"))
        nodes[0].input[0] = "c"
        nodes.insert(0, helper.make_node("Conv", ["x0", "w"], ["c"], kernel_shape=[1] * spatial))
    made = [onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)]
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, made, constants), opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 19 else 10)
    try:
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
        wanted = answer(model, feeds)
    except Exception:
        return None
    for value, array in zip(model.graph.output, wanted):  # engines want sizes of outputs
        value.CopyFrom(helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
    return model, feeds, wanted


def answer(model, feeds):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def features(variant, wanted):
    """What is so about a variant, as conditions of a row."""
    op, operands, attributes, opset, _, more = variant
    schema = onnx.defs.get_schema(op, opset)
    rank = len(operands[0].shape)
    out = [*more]
    for i, operand in enumerate(operands[:4]):
        if operand is None:
            continue
        out.append(f"in {i} rank = {len(operand.shape)}")
        if i == 0:
            out += [f"in 0 rank > {r}" for r in range(2, rank)] + [f"in 0 rank < {r}" for r in range(rank + 1, 6)]
        if i < 3 and operand.array is None:
            out += [f"{'' if operand.constant else 'not '}in {i} known"]
        if operand.array is None and i < 2:
            out += [f"in {i} dim {k} {'>' if d > 1 else '='} 1" for k, d in enumerate(operand.shape) if k == 0 or op in BROADCAST]
    for i in range(1, min(len(schema.inputs), 7)):
        if schema.inputs[i].option == onnx.defs.OpSchema.FormalParameterOption.Optional:
            out.append(f"{'' if i < len(operands) and operands[i] is not None else 'not '}in {i} given")
    kinds = {i: o.kind for i, o in enumerate(operands) if o is not None and o.array is None}
    if kinds.get(0, "f32") != "f32":
        out.append(f"in 0 type {kinds[0]}")
    out.append(f"out 0 rank = {wanted[0].ndim}")
    if wanted[0].ndim:
        out.append(f"out 0 dim 0 {'>' if wanted[0].shape[0] > 1 else '='} 1")
    out.append(f"since {schema.since_version}")
    for name, spec in schema.attributes.items():
        value = attributes.get(name)
        if value is None:
            value = helper.get_attribute_value(spec.default_value) if spec.default_value.type else None
            value = value.decode() if isinstance(value, bytes) else value
        if name in ("axis", "axes", "split", "to", "equation", "num_outputs", "hidden_size", "output_shape"):
            if name == "output_shape" and name in attributes:
                out.append("attr output_shape set")
            if name == "to":
                out.append(f"out 0 type {next(k for k, t in TYPES.items() if t == value)}")
            continue
        if name == "perm" and value is not None:
            out += [f"attr perm is {','.join(map(str, value))}", "check moves-first-axis" if value[0] else "not check moves-first-axis", f"check {'' if value[-1] == rank - 1 else 'moves-last-axis'}"]
        elif name == "kernel_shape":
            if op == "Conv":
                out.append(f"{'' if max(value) == 1 else 'not '}check one-by-one")
            continue
        elif isinstance(value, (list, tuple)):
            if value and not isinstance(value[0], int):
                continue
            base = 0 if "pad" in name else 1
            out.append(f"{'' if any(x > base for x in value) else 'not '}attr {name} > {base}")
            if name == "pads":
                half = len(value) // 2
                out.append("check pads-differ" if list(value[:half]) != list(value[half:]) else "not check pads-differ")
                out.append("check pads-begin" if any(value[:half]) else "not check pads-begin")
        elif op == "Resize" and name in ONE_MODE:  # says nothing in other modes
            if attributes["mode"] == ONE_MODE[name]:
                out.append(f"attr mode = {ONE_MODE[name]}; attr {name} = {value:.6g}" if isinstance(value, float) else f"attr mode = {ONE_MODE[name]}; attr {name} = {value}")
        elif value is not None:
            out.append(f"attr {name} = {value:.6g}" if isinstance(value, float) else f"attr {name} = {value}")
    axes = attributes.get("axes", attributes.get("axis"))
    if axes is None and op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare", "Squeeze", "Unsqueeze", "CumSum"):
        axes = operands[1].array.reshape(-1).tolist() if len(operands) > 1 else None
    if op == "Slice":
        axes = operands[3].array.tolist() if len(operands) > 3 else None
        steps = operands[4].array.tolist() if len(operands) > 4 else [1]
        out.append(f"in 4 value {'> 1' if max(steps) > 1 else '< 0' if min(steps) < 0 else '= 1'}")
    if axes is not None:
        axes = axes if isinstance(axes, list) else [axes]
        whole = rank + (len(axes) if op == "Unsqueeze" else 0)
        for a in axes:
            a = a + whole if a < 0 else a
            out += [f"axis = {a}", f"axis = {a - whole}"]
        if all(a % whole != whole - 1 for a in axes):
            out.append("not axis = -1")
        if all(a % whole != 1 for a in axes):
            out.append("not axis = 1")
        out.append(f"axis-count {'> 1' if len(axes) > 1 else '= 1'}")
    if op in ("Reshape", "Expand", "Flatten", "Squeeze", "Unsqueeze", "Gather", "Tile", "MatMul"):
        changed = wanted[0].ndim > 0 and wanted[0].shape[0] != operands[0].shape[0]
        out.append(f"{'' if changed else 'not '}check changes-first-size")
    if op == "Pad":
        amounts = operands[1].array.tolist()
        out += [f"pads-axis = {k}" for k in range(1, rank) if amounts[k] or amounts[k + rank]]
    return [f for f in dict.fromkeys(out) if not f.endswith("check ")]


# Converters find the axis of images by the layers around: alone, these are converted along another one.
NEED_LAYERS = {"Concat", "Slice", "Split", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "Softmax", "LogSoftmax", "Gather", "Flatten",
               "LayerNormalization", "MatMul", "Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "ReduceMin", "ReduceL1", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare"}


def contexts(variant, converted):
    """Alone, or behind a Conv, or both."""
    if converted and variant[0] in NEED_LAYERS:
        return (True,) if behind_conv(variant) else ()
    return (False, True) if not converted and behind_conv(variant) else (False,)


def jobs(place, converted=False):
    """Writes the models and arrays below `place`; each job has the operator and the features of its variant. `converted`: for an engine with a converter of its own."""
    place.mkdir(parents=True, exist_ok=True)
    out = [written(place, variant, conv) for variant in variants() for conv in contexts(variant, converted)]
    return with_versions([job for job in out if job])


def written(place, variant, conv):
    made = model_of(variant, conv)
    if made is None:
        return None
    op, (model, feeds, wanted) = variant[0], made
    path = place / f"{op}.{digest(model, feeds)}.onnx"
    if not path.with_suffix(".npz").exists():
        onnx.save(model, path)
        arrays = {f"in{i}": a for i, a in enumerate(feeds.values())} | {f"out{i}": a for i, a in enumerate(wanted)}
        np.savez(path.with_suffix(".npz"), names=np.array(list(feeds), dtype=str), outputs=np.array(len(wanted)), loose=np.array(False), **arrays)
    made_by = ["in 0 made-by Conv"] if conv else []
    return {"id": path.stem, "model": str(path), "io": str(path.with_suffix(".npz")), "op": op, "features": [*features(variant, wanted), *made_by]}


def digest(model, feeds):
    """The same model has the same name in the next run, so that its outcome is found again."""
    content = hashlib.sha256(b"".join(n.SerializeToString() for n in model.graph.node) + str([(o.domain, o.version) for o in model.opset_import]).encode())
    for i in [*model.graph.input, *model.graph.initializer]:
        content.update(i.SerializeToString())
    return content.hexdigest()[:12]


def with_versions(made):
    """Of operators that were tried in two versions, "since < N" or "since >= N"; the version of others says nothing."""
    newest = {}
    for job in made:
        newest.setdefault(job["op"], set()).update(int(f.split()[1]) for f in job["features"] if f.startswith("since "))
    for job in made:
        of_op = newest[job["op"]]
        own = next(int(f.split()[1]) for f in job["features"] if f.startswith("since "))
        rest = [f for f in job["features"] if not f.startswith("since ")]
        job["features"] = [*rest, f"since {'>=' if own == max(of_op) else '<'} {max(of_op)}"] if len(of_op) > 1 else rest
    return made
