"""Small models of one operator each, made from ONNX's own schemas: every operator and version, plausible types and sizes."""
import functools

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from onnx_mutate import random_attribute
from onnx_values import PLAIN, array_of

NAMES = {"float": TensorProto.FLOAT, "double": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16,
         "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
         "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64,
         "bool": TensorProto.BOOL, "string": TensorProto.STRING, "int4": TensorProto.INT4, "uint4": TensorProto.UINT4,
         "float8e4m3fn": TensorProto.FLOAT8E4M3FN, "float8e5m2": TensorProto.FLOAT8E5M2, "complex64": TensorProto.COMPLEX64}
SHAPES = [[], [1], [3], [4], [2, 3], [3, 3], [1, 4], [4, 1], [2, 3, 4], [1, 2, 5], [1, 1, 4, 4], [2, 3, 5, 5], [1, 4, 7, 6], [2, 2, 3, 4, 5], [0], [2, 0, 3]]
# Sizes and axes: inputs that are read as numbers rather than as data.
SMALL_INTS = [[0], [1], [-1], [2], [0, 1], [1, 2], [-1, 1], [2, 3], [0, -1], [1, 1, 2, 2], [0, 0, 1, 1], [5]]


@functools.cache
def all_versions():
    return sorted((s for s in onnx.defs.get_all_schemas_with_history() if s.domain in ("", "ai.onnx.ml")),
                  key=lambda s: (s.domain, s.name, s.since_version))


def tensor_types(schema, formal):
    for constraint in schema.type_constraints:
        if constraint.type_param_str == formal.type_str:
            return [t for t in constraint.allowed_type_strs if t.startswith("tensor(")]
    return [formal.type_str] if formal.type_str.startswith("tensor(") else []


def generate(rng):
    """A model and arrays for its inputs (None where numpy cannot hold them)."""
    schema = rng.choice(all_versions())
    chosen, inputs, weights, arrays, names = {}, [], [], {}, []
    base = rng.choice(SHAPES)
    formals = list(schema.inputs)
    if formals and formals[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
        formals += [formals[-1]] * rng.randrange(3)
    for i, formal in enumerate(formals):
        if formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional and rng.one_in(2):
            names.append("")
            continue
        options = tensor_types(schema, formal)
        if not options:
            return None, None
        if formal.type_str not in chosen:
            floats = "tensor(float)" in options and not rng.one_in(3)
            chosen[formal.type_str] = "tensor(float)" if floats else rng.choice(options)
        elem = NAMES.get(chosen[formal.type_str][7:-1])
        if elem is None:
            return None, None
        name = f"i{i}"
        names.append(name)
        if elem == TensorProto.INT64 and formal.type_str == "tensor(int64)":
            data = np.array(rng.choice(SMALL_INTS), np.int64)
        elif elem in PLAIN:
            data = array_of(PLAIN[elem], base if not rng.one_in(3) else rng.choice(SHAPES), rng)
        else:
            data = None
        if data is not None and elem != TensorProto.STRING and rng.one_in(3 if i else 8):
            weights.append(numpy_helper.from_array(data, name))
            continue
        shape = list(data.shape) if data is not None else list(base)
        declared = [d if not rng.one_in(4) else f"n{i}{k}" for k, d in enumerate(shape)] if not rng.one_in(8) else None
        inputs.append(helper.make_tensor_value_info(name, elem, declared))
        arrays[name] = data
    while names and not names[-1]:
        names.pop()
    outputs = [f"o{i}" for i in range(max(1, rng.randint(schema.min_output, min(schema.max_output, len(schema.outputs) + 1))))]
    node = helper.make_node(schema.name, names, outputs, domain=schema.domain)
    for name, attribute in sorted(schema.attributes.items()):
        if attribute.required or rng.one_in(4):
            node.attribute.append(random_attribute(name, int(attribute.type), rng))
    graph = helper.make_graph([node], "generated", inputs, [helper.make_empty_tensor_value_info(o) for o in outputs], weights)
    opset = schema.since_version if rng.one_in(2) else rng.randint(schema.since_version, max(schema.since_version, 5 if schema.domain else 26))
    imports = [helper.make_opsetid(schema.domain, opset)] + ([helper.make_opsetid("", 21)] if schema.domain else [])
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    return model, (arrays if all(a is not None for a in arrays.values()) else None)
