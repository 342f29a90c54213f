"""Values that a trace made constants of: found by tracing once more at other sizes."""
import os
import re

from . import _capture
from ._findings import warning


def differing_constants(model, bound, captured, others):
    """Constants of the program that have another value in a second capture, by line."""
    for sizes, tensors in others:
        try:
            second = _capture.trace(model, _Other(bound, tensors))
        except Exception:  # the model itself cannot: another size may do
            continue
        found = _difference(_lines(captured), _lines(second), _said(sizes), " or ".join(captured.constants[:3]))
        if found:
            return found
    return []


def _difference(first_lines, second_lines, said, constants):
    if len(first_lines) != len(second_lines):
        return [warning("export.frozen-structure", f"with {said} the program has another structure: what it does is decided while it is recorded",
                        "a trace records one path through Python's branches and loops")]
    return [warning("export.frozen-value", f"{where or constants or text}: the value {value} is {new} with {said}", "the trace made it a constant")
            for (text, value, where), (other, new, _) in zip(first_lines, second_lines) if text == other and value != new and value is not None]


class _Other:
    """The same call with other tensors."""

    def __init__(self, bound, tensors):
        self._bound, self._tensors = bound, tensors
        self.tensors = [type(leaf)(leaf.path, t) for leaf, t in zip(bound.tensors, tensors)]

    def call(self, model, tensors):
        return self._bound.call(model, tensors)


def _lines(captured):
    """(the node without its value, the value of a constant, the user's line) of every node."""
    out = []
    for node in captured.module.inlined_graph.nodes():
        value = None
        if node.kind() == "prim::Constant" and node.hasAttribute("value"):
            kind = node.kindOf("value")
            value = getattr(node, kind)("value")
            value = value.tolist() if hasattr(value, "tolist") else value
        places = [f"{file}:{line}" for file, line in re.findall(r"([^\s(]+\.py)[:(](\d+)", node.sourceRange())]
        out.append((node.kind(), value, next((p for p in places if f"{os.sep}torch{os.sep}" not in p), "")))
    return out


def _said(sizes):
    return ", ".join(f"{n} = {s}" for n, s in sizes.items())
