"""Why a program may be refused: rows of a pattern over the refusal's message, the limit behind it, and a proof of the limit.

A refusal that no row explains is a finding. A proof that fails says that the limit is gone: the refusal can go too.
"""
import re
from collections.abc import Callable
from dataclasses import dataclass

import onnxruntime
import torch

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:  # programs are judged without it; the proofs below need it
    onnx = None

OPSET = 18  # what the programs are exported to: Cameo's default


def refused_by_onnx(model):
    """The checker with type inference, or onnxruntime, refuses the model."""
    try:
        onnx.checker.check_model(model, full_check=True)
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception:
        return True
    return False


def graph_model(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def constant(name, dtype):
    return helper.make_graph([helper.make_node("Constant", [], [name], value=helper.make_tensor(name, dtype, [1], [0]))], name, [],
                             [helper.make_tensor_value_info(name, dtype, [1])])


def branches_have_one_type():
    """An If with an int64 on one side and a float on the other."""
    node = helper.make_node("If", ["c"], ["y"], then_branch=constant("a", TensorProto.INT64), else_branch=constant("b", TensorProto.FLOAT))
    return refused_by_onnx(graph_model([node], [helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
                                       [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])]))


def values_are_written_once():
    """A value has one writer and no other name: nothing in a graph can be written in place, or tell which of two values is which."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    twice = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])]
    return refused_by_onnx(graph_model(twice, [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])]))


def schemas():
    return {s.name: s for s in onnx.defs.get_all_schemas_with_history() if not s.domain and s.since_version <= OPSET}.values()


def types_of(schema, formals):
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    return {t for f in formals for t in constraints.get(f.type_str, [f.type_str])}


def text_cannot_be_joined():
    """No operator of this opset takes two strings and gives one made of both: those that give text copy, choose or cast."""
    moving = {"Cast", "CastLike", "Constant", "ConstantOfShape", "StringNormalizer"}
    computing = {s.name for s in schemas() if "tensor(string)" in types_of(s, s.outputs) and s.name not in moving}
    return not {n for n in computing if "String" in n} and "StringConcat" not in {s.name for s in schemas()}


def no_operator_makes_a_map():
    return not [s.name for s in schemas() if any(t.startswith("map(") for t in types_of(s, s.outputs))]


def sequences_hold_tensors():
    """A sequence holds tensors of one type: no strings beside numbers, no tuples, lists or dicts."""
    insert = next(s for s in schemas() if s.name == "SequenceInsert")
    return all(t.startswith("tensor(") for t in types_of(insert, insert.inputs[1:2]))


def pytorch_raises():
    """What the refused program does there raises in PyTorch as well, whatever the inputs are."""
    calls = [lambda: torch.cat([]), lambda: torch.zeros(1)[1], lambda: torch.zeros(2, 0).argmax(), lambda: [].pop(), lambda: min([]),
             lambda: torch.zeros(3).expand(2, 3).add_(1)]
    for call in calls:
        try:
            call()
        except (RuntimeError, IndexError, ValueError):
            continue
        return False
    return True


def fresh_layout_is_not_told():
    """Whether reshape copies depends on strides, which follow sizes: at one size a view, at another a copy."""
    return [torch.empty(2, n).t().reshape(-1).is_contiguous() and torch.empty(2, n).t().is_contiguous() for n in (1, 2)] == [True, False]


def outputs_have_a_rank():
    """The checker refuses a graph's output without a shape."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, None)
    return refused_by_onnx(graph_model([helper.make_node("Neg", ["x"], ["y"])], [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]))


@dataclass
class Limit:
    pattern: str
    why: str
    proof: Callable[[], bool]


LIMITS = [
    Limit(r"on one way and .* on another", "the branches of an If have one type", branches_have_one_type),
    Limit(r"stage\.write-joined|may have another name|gave another name|may be, or be part of, another tensor|holds tensors that one side of an if wrote|got another shape in place",
          "ONNX has values and no memory: which of two names was written has to be known", values_are_written_once),
    Limit(r"stage\.write-through-copy", "a copy or a view by sizes, and then written", fresh_layout_is_not_told),
    Limit(r"stage\.layout", "how a tensor lies in memory follows sizes, and ONNX has values only", fresh_layout_is_not_told),
    Limit(r"stage\.guess|may have different numbers of axes", "a graph's output has one number of axes", outputs_have_a_rank),
    Limit(r"a string contains values that depend on the inputs|stage\.choice", "text cannot be joined before opset 20", text_cannot_be_joined),
    Limit(r"a dict gets ", "ONNX has no operator that makes a map", no_operator_makes_a_map),
    Limit(r"a list of unknown length (holds|has) |stage\.list-length|stage\.list\b|stage\.index", "a list of unknown length is a sequence of tensors of one type",
          sequences_hold_tensors),
    Limit(r"infer\.index|infer\.operands|infer\.size|at least one tensor is needed|its body raises|stage\.raise|several elements of this view"
          r"|export\.frozen-dim|dim\.overflow",
          "PyTorch raises there too", pytorch_raises),
]


def limit_of(message):
    return next((row for row in LIMITS if re.search(row.pattern, message)), None)


def broken():
    """The limits that cannot be proved any more."""
    if onnx is None:
        print("onnx is not installed: the limits of refusals are not proved again")
        return []
    return [row.why for row in LIMITS if not row.proof()]
