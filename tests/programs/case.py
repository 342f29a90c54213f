"""A program with its inputs as one Python file: what findings and regressions are."""
import hashlib
import importlib.util
import pathlib
import sys
from dataclasses import dataclass

import numpy as np
import torch


@dataclass
class Case:
    name: str
    capture: str  # script or export
    source: str
    flags: list  # what --input says; for torch.export nothing
    calls: list  # arguments by name, in order: arrays, numbers, None
    expect: str = "right"  # or `refused CODE`, or `right or refused` where both are honest
    note: str = ""

    def text(self):
        head = f'"""{self.note or self.name}"""\n' if self.note or self.name else ""
        calls = "\n".join(f"    dict({', '.join(f'{n}={literal(v)}' for n, v in call.items())})," for call in self.calls)
        inputs = " ".join(self.flags)
        return f"{head}{self.source}\n\nCAPTURE = {self.capture!r}\nINPUTS = {inputs!r}\nEXPECT = {self.expect!r}\nCALLS = [\n{calls}\n]\n"


def literal(value):
    if not isinstance(value, np.ndarray):
        return repr(value)
    dtype = f"torch.{value.dtype}".replace("bool_", "bool")
    if value.size == 0:
        return f"torch.zeros({tuple(value.shape)}, dtype={dtype})"
    return f"torch.tensor({value.tolist()}, dtype={dtype})"


def load_module(path, folder):
    """Imports a file under a name of its own: torch.jit keeps classes by it."""
    text = pathlib.Path(path).read_bytes()
    name = f"program_{hashlib.sha1(text + str(folder).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
    return module


def read(path):
    """A case from its file."""
    path = pathlib.Path(path)
    module = load_module(path, path.parent)
    whole = path.read_text()
    source = whole[:whole.index("\n\nCAPTURE = ")] + "\n"
    note = (module.__doc__ or "").strip()
    if module.__doc__:
        source = source.split('"""\n', 1)[1]
    calls = [{n: v.numpy() if isinstance(v, torch.Tensor) else v for n, v in call.items()} for call in module.CALLS]
    return Case(path.stem, module.CAPTURE, source, module.INPUTS.split(), calls, module.EXPECT, note)
