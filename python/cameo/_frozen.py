"""Values that a trace made constants of: found by tracing once more at other sizes."""
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
        first_lines, second_lines = _lines(captured), _lines(second)
        if len(first_lines) != len(second_lines):
            return [warning("export.frozen-structure", f"with {_said(sizes)} the program has another structure: what it does is decided while it is recorded",
                            "a trace records one path through Python's branches and loops")]
        out = []
        for (text, value, where), (other, new, _) in zip(first_lines, second_lines):
            if text == other and value != new and value is not None:
                out.append(warning("export.frozen-value", f"{where or text}: the value {value} is {new} with {_said(sizes)}", "the trace made it a constant"))
        return out
    return []


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
        place = re.search(r"([^\s]+\.py):(\d+)", node.sourceRange())
        out.append((node.kind(), value, f"{place.group(1)}:{place.group(2)}" if place else ""))
    return out


def _said(sizes):
    return ", ".join(f"{n} = {s}" for n, s in sizes.items())
