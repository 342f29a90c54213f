"""Mutations of a valid ONNX model through its protobuf: what an attacker could write, not random damage."""
import functools

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from onnx_values import PLAIN, array_of

TYPES = [TensorProto.FLOAT] * 3 + list(range(0, 24)) + [99]
SCHEMA_NEWEST = 27


@functools.cache
def schemas():
    newest = {}
    for s in onnx.defs.get_all_schemas():
        newest[(s.domain, s.name)] = s
    return newest


@functools.cache
def operator_names():
    return sorted({name for domain, name in schemas() if domain == ""})


@functools.cache
def operators_of_arity(inputs):
    return [name for (domain, name), s in sorted(schemas().items()) if domain == "" and s.min_input <= inputs <= s.max_input]


def bodies(graph):
    """The graph and all graphs inside it."""
    yield graph
    for node in graph.node:
        for a in node.attribute:
            if a.type == AttributeProto.GRAPH:
                yield from bodies(a.g)
            for g in a.graphs:
                yield from bodies(g)


def any_body(m, rng):
    return rng.choice(list(bodies(m.graph)))


def any_node(m, rng):
    places = [g for g in bodies(m.graph) if g.node] + [f for f in m.functions if f.node]
    return rng.choice(rng.choice(places).node) if places else None


def value_names(m):
    names = [v.name for v in m.graph.input] + [t.name for t in m.graph.initializer]
    return names + [o for n in m.graph.node for o in n.output if o]


# Nodes

def change_inputs(m, rng):
    node = any_node(m, rng)
    if node is None:
        return
    kind = rng.randrange(7)
    if kind == 0 and node.input:
        del node.input[rng.randrange(len(node.input))]
    elif kind == 1:
        node.input.insert(rng.randint(0, len(node.input)), rng.choice(value_names(m) or ["x"]))
    elif kind == 2 and node.input:
        node.input[rng.randrange(len(node.input))] = ""
    elif kind == 3 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(value_names(m) or ["x"])
    elif kind == 4 and node.input:
        node.input.append(node.input[-1])
    elif kind == 5 and len(node.input) > 1:
        names = list(node.input)
        rng.shuffle(names)
        node.input[:] = names
    else:
        del node.input[:]
        if rng.one_in(2):
            node.input.extend([""] * rng.randrange(1, 6))


def change_outputs(m, rng):
    node = any_node(m, rng)
    if node is None:
        return
    kind = rng.randrange(5)
    if kind == 0 and node.output:
        del node.output[rng.randrange(len(node.output))]
    elif kind == 1:
        node.output.append(f"extra{rng.randrange(3)}")
    elif kind == 2 and node.output:
        node.output[rng.randrange(len(node.output))] = ""
    elif kind == 3 and node.output:
        node.output.append(node.output[0])
    elif node.output:
        new = f"extra{rng.randrange(3)}"
        node.output.append(new)
        m.graph.output.append(helper.make_empty_tensor_value_info(new))


def swap_operator(m, rng):
    node = any_node(m, rng)
    if node is None:
        return
    node.op_type = rng.choice(operators_of_arity(len(node.input)) or operator_names()) if not rng.one_in(5) else rng.choice(operator_names())
    if rng.one_in(20):
        node.domain = rng.choice(["ai.onnx", "com.microsoft", "ai.onnx.ml", "ai.onnx.training", "my", "org.pytorch.aten"])
    if rng.one_in(3):
        del node.attribute[:]


def remove_node(m, rng):
    g = any_body(m, rng)
    if g.node:
        del g.node[rng.randrange(len(g.node))]


def duplicate_node(m, rng):
    g = any_body(m, rng)
    if not g.node:
        return
    copy = onnx.NodeProto()
    copy.CopyFrom(rng.choice(g.node))
    if not rng.one_in(4):
        copy.output[:] = [o and f"{o}_again{rng.randrange(4)}" for o in copy.output]
        if copy.output and copy.output[0] and rng.one_in(2):
            g.output.append(helper.make_empty_tensor_value_info(copy.output[0]))
    g.node.insert(rng.randint(0, len(g.node)) if rng.one_in(3) else len(g.node), copy)


def insert_after_output(m, rng):
    """The model's output goes through one operator more: what a pass could fuse."""
    if not m.graph.output:
        return
    out = rng.choice(m.graph.output)
    op = rng.choice(["Relu", "Identity", "Neg", "Add", "Mul", "Transpose", "Reshape", "Cast", "Softmax", "ReduceSum", "Shape", "Concat",
                     "Slice", "Squeeze", "Unsqueeze", "Gather", "Clip", "MatMul", "Sigmoid", "Tanh", "Erf", "Flatten", "Expand", "Split"])
    op = rng.choice(operator_names()) if rng.one_in(3) else op
    new = f"{out.name}_next{rng.randrange(1000)}"
    schema = schemas().get(("", op))
    arity = min(schema.min_input if schema else 1, 4) if not rng.one_in(4) else rng.randint(1, 3)
    inputs = [out.name] + [rng.choice(value_names(m) or [out.name]) for _ in range(max(arity, 1) - 1)]
    if rng.one_in(2) and arity > 1:
        weight = numpy_helper.from_array(array_of(rng.choice([np.float32, np.int64]), [rng.size() for _ in range(rng.randrange(3))], rng),
                                         f"w{rng.randrange(1000)}")
        m.graph.initializer.append(weight)
        inputs[-1] = weight.name
    node = helper.make_node(op, inputs, [new])
    add_attributes(node, rng)
    m.graph.node.append(node)
    if rng.one_in(2):
        out.CopyFrom(helper.make_empty_tensor_value_info(new))
    else:
        m.graph.output.append(helper.make_empty_tensor_value_info(new))


def shuffle_nodes(m, rng):
    g = any_body(m, rng)
    nodes = list(g.node)
    rng.shuffle(nodes)
    copies = [onnx.NodeProto.FromString(n.SerializeToString()) for n in nodes]
    del g.node[:]
    g.node.extend(copies)


def make_cycle(m, rng):
    g = any_body(m, rng)
    if not g.node:
        return
    first, last = g.node[0], g.node[-1]
    if first.input and last.output:
        first.input[rng.randrange(len(first.input))] = last.output[0]


# Attributes

def random_attribute(name, kind, rng):
    a = AttributeProto(name=name)
    a.type = kind
    if kind == AttributeProto.INT:
        a.i = rng.integer()
    elif kind == AttributeProto.FLOAT:
        a.f = rng.real()
    elif kind == AttributeProto.STRING:
        a.s = rng.choice([b"", b"SAME_UPPER", b"VALID", b"constant", b"reflect", b"linear", b"nearest", b"cubic", b"NOTSET", b"none",
                          b"add", b"mul", b"bilinear", b"ij->ji", b"...i,ij->j", b"ii", b"align_corners", b"pytorch_half_pixel",
                          b"tf_crop_and_resize", b"\xff\xfe", b"reverse", b"bidirectional", b"Tanh", b"floor", b"ceil", b"sum", b"mean"])
    elif kind == AttributeProto.INTS:
        a.ints.extend(rng.integer() for _ in range(rng.randrange(7)))
    elif kind == AttributeProto.FLOATS:
        a.floats.extend(rng.real() for _ in range(rng.randrange(6)))
    elif kind == AttributeProto.STRINGS:
        a.strings.extend(rng.choice([b"", b"a", b"Relu", b"Tanh", b"Sigmoid", b"\xff"]) for _ in range(rng.randrange(4)))
    elif kind == AttributeProto.TENSOR:
        a.t.CopyFrom(numpy_helper.from_array(array_of(rng.choice([np.float32, np.int64, np.int32, np.bool_, np.float16]),
                                                      [rng.size() for _ in range(rng.randrange(3))], rng), "t"))
    elif kind == AttributeProto.GRAPH:
        a.g.CopyFrom(small_body(rng))
    elif kind == AttributeProto.SPARSE_TENSOR:
        a.sparse_tensor.CopyFrom(random_sparse(rng))
    return a


def small_body(rng):
    inputs = [helper.make_empty_tensor_value_info(f"bi{i}") for i in range(rng.randrange(4))]
    outputs = [helper.make_empty_tensor_value_info(f"bo{i}") for i in range(rng.randrange(4))]
    nodes = []
    for i, out in enumerate(outputs):
        source = inputs[i % len(inputs)].name if inputs else "x"
        nodes.append(helper.make_node(rng.choice(["Identity", "Relu", "Neg", "Not", "Cast"]), [source], [out.name]))
    return helper.make_graph(nodes, "body", inputs, outputs)


def random_sparse(rng):
    n = rng.randrange(4)
    s = onnx.SparseTensorProto()
    s.values.CopyFrom(numpy_helper.from_array(array_of(np.float32, [n], rng), "sparse"))
    index = np.array([rng.integer() if rng.one_in(4) else i for i in range(n)], dtype=np.int64)
    s.indices.CopyFrom(numpy_helper.from_array(index if rng.one_in(2) else np.stack([index] * 2, 1), "indices"))
    s.dims.extend(rng.declared_size() for _ in range(rng.randrange(1, 3)))
    return s


def add_attributes(node, rng):
    """Attributes that the operator has, with values that it may not like."""
    schema = schemas().get((node.domain if node.domain != "ai.onnx" else "", node.op_type))
    if not schema or not schema.attributes:
        return
    names = sorted(schema.attributes)
    for name in rng.sample(names, min(len(names), rng.few(3))):
        if any(a.name == name for a in node.attribute):
            continue
        kind = int(schema.attributes[name].type) if not rng.one_in(8) else rng.choice([1, 2, 3, 4, 6, 7, 8])
        node.attribute.append(random_attribute(name, kind, rng))


def change_attribute(m, rng):
    node = any_node(m, rng)
    if node is None:
        return
    if not node.attribute or rng.one_in(3):
        return add_attributes(node, rng)
    at = rng.randrange(len(node.attribute))
    a = node.attribute[at]
    kind = rng.randrange(10)
    if kind == 0:
        del node.attribute[at]
    elif kind == 1:
        a.CopyFrom(random_attribute(a.name, rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 11]), rng))
    elif kind == 2:
        a.type = rng.randrange(0, 16)
    elif kind == 3:
        a.name = rng.choice([a.name + "x", "", "axis", "axes", "perm", "to", "value", "body"])
    elif kind == 4:
        node.attribute.append(AttributeProto.FromString(a.SerializeToString()))
    elif a.type == AttributeProto.INT:
        a.i = rng.integer() if rng.one_in(2) else a.i + rng.choice([-2, -1, 1, 2])
    elif a.type == AttributeProto.INTS:
        change_ints(a.ints, rng)
    elif a.type == AttributeProto.TENSOR:
        change_tensor(a.t, rng)
    elif a.type not in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
        a.CopyFrom(random_attribute(a.name, a.type, rng))
    else:
        change_body(m, rng)


def change_ints(ints, rng):
    kind = rng.randrange(6)
    if kind == 0:
        ints.append(rng.integer())
    elif kind == 1 and ints:
        del ints[rng.randrange(len(ints))]
    elif kind == 2:
        del ints[:]
    elif kind == 3 and len(ints) > 1:
        mixed = list(ints)
        rng.shuffle(mixed)
        ints[:] = mixed
    elif ints:
        at = rng.randrange(len(ints))
        value = rng.integer() if rng.one_in(2) else ints[at] + rng.choice([-1, 1])
        ints[at] = max(-(1 << 63), min((1 << 63) - 1, value))


# Tensors

def change_tensor(t, rng):
    kind = rng.randrange(11)
    if kind == 0:
        change_ints(t.dims, rng)
    elif kind == 1:
        t.data_type = rng.choice(TYPES)
    elif kind == 2 and t.raw_data:
        t.raw_data = t.raw_data[:rng.randrange(len(t.raw_data) + 1)]
    elif kind == 3 and t.raw_data:
        t.raw_data = t.raw_data + bytes(rng.choice([1, 3, 4, 8]))
    elif kind == 4:
        t.ClearField("raw_data")
        if rng.one_in(2):
            t.float_data.extend([rng.real() for _ in range(rng.randrange(4))])
        else:
            t.int64_data.extend([rng.integer() for _ in range(rng.randrange(4))])
    elif kind == 5:
        t.data_location = TensorProto.EXTERNAL
        for key, value in [("location", rng.choice(["weights.bin", "model.onnx", "../x", "/etc/passwd", "", "nothing.bin", "BAD8BAD8"])),
                           ("offset", str(rng.choice([0, 0, 4, 4096, rng.integer()]))), ("length", str(rng.choice([0, 4, 16, rng.integer()])))]:
            if not rng.one_in(4):
                t.external_data.add(key=key, value=value)
    elif kind == 6:
        t.ClearField("raw_data")
        t.data_type = TensorProto.STRING
        t.string_data.extend(rng.choice([b"", b"a", b"\xff\xfe", b"\x1b[2J"]) for _ in range(rng.randrange(4)))
    else:
        other_contents(t, rng)


def other_contents(t, rng):
    """Valid, but with other numbers or other sizes."""
    try:
        a = numpy_helper.to_array(t)
    except Exception:
        return
    if t.data_type not in PLAIN or t.data_type == TensorProto.STRING:
        return
    if a.dtype.kind in "iu" and a.size and a.size <= 16 and not rng.one_in(3):
        a = a.copy()
        info = np.iinfo(a.dtype)
        a.reshape(-1)[rng.randrange(a.size)] = max(info.min, min(info.max, rng.integer()))
    else:
        shape = list(a.shape)
        kind = rng.randrange(4)
        if kind == 0 and shape:
            shape[rng.randrange(len(shape))] = rng.size()
        elif kind == 1 and shape:
            del shape[rng.randrange(len(shape))]
        elif kind == 2:
            shape.insert(rng.randint(0, len(shape)), rng.choice([1, 2]))
        if np.prod([float(d) for d in shape]) > 1 << 16:
            return
        a = array_of(PLAIN[t.data_type], shape, rng)
    t.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(a).reshape(a.shape), t.name))


def change_initializer(m, rng):
    weights = [t for g in bodies(m.graph) for t in g.initializer]
    if weights:
        change_tensor(rng.choice(weights), rng)
    else:
        input_to_initializer(m, rng)


def input_to_initializer(m, rng):
    """A constant where there was an input: folding sees it."""
    if not m.graph.input:
        return
    at = rng.randrange(len(m.graph.input))
    value = m.graph.input[at]
    t = value.type.tensor_type
    if t.elem_type not in PLAIN or t.elem_type == TensorProto.STRING:
        return
    shape = [d.dim_value if d.HasField("dim_value") else rng.size() for d in t.shape.dim]
    if any(d < 0 for d in shape) or np.prod([float(d) for d in shape]) > 1 << 16:
        return
    known = rng.recorded.get(value.name) if rng.one_in(2) else None
    a = known if known is not None else array_of(PLAIN[t.elem_type], shape, rng)
    m.graph.initializer.append(numpy_helper.from_array(a, value.name))
    if not rng.one_in(5):
        del m.graph.input[at]


def initializer_to_input(m, rng):
    if not m.graph.initializer:
        return
    at = rng.randrange(len(m.graph.initializer))
    t = m.graph.initializer[at]
    value = helper.make_tensor_value_info(t.name, t.data_type, [rng.choice([d, d, f"N{i}", None]) for i, d in enumerate(t.dims)])
    if not rng.one_in(6):
        del m.graph.initializer[at]
    m.graph.input.append(value)


def sparse_initializer(m, rng):
    s = random_sparse(rng)
    names = value_names(m)
    s.values.name = rng.choice(names) if names and rng.one_in(2) else "sparse"
    m.graph.sparse_initializer.append(s)
    node = any_node(m, rng)
    if node is not None and node.input:
        node.input[rng.randrange(len(node.input))] = s.values.name


# Declarations

def change_type(value, rng):
    if value.type.WhichOneof("value") != "tensor_type":
        if rng.one_in(3):
            value.type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, [rng.size()]))
        return
    t = value.type.tensor_type
    kind = rng.randrange(10)
    if kind == 0:
        t.elem_type = rng.choice(TYPES)
    elif kind == 1:
        t.ClearField("shape")
    elif kind == 2:
        d = t.shape.dim.add()
        d.dim_value = rng.declared_size()
    elif kind == 3 and t.shape.dim:
        del t.shape.dim[rng.randrange(len(t.shape.dim))]
    elif kind == 4 and t.shape.dim:
        t.shape.dim[rng.randrange(len(t.shape.dim))].dim_param = rng.choice(["N", "batch", "M", "4*h + 2", "a b", "floor(w/2)", "", "\x1b[2J",
                                                                             "N*N*N*N", "max(a, b)", "-1", "a/0", "BAD8BAD8"])
    elif kind == 5:
        for i, d in enumerate(t.shape.dim):
            d.dim_param = f"D{i}"
    elif kind == 6:
        inner = onnx.TypeProto.FromString(value.type.SerializeToString())
        wrapped = helper.make_sequence_type_proto(inner) if rng.one_in(2) else helper.make_optional_type_proto(inner)
        value.type.CopyFrom(wrapped)
    elif kind == 7 and rng.one_in(3):
        value.ClearField("type")
    elif t.shape.dim:
        t.shape.dim[rng.randrange(len(t.shape.dim))].dim_value = rng.declared_size()


def change_declared_input(m, rng):
    g = any_body(m, rng) if rng.one_in(3) else m.graph
    if g.input:
        change_type(rng.choice(g.input), rng)


def change_declared_output(m, rng):
    g = any_body(m, rng) if rng.one_in(3) else m.graph
    if g.output:
        change_type(rng.choice(g.output), rng)


def false_value_info(m, rng):
    """A declared shape for an inner value that is not what the node makes."""
    inner = [o for n in m.graph.node for o in n.output if o] or ["x"]
    info = m.graph.value_info.add()
    info.CopyFrom(helper.make_tensor_value_info(rng.choice(inner), rng.choice([1, 1, 1, 7, 6, 10, 9]),
                                                [rng.choice([rng.declared_size(), "N", None]) for _ in range(rng.randrange(5))]))


def all_sizes_symbolic(m, rng):
    one = rng.one_in(3)
    for v in list(m.graph.input):
        for i, d in enumerate(v.type.tensor_type.shape.dim):
            if not rng.one_in(4):
                d.dim_param = "N" if one else f"{v.name}_{i}"[:20] or "N"
    if rng.one_in(2):
        for v in m.graph.output:
            v.type.tensor_type.ClearField("shape")


def change_interface(m, rng):
    g = m.graph
    kind = rng.randrange(8)
    inner = value_names(m) or ["x"]
    if kind == 0 and g.output:
        del g.output[rng.randrange(len(g.output))]
    elif kind == 1:
        g.output.append(helper.make_empty_tensor_value_info(rng.choice(inner)))
    elif kind == 2 and g.input:
        del g.input[rng.randrange(len(g.input))]
    elif kind == 3 and g.input:
        g.input.append(onnx.ValueInfoProto.FromString(rng.choice(g.input).SerializeToString()))
    elif kind == 4 and g.output:
        g.output.append(onnx.ValueInfoProto.FromString(rng.choice(g.output).SerializeToString()))
    elif kind == 5 and g.output:
        rng.choice(g.output).name = rng.choice(inner)
    elif kind == 6 and g.input:
        rng.choice(g.input).name = rng.choice(inner)
    else:
        g.input.append(helper.make_tensor_value_info(f"new{rng.randrange(3)}", rng.choice(TYPES), [rng.declared_size()]))


# Bodies and functions

def change_body(m, rng):
    holders = [(n, a) for g in bodies(m.graph) for n in g.node for a in n.attribute if a.type == AttributeProto.GRAPH]
    if not holders:
        return wrap_in_body(m, rng)
    node, a = rng.choice(holders)
    kind = rng.randrange(9)
    if kind == 0:
        node.attribute.remove(a)
    elif kind == 1 and a.g.input:
        del a.g.input[rng.randrange(len(a.g.input))]
    elif kind == 2 and a.g.output:
        del a.g.output[rng.randrange(len(a.g.output))]
    elif kind == 3:
        a.g.input.append(helper.make_tensor_value_info(f"bin{rng.randrange(9)}", 1, None))
    elif kind == 4:
        names = [o for n in a.g.node for o in n.output] or value_names(m) or ["x"]
        a.g.output.append(helper.make_empty_tensor_value_info(rng.choice(names)))
    elif kind == 5:
        del a.g.node[:]
    elif kind == 6:
        a.g.CopyFrom(rng.choice(holders)[1].g)
    elif kind == 7:
        a.g.CopyFrom(small_body(rng))
    else:
        a.name = rng.choice(["body", "then_branch", "else_branch", "other"])


def wrap_in_body(m, rng):
    """The whole graph inside an If, Loop or Scan."""
    g = m.graph
    if not g.output or not g.node:
        return
    kind = rng.choice(["If", "Loop", "Scan"])
    body = onnx.GraphProto(name="wrapped")
    body.node.extend(g.node)
    outs = [o.name for o in g.output if o.name]
    if not outs:
        return
    body.output.extend(helper.make_empty_tensor_value_info(o) for o in outs)
    results = [f"{o}_wrapped{rng.randrange(100)}" for o in outs]
    if kind == "If":
        other = onnx.GraphProto.FromString(body.SerializeToString())
        g.initializer.append(numpy_helper.from_array(np.array(rng.one_in(2)), "wrap_condition"))
        node = helper.make_node("If", ["wrap_condition"], results, then_branch=body, else_branch=other if not rng.one_in(4) else small_body(rng))
    elif kind == "Loop":
        body.input.extend([helper.make_tensor_value_info("turn", 7, []), helper.make_tensor_value_info("cond_in", 9, [])])
        body.node.append(helper.make_node("Identity", ["cond_in"], ["cond_out"]))
        body.output.insert(0, helper.make_tensor_value_info("cond_out", 9, []))
        g.initializer.append(numpy_helper.from_array(np.array(rng.choice([0, 1, 2, 3, 10, 1000, 1 << 40, -1]), np.int64), "wrap_count"))
        node = helper.make_node("Loop", ["wrap_count", ""], results, body=body)
    else:
        moved = [v for v in g.input][:1]
        if not moved or moved[0].type.WhichOneof("value") != "tensor_type":
            return
        inner = onnx.ValueInfoProto.FromString(moved[0].SerializeToString())
        inner.name = "slice_in"
        body.input.append(inner)
        for n in body.node:
            n.input[:] = ["slice_in" if i == moved[0].name else i for i in n.input]
        moved[0].type.tensor_type.shape.dim.insert(0, onnx.TensorShapeProto.Dimension(dim_value=rng.choice([0, 1, 2, 3])))
        node = helper.make_node("Scan", [moved[0].name], results, body=body, num_scan_inputs=1)
    del g.node[:]
    g.node.append(node)
    del g.output[:]
    g.output.extend(helper.make_empty_tensor_value_info(r) for r in results)
    del g.value_info[:]


def change_functions(m, rng):
    kind = rng.randrange(7)
    opsets = [helper.make_opsetid("", rng.choice([13, 17, 18, 21]))]
    node = any_node(m, rng)
    if node is None:
        return
    if m.functions and rng.one_in(2):
        f = rng.choice(m.functions)
        if kind == 0:
            f.ClearField("opset_import")
        elif kind == 1 and f.input:
            del f.input[-1]
        elif kind == 2 and f.output:
            f.output.append(f.output[0])
        elif kind == 3:
            m.functions.append(onnx.FunctionProto.FromString(f.SerializeToString()))
        elif kind == 4:
            f.node.append(helper.make_node(f.name, list(f.input), ["again"], domain=f.domain))
        elif kind == 5:
            f.attribute.append("missing")
        else:
            f.name = rng.choice(["Relu", "Add", f.name + "x", ""])
        return
    if kind < 2:  # shadows an operator of ONNX
        f = helper.make_function(rng.choice(["", "my"]), node.op_type, [f"i{i}" for i in range(len(node.input))],
                                 [f"o{i}" for i in range(len(node.output))],
                                 [helper.make_node("Identity", ["i0"] if node.input else [], [f"o{i}"]) for i in range(len(node.output))], opsets)
        node.domain = f.domain
    elif kind < 4:  # the node moves into a function
        inside = onnx.NodeProto.FromString(node.SerializeToString())
        f = helper.make_function("my", "Moved", [f"i{i}" for i in range(len(node.input))], [f"o{i}" for i in range(len(node.output))], [inside], opsets)
        inside.input[:] = [i and f"i{k}" for k, i in enumerate(node.input)]
        inside.output[:] = [f"o{k}" for k in range(len(node.output))]
        f.node[0].CopyFrom(inside)
        node.op_type, node.domain = "Moved", "my"
        if not rng.one_in(3):
            del node.attribute[:]
    elif kind == 4:  # recursive
        f = helper.make_function("my", "Again", ["i"], ["o"], [helper.make_node("Again", ["i"], ["o"], domain="my")], opsets)
        node.op_type, node.domain = "Again", "my"
        if rng.one_in(2):
            node.input[1:], node.output[1:] = [], []
    else:  # exponential
        depth = rng.choice([3, 8, 24, 40])
        for i in range(depth):
            callee, domain = (f"F{i + 1}", "my") if i + 1 < depth else ("Relu", "")
            m.functions.append(helper.make_function("my", f"F{i}", ["i"], ["o"], [helper.make_node(callee, ["i"], ["t"], domain=domain),
                                                                                  helper.make_node(callee, ["t"], ["o"], domain=domain)],
                                                    opsets + [helper.make_opsetid("my", 1)]))
        node.op_type, node.domain = "F0", "my"
        node.input[1:], node.output[1:] = [], []
        f = None
    if f is not None:
        m.functions.append(f)
    if not rng.one_in(5) and not any(o.domain == "my" for o in m.opset_import):
        m.opset_import.append(helper.make_opsetid("my", 1))


# The model

def change_opset(m, rng):
    kind = rng.randrange(8)
    if kind == 0:
        del m.opset_import[:]
    elif kind == 1:
        m.opset_import.append(helper.make_opsetid(rng.choice(["", "ai.onnx", "ai.onnx.ml", "com.microsoft", "my", "BAD8BAD8"]), rng.integer()))
    elif m.opset_import:
        rng.choice(m.opset_import).version = rng.choice([0, -1, 1, 5, 99, 1 << 62]) if kind == 2 else rng.randint(7, 28)
    if rng.one_in(6):
        m.ir_version = rng.choice([0, 1, 2, 3, 4, 7, 8, 10, 13, 99, -1])


def change_names(m, rng):
    name = rng.name()
    kind = rng.randrange(6)
    node = any_node(m, rng)
    if kind == 0 and node is not None:
        node.name = name
    elif kind == 1 and node is not None:
        node.doc_string = name
    elif kind == 2:
        m.graph.name = name
    elif kind == 3:
        m.metadata_props.add(key=rng.name(), value=rng.name())
    elif kind == 4:
        m.producer_name, m.doc_string = name, rng.name()
    else:
        names = value_names(m)
        if names:
            rename_value(m, rng.choice(names), name)


def rename_value(m, old, new):
    for g in bodies(m.graph):
        for n in g.node:
            n.input[:] = [new if i == old else i for i in n.input]
            n.output[:] = [new if o == old else o for o in n.output]
        for v in [*g.input, *g.output, *g.value_info, *g.initializer]:
            if v.name == old:
                v.name = new


def shadow_name(m, rng):
    names = value_names(m)
    if len(names) < 2:
        return
    a, b = rng.choice(names), rng.choice(names)
    for g in list(bodies(m.graph))[rng.randrange(2):]:
        for n in g.node:
            n.output[:] = [b if o == a else o for o in n.output]


MUTATIONS = ([change_inputs] * 3 + [change_outputs] * 2 + [swap_operator] * 3 + [remove_node, duplicate_node] + [insert_after_output] * 4
             + [shuffle_nodes, make_cycle] + [change_attribute] * 7 + [change_initializer] * 4 + [input_to_initializer] * 3
             + [initializer_to_input, sparse_initializer] + [change_declared_input] * 4 + [change_declared_output, false_value_info] * 2
             + [all_sizes_symbolic] * 2 + [change_interface] * 2 + [change_body] * 2 + [wrap_in_body, change_functions] + [change_opset] * 2
             + [change_names, shadow_name])


def splice(m, other, rng):
    """The nodes of another model behind this one's, fed with its outputs where the counts allow."""
    other = onnx.ModelProto.FromString(other.SerializeToString())
    if len(other.graph.node) + len(m.graph.node) > 200 or not m.graph.output:
        return
    weights = {t.name for t in other.graph.initializer}
    fed = {}
    for v in other.graph.input:
        if v.name not in weights and not rng.one_in(3):
            fed[v.name] = rng.choice(m.graph.output).name
    for name in {n for n in value_names(other)}:
        rename_value(other, name, fed.get(name, f"s_{name}" if name else name))
    m.graph.node.extend(other.graph.node)
    m.graph.initializer.extend(other.graph.initializer)
    m.graph.input.extend(v for v in other.graph.input if v.name.startswith("s_"))
    m.graph.output.extend(other.graph.output)
    m.functions.extend(other.functions)
    have = {o.domain for o in m.opset_import}
    m.opset_import.extend(o for o in other.opset_import if o.domain not in have)


def mutate(m, rng, others=()):
    """Changes `m` in place; `others` are models to take parts from. Returns the names of what was done."""
    done = []
    if others and rng.one_in(6):
        splice(m, rng.choice(others)(), rng)
        done.append("splice")
    for _ in range(rng.few(5)):
        change = rng.choice(MUTATIONS)
        try:
            change(m, rng)
            done.append(change.__name__)
        except (ValueError, TypeError, OverflowError, IndexError):
            done.append(f"{change.__name__} (not possible)")
    return done
