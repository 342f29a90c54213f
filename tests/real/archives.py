"""TorchScript archives, and those inside torch.package archives, exported; PyTorch runs them beside onnxruntime."""
import dataclasses
import pathlib
import tempfile
from collections.abc import Callable

import numpy as np
import torch
import torch.package

from onnx_files import compare, session
from record import Wrong, command


@dataclasses.dataclass
class Call:
    flags: list
    example: Callable
    load: Callable = lambda path: torch.jit.load(str(path)).eval()


def homosolver(path):
    return torch.package.PackageImporter(str(path)).load_pickle("accentor_models", "accentor").homosolver.model.eval()


# What archives are called with; the shapes come from the packages' own code.
CALLS = {
    "silero_vad.jit": Call(["--input", "x=f32[1,512]", "--input", "sr=16000"], lambda: (torch.rand(1, 512) * 0.2 - 0.1, 16000)),
    "accentor.pt": Call(["--method", "1", "--input", "input_ids=i64[2,12]", "--input", "homo_start_ids=i64[2]", "--input", "homo_end_ids=i64[2]"],
                        lambda: (torch.arange(24).reshape(2, 12) % 9 + 1, torch.tensor([2, 3]), torch.tensor([6, 7])), homosolver),
}


def judge(name, path, cameo, log):
    log.step(name, "show", lambda: command(cameo, "show", path) and None)
    if call := CALLS.get(path.name):
        log.step(name, "export", lambda: _export(path, cameo, call))
    else:
        log.skip(name, "export", "its programs take lists of words, which no ONNX input is")


def _export(path, cameo, call):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "m.onnx"
        command(cameo, "export", path, "-o", out, *call.flags)
        module, arguments = call.load(path), call.example()
        with torch.no_grad():
            wanted = module(*arguments)
        wanted = [t.numpy() for t in (wanted if isinstance(wanted, (list, tuple)) else [wanted])]
        s = session(str(out))
        tensors = [np.asarray(a) for a in arguments if isinstance(a, torch.Tensor)]
        names = [i.name for i in s.get_inputs()]
        if len(names) != len(tensors):
            raise Wrong(f"the inputs are {names}")
        compare([o.name for o in s.get_outputs()], s.run(None, dict(zip(names, tensors))), wanted)
