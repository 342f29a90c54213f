"""An ExportedProgram as an archive, written straight from its nodes: what the C++ library reads of one, and no more. torch.export.save
takes half as long as torch.export itself, most of it to put the nodes in a canonical order. Programs with subgraphs, objects and the
like are left to it (NotPlain)."""
import dataclasses
import json
import operator

import torch
from torch.utils import _pytree

from . import _arguments as arguments
from ._archive import Lent, NotPlain, lendable, zipped

DTYPES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8, "complex32": 9, "complex64": 10,
          "complex128": 11, "bool": 12, "bfloat16": 13, "uint16": 28, "float8_e4m3fn": 29, "float8_e5m2": 30, "float8_e4m3fnuz": 31, "float8_e5m2fnuz": 32}
NUMBERS = {getattr(torch, name): number for name, number in DTYPES.items() if hasattr(torch, name)}
MEMORY_FORMATS = {torch.contiguous_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3, torch.preserve_format: 4}
SYMBOLIC = (torch.SymInt, torch.SymBool, torch.SymFloat)
LISTS = {bool: "as_bools", int: "as_ints", float: "as_floats", str: "as_strings"}
_schemas = {}


class _Schema:
    """Of an operator, what every call of it needs."""

    def __init__(self, target):
        schema = target._schema
        self.target = f"{target.__module__.replace('torch._ops', 'torch.ops')}.{target.__name__}"
        self.arguments = [(a.name, a.kwarg_only, _empty_list(a.type)) for a in schema.arguments]
        kinds = [r.real_type for r in schema.returns]
        self.returns = len(kinds)
        self.gives_list = len(kinds) == 1 and isinstance(kinds[0], torch.ListType)


def _empty_list(kind):
    """How an argument of this type is written when it is an empty list."""
    if isinstance(kind, torch.OptionalType):
        kind = kind.getElementType()
    if not isinstance(kind, torch.ListType):
        return None
    kind = kind.getElementType()
    if isinstance(kind, torch.OptionalType):
        kind = kind.getElementType()
    return {"bool": "as_bools", "int": "as_ints", "float": "as_floats", "str": "as_strings", "Tensor": "as_tensors", "List[int]": "as_int_lists"}.get(str(kind))


def _schema(target):
    if target not in _schemas:
        _schemas[target] = _Schema(target)
    return _schemas[target]


class Writer:
    """One graph as the JSON of an archive."""

    def __init__(self):
        self.tensors, self.ints, self.floats, self.bools = {}, {}, {}, {}
        self.inputs, self.outputs, self.nodes = [], [], []
        self._same, self._expressions, self._stacks = {}, {}, {}

    def graph(self, module):
        for node in module.graph.nodes:
            if node.op == "call_function":
                if node.target is not operator.getitem:
                    self.nodes.append(self._call(node))
            elif node.op == "placeholder":
                value = node.meta["val"]
                self.inputs.append(self._result(node.name, value) if isinstance(value, (torch.Tensor, torch.SymInt)) else self._argument(value))
            elif node.op == "output":
                results = node.args[0]
                self.outputs = [self._argument(a) for a in (results if isinstance(results, (tuple, list)) else [results])]
            else:
                raise NotPlain(node.op)
        return {"inputs": self.inputs, "outputs": self.outputs, "nodes": self.nodes, "tensor_values": self.tensors, "sym_int_values": self.ints,
                "sym_float_values": self.floats, "sym_bool_values": self.bools, "custom_obj_values": {}}

    def _call(self, node):
        target, value = node.target, node.meta.get("val")
        out = {"metadata": self._metadata(node.meta)}
        if isinstance(target, torch._ops.OpOverload):
            schema = _schema(target)
            out["target"], out["inputs"] = schema.target, self._inputs(schema, node)
            out["outputs"] = self._outputs(schema, node, value)
        elif isinstance(value, SYMBOLIC + (int, float, bool)) and not node.kwargs and not isinstance(target, torch._ops.HigherOrderOperator):
            out["target"] = f"{target.__module__}.{target.__name__}"
            out["inputs"] = [{"name": "", "arg": self._argument(a)} for a in node.args]
            out["outputs"] = [self._result(node.name, value)]
        else:
            raise NotPlain(str(target))
        return out

    def _inputs(self, schema, node):
        args, kwargs, given = node.args, node.kwargs, []
        for i, (name, keyword_only, empty) in enumerate(schema.arguments):
            if name in kwargs:
                given.append({"name": name, "arg": self._argument(kwargs[name], empty)})
            elif not keyword_only and i < len(args):
                given.append({"name": name, "arg": self._argument(args[i], empty)})
        return given

    def _outputs(self, schema, node, value):
        if schema.returns == 0:
            return []
        if schema.gives_list:
            return [{"as_tensors": [self._result(self._part(node, i), t)["as_tensor"] for i, t in enumerate(value)]}]
        if schema.returns == 1:
            return [self._result(node.name, value)]
        return [{"as_none": True} if v is None else self._result(self._part(node, i), v) for i, v in enumerate(value)]

    def _part(self, node, index):
        """The name of a result that getitem takes; further getitems of it are the same value."""
        first = None
        for user in node.users:
            if user.target is not operator.getitem:
                raise NotPlain("a result that is used as a whole")
            if user.args[1] == index:
                first, self._same[user.name] = first or user.name, first or user.name
        return first or f"{node.name}_unused_{index}"

    def _result(self, name, value):
        if isinstance(value, torch.Tensor):
            if value.dtype not in NUMBERS or value.layout != torch.strided:
                raise NotPlain(str(value.dtype))
            self.tensors[name] = {"dtype": NUMBERS[value.dtype], "sizes": [{"as_int": n} if type(n) is int else self._size(n) for n in value.shape]}
            return {"as_tensor": {"name": name}}
        if isinstance(value, (bool, torch.SymBool)):
            self.bools[name] = {"as_bool": value} if isinstance(value, bool) else {"as_expr": {"expr_str": self._expression(value)}}
            return {"as_sym_bool": {"as_name": name}}
        if isinstance(value, (int, torch.SymInt)):
            self.ints[name] = self._size(value)
            return {"as_sym_int": {"as_name": name}}
        if isinstance(value, (float, torch.SymFloat)):
            self.floats[name] = {"as_float": value} if isinstance(value, float) else {"as_expr": {"expr_str": self._expression(value)}}
            return {"as_sym_float": {"as_name": name}}
        if value is None:
            return {"as_none": True}
        raise NotPlain(f"a result that is {type(value)}")

    def _size(self, n):
        known = n if type(n) is int else n.node.maybe_as_int()
        if known is not None:
            return {"as_int": known}
        hint = n.node.hint
        return {"as_expr": {"expr_str": self._expression(n), "hint": None if hint is None else {"as_int": int(hint)}}}

    def _expression(self, value):
        expression = value.node.expr
        if expression not in self._expressions:
            import sympy
            self._expressions[expression] = sympy.printing.repr.srepr(expression)
        return self._expressions[expression]

    def _argument(self, a, empty=None):
        kind = type(a)
        if kind is torch.fx.Node:
            return self._reference(a)
        if a is None:
            return {"as_none": True}
        if kind is bool:
            return {"as_bool": a}
        if kind is int:
            return {"as_int": a}
        if kind is float:
            return {"as_float": _number(a)}
        if kind is str:
            return {"as_string": a}
        if kind is torch.dtype:
            return {"as_scalar_type": NUMBERS[a]}
        if kind is torch.device:
            return {"as_device": {"type": a.type, "index": a.index}}
        if kind is torch.memory_format:
            return {"as_memory_format": MEMORY_FORMATS[a]}
        if kind is torch.layout and a == torch.strided:
            return {"as_layout": 7}
        if kind is complex:
            return {"as_complex": {"real": _number(a.real), "imag": _number(a.imag)}}
        if isinstance(a, (list, tuple)):
            return self._list(a, empty)
        raise NotPlain(f"an argument that is {kind}")

    def _list(self, items, empty):
        if not items:
            if empty is None:
                raise NotPlain("an empty list")
            return {empty: []}
        kinds = {type(i) for i in items}
        if len(kinds) == 1 and (tag := LISTS.get(kind := kinds.pop())):
            return {tag: [_number(i) for i in items] if kind is float else list(items)}
        if all(isinstance(i, (list, tuple)) for i in items):
            if all(type(n) is int for i in items for n in i):
                return {"as_int_lists": [list(i) for i in items]}
            return {"as_lists": [self._argument(i, "as_ints") for i in items]}  # PyTorch's archives have no such lists
        parts = [self._argument(i) for i in items]
        tags = {next(iter(p)) for p in parts}
        if tags == {"as_tensor"}:
            return {"as_tensors": [p["as_tensor"] for p in parts]}
        if tags == {"as_tensor", "as_none"}:
            return {"as_optional_tensors": parts}
        if tags <= {"as_sym_int", "as_int"}:
            return {"as_sym_ints": [p.get("as_sym_int", p) for p in parts]}
        if tags <= {"as_sym_float", "as_float"}:
            return {"as_sym_floats": [p.get("as_sym_float", p) for p in parts]}
        raise NotPlain(f"a list of {tags}")

    def _reference(self, node):
        name = self._same.get(node.name, node.name)
        if name in self.tensors:
            return {"as_tensor": {"name": name}}
        for tag, values in (("as_sym_int", self.ints), ("as_sym_float", self.floats), ("as_sym_bool", self.bools)):
            if name in values:
                return {tag: {"as_name": name}}
        raise NotPlain(f"{node.op} {node.target}")

    def _metadata(self, meta):
        out = {}
        if trace := meta.get("stack_trace"):
            out["stack_trace"] = trace[max(0, trace.rfind('File "')):]  # the place itself; those who called it are not read
        if stack := meta.get("nn_module_stack"):
            key = tuple(stack)
            if key not in self._stacks:
                self._stacks[key] = ";".join(f"{k},{path},{kind}" for k, (path, kind) in stack.items())
            out["nn_module_stack"] = self._stacks[key]
        return out


def _number(x):
    """JSON has no words for these."""
    return x if x - x == 0 else "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"


def _input_spec(spec):
    kind, arg = spec.kind.name, spec.arg
    if kind == "USER_INPUT" and hasattr(arg, "value"):
        tag = {int: "as_int", bool: "as_bool", str: "as_string", float: "as_float", type(None): "as_none"}.get(type(arg.value))
        if tag is None:
            raise NotPlain(f"an input that is {type(arg.value)}")
        return {"constant_input": {"name": arg.name, "value": {tag: True if arg.value is None else arg.value}}}
    if kind == "USER_INPUT":
        return {"user_input": {"arg": _told(arg)}}
    named = {"arg": {"name": arg.name}}
    if kind == "PARAMETER":
        return {"parameter": named | {"parameter_name": spec.target}}
    if kind == "BUFFER":
        return {"buffer": named | {"buffer_name": spec.target, "persistent": bool(spec.persistent)}}
    if kind == "CONSTANT_TENSOR":
        return {"tensor_constant": named | {"tensor_constant_name": spec.target}}
    raise NotPlain(kind)


def _told(arg):
    kind = type(arg).__name__
    if kind == "TensorArgument":
        return {"as_tensor": {"name": arg.name}}
    if kind in ("SymIntArgument", "SymFloatArgument", "SymBoolArgument"):
        return {"as_sym_" + kind[3:-8].lower(): {"as_name": arg.name}}
    if kind == "ConstantArgument":
        return Writer()._argument(arg.value)
    raise NotPlain(kind)


def _output_spec(spec):
    kind, named = spec.kind.name, {"arg": {"name": spec.arg.name}}
    if kind == "USER_OUTPUT":
        return {"user_output": {"arg": _told(spec.arg)}}
    if kind in ("BUFFER_MUTATION", "PARAMETER_MUTATION", "USER_INPUT_MUTATION"):
        return {kind.lower(): named | {kind.lower().replace("mutation", "name"): spec.target}}
    raise NotPlain(kind)


def _range(bounds):
    def number(n):
        return int(n) if getattr(n, "is_Integer", False) else None
    return {"min_val": number(bounds.lower), "max_val": number(bounds.upper)}


def _store(kind, tensors, lent, entries):
    config = {}
    for name, t in tensors.items():
        if type(t).__name__ == "FakeTensor" or not isinstance(t, torch.Tensor) or t.dtype not in NUMBERS or not (lendable(t) or (t.layout == torch.strided and t.numel() == 0)):
            raise NotPlain(f"{name} is {type(t)}")
        zero = {"as_int": 0}
        config[name] = {"path_name": f"t{len(entries)}", "tensor_meta": {
            "dtype": NUMBERS[t.dtype], "sizes": [{"as_int": n} for n in t.shape], "strides": [zero] * t.dim(), "storage_offset": zero}}
        entries.append((f"model/data/{kind}/t{len(entries)}", lent.mark(t) if t.numel() else b""))
    entries.append((f"model/data/{kind}/model_{kind}_config.json", json.dumps({"config": config}).encode()))


def _plain(value):
    """Lists and dicts of the same parts: how results are named, whatever their classes."""
    parts = arguments.children(value)
    if parts is None:
        return value
    dropped = dataclasses.is_dataclass(value)  # whose empty fields are no results
    inner = {key: _plain(part) for key, part in parts[0] if part is not None or not dropped}
    return list(inner.values()) if type(value) in (list, tuple) else inner


def archive(program):
    """(bytes, Lent) of an ExportedProgram."""
    signature = program.graph_signature
    results = program.module_call_graph[0].signature.out_spec
    results = _pytree.tree_unflatten([torch.empty(0, device="meta") for _ in range(results.num_leaves)], results)
    spec = _pytree.treespec_dumps(_pytree.tree_structure(_plain(results)), 1)
    document = {
        "schema_version": {"major": 8, "minor": 0}, "torch_version": torch.__version__, "verifiers": [v.dialect for v in program.verifiers],
        "range_constraints": {str(symbol): _range(bounds) for symbol, bounds in program.range_constraints.items()},
        "graph_module": {
            "graph": Writer().graph(program.graph_module),
            "signature": {"input_specs": [_input_spec(s) for s in signature.input_specs], "output_specs": [_output_spec(s) for s in signature.output_specs]},
            "module_call_graph": [{"fqn": "", "signature": {"out_spec": spec}}],
        },
    }
    lent, entries = Lent(), [("model/archive_format", b"pt2"), ("model/byteorder", b"little")]
    entries.append(("model/models/model.json", json.dumps(document).encode()))
    _store("weights", program.state_dict, lent, entries)
    _store("constants", program.constants, lent, entries)
    return zipped(entries), lent
