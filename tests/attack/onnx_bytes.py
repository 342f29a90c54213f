"""Valid models of quantised steps: chains of bytes between Q and DQ, weights in few bits. What the engine's byte kernels take."""
import numpy as np
from onnx import helper

import onnx_compose
from onnx_compose import Composer

UNARY = ["Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish", "Elu", "Gelu", "Abs", "Neg", "Mish", "Softsign", "Sqrt", "Exp"]


class ByteComposer(Composer):
    def steps(self):
        return [self.chain] * 5 + [self.products, self.table, self.move, self.binary, self.conv, self.pool]

    def hidden(self, op, inputs, outputs=1, **attributes):
        """A node whose results are no floats, or are used only here."""
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0]

    def grid(self, kind, length=0):
        """A scale and a zero point; of each channel where there is a length."""
        size = [length] if length else self.rng.choice([[], [], [], [1]])
        low, high = (0, 255) if kind == np.uint8 else (-128, 127)
        zero = [self.rng.choice([0, 0, low, high, self.rng.randint(low, high)]) for _ in range(int(np.prod(size)))]
        scale = [self.rng.uniform(0.003, 0.2) if not self.rng.one_in(30) else self.rng.choice([1e-38, 1e30, 1.0]) for _ in zero]
        return [self.weight(np.array(scale, np.float32).reshape(size)), self.weight(np.array(zero, kind).reshape(size))]

    def to_bytes(self, x, moved=None):
        kind = self.rng.choice([np.uint8, np.int8])
        q = self.hidden("QuantizeLinear", [x, *self.grid(kind)])
        q = moved(q) if moved else q
        return self.hidden("DequantizeLinear", [q, *self.grid(kind)])

    def byte_weight(self, shape, axis=None):
        kind = self.rng.choice([np.int8, np.int8, np.uint8])
        codes = np.array([self.rng.randint(np.iinfo(kind).min, np.iinfo(kind).max) for _ in range(int(np.prod(shape)))], kind).reshape(shape)
        by_channel = axis is not None and self.rng.one_in(2)
        return self.hidden("DequantizeLinear", [self.weight(codes), *self.grid(kind, shape[axis] if by_channel else 0)], **({"axis": axis} if by_channel else {}))

    def chain(self):
        x, shape = self.pick()
        if 0 in shape:
            return
        order = list(range(len(shape)))
        if self.rng.one_in(3):
            self.rng.shuffle(order)
        shape = [shape[i] for i in order]
        a = self.to_bytes(x, None if order == sorted(order) else lambda q: self.hidden("Transpose", [q], perm=order))
        y, shape = self.rng.choice([self.by_element, self.by_pair, self.joined, self.mean, self.product])(a, shape)
        if self.rng.one_in(3):
            y = self.hidden("Relu", [y])
        kind = self.rng.choice([np.uint8, np.int8])
        q = self.hidden("QuantizeLinear", [y, *self.grid(kind)])
        self.emit("DequantizeLinear", [q, *self.grid(kind)], shape)

    def by_element(self, a, shape):
        for _ in range(self.rng.few(3)):
            a = self.hidden(self.rng.choice(UNARY), [a])
        return a, shape

    def by_pair(self, a, shape):
        kept = shape[self.rng.randrange(len(shape) + 1):] if self.rng.one_in(2) else shape
        its = [d if not self.rng.one_in(3) else 1 for d in kept]
        alike = [v for v, s in self.values if s == shape]
        if alike and self.rng.one_in(2):
            b = self.to_bytes(self.rng.choice(alike))
        else:
            b = self.to_bytes(self.hidden("Relu", [self.floats(its)])) if self.rng.one_in(2) else self.byte_weight(its)
        return self.hidden(self.rng.choice(["Add", "Add", "Mul", "Sub"]), [a, b] if not self.rng.one_in(3) else [b, a]), shape

    def joined(self, a, shape):
        if not shape:
            return a, shape
        axis, parts = self.rng.randrange(len(shape)), [a]
        total = shape[axis]
        for _ in range(self.rng.few(3)):
            size = self.rng.choice([1, 2, 3, 17])
            parts.append(self.to_bytes(self.hidden("Neg", [self.floats([size if i == axis else d for i, d in enumerate(shape)])])))
            total += size
        self.rng.shuffle(parts)
        return self.hidden("Concat", parts, axis=axis - len(shape) * self.rng.randrange(2)), [total if i == axis else d for i, d in enumerate(shape)]

    def mean(self, a, shape):
        if len(shape) < 3:
            return self.by_element(a, shape)
        return self.hidden("GlobalAveragePool", [a]), shape[:2] + [1] * (len(shape) - 2)

    def product(self, a, shape):
        out = self.rng.choice([1, 2, 5, 16, 17])
        if len(shape) == 4:
            group = self.rng.choice([1, shape[1]])
            w = self.byte_weight([out * group, shape[1] // group, 1, 1], axis=0)
            return self.hidden("Conv", [a, w], group=group), [shape[0], out * group, *shape[2:]]
        if len(shape) < 2:
            return self.by_element(a, shape)
        return self.hidden("MatMul", [a, self.byte_weight([shape[-1], out], axis=1)]), shape[:-1] + [out]

    def codes(self, *shape):
        return self.weight(np.array([self.rng.randrange(256) for _ in range(int(np.prod(shape)))], np.uint8).reshape(shape))

    def products(self):
        """MatMulNBits over the last axis."""
        x, shape = self.pick()
        if not shape or not shape[-1]:
            return
        bits, block, depth, columns = self.rng.choice([2, 4, 8]), self.rng.choice([16, 32, 64, 128]), shape[-1], self.rng.choice([1, 3, 4, 17, 33, 65])
        if self.rng.one_in(2):  # deeper than the block
            depth = self.rng.choice([block - 1, block, 2 * block + 5, 3 * block])
            x = self.emit("MatMul", [x, self.floats([shape[-1], depth])], shape[:-1] + [depth])[0]
        blocks = -(-depth // block)
        inputs = [x, self.codes(columns, blocks, block * bits // 8), self.floats(self.rng.choice([[columns, blocks], [columns * blocks]]))]
        zeros = self.rng.choice(["", "", self.codes(columns, -(-blocks * bits // 8)), self.floats([columns, blocks])])
        inputs += [zeros, "", self.floats([columns])] if self.rng.one_in(3) else [zeros] if zeros else []
        level = {"accuracy_level": self.rng.choice([0, 1, 4])} if self.rng.one_in(2) else {}
        self.emit("MatMulNBits", inputs, shape[:-1] + [columns], domain="com.microsoft", K=depth, N=columns, bits=bits, block_size=block, **level)

    def table(self):
        """GatherBlockQuantized."""
        bits, block, rows = self.rng.choice([2, 4, 8]), self.rng.choice([16, 32]), self.rng.choice([1, 4, 9])
        depth, count = block * self.rng.randint(1, 3), self.rng.choice([1, 2, 5])
        inputs = [self.codes(rows, depth * bits // 8), self.ints(*[self.rng.randrange(-rows, rows) for _ in range(count)]), self.floats([rows, depth // block])]
        inputs += [self.codes(rows, -(-(depth // block) * bits // 8))] if self.rng.one_in(2) else []
        self.emit("GatherBlockQuantized", inputs, [count, depth], domain="com.microsoft", bits=bits, block_size=block)


def compose_bytes(rng):
    return onnx_compose.compose(rng, ByteComposer)
