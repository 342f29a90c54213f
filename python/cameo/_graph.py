"""The graph as a lowering sees it. `g.op("Resize", x, None, scales, mode_s="linear")`, as torch's symbolics write it, or
`g.Resize(x, None, scales, mode="linear")`."""
import re

import numpy as np

NUMPY = {"f32": "float32", "f64": "float64", "f16": "float16", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
         "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool"}
SCALAR_TYPES = {"f32": "Float", "f64": "Double", "f16": "Half", "bf16": "BFloat16", "i8": "Char", "i16": "Short", "i32": "Int",
                "i64": "Long", "u8": "Byte", "bool": "Bool"}
TORCH = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
         "u8": "uint8", "bool": "bool"}
# Numbers beside a tensor in these take its element type.
ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mod", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Where", "Clip", "PRelu"}


class TensorType:
    """What is known of a value's type, with the names of torch's symbolics."""

    def __init__(self, dtype, shape):
        self.dtype_name, self.shape = dtype, shape

    def sizes(self):
        return None if self.shape is None or any(not isinstance(n, int) for n in self.shape) else list(self.shape)

    def varyingSizes(self):
        return None if self.shape is None else [n if isinstance(n, int) else None for n in self.shape]

    def dim(self):
        return None if self.shape is None else len(self.shape)

    def scalarType(self):
        return SCALAR_TYPES.get(self.dtype_name)

    def dtype(self):
        import torch
        return getattr(torch, TORCH[self.dtype_name])

    def isSubtypeOf(self, other):
        return "Tensor" in str(other)

    def kind(self):
        return "TensorType"

    def with_sizes(self, sizes):
        return TensorType(self.dtype_name, list(sizes))

    def with_dtype(self, dtype):
        return TensorType(_ours(dtype), self.shape)


def _ours(dtype):
    names = {v: k for k, v in TORCH.items()}
    return names.get(str(dtype).split(".")[-1], str(dtype))


class _NodeView:
    """Enough of a torch node for symbolics that look at where a value comes from."""

    def __init__(self, value):
        self._value = value

    def kind(self):
        return "onnx::Constant" if self._value.constant is not None else "onnx::Value"

    def mustBeNone(self):
        return False

    def t(self, name):
        import torch
        return torch.from_numpy(np.array(self._value.constant))


class Value:
    """A value of the graph."""

    def __init__(self, graph, host):
        self._graph, self._host = graph, host

    @property
    def dtype(self):
        return self._graph._host.type(self._host)[0]

    @property
    def shape(self):
        return self._graph._host.type(self._host)[1]

    @property
    def constant(self):
        """Its contents as an array, where they are known."""
        return self._graph._host.contents(self._host)

    def type(self):
        return TensorType(self.dtype, self.shape)

    def setType(self, t):
        self._graph._host.set_type(self._host, t.dtype_name, t.shape)
        return self

    def node(self):
        return _NodeView(self)

    def debugName(self):
        return f"v{self._host.id}"

    def isCompleteTensor(self):
        return self.type().sizes() is not None

    def __add__(self, o): return self._graph.op("Add", self, o)
    def __radd__(self, o): return self._graph.op("Add", o, self)
    def __sub__(self, o): return self._graph.op("Sub", self, o)
    def __rsub__(self, o): return self._graph.op("Sub", o, self)
    def __mul__(self, o): return self._graph.op("Mul", self, o)
    def __rmul__(self, o): return self._graph.op("Mul", o, self)
    def __truediv__(self, o): return self._graph.op("Div", self, o)
    def __rtruediv__(self, o): return self._graph.op("Div", o, self)
    def __pow__(self, o): return self._graph.op("Pow", self, o)
    def __matmul__(self, o): return self._graph.op("MatMul", self, o)
    def __neg__(self): return self._graph.op("Neg", self)


class Graph:
    """Adds nodes to the graph that is being recorded. `opset` is the one that operators are written in."""

    def __init__(self, host, opset):
        self._host, self.opset = host, opset
        self.block = self

    def op(self, name, *inputs, outputs=1, **attributes):
        """A node of ai.onnx, or "domain::Op". Attributes take torch's suffixes (_i, _f, _s, _t) or none."""
        domain, _, op = name.rpartition("::")
        domain = "" if domain in ("onnx", "ai.onnx") else domain
        if op == "Constant" and not domain and len(attributes) == 1:
            return Value(self, self._host.constant(_array(next(iter(attributes.values())))))
        attrs = []
        for key, value in attributes.items():
            if value is None:
                continue
            match = re.fullmatch(r"(.+)_([ifstz])", key)
            attrs.append((match.group(1), match.group(2), _plain(value, match.group(2))) if match else (key, "", _plain(value, "")))
        like = next((v.dtype for v in inputs if isinstance(v, Value) and v.dtype in NUMPY), None)
        operands = [self._operand(v, like if op in ARITHMETIC else None) for v in inputs]
        made = [Value(self, h) for h in self._host.add(domain, op, operands, attrs, outputs, self.opset)]
        return made[0] if outputs == 1 else tuple(made)

    def _operand(self, v, like):
        if isinstance(v, Value):
            return v._host
        if isinstance(v, (int, float)) and like and not (isinstance(v, float) and like[0] in "iu"):
            return np.asarray(v, NUMPY[like])
        if v is None or isinstance(v, (bool, int, float)):
            return v
        if isinstance(v, (list, tuple)) and any(isinstance(x, Value) for x in v):  # sizes, some of which are symbolic
            parts = [self.op("Reshape", x if isinstance(x, Value) else np.asarray(x, "int64"), np.asarray([1], "int64")) for x in v]
            return self.op("Concat", *parts, axis_i=0)._host
        return _array(v)

    def constant(self, array):
        return Value(self, self._host.constant(_array(array)))

    def at(self, operator, *inputs, overload_name="", **attributes):
        return self.op("org.pytorch.aten::ATen", *inputs, operator_s=operator, overload_name_s=overload_name, **attributes)

    def __getattr__(self, op):
        if op.startswith("_") or not op[0].isupper():
            raise AttributeError(op)
        return lambda *inputs, **attributes: self.op(op, *inputs, **attributes)


def _array(v):
    if hasattr(v, "detach"):
        return v.detach().cpu().contiguous()
    if isinstance(v, np.ndarray):
        return v
    return np.asarray(v, dtype="int64" if _all(v, int) else "float32" if _all(v, (int, float)) else None)


def _all(v, kind):
    return all(isinstance(x, kind) for x in v) if isinstance(v, (list, tuple)) else isinstance(v, kind)


def _plain(v, suffix):
    if suffix in ("t", "z"):
        return _array(v)
    if hasattr(v, "tolist"):
        v = v.tolist() if suffix or getattr(v, "ndim", 1) < 2 else v
    if isinstance(v, Value):
        if v.constant is None:
            raise TypeError("an attribute depends on data: give it as an input")
        v = v.constant.tolist()
    return list(v) if isinstance(v, tuple) else v
