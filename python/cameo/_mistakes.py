"""Calls that cannot mean what they say, each with a sentence of its own."""
import collections.abc
import os

import torch

from . import _arguments as arguments
from . import _capture
from ._findings import failure
from ._live import first_line


def check_call(model, args, f):
    """What is wrong before anything runs: weights in place of a model, arguments in each other's place, NumPy arrays."""
    if isinstance(model, collections.abc.Mapping) and any(isinstance(v, torch.Tensor) for v in model.values()):
        raise failure("use.model", "this is a state dict: it holds weights and no program", hint="make the module, then model.load_state_dict(...), and export the module")
    if isinstance(args, (str, os.PathLike)) and (isinstance(f, (torch.Tensor, tuple, list)) or f is None):
        raise failure("use.arguments", f"args is {os.fspath(args)!r}: args and f seem to have changed places", hint="export(model, (x,), \"net.onnx\")")
    if isinstance(f, (torch.Tensor, tuple, list)):
        raise failure("use.arguments", "f is a tensor: it takes a path, a file object or None", hint="export(model, (x,), \"net.onnx\")")
    for leaf in arguments.flatten(args, "args"):
        if arguments.is_array(leaf.value):
            raise failure("use.arguments", f"{leaf.path} is a NumPy array: PyTorch's modules take tensors", hint="torch.from_numpy(array)")


def own_failure(model, bound):
    """The error where the model itself does not run on its arguments; None: it does."""
    from ._verify import call_outputs
    try:
        with _capture.mode(model, "EVAL", []), torch.no_grad():
            call_outputs(model, bound, [leaf.value for leaf in bound.tensors])
    except Exception as e:
        error = failure("use.arguments", f"the model itself fails on these arguments: {first_line(e)}", hint=_hint(bound))
        error.__cause__ = e
        return error
    return None


def _hint(bound):
    for leaf in bound.tensors:
        shape = tuple(leaf.value.shape)
        if len(shape) == 4 and shape[3] in (1, 3, 4) and shape[1] not in (1, 3, 4):
            return f"'{leaf.path}' has the shape {list(shape)}, a picture with its channels last: PyTorch takes them second, {leaf.path}.permute(0, 3, 1, 2)"
        if len(shape) == 3 and shape[0] in (1, 3, 4):
            return f"'{leaf.path}' has the shape {list(shape)}: if a batch is missing, {leaf.path}[None]"
    return "call model(*args) by itself, and export what works"
