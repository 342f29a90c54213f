"""Programs that torch.export records and no published model has: control flow, writes, nested results, export quantization.

usage: programs.py [--cameo PATH] [--only TEXT[,TEXT]]
Each is exported as it is and decomposed, saved, exported by Cameo, run by onnxruntime and compared with PyTorch. Prints what is not
right and ends with a count; status 1 when one is wrong. Another dtype or shape than the archive's metadata tell is wrong too.
"""
import argparse
import collections
import copy
import dataclasses
import inspect
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import capture

warnings.filterwarnings("ignore")
logging.getLogger("torch").setLevel(logging.CRITICAL)
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

Dim = torch.export.Dim
PROGRAMS = []


def as_module(function):
    def forward(self, *args, **kwargs): return function(*args, **kwargs)
    signature = inspect.signature(function)  # torch.export names inputs by it
    forward.__signature__ = signature.replace(parameters=[inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *signature.parameters.values()])
    return type(function.__name__, (nn.Module,), {"forward": forward})()


def program(*inputs, shapes=None, flags=(), names=None, kwargs=None):
    """Registers a module's forward; `inputs` are its arguments, `names` what the exported outputs are called."""
    def add(made):
        module = made() if isinstance(made, type) else as_module(made)
        PROGRAMS.append((made.__name__, module, inputs, kwargs or {}, shapes, list(flags), names))
        return made
    return add


x43 = torch.arange(12.0).reshape(4, 3) / 7 - 0.6
ids = torch.tensor([[1, 4, 2], [0, 3, 3]])


@program(x43, shapes=({0: Dim("n", min=2, max=64)},))
def cond_on_a_size(x):
    return torch.cond(x.shape[0] > 5, lambda x: x.sin(), lambda x: x.cos() + x.shape[0], (x,))


@program(x43, shapes=({0: Dim("n", min=2, max=64)},))
def cond_with_sizes(x):
    n = x.shape[0]
    return torch.cond(x.sum() > 0, lambda x: x * n, lambda x: x + x.shape[0], (x,))


@program(x43)
def nested_cond(x):
    return torch.cond(x.sum() > 0, lambda x: torch.cond(x.mean() > 5, lambda x: x.exp(), lambda x: x.abs(), (x,)), lambda x: (x * 2).relu(), (x,))


@program(x43, torch.tensor(3))
def turns_of_data(x, n):
    from torch._higher_order_ops.while_loop import while_loop
    return while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 1.5 - 0.25), (torch.tensor(0), x))[1]


@program(x43)
def mapped(x):
    from torch._higher_order_ops.map import map as map_op
    return map_op(lambda row, w: (row * w).cumsum(0), x, torch.tensor([1.0, 2.0, 3.0]))


@program(x43, shapes=({0: Dim("n", min=2, max=64)},))
def scanned(x):
    from torch._higher_order_ops.scan import scan
    return scan(lambda c, t: (c * 0.5 + t, (c + t).tanh()), torch.zeros(3), x)


@program(x43)
def without_gradients(x):
    with torch.no_grad(): y = x * 2
    with torch.enable_grad(): return y + x.sin()


@program(x43)
def repeated_region(x):
    @torch.compiler.nested_compile_region
    def block(x, w): return (x @ w).relu() + 1
    w = torch.eye(3) * 0.5
    return block(block(x, w), w)


@program(x43)
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("hidden", torch.ones(3), persistent=False)

    def forward(self, x):
        self.seen.add_(x.sum(0))
        self.hidden.mul_(2)
        return x + self.seen * self.hidden


@program(x43.clone())
def writes_to_its_input(x):
    y = x.clone()
    y[1:3, 0] = 5
    y.t()[2].add_(1)
    return y, y.sum(0)


@program(x43, shapes=({0: Dim("n", min=2, max=64)},))
def writes_to_copies(x):
    x = x + 1
    y, z, w = x.t().contiguous(), x.t().reshape(-1), x.double()
    y.mul_(2), z.add_(1), w.div_(255)
    e = x[:1].expand(4, 3).contiguous()
    e[1] = 7.0
    return x, y, z, w, e


@program(x43, shapes=({0: Dim("n", min=2, max=64)},))
def writes_to_views(x):
    x = x + 1
    a, b, c = x.contiguous(), x.flatten(), x.to(torch.float32)
    a.mul_(2), b.add_(1), c.sub_(3)
    x.diagonal().zero_(), x.movedim(1, 0)[1].mul_(5), x.mT[2].add_(1)
    return x, a, b, c


@program(x43)
def writes_by_order_in_memory(x):
    h = torch.relu(x.t() * 2)
    y, z = h.contiguous(), h.t().contiguous()
    y.add_(1), z.mul_(3)
    s = h.as_strided([3], [4])
    return h, y, z, s, h.as_strided([2, 2], [1, 3], 1)


@program({"ids": ids, "parts": (x43, [x43 * 2])}, kwargs={"scale": 0.5, "mask": None}, names=["out.sum", "out.extra.0", "out.extra.1.0"])
def nested_results(batch, scale=1.0, mask=None):
    return {"out": {"sum": batch["parts"][0] + batch["parts"][1][0], "extra": (batch["ids"] * scale, [batch["ids"] + 1])}, "none": None}


Pair = collections.namedtuple("Pair", "mean spread")
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="Pair")


@program(x43, names=["mean", "spread"])
def named_tuple(x): return Pair(x.mean(0), x.std(0))


@dataclasses.dataclass
class Result:
    logits: torch.Tensor
    hidden: torch.Tensor = None
    loss: torch.Tensor = None


torch.export.register_dataclass(Result, serialized_type_name="Result")


@program(x43, names=["logits", "hidden"])
def a_dataclass(x): return Result(x.softmax(-1), x * 2)


@program(x43, 3, True, 0.25, "mean", None)
def constant_inputs(x, n, flag, scale, how, nothing):
    return x.roll(n, 0) * scale if flag and how == "mean" and nothing is None else x


@program(x43, 3, shapes={"x": None, "n": Dim.DYNAMIC})
def number_that_varies(x, n): return x * n, torch.arange(n)


@program(x43)
def lifted_constants(x):
    return x * torch.tensor([1.0, -2.0, 0.5]) + torch.tensor(3), torch.tensor([[1, 2], [3, 4]])


@program(x43)
def an_input_is_an_output(x): return x, x[1:]


@program(x43, torch.tensor([2, 0, 1]))
def data_dependent(x, at):
    n = at[0].item()
    torch._check(n >= 0)
    torch._check(n < 4)
    return x[n:].sum(0), x[x > 0], torch.nonzero(x > 0)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
        self.out.weight = self.embed.weight
        store = torch.randn(5, 4)
        self.part, self.turned = nn.Parameter(store[1:3]), nn.Parameter(store.t())

    def forward(self, i): return self.out(self.embed(i)), self.part @ self.turned


program(ids)(Tied)


@program(x43)
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(3, 5, num_layers=2, bidirectional=True), nn.GRU(10, 4)

    def forward(self, x): return self.gru(self.lstm(x.unsqueeze(1))[0])


def quantizers():
    import torch.ao.quantization.fx._decomposed  # noqa: F401  registers them
    return torch.ops.quantized_decomposed


quantizers()


@program(x43)
def quantized_per_tensor(x):
    q = quantizers()
    a = q.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
    b = q.quantize_per_tensor(x, 0.02, 0, 0, 200, torch.uint8)
    c = q.quantize_per_tensor(x, 0.001, 0, -2**31, 2**31 - 1, torch.int32)
    d = q.quantize_per_tensor(x, 0.001, -5, -32768, 32767, torch.int16)
    return (a, q.dequantize_per_tensor(a, 0.05, 3, -128, 127, torch.int8), q.dequantize_per_tensor(b, 0.02, 0, 0, 200, torch.uint8),
            q.dequantize_per_tensor(c, 0.001, 0, -2**31, 2**31 - 1, torch.int32), q.dequantize_per_tensor(d, 0.001, -5, -32768, 32767, torch.int16), b)


@program(x43)
def quantized_per_channel(x):
    q, scales, zeros = quantizers(), torch.tensor([0.05, 0.02, 0.1]), torch.tensor([0, 3, -4])
    y = q.quantize_per_channel(x, scales, zeros, 1, -127, 127, torch.int8)
    return y, q.dequantize_per_channel(y, scales, zeros, 1, -127, 127, torch.int8), q.dequantize_per_channel(y, scales, None, 1, -127, 127, torch.int8)


@program(x43)
def quantized_per_token(x):
    q = quantizers()
    scales, zeros = q.choose_qparams_per_token_asymmetric(x, torch.int8)
    y = q.quantize_per_token(x, scales, zeros, -128, 127, torch.int8)
    return y, q.dequantize_per_token(y, scales, zeros, -128, 127, torch.int8, torch.float32), scales, zeros


@program(torch.arange(24.0).reshape(3, 8) / 9 - 1)
def quantized_in_groups(x):
    q, scales, zeros = quantizers(), torch.tensor([[0.2, 0.1], [0.05, 0.3], [0.15, 0.25]]), torch.zeros(3, 2, dtype=torch.int32)
    y = q.quantize_per_channel_group(x, scales, zeros, -8, 7, torch.int8, 4)
    return y, q.dequantize_per_channel_group(y, scales, zeros, -8, 7, torch.int8, 4, torch.float32)


@program(x43)
def quantized_by_range(x):
    q = quantizers()
    scale, zero = q.choose_qparams(x, 0, 255, 1e-5, torch.uint8)
    y = q.quantize_per_tensor(x, scale, zero, 0, 255, torch.uint8)
    wide, none = q.choose_qparams_symmetric(x, -127, 127, 1e-5, torch.int8)
    return y, q.dequantize_per_tensor(y, scale, zero, 0, 255, torch.uint8), wide, none


@program(x43, x43.half(), x43.double())
def faked_grids(x, half, double):
    by_number, by_channel = torch.fake_quantize_per_tensor_affine, torch.fake_quantize_per_channel_affine
    scales, zeros = torch.tensor([0.05, 0.02, 0.1]), torch.tensor([0, 3, -4], dtype=torch.int32)
    return (by_number(x, 0.05, 3, -128, 127), by_number(x, 0.05, 3, 0, 15), by_number(x, 0.001, -7, -32768, 32767), by_number(x, 0.0001, 0, 0, 65535),
            by_number(x, torch.tensor(0.05), torch.tensor(3, dtype=torch.int32), -8, 7),
            by_channel(x, scales, zeros, 1, -128, 127), by_channel(x, scales, zeros, 1, -512, 511), by_number(half, 0.05, 3, -128, 127), by_number(double, 0.05, 3, -128, 127))


def judge(cameo, folder, case, decompose):
    import numpy as np
    import onnxruntime as ort
    name, module, inputs, kwargs, shapes, flags, names = case
    module.eval()
    with torch.no_grad(): want = [t for t in tree_leaves(copy.deepcopy(module)(*copy.deepcopy(inputs), **kwargs)) if isinstance(t, torch.Tensor)]
    exported = torch.export.export(module, inputs, kwargs, dynamic_shapes=shapes)
    if decompose: exported = exported.run_decompositions()
    source, target = os.path.join(folder, "p.pt2"), os.path.join(folder, "p.onnx")
    torch.export.save(exported, source)
    run = subprocess.run([cameo, "export", source, "-o", target, *flags], capture_output=True, text=True)
    if run.returncode: return next((line for line in run.stderr.splitlines() if line.startswith("error")), "?")[:200]
    if differs := capture.disagreement(run.stderr): return differs
    session = ort.InferenceSession(target, providers=["CPUExecutionProvider"])
    given = [t for t in tree_leaves((inputs, kwargs)) if isinstance(t, torch.Tensor)] + [np.array(t) for t in tree_leaves(inputs) if shapes and type(t) is int]
    got = session.run(None, {i.name: np.asarray(t) for i, t in zip(session.get_inputs(), given)})
    if names and [o.name for o in session.get_outputs()] != names: return f"outputs are called {[o.name for o in session.get_outputs()]}"
    if len(got) != len(want): return f"{len(got)} outputs instead of {len(want)}"
    for a, t in zip(got, want):
        b = t.detach().numpy()
        if a.shape != b.shape or a.dtype != b.dtype: return f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
        if not np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True): return f"error {np.abs(a.astype(float) - b.astype(float)).max():.3g}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    torch.set_num_threads(1)
    count = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in PROGRAMS:
            if not any(w in case[0] for w in args.only.split(",")): continue
            for decompose in (False, True):
                label = case[0] + (", decomposed" if decompose else "")
                try: why = judge(args.cameo, folder, case, decompose)
                except Exception as e: why, state = f"{type(e).__name__}: {str(e).splitlines()[0][:150] if str(e) else ''}", "unusable"
                else: state = "wrong" if why else "right"
                count[state] += 1
                if why: print(f"{label}: {state}: {why}", flush=True)
    print(dict(count))
    return 1 if count["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
