"""PyTorch: writes the archive, loads it again, and says what is right."""
import itertools
import sys
import warnings

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import case as cases
from scripted_cases import flat

# What a program means, as Python runs it: PyTorch's optimiser reorders a write to a row of a tensor and a copy of that tensor from
# the second call on, and leaves out code that would raise.
torch._C._set_graph_executor_optimize(False)


class Refused(Exception):
    """PyTorch does not take the program."""


def argument(value, nudge=0.0):
    if isinstance(value, np.ndarray):
        out = torch.from_numpy(value.copy())
        return out * (1 + nudge) if nudge and out.is_floating_point() else out
    return value * (1 + nudge) if isinstance(value, float) else value


def arguments(call, nudge=0.0):
    return [argument(v, nudge) for v in call.values()]


def save(case, folder):
    """The archive of a case. Raises Refused with PyTorch's reason."""
    path = folder / "program.py"
    path.write_text(case.source)
    torch.manual_seed(0)
    try:
        module = cases.load_module(path, folder)
        sys.modules[module.__name__] = module  # torch.jit reads the source through it
        try:
            return script(module, folder) if case.capture == "script" else export(module, case, folder)
        finally:
            sys.modules.pop(module.__name__, None)
    except Exception as why:
        raise Refused(f"{type(why).__name__}: {why}") from None


def script(module, folder):
    archive = folder / "program.pt"
    torch.jit.script(module.Program().eval()).save(str(archive))
    return archive


def export(module, case, folder):
    archive = folder / "program.pt2"
    example = arguments(case.calls[0])
    auto = torch.export.Dim.AUTO
    shapes = tuple({k: auto for k in range(t.dim())} if isinstance(t, torch.Tensor) else None for t in example)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(module.Program().eval(), tuple(example), dynamic_shapes=shapes), str(archive))
    return archive


def load(archive):
    """The archive as a function: what the exported model is compared with."""
    if archive.suffix == ".pt":
        return torch.jit.load(str(archive))
    return torch.export.load(str(archive)).module()


class OperandsFirst(TorchDispatchMode):
    """Writes in place whose other operands share memory with what is written: they are read before anything is written."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        named = list(zip(args, func._schema.arguments))
        written = [memory(a) for a, s in named if isinstance(a, torch.Tensor) and s.alias_info and s.alias_info.is_write]
        shared = [isinstance(a, torch.Tensor) and not s.alias_info and memory(a) in written for a, s in named]
        return func(*[a.clone() if again else a for a, again in zip(args, shared)], **(kwargs or {}))


# Operators whose results are rounded even where all operands are small multiples of 1/4.
ROUNDED = {"tanh", "sigmoid", "softmax", "_softmax", "log_softmax", "_log_softmax", "sin", "cos", "exp", "log", "log1p", "log2", "sqrt", "rsqrt", "mean",
           "pow", "div", "linear", "fmod", "reciprocal", "var", "std", "norm"}


# How far each element of a result is off: libraries round the first elements otherwise than the last ones, which breaks ties.
PATTERNS = [lambda n: torch.ones(n), lambda n: torch.linspace(-1, 1, n), *(lambda n, s=s: (torch.arange(n) // s % 2 * 2 - 1).float() for s in (1, 2, 4))]


class RoundedOtherwise(TorchDispatchMode):
    """The results of rounded operators are off by a few units in the last place, as another library's may be."""

    def __init__(self, by, pattern):
        super().__init__()
        self.by, self.pattern = by, pattern

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name.rstrip("_") not in ROUNDED or not isinstance(out, torch.Tensor) or not out.is_floating_point():
            return out
        off = 1 + self.by * self.pattern(out.numel()).reshape(out.shape)
        return out.mul_(off) if any(r.alias_info for r in func._schema.returns) else out * off


def rounding_decides(program, call, want):
    """PyTorch itself answers otherwise when its rounded operators round otherwise, as in int(x.softmax(0).sum())."""
    for by, pattern in itertools.product((1e-6, -1e-6, 1e-5, -1e-5), PATTERNS):
        with RoundedOtherwise(by, pattern):
            again = run(program, call)
        if again is None or same(again, want):
            return True
    return False


def memory(tensor):
    return tensor.untyped_storage().data_ptr()


def order_decides(program, call, want):
    """A write in place reads what it has written already: PyTorch calls that unsupported, and the order of its loops decides."""
    with OperandsFirst():
        again = run(program, call)
    return again is None or same(again, want) != ""


def run(program, call, nudge=0.0):
    """The outputs, or None where PyTorch raises on this input."""
    try:
        with torch.no_grad():
            return flat(program(*arguments(call, nudge)))
    except Exception:
        return None


def tame(outputs):
    """Numbers that every runtime has to agree on: finite and small enough for float to be exact about whole ones."""
    return all(np.isfinite(o).all() and (np.abs(o) < 1e6).all() for o in outputs if o.dtype != np.bool_)


def same(got, want):
    """Where two lists of arrays differ, in a few words; '' where they agree."""
    if len(got) != len(want):
        return f"count {len(got)} for {len(want)}"
    for k, (a, b) in enumerate(zip(got, want)):
        if a.shape != b.shape:
            return f"shape of output {k}: {list(a.shape)} for {list(b.shape)}"
        if a.dtype != b.dtype and not (b.shape == () and a.dtype.kind == b.dtype.kind == "f"):
            return f"dtype of output {k}: {a.dtype} for {b.dtype}"
        if not np.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True):
            return f"value of output {k}: {short(a)} for {short(b)}"
    return ""


def short(a):
    return np.array2string(a, threshold=12, separator=",").replace("\n", "")[:120]
