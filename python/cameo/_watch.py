"""What a trace makes constants of: tensors that become Python's bools and numbers while it is recorded, by where they come from."""
import contextlib
import os
import sys
import types

import torch

from . import _conditions
from ._findings import warning

OURS = os.path.dirname(os.path.abspath(__file__))
TORCH = os.path.dirname(os.path.abspath(torch.__file__))
SIZES = ("aten::size", "aten::sym_size", "aten::numel", "aten::dim", "prim::shape")
FIXED = ("prim::GetAttr", "prim::Constant")
BY_DATA = {"aten::nonzero", "aten::nonzero_numpy", "aten::argwhere", "aten::masked_select", "aten::unique_dim", "aten::unique_consecutive", "aten::_unique2", "aten::_unique", "torchvision::nms"}
BRANCHES = ("__bool__",)
COUNTS = ("__len__", "__iter__")  # of a tensor's first axis
NUMBERS = ("__int__", "__float__", "__index__", "__complex__", "item", "tolist", "numpy", "__dlpack__", "untyped_storage", "equal", "allclose", "is_nonzero")
FUNCTIONS = ("equal", "allclose", "is_nonzero")  # of torch, which give Python's bools


class Frozen:
    """One such place: the finding, and whether the inputs' numbers decide it, or only their sizes."""

    def __init__(self, where, name, value, of_data, numbers):
        self.of_data, self.numbers = of_data, numbers  # those that it is compared with, where it is a condition
        what = ("an if or while on a tensor: the way that the example takes is recorded, others are lost" if name in BRANCHES + FUNCTIONS
                else f"a tensor becomes a Python value, {value}, which is a constant in the model")
        self.finding = warning("export.frozen-value", f"{where}: {what}", "a trace records what happens with the example",
                               "torch.where, or capture=\"script\" or \"export\", keep what the inputs decide" if of_data else "")


@contextlib.contextmanager
def watching():
    """Gives the list of what is frozen while a trace is recorded."""
    found, places, before = [], set(), {}

    def wrapped(original, name):
        def method(t, *args, **kwargs):
            if torch.jit.is_tracing():
                for given in (t, *args) if name in FUNCTIONS else (t,):
                    if isinstance(given, torch.Tensor):
                        remember(given, name)
            return original(t, *args, **kwargs)
        return method

    def remember(t, name):
        kinds = _origins_of_count(t) if name in COUNTS else _origins(t)
        where = _place()
        if kinds and (where, name) not in places:
            places.add((where, name))
            with torch.no_grad(), _paused():
                value = str(t.shape[0]) if name in COUNTS else str(t.tolist()) if t.numel() < 5 else f"{t.numel()} numbers"
            numbers = _conditions.of_traced(torch._C._get_value_trace(t)) if name in BRANCHES and "data" not in kinds else set()
            found.append(Frozen(where, name, value, "data" in kinds, numbers))

    for name in BRANCHES + COUNTS + NUMBERS:
        if hasattr(torch.Tensor, name):
            before[name] = torch.Tensor.__dict__.get(name)
            setattr(torch.Tensor, name, wrapped(getattr(torch.Tensor, name), name))
    functions = {name: getattr(torch, name) for name in FUNCTIONS}
    for name, function in functions.items():
        setattr(torch, name, wrapped(function, name))
    try:
        yield found
    finally:
        for name, function in functions.items():
            setattr(torch, name, function)
        for name, own in before.items():
            if own is None:
                delattr(torch.Tensor, name)
            else:
                setattr(torch.Tensor, name, own)


@contextlib.contextmanager
def _paused():
    state = torch._C._get_tracing_state()
    torch._C._set_tracing_state(None)
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)


def _value(t):
    try:
        return torch._C._get_value_trace(t)
    except RuntimeError:  # not part of the trace
        return None


def _sized_by_data(value):
    """Whether data decide sizes in what a traced value is computed from: x[x > 0], nonzero, unique."""
    def by_mask(node):
        if node.kind() == "aten::where":  # of a condition only
            return len(list(node.inputs())) == 1
        return node.kind() == "aten::index" and any(str(getattr(i.type(), "scalarType", str)()) in ("Bool", "Byte") for parts in list(node.inputs())[1:] for i in parts.node().inputs())
    nodes = list(_conditions.nodes_behind(value, FIXED))
    return any(n.kind() in BY_DATA or by_mask(n) for n in nodes) and any(n.kind() == "prim::Param" for n in nodes)


def _origins(t):
    """What a traced tensor is computed from: "data" of inputs, "sizes" of them, or nothing but weights and constants."""
    value, kinds = _value(t), set()
    if value is None:
        return kinds
    for node in _conditions.nodes_behind(value, (*SIZES, *FIXED)):
        if node.kind() == "prim::Param":
            kinds.add("data")
        elif node.kind() in SIZES:
            kinds.add("data" if _sized_by_data(next(node.inputs())) else "sizes")
    return kinds


def _origins_of_count(t):
    value = _value(t)
    return {"data" if value is not None and _sized_by_data(value) else "sizes"}


def _place():
    """The user's line; inside of a package its name and line, because the user did not write it."""
    frame: types.FrameType | None = sys._getframe(1)
    inside = None
    while frame is not None:
        name = os.path.abspath(frame.f_code.co_filename)
        if name.startswith(OURS + os.sep):
            if inside is not None or frame.f_code.co_name == "call":
                break  # what called us is not a part of the model
        elif not name.startswith(TORCH + os.sep):
            where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            if "site-packages" not in name and "dist-packages" not in name:
                return where
            inside = inside or where
        frame = frame.f_back
    return f"inside {inside.split('-packages' + os.sep)[-1]}" if inside else "inside torch"
