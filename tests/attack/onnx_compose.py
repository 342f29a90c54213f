"""Valid models of several operators with sizes that fit: what engines fuse and passes rewrite. Mutations start from here."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnx_values import array_of

UNARY = ["Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Exp", "Erf", "Sqrt", "Gelu", "HardSwish", "Softplus", "Identity", "LeakyRelu", "Elu", "Mish", "Sin", "Floor"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu"]
REDUCTIONS = ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare"]


class Composer:
    def __init__(self, rng):
        self.rng, self.nodes, self.weights, self.values, self.inputs = rng, [], [], [], {}
        self.made = 0

    def steps(self):
        return [self.unary, self.binary, self.binary, self.matmul, self.conv, self.conv, self.pool, self.normalise, self.reduce, self.move, self.move, self.by_shape]

    def fresh(self):
        self.made += 1
        return f"v{self.made}"

    def emit(self, op, inputs, shape, outputs=1, **attributes):
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        self.values.append((names[0], list(shape)))
        return names

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def floats(self, shape):
        return self.weight(array_of(np.float32, shape, self.rng) if not self.rng.one_in(6) else np.full(shape, self.rng.choice([0, 1, 0.5, 2]), np.float32))

    def ints(self, *numbers):
        return self.weight(np.array(numbers, np.int64))

    def pick(self, rank=None):
        fitting = [v for v in self.values[-4:] if rank is None or len(v[1]) == rank]
        return self.rng.choice(fitting) if fitting else None

    # Each adds one operator, or a few that belong together.

    def unary(self):
        x, shape = self.pick()
        self.emit(self.rng.choice(UNARY), [x], shape)

    def binary(self):
        x, shape = self.pick()
        alike = [v for v, s in self.values if s == shape and v != x]
        if alike and self.rng.one_in(2):
            other = self.rng.choice(alike)
        else:  # a weight that broadcasts
            kept = shape[self.rng.randrange(len(shape) + 1):]
            other = self.floats([d if not self.rng.one_in(3) else 1 for d in kept])
        operands = [x, other] if not self.rng.one_in(4) else [other, x]
        op = self.rng.choice(BINARY)
        self.emit(op, operands if op != "PRelu" else [x, other], shape)

    def matmul(self):
        x, shape = self.pick()
        if not shape or not shape[-1]:
            return
        n = self.rng.choice([1, 2, 3, 5, 8, 17])
        if len(shape) == 2 and self.rng.one_in(2):
            y = self.emit("Gemm", [x, self.floats([n, shape[1]]), self.floats([n])], [shape[0], n], transB=1, alpha=self.rng.choice([1.0, 0.5]))
        else:
            y = self.emit("MatMul", [x, self.floats([shape[-1], n])], shape[:-1] + [n])
            if self.rng.one_in(2):
                y = self.emit("Add", [y[0], self.floats([n])], shape[:-1] + [n])
        if self.rng.one_in(2):
            self.emit(self.rng.choice(UNARY), y, self.values[-1][1])

    def conv(self):
        v = self.pick(4)
        if not v or not v[1][1]:
            return
        x, (b, c, h, w) = v
        group = self.rng.choice([1, 1, c])
        out = group * self.rng.choice([1, 2])
        k = [self.rng.choice([1, 2, 3]) for _ in range(2)]
        pads, strides = [self.rng.randrange(2) for _ in range(4)], [self.rng.choice([1, 1, 2]) for _ in range(2)]
        size = [(d + pads[i] + pads[i + 2] - k[i]) // strides[i] + 1 for i, d in enumerate((h, w))]
        if min(size) < 1 or h + pads[0] + pads[2] < k[0] or w + pads[1] + pads[3] < k[1]:
            return
        shape = [b, out, *size]
        y = self.emit("Conv", [x, self.floats([out, c // group, *k])] + ([self.floats([out])] if self.rng.one_in(2) else []), shape, group=group, pads=pads, strides=strides)
        if self.rng.one_in(2):
            y = self.emit("BatchNormalization", [*y, self.floats([out]), self.floats([out]), self.floats([out]), self.weight(np.full(out, 0.7, np.float32))], shape)
        if self.rng.one_in(2):
            self.emit(self.rng.choice(["Relu", "Clip", "HardSwish", "Sigmoid"]), y, shape)

    def pool(self):
        v = self.pick(4)
        if not v:
            return
        x, (b, c, h, w) = v
        k = self.rng.choice([1, 2, 3])
        if min(h, w) < k:
            return
        self.emit(self.rng.choice(["MaxPool", "AveragePool"]), [x], [b, c, h - k + 1, w - k + 1], kernel_shape=[k, k])

    def normalise(self):
        x, shape = self.pick()
        if not shape or not shape[-1]:
            return
        kind = self.rng.randrange(3)
        if kind == 0:
            self.emit("LayerNormalization", [x, self.floats([shape[-1]]), self.floats([shape[-1]])], shape, axis=-1)
        elif kind == 1:
            self.emit("Softmax", [x], shape, axis=self.rng.randrange(-len(shape), len(shape)))
        elif len(shape) >= 3 and shape[1]:
            self.emit("InstanceNormalization", [x, self.floats([shape[1]]), self.floats([shape[1]])], shape)

    def reduce(self):
        x, shape = self.pick()
        if not shape or 0 in shape:
            return
        axis, keep = self.rng.randrange(len(shape)), self.rng.randrange(2)
        left = [1 if i == axis else d for i, d in enumerate(shape)] if keep else shape[:axis] + shape[axis + 1:]
        self.emit(self.rng.choice(REDUCTIONS), [x, self.ints(axis)], left, keepdims=keep)

    def move(self):
        x, shape = self.pick()
        kind = self.rng.randrange(8)
        if kind == 0 and shape:
            order = list(range(len(shape)))
            self.rng.shuffle(order)
            self.emit("Transpose", [x], [shape[i] for i in order], perm=order)
        elif kind == 1 and 0 not in shape:
            self.emit("Reshape", [x, self.ints(-1)], [int(np.prod(shape))])
        elif kind == 2 and len(shape) > 1 and 0 not in shape:
            self.emit("Reshape", [x, self.ints(0, -1)], [shape[0], int(np.prod(shape[1:]))])
        elif kind == 3:
            axis = self.rng.randrange(len(shape) + 1)
            self.emit("Unsqueeze", [x, self.ints(axis)], shape[:axis] + [1] + shape[axis:])
        elif kind == 4 and shape and shape[0] > 1:
            self.emit("Slice", [x, self.ints(1), self.ints(1 << 62), self.ints(0)], [shape[0] - 1] + shape[1:])
        elif kind == 5 and shape:
            axis = self.rng.randrange(len(shape))
            others = [v for v in self.values if len(v[1]) == len(shape) and all(a == b for i, (a, b) in enumerate(zip(v[1], shape)) if i != axis)]
            other, its = self.rng.choice(others)
            self.emit("Concat", [x, other], [d + its[axis] if i == axis else d for i, d in enumerate(shape)], axis=axis)
        elif kind == 6 and shape and shape[-1] > 1:
            a = shape[-1] // 2
            names = self.emit("Split", [x, self.ints(a, shape[-1] - a)], shape[:-1] + [a], outputs=2, axis=-1)
            self.values.append((names[1], shape[:-1] + [shape[-1] - a]))
        elif shape and shape[0]:
            n = self.rng.randrange(1, 4)
            self.emit("Gather", [x, self.ints(*[self.rng.randrange(shape[0]) for _ in range(n)])], [n] + shape[1:], axis=0)

    def by_shape(self):
        """Sizes that the model computes itself."""
        x, shape = self.pick()
        if not shape:
            return
        sizes = self.fresh()
        self.nodes.append(helper.make_node("Shape", [x], [sizes]))
        kind = self.rng.randrange(3)
        if kind == 0:
            self.emit("Reshape", [x, sizes], shape)
        elif kind == 1:
            self.emit("Expand", [self.floats([1]), sizes], shape)
        else:
            self.emit("ConstantOfShape", [sizes], shape)


def compose(rng, composer=Composer):
    """A model and arrays that fit it."""
    c = composer(rng)
    inputs = []
    for i in range(rng.few(2)):
        shape = rng.choice([[2, 3], [4], [2, 3, 4], [1, 3, 8, 8], [2, 4, 7, 5], [1, 1], [3, 16], [1, 4, 6, 6]])
        declared = [d if not rng.one_in(3) else f"s{i}{k}" for k, d in enumerate(shape)]
        inputs.append(helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, declared))
        c.inputs[f"x{i}"] = array_of(np.float32, shape, rng)
        c.values.append((f"x{i}", list(shape)))
    kinds = c.steps()
    for _ in range(rng.randint(2, 9)):
        rng.choice(kinds)()
        if np.prod([float(d) for d in c.values[-1][1]]) > 1 << 14:
            break
    used = {i for n in c.nodes for i in n.input}
    outputs = [v for v in dict.fromkeys(v for v, _ in c.values) if v not in used] or [c.values[-1][0]]
    graph = helper.make_graph(c.nodes, "composed", inputs, [helper.make_empty_tensor_value_info(o) for o in outputs[:4]], c.weights)
    imports = [helper.make_opsetid("", rng.choice([20, 21, 22])), *([helper.make_opsetid("com.microsoft", 1)] if any(n.domain for n in c.nodes) else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=10), dict(c.inputs)
