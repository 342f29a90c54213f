"""Weights of a kind of their own (torchao's quantized ones): for an export, the plain tensors inside of them are the module's buffers."""
import contextlib

import torch
from torch.utils import _python_dispatch

_is_wrapper = getattr(_python_dispatch, "is_traceable_wrapper_subclass", lambda t: False)


def _taken_apart(t, name, parts):
    """How to put `t` together again; its plain tensors go to `parts`, by name."""
    if not _is_wrapper(t):
        parts[name] = t.detach()
        return lambda held: held[name]
    attributes, context = t.__tensor_flatten__()
    inner = {a: _taken_apart(getattr(t, a), f"{name}_{a}", parts) for a in attributes}
    kind, size, stride = type(t), t.size(), t.stride()
    return lambda held: kind.__tensor_unflatten__({a: made(held) for a, made in inner.items()}, context, size, stride)


def _from_buffers(made):
    return lambda module: made(module._buffers)


def _opened(module, wrapped):
    """Gives the module a class whose attributes of these names are put together from plain buffers."""
    properties = {}
    for name, t in wrapped.items():
        parts: dict = {}
        made = _taken_apart(t, name, parts)
        properties[name] = property(_from_buffers(made))
        module._parameters.pop(name, None)
        module._buffers.pop(name, None)
        module._buffers.update(parts)
    kind = type(module)
    module.__class__ = type(kind.__name__, (kind,), properties)


@contextlib.contextmanager
def plain_weights(model):
    """For a while, no weight of the model is of such a kind; gives whether one was."""
    undo = []
    if isinstance(model, torch.nn.Module) and not isinstance(model, torch.jit.ScriptModule):
        for module in model.modules():
            wrapped = {name: t for table in (module._parameters, module._buffers) for name, t in table.items() if t is not None and _is_wrapper(t)}
            if wrapped:
                undo.append((module, type(module), dict(module._parameters), dict(module._buffers)))
                _opened(module, wrapped)
    try:
        yield bool(undo)
    finally:
        for module, kind, parameters, buffers in undo:
            module.__class__ = kind
            for table, before in ((module._parameters, parameters), (module._buffers, buffers)):
                table.clear()
                table.update(before)
