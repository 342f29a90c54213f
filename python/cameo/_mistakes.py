"""Calls that cannot mean what they say, each with a sentence of its own."""
import collections.abc
import os

import torch

from . import _arguments as arguments
from . import _capture
from ._findings import failure
from ._live import first_line

CALL = 'export(model, (x,), "net.onnx")'


def check_call(model, args, f):
    """What is wrong before anything runs: weights in place of a model, arguments in each other's place, NumPy arrays."""
    _check_model(model)
    if isinstance(args, torch.nn.Module):
        raise failure("use.arguments", "args is a module: the model comes first", hint=CALL)
    if isinstance(args, (str, os.PathLike)) and (isinstance(f, (torch.Tensor, tuple, list)) or f is None):
        raise failure("use.arguments", f"args is {os.fspath(args)!r}: args and f seem to have changed places", hint=CALL)
    if isinstance(f, (torch.Tensor, tuple, list)) or hasattr(f, "shape"):
        raise failure("use.arguments", "f is a tensor: it takes a path, a file object or None", hint=CALL)
    for leaf in arguments.flatten(args, "args"):
        if arguments.is_array(leaf.value):
            raise failure("use.arguments", f"{leaf.path} is a NumPy array: PyTorch's modules take tensors", hint="torch.from_numpy(array)")
        if isinstance(leaf.value, torch.Tensor) and leaf.value.layout != torch.strided:
            raise failure("use.arguments", f"{leaf.path} is a sparse tensor, which ONNX does not have", hint="to_dense(), inside the model or before it")
        if isinstance(leaf.value, torch.Tensor) and leaf.value.device.type == "meta":
            raise failure("use.arguments", f"{leaf.path} is on meta, a device on which tensors have no numbers", hint="give an example on the CPU: torch.randn(shape)")


def _check_model(model):
    if isinstance(model, collections.abc.Mapping):
        weights = any(isinstance(v, torch.Tensor) for v in model.values())
        raise failure("use.model", f"this is a {'state dict' if weights else 'dict, as checkpoints are'}: it holds weights and no program",
                      hint="make the module, then model.load_state_dict(...), and export the module")
    if isinstance(model, type):
        raise failure("use.model", f"this is the class {model.__name__}, not a module", hint=f"make one first: model = {model.__name__}(...)")
    if isinstance(model, torch.nn.Module) and any(t.device.type == "meta" for t in (*model.parameters(), *model.buffers())):
        raise failure("use.arguments", "the model's weights are on the device meta, where they have no numbers", hint='load them first: model.to_empty(device="cpu"), then model.load_state_dict(...)')
    if not callable(model) and not isinstance(model, torch.export.ExportedProgram):
        raise failure("use.model", f"this is {'None' if model is None else type(model).__name__}: it is no model",
                      hint="give an nn.Module, a scripted module or function, an ExportedProgram, a function, or the path of an archive")


def own_failure(model, bound):
    """The error where the model itself does not run on its arguments; None: it does."""
    from ._verify import call_outputs
    try:
        with _capture.mode(model, "EVAL", []), torch.no_grad():
            call_outputs(model, bound, [leaf.value for leaf in bound.tensors])
    except Exception as e:
        error = failure("use.arguments", f"the model itself fails on these arguments: {first_line(e)}", hint=_hint(model, bound, e))
        error.__cause__ = e
        return error
    return None


def _hint(model, bound, e):
    if isinstance(e, IndexError):  # the types are right then
        return "an index is larger than what it is used on: give an example with smaller numbers"
    if "scalar types: Long" in str(e):
        return "an index has to be whole: x.long()"
    for rule in (_no_forward, _no_tensors, _wrong_names, _one_dict, _wrong_device, _wrong_type, _wrong_layout):
        if told := rule(model, bound):
            return told
    return "call model(*args) by itself, and export what works"


def _no_forward(model, _bound):
    if isinstance(model, torch.nn.Module) and getattr(type(model).forward, "__name__", "") == "_forward_unimplemented":
        return f"{type(model).__name__} only holds modules and has no forward: torch.nn.Sequential, or a module with a forward, says in which order they run"
    return ""


def _one_dict(_model, bound):
    """A dict by name whose keys forward does not have, which was taken for one argument."""
    given = bound.args[0] if len(bound.args) == 1 and not bound.kwargs else None
    if bound.signature is None or not isinstance(given, collections.abc.Mapping):
        return ""
    return f"the dict was given as one argument: its keys are {', '.join(map(str, given))}, and forward takes {', '.join(map(str, bound.signature.parameters.values()))}"


def _no_tensors(_model, bound):
    if bound.tensors:
        return ""
    numbers = [leaf.value for leaf in bound.leaves if isinstance(leaf.value, int)]
    if numbers and len(numbers) == len(bound.leaves):
        return f"args are numbers; if they are a shape: torch.randn({', '.join(map(str, numbers))}) makes an example of it"
    odd = next((leaf for leaf in bound.leaves if leaf.value is not None), None)
    return f"'{odd.path}' is {type(odd.value).__name__}; the model's inputs are tensors" if odd else f"args holds no tensor: {CALL}, with x an example of the input"


def _wrong_names(_model, bound):
    if bound.signature is None:
        return ""
    try:
        bound.signature.bind(*bound.args, **bound.kwargs)
    except TypeError:
        return f"forward takes {', '.join(map(str, bound.signature.parameters.values()))}"
    return ""


def _weights(model):
    return [t for t in model.parameters() if t.is_floating_point()] if isinstance(model, torch.nn.Module) else []


def _wrong_device(model, bound):
    devices = {str(t.device) for t in _weights(model)}
    for leaf in bound.tensors:
        if len(devices) == 1 and str(leaf.value.device) not in devices:
            return f"'{leaf.path}' is on {leaf.value.device}, and the model on {next(iter(devices))}: {leaf.path}.to(\"{next(iter(devices))}\")"
    return ""


def _wrong_type(model, bound):
    types = {t.dtype for t in _weights(model)}
    floats = [leaf for leaf in bound.tensors if leaf.value.dtype not in types]
    if len(types) != 1 or len(floats) != len(bound.tensors):  # one that fits: the others may be indices
        return ""
    return f"'{floats[0].path}' is {floats[0].value.dtype}, and the model's weights are {next(iter(types))}: {floats[0].path}.to({next(iter(types))})"


def _wrong_layout(_model, bound):
    for leaf in bound.tensors:
        shape = tuple(leaf.value.shape)
        if len(shape) == 4 and shape[3] in (1, 3, 4) and shape[1] not in (1, 3, 4):
            return f"'{leaf.path}' has the shape {list(shape)}, a picture with its channels last: PyTorch takes them second, {leaf.path}.permute(0, 3, 1, 2)"
        if len(shape) == 3 and shape[2] in (1, 3, 4) and shape[0] not in (1, 3, 4):
            return f"'{leaf.path}' has the shape {list(shape)}, a picture with its channels last and without a batch: {leaf.path}.permute(2, 0, 1)[None]"
        if len(shape) == 3 and shape[0] in (1, 3, 4):
            return f"'{leaf.path}' has the shape {list(shape)}: if a batch is missing, {leaf.path}[None]"
    return ""
