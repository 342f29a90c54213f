"""Writes the small archives beside this script: python make_samples.py [FOLDER].

Each sample tries one part of TorchScript's printed language or of the archive format. They are committed, so that the
tests need no PyTorch; run this again only to add samples, from a folder whose name may be read by everybody: archives
record the paths of the Python sources. Written with PyTorch 2.13; those in old/ with 1.13.1.
"""
import os
import pickle
import sys
import zipfile
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import torch
import torch.nn as nn
import torch.nn.functional as F

out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(0)
NEW = not torch.__version__.startswith("1.")


def path(name):
    return os.path.join(out, name)


def script(name, module, **kw):
    torch.jit.save(torch.jit.script(module.eval()), path(name + ".pt"), **kw)


def trace(name, module, *args, **kw):
    torch.jit.save(torch.jit.trace(module.eval(), args, **kw), path(name + ".pt"))


# --- modules -----------------------------------------------------------------------------------------------------

class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, n, 3, padding=1)
        self.bn = nn.BatchNorm2d(n)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x))) + x


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(2))
        self.heads = nn.ModuleDict({"my_head": nn.Linear(2, 3)})
        self.list = nn.ParameterList([nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(2))])

    def forward(self, x):
        x = self.blocks(x).mean([2, 3])
        for name, head in self.heads.items():
            x = head(x)
        return x * self.list[0]


class Tied(nn.Module):
    """Tied weights, views of one storage, strides, offsets, expanded, empty, all at once."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.out = nn.Linear(4, 5, bias=False)
        self.out.weight = self.embed.weight
        base = torch.arange(24, dtype=torch.float32)
        self.register_buffer("base", base)
        self.register_buffer("row", base.view(4, 6)[2])
        self.register_buffer("turned", base.view(4, 6).t())
        self.register_buffer("every_other", base[1::2])
        self.register_buffer("expanded", torch.ones(1).expand(3, 4))
        self.register_buffer("last", torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last))
        self.register_buffer("none", None)
        self.register_buffer("no_elements", torch.zeros(0, 3))
        self.register_buffer("scalar", torch.tensor(2.5))
        self.register_buffer("unsaved", torch.ones(2), persistent=False)
        self.same = nn.Linear(4, 4)
        self.again = self.same

    def forward(self, x):
        return self.again(self.same(self.embed(x))) + self.row[0] + self.out(self.embed(x)).sum()


class Dtypes(nn.Module):
    def __init__(self):
        super().__init__()
        names = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
                 "bool", "bfloat16"]
        if NEW:
            names += ["float8_e4m3fn", "float8_e5m2", "uint16", "uint32"]
        for n in names:
            self.register_buffer("t_" + n, torch.ones(3).to(getattr(torch, n)))
        self.register_buffer("conj", torch.tensor([1 + 2j, 3 - 4j]).conj())
        self.register_buffer("neg", torch.tensor([1 + 2j, 3 - 4j]).conj().imag)
        self.register_buffer("q", torch.quantize_per_tensor(torch.ones(2, 3), 0.5, 3, torch.quint8))
        self.register_buffer("qc", torch.quantize_per_channel(
            torch.ones(2, 3), torch.tensor([0.5, 0.25]).double(), torch.tensor([0, 1]), 0, torch.qint8))
        self.register_buffer("coo", torch.eye(3).to_sparse())
        self.register_buffer("csr", torch.eye(3).to_sparse_csr())

    def forward(self, x):
        return x + self.t_float32


class Meta(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.ones(3, device="meta"))

    def forward(self, x):
        return x + self.w


# --- the language ------------------------------------------------------------------------------------------------

class Point(NamedTuple):
    x: torch.Tensor
    k: int
    s: Optional[str]


class Color(Enum):
    RED = 1
    GREEN = 2


class Mode(Enum):
    FAST = "fast"
    SLOW = "slow \\ one"


class Tuples(nn.Module):
    color: Color
    mode: Mode

    def __init__(self):
        super().__init__()
        self.color = Color.GREEN
        self.mode = Mode.FAST

    def forward(self, p: Point, t: Tuple[int, Tuple[torch.Tensor, str]], c: Color) -> Tuple[Point, torch.Tensor, int]:
        q = Point(p.x + t[0], p.k + t[1][0].size(0), t[1][1])
        a, b, s = q
        if c == Color.RED:
            b += c.value
        if self.mode == Mode.SLOW:
            s = c.name
        one = (a,)
        x, = one
        return Point(x, b, s), q.x, len(t[1:])


class Containers(nn.Module):
    ints: List[int]
    nested: List[List[int]]
    words: Dict[str, List[torch.Tensor]]
    pair: Tuple[int, str, float]
    maybe: Optional[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.ints = [1, -1, 300, 70000, -(2 ** 31) - 1, 2 ** 62]
        self.floats = torch.jit.Attribute([0.1, 1e-300], List[float])
        self.bools = torch.jit.Attribute([True, False], List[bool])
        self.tensors = torch.jit.Attribute([torch.ones(2)], List[torch.Tensor])
        self.nested = [[1], [], [2, 3]]
        self.words = {"a": [torch.ones(1)], "\u00fc\n\"": []}
        self.by_int = torch.jit.Attribute({1: 2.5, 3: 4.5}, Dict[int, float])
        self.pair = (7, "seven", 7.5)
        self.maybe = None
        self.number = torch.jit.Attribute(1 + 2j, complex)
        self.where = torch.jit.Attribute(torch.device("cuda:1"), torch.device)

    def forward(self, x: torch.Tensor, d: Dict[str, torch.Tensor], l: List[int]) -> Dict[str, torch.Tensor]:
        d["z"] = x
        l.append(3)
        l[0] = 5
        e = {k: v * 2 for k, v in d.items()}
        squares = [i * i for i in l]
        e["sum"] = torch.tensor(squares).sum() + len(self.ints) + self.pair[2]
        m = self.maybe
        if m is not None:
            e["m"] = m
        pairs: List[Tuple[str, torch.Tensor]] = list(e.items())
        return {k: v for k, v in pairs}


class Loops(nn.Module):
    def forward(self, x: torch.Tensor, n: int, xs: List[torch.Tensor]) -> torch.Tensor:
        for i in range(n):
            x = x + i
        for i, y in enumerate(xs):
            if i == 3:
                return x + 1
            x = x * y
        for i in range(1, n, 2):
            for j in range(n):
                if j > i:
                    break
                if j == 2:
                    continue
                x = x - j
        while bool(x.sum() > 100):
            x = x / 2
        for a, b in zip(xs, [1, 2, 3]):
            x = x + a * b
        last: Optional[torch.Tensor] = None
        for row in x:
            last = row
        if last is None:
            raise ValueError("bad %d" % n)
        assert x.dim() == 2, f"rank {x.dim()} is not 2"
        return x + last


class Literals(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = 1.0

    def forward(self, x: torch.Tensor, k: float = 1e12, s: str = "a\\b\"c'd\n\t\r\x01\x7f", u: str = "\u00fcml\u00e4ut",
                o: Optional[List[int]] = None, f: bool = False, z: int = -9223372036854775808):
        y = x * float("inf") + float("-inf") + float("nan") + 1e-7 + 1e30 + 1e10 + 5e-324 + 0.1 + self.e
        y = y.masked_fill(x > 0, -1e10) + 100000.0 + (-0.0) + 9223372036854775807
        c = x * (1 + 2j) + 3.5j + complex(0.0, float("inf"))
        cs = [1 + 2j, 3 - 4j]
        t = ("abc"[1], s.upper() + s[0] + s[1:3], ",".join(["a", "b"]), f"n={z} {s}")
        w = torch.zeros([2, 2], dtype=torch.int64, device="cpu")
        e: List[Optional[int]] = [1, None]
        d: Dict[str, int] = {}
        v = x.to(memory_format=torch.channels_last)
        return y, c, cs, t, w, e, d, v, u, o, (), (x,)


class Indexing(nn.Module):
    def forward(self, x: torch.Tensor, m: torch.Tensor, i: int):
        y = x.clone()
        y[0] = 1.0
        y[m > 0] = 0
        y[i] += 1
        y += 1
        y[..., 1:] = x[..., :-1]
        a, b = x.split(2)
        B, C = x.shape
        v, k = x.max(0)
        top = x.topk(2)[0]
        return x[0], x[1:3], x[:, 1], x[..., 1:], x[i, None], x[m > 0], x[:, ::2], a, b, B, C, v, k, top, y


class Refined(nn.Module):
    def forward(self, x: Any, u: Union[int, str, torch.Tensor], o: Optional[torch.Tensor] = None):
        n = 0
        if isinstance(x, torch.Tensor):
            n = x.size(0)
        if isinstance(u, (int, str)):
            n += 1
        r = u
        if o is not None:
            r = o + 1
        return n, r


@torch.jit.interface
class Unary(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Add(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Mul(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.w


class Interfaces(nn.Module):
    first: Unary

    def __init__(self):
        super().__init__()
        self.first = Mul()
        self.all = nn.ModuleList([Add(), Mul()])

    def forward(self, x: torch.Tensor, i: int) -> torch.Tensor:
        m: Unary = self.all[i]
        return m.forward(self.first.forward(x))


@torch.jit.script
class Counter:
    def __init__(self, n: int):
        self.n = n
        self.log: List[str] = []

    def __add__(self, k: int) -> int:
        return self.n + k

    @property
    def twice(self) -> int:
        return self.n * 2


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)


def pre_hook(self, input: Tuple[torch.Tensor]) -> Tuple[torch.Tensor]:
    return (input[0] + 1,)


def post_hook(self, input: Tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
    return output * 2


class Objects(nn.Module):
    """Classes, properties, hooks, fork, with, state, names that are no identifiers, constants, custom state."""

    def __init__(self):
        super().__init__()
        self.hooked = Hooked()
        self.hooked.register_forward_pre_hook(pre_hook)
        self.hooked.register_forward_hook(post_hook)
        self.add_module("my layer", nn.Linear(2, 2))
        self.add_module("in", nn.Identity())
        self.register_buffer("count", torch.zeros(1))
        self.last = torch.ones(1)

    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        c = Counter(n)
        c.n = 7
        c.log.append("x")
        fut = torch.jit.fork(self.hooked, x)
        with torch.no_grad():
            self.count += 1
        with torch.autograd.profiler.record_function("part"):
            y = x * c.twice + (c + 1)
        self.last = y
        return y + torch.jit.wait(fut)


class State(nn.Module):
    w: torch.Tensor

    def __init__(self):
        super().__init__()
        self.w = torch.arange(3.0)
        self.k = 4

    @torch.jit.export
    def __getstate__(self):
        return (self.w, self.k, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, int, bool]):
        self.w = state[0]
        self.k = state[1]
        self.training = state[2]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.w


@torch.jit.script
def scripted_choice(x, n: int):
    if n > 2:
        x = x + 1
    return x


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Hardswish()

    def forward(self, x, pair):
        b, c = x.shape
        y = self.act(self.act(x).view(b * c)) * 2.5 + torch.arange(b * c)
        return {"y": scripted_choice(y, 3), "x": x[0, 1:]}, ([pair[0], y], pair)


def free_function(x, y):
    return x @ y.t() + torch.full((2, 2), 3)


def main():
    for name, module in [("nested", Nested()), ("tied", Tied()), ("dtypes", Dtypes()), ("tuples", Tuples()),
                         ("containers", Containers()), ("loops", Loops()), ("literals", Literals()),
                         ("indexing", Indexing()), ("refined", Refined()), ("interfaces", Interfaces()),
                         ("state", State()), ("lstm", nn.LSTM(2, 3, bidirectional=True))]:
        script(name, module)
    if NEW:
        script("meta", Meta())
    script("objects", Objects())
    trace("nested_traced", Nested(), torch.ones(1, 2, 4, 4))
    trace("mixed_traced", Mixed(), torch.ones(2, 3), (torch.ones(1), torch.zeros(2)), strict=False)
    torch.jit.save(torch.jit.trace(free_function, (torch.ones(2, 3), torch.ones(2, 3))), path("function_traced.pt"))
    frozen = torch.jit.freeze(torch.jit.script(nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()))
    torch.jit.save(frozen, path("frozen.pt"))
    torch.jit.save(torch.jit.script(nn.GELU()), path("extra.pt"), _extra_files={"meta.json": "{}", "sub/dir.txt": "text"})
    quantized = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3)), {nn.Linear})
    torch.jit.save(torch.jit.script(quantized), path("quantized.pt"))
    wrong_kinds()


def wrong_kinds():
    m = nn.Linear(2, 2)
    torch.save(m.state_dict(), path("wrong_state_dict.pt"))
    torch.save({"epoch": 3, "model": m.state_dict()}, path("wrong_checkpoint.pt"))
    torch.save(torch.ones(2), path("wrong_tensor.pt"))
    torch.save(m, path("wrong_module.pt"))
    torch.save(m, path("wrong_legacy.pt"), _use_new_zipfile_serialization=False)
    with open(path("wrong_pickle.pkl"), "wb") as f:
        pickle.dump({"a": [1, 2.5, b"x"]}, f)
    lite = torch.jit.script(Add())
    lite._save_for_lite_interpreter(path("lite.ptl"))
    with zipfile.ZipFile(path("lite.ptl")) as z, zipfile.ZipFile(path("wrong_bytecode.ptl"), "w") as to:
        for name in z.namelist():
            if "/code/" not in name:
                to.writestr(name, z.read(name))
    with zipfile.ZipFile(path("nested.pt")) as z, zipfile.ZipFile(path("rezipped.pt"), "w", zipfile.ZIP_DEFLATED) as to:
        for name in z.namelist():
            to.writestr(zipfile.ZipInfo(name), z.read(name), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
