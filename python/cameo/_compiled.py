"""Parts of a model that torch.compile made, as they were before: a trace cannot look into them."""
import contextlib
import sys
import types

import torch


def _original(function):
    return getattr(function, "_torchdynamo_orig_callable", None)


def _compiled_methods(module):
    """{name: the plain method} of what @torch.compile stands at, in the module's classes."""
    found = {}
    for kind in type(module).__mro__:
        if kind is torch.nn.Module:
            break
        found |= {name: _original(value) for name, value in vars(kind).items() if name not in found and isinstance(value, types.FunctionType)}
    return {name: types.MethodType(plain, module) for name, plain in found.items() if plain is not None}


@contextlib.contextmanager
def plain_parts(model):
    """For a while, submodules in torch.compile's wrappers, modules that were compiled in place and methods under @torch.compile are what they wrap."""
    undo = []
    if isinstance(model, torch.nn.Module) and not isinstance(model, torch.jit.ScriptModule) and "torch._dynamo" in sys.modules:
        for parent in list(model.modules()):
            for name, child in list(parent._modules.items()):
                if (inner := child is not None and child._modules.get("_orig_mod")) and type(child).__name__ == "OptimizedModule":
                    undo.append((parent._modules, name, child))
                    parent._modules[name] = inner
        for module in model.modules():
            for name, plain in {**_compiled_methods(module), **({"_compiled_call_impl": None} if module._compiled_call_impl is not None else {})}.items():
                undo.append((vars(module), name, vars(module).get(name, undo)))
                vars(module)[name] = plain
    try:
        yield bool(undo)
    finally:
        for table, name, before in reversed(undo):
            if before is undo:
                del table[name]
            else:
                table[name] = before
