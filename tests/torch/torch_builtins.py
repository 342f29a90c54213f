"""Every builtin of torch.jit over numbers, strings, lists and dicts: what Cameo makes of it on known and on unknown values.

ROWS: (group, how it is written, an expression, the operators of PyTorch that it stands for). An expression is tried twice in a scripted module: with values
that the archive holds, and with values that are inputs of the model. PyTorch judges the exported model, which onnxruntime runs.
`python tests/torch/torch_builtins.py --update` writes docs/builtins.md; tests/python/test_builtins.py compares it with the binary.
"""
import argparse
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "builtins.md"
onnxruntime.set_default_logger_severity(4)

UNARY = "acos acosh asin asinh atan atanh cos cosh degrees erf erfc exp expm1 fabs gamma lgamma log log10 log1p radians sin sinh sqrt tan tanh".split()
# Arguments inside a function's domain; others take x.
INSIDE = {"acos": "x / 9", "asin": "x / 9", "atanh": "x / 9", "acosh": "x + 1", "gamma": "x", "lgamma": "x"}

ROWS = [("Python's math module", f"math.{f}", f"math.{f}({INSIDE.get(f, 'x')}), math.{f}(n - 6)", [f"aten::{f}"]) for f in UNARY]
ROWS += [
    ("Python's math module", "math.atan2, copysign, fmod, remainder", "math.atan2(x, y), math.copysign(x, n), math.fmod(x, y), math.remainder(n, x)",
     ["aten::atan2", "aten::copysign", "aten::fmod", "aten::mathremainder"]),
    ("Python's math module", "math.ceil, floor", "math.ceil(x), math.floor(y), math.floor(n)", ["aten::ceil", "aten::floor"]),
    ("Python's math module", "math.factorial, gcd", "math.factorial(n), math.gcd(n, m)", ["aten::factorial", "aten::gcd"]),
    ("Python's math module", "math.frexp, ldexp, modf", "math.frexp(x), math.ldexp(x, n), math.modf(y)", ["aten::frexp", "aten::ldexp", "aten::modf"]),
    ("Python's math module", "math.isfinite, isinf, isnan", "math.isfinite(x), math.isinf(y), math.isnan(x)", ["aten::isfinite", "aten::isinf", "aten::isnan"]),
    ("Python's math module", "math.log(x, base), math.pow", "math.log(x, 3), math.log(n, m), math.pow(x, y), math.pow(n, m)", ["aten::log", "aten::pow"]),
    ("Numbers", "+ - * /", "n + m, n - x, x * y, n / m, x / n", ["aten::add", "aten::sub", "aten::mul", "aten::div"]),
    ("Numbers", "// % divmod", "n // m, n % m, x // y, x % y, divmod(n, m), divmod(x, y)", ["aten::floordiv", "aten::remainder", "aten::divmod"]),
    ("Numbers", "** pow", "n ** m, x ** 2, pow(n, 2)", ["aten::pow"]),
    ("Numbers", "- abs round", "-n, -x, abs(n), abs(y), round(x), round(n)", ["aten::neg", "prim::abs", "aten::round"]),
    ("Numbers", "== != < <= > >=", "n == m, n != 7, x < y, n <= m, x > n, y >= x", ["aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge"]),
    ("Numbers", "& | ^ << >>", "n & m, n | m, n ^ m, n << m, n >> m", ["aten::__and__", "aten::__or__", "aten::__xor__", "aten::__lshift__", "aten::__rshift__"]),
    ("Numbers", "and or not", "b and n > 3, b or x > 1.0, not b", ["aten::__not__"]),
    ("Numbers", "min max", "min(n, m), max(n, x), min(x, y)", ["prim::min", "prim::max"]),
    ("Numbers", "int float bool", "int(x), int(b), float(n), bool(n), bool(x)", ["aten::Int", "aten::Float", "aten::Bool", "aten::ScalarImplicit"]),
    ("Numbers", "range", "torch.tensor([i * m for i in range(n)]), len([i for i in range(1, n, 2)])", ["prim::rangelist", "aten::__range_length", "aten::__derive_index"]),
    ("Numbers", "bin hex oct", "len(bin(n)), len(hex(n)), len(oct(n))", ["aten::bin", "aten::hex", "aten::oct"]),
    ("Numbers", "chr", "len(chr(n + 90))", ["aten::chr"]),
    ("Numbers", "hash", "hash(n) == hash(n)", ["aten::hash"]),
    ("Numbers", "complex numbers", "abs(complex(x, y))", ["aten::Complex", "aten::angle", "aten::polar"]),
    ("Numbers", "torch.Size, torch.broadcast_shapes", "torch.zeros(torch.Size([n, m])).size(0)", ["aten::Size"]),
    ("Lists", "l[i], l[i] = v", "l[1], l[n - 7]", ["aten::__getitem__", "aten::_set_item", "aten::select"]),
    ("Lists", "l[a:b], l + k, l * n", "l[1:], l[:2] + k, len(k * m)", ["aten::slice"]),
    ("Lists", "len, in", "len(l), 3 in l, n in k", ["aten::len", "aten::__contains__"]),
    ("Lists", "append, extend, insert, copy, list", "grown(l, n)", ["aten::append", "aten::extend", "aten::insert", "aten::copy", "aten::list"]),
    ("Lists", "pop, del, clear, reverse", "shrunk(l)", ["aten::pop", "aten::Delete", "aten::clear", "aten::reverse"]),
    ("Lists", "count, index", "l.count(3), l.index(m), f.count(x)", ["aten::count", "aten::index"]),
    ("Lists", "remove", "removed(l, m)", ["aten::remove"]),
    ("Lists", "sort, sorted", "sorted(l), sorted(f), sorted_down(l)", ["aten::sort", "aten::sorted"]),
    ("Lists", "sum, min, max", "sum(l), min(l), max(f), sum(f)", ["aten::sum"]),
    ("Lists", "any, all", "any([n > 9, b]), all([n, m]), any(f)", ["aten::any", "aten::all"]),
    ("Lists", "==", "l == [7, 3, 3], l != k", []),
    ("Lists", "min(l, k), max(l, k) of lists", "max(l, k)[0]", []),
    ("Lists", "torch.tensor(l)", "torch.tensor(l), torch.tensor(f), torch.tensor([n, m])", ["aten::tensor", "aten::as_tensor"]),
    ("Lists", "zip, enumerate, comprehensions", "[i * v for i, v in enumerate(l)], [u + v for u, v in zip(l, k)]", []),
    ("Dicts", "d[k], d[k] = v", "d['a'], stored(d, n)", []),
    ("Dicts", "d[n]", "e[m]", []),
    ("Dicts", "in, get, len", "'a' in d, d.get('b', 5), len(d), m in e", ["aten::get"]),
    ("Dicts", "keys, values, items, copy, dict", "len(list(d.keys())), list(d.values()), [pair[1] for pair in d.items()], dict(d)['a'], d.copy()['b']",
     ["aten::keys", "aten::values", "aten::items", "aten::dict"]),
    ("Dicts", "pop, popitem, setdefault, update, clear", "updated(d, n)", ["aten::popitem", "aten::setdefault", "aten::update"]),
    ("Strings", "== + len in", "s == 'up', len(s + 'x'), s in ['up', 'on']", []),
    ("Strings", "s[i], s[a:b]", "s[0] == 'u', len(s[1:])", []),
    ("Strings", "lower, upper, swapcase, title, capitalize", "len(s.lower() + s.upper() + s.swapcase() + s.title() + s.capitalize())",
     ["aten::lower", "aten::upper", "aten::swapcase", "aten::title", "aten::capitalize"]),
    ("Strings", "find, rfind, index, rindex, count", "s.find('p'), s.rfind('u'), s.index('u'), s.rindex('u'), s.count('u')", ["aten::find", "aten::rfind", "aten::rindex"]),
    ("Strings", "startswith, endswith", "s.startswith('u'), s.endswith('p')", ["aten::startswith", "aten::endswith"]),
    ("Strings", "isalnum, isalpha, isdecimal, isdigit, isidentifier, islower, isnumeric, isprintable, isspace, istitle, isupper",
     "s.isalnum(), s.isalpha(), s.isdecimal(), s.isdigit(), s.isidentifier(), s.islower(), s.isnumeric(), s.isprintable(), s.isspace(), s.istitle(), s.isupper()",
     ["aten::isalnum", "aten::isalpha", "aten::isdecimal", "aten::isdigit", "aten::isidentifier", "aten::islower", "aten::isnumeric", "aten::isprintable", "aten::isspace",
      "aten::istitle", "aten::isupper"]),
    ("Strings", "strip, lstrip, rstrip, replace", "len(s.strip('u')), len(s.lstrip()), len(s.rstrip('p')), len(s.replace('u', 'vv'))",
     ["aten::strip", "aten::lstrip", "aten::rstrip", "aten::replace"]),
    ("Strings", "center, ljust, rjust, zfill", "len(s.center(9)), s.ljust(9).find('p'), s.rjust(9).find('u'), s.zfill(5).count('0')",
     ["aten::center", "aten::ljust", "aten::rjust", "aten::zfill"]),
    ("Strings", "expandtabs", "len(s.expandtabs())", ["aten::expandtabs"]),
    ("Strings", "partition, rpartition", "len(s.partition('p')[0]), len(s.rpartition('p')[2])", ["aten::partition", "aten::rpartition"]),
    ("Strings", "split, rsplit, splitlines, join", "len('a b  c'.split()), len(','.join([s, s])), len('a b'.rsplit()), len('a\\\\nb'.splitlines())",
     ["aten::split", "aten::rsplit", "aten::splitlines", "aten::join"]),
    ("Strings", "int(s), float(s), ord", "int('1' + str(len(s))), float('0.5'), ord(s[0])", ["aten::ord"]),
    ("Strings", "str, format, f-strings, % of ints", "len(str(n)), f'{n} of {m}' == '7 of 2', ('%d' % m) in ['2', '3'], 'n' + str(n) == 'n7'",
     ["aten::str", "aten::format", "aten::percentFormat"]),
    ("Strings", "the same of floats", "len(str(x)), len(f'{x}')", ["aten::str", "aten::format"]),
    ("Strings", "print, warnings, raise with a message", "shown(n)", ["prim::Print", "aten::warn", "prim::RaiseException", "aten::_print"]),
    ("Tensors as values", "size, dim, numel, len, shape", "t.size(0), t.dim(), t.numel(), len(t), t.shape[1]", []),
    ("Tensors as values", "item, int, float, bool", "t[0, 0].item() > 0, float(t.sum()), int(t[0, 1]), bool(t.sum() > 0)", []),
    ("Tensors as values", "tolist", "listed(t)", ["prim::tolist"]),
    ("Others", "is None, Optional", "unwrapped(n)", ["aten::_unwrap_optional", "prim::unchecked_unwrap_optional", "prim::unchecked_cast"]),
    ("Others", "tuples", "(n, x)[0], len((n, m)), (n, m) == (7, 3)", ["prim::TupleIndex", "prim::TupleUnpack"]),
    ("Others", "torch.device", "t.device == torch.device('cpu')", ["aten::device", "prim::type", "prim::index"]),
    ("Others", "torch.jit.is_scripting, torch.is_grad_enabled", "torch.jit.is_scripting()", ["aten::is_scripting", "aten::_get_tracing_state"]),
]

HELPERS = '''
def grown(l: List[int], n: int):
    k = l.copy()
    k.append(n)
    k.extend([1, n])
    k.insert(1, 5)
    return k, list(l)


def shrunk(l: List[int]):
    k = l.copy()
    last = k.pop()
    del k[0]
    k.reverse()
    j = l.copy()
    j.clear()
    return last, k, len(j)


def removed(l: List[int], m: int):
    k = l.copy()
    k.remove(m)
    return k


def sorted_down(l: List[int]):
    k = l.copy()
    k.sort(reverse=True)
    return k


def stored(d: Dict[str, int], n: int):
    c = d.copy()
    c["a"] = n + 1
    c["z"] = n
    return c["a"] + c["z"]


def updated(d: Dict[str, int], n: int):
    c = d.copy()
    v = c.pop("a")
    w = c.setdefault("q", n + 5)
    c.update({"b": n})
    last = c.popitem()[1]
    return v, w, last, len(c)


def shown(n: int):
    print("n is", n, f"{n}")
    if n > 100:
        raise ValueError(f"{n} is too large")
    return n


def unwrapped(n: int):
    v: Optional[int] = None
    if n > 2:
        v = n
    if v is None:
        return 0
    return v


def listed(t: Tensor):
    rows: List[List[float]] = t.tolist()
    return rows[0][1] + rows[1][0]
'''

PRELUDE = {
    "known": "    def forward(self, t: Tensor):\n        n, m, x, y, b, s = self.n, self.m, self.x, self.y, self.b, self.s\n",
    "unknown": "    def forward(self, t: Tensor, n: int, m: int, x: float, y: float, b: bool):\n        s = \"up\"\n        if b:\n            s = \"upper\"\n",
}
PROGRAM = '''import math
from typing import Dict, List, Optional
import torch
from torch import Tensor, nn
{helpers}

class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.m, self.x, self.y, self.b, self.s = 7, 3, 2.75, -1.25, True, "up"

{prelude}        l, k, f = [n, m, 3], [m, 2, n], [x, y, 0.5]
        d, e = {{"a": n, "b": m}}, {{1: x, 3: y}}
        return {expression}, t
'''
# Operators in PyTorch's list that no script writes: inside of PyTorch, of autograd, of distribution, or of random generators.
INTERNAL = re.compile(
    "aten::(_.*|Generator|can_cast|confirmed_by_owner|dequantize|get_autocast_dtype|has_torch_function|initial_seed|is_autocast.*|is_grad_enabled|is_owner|"
    "is_vulkan_available|local_value|manual_seed|owner|owner_name|promote_types|result_type|save|seed|set_grad_enabled|sym_constrain.*|to_here|wait|broadcast_shapes)|"
    "prim::(Autograd.*|AddStatValue|Bailout.*|Broadcast.*|Chunk.*|Constant.*|Differentiable.*|Enum.*|Fallback.*|Fus.*|IfThenElse|Ignored.*|MM.*|ModuleContainer.*|"
    "Python.*|Reduction.*|Requires.*|Static.*|StringIndex|TimePoint|TypeCheck|Uninitialized|awaitable.*|id|oneDNN.*|profile.*|rpc.*)")
INPUTS = {"n": np.int64, "m": np.int64, "x": np.float64, "y": np.float64, "b": np.bool_}
CALLS = [(7, 3, 2.75, -1.25, True), (8, 3, 2.5, -0.75, False)]


def host_operators():
    """PyTorch's own list: every operator with a signature that takes no tensor."""
    names = set()
    for s in torch._C._jit_get_all_schemas():
        if s.name.startswith(("aten::", "prim::")) and "Tensor" not in str(s) and not s.name.endswith("_"):
            names.add(s.name)
    return names


def flat(y):
    if isinstance(y, torch.Tensor):
        return [y.numpy()]
    if isinstance(y, (list, tuple)):
        return [t for v in y for t in flat(v)]
    return [np.asarray(y)]


def load(source, folder):
    path = pathlib.Path(folder) / "program.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(f"program_{abs(hash(source))}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Program()


def state(cameo, expression, how):
    """'yes', or why not."""
    with tempfile.TemporaryDirectory() as folder:
        source = PROGRAM.format(helpers=HELPERS, prelude=PRELUDE[how], expression=expression)
        script = torch.jit.script(load(source, folder))
        archive, model = pathlib.Path(folder) / "m.pt", pathlib.Path(folder) / "m.onnx"
        script.save(str(archive))
        flags = ["--input", "t=f32[a,2]" if how == "unknown" and "listed" not in expression else "t=f32[2,2]"]
        if how == "unknown":
            flags += ["--input", "n=i64[]", "--input", "m=i64[]", "--input", "x=f64[]", "--input", "y=f64[]", "--input", "b=bool[]"]
        done = subprocess.run([cameo, "export", archive, "-o", model, *flags], capture_output=True, text=True)
        if done.returncode:
            found = re.search(r"error\[([\w.-]+)\]: (.*)", done.stderr)
            return f"no: {re.sub(r', [^ ]*m.pt![^)]*', '', found[2])}" if found else f"no: exit {done.returncode}"
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        t = torch.tensor([[1.5, 2.0], [3.0, 4.25]])
        for call in CALLS:
            want = flat(script(t, *call) if how == "unknown" else script(t))
            feeds = {"t": t.numpy(), **{k: np.array(v, d) for (k, d), v in zip(INPUTS.items(), call)}}
            got = session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})
            got = [a for g in got for a in (g if isinstance(g, list) else [g])]
            if len(got) != len(want) or any(a.shape != b.shape or not np.allclose(a, b, rtol=1e-9, equal_nan=True) for a, b in zip(got, want)):
                return "WRONG"
        return "yes"


def page(cameo):
    lines = ["# Builtins of torch.jit", "", "What staging makes of every builtin over numbers, strings, lists and dicts. *Known* values are in the archive or follow from it; *unknown*",
             "ones depend on the inputs: sizes, items of tensors, int, float and bool inputs, and what is computed from them. Unknown values become graph values;",
             "where ONNX cannot express it, the export is refused with the reason below.", "",
             "Made by `python tests/torch/torch_builtins.py --update` from PyTorch's own list of operators, and compared with the binary by `tests/python/test_builtins.py`."]
    group = ""
    for where, name, expression, _ in ROWS:
        if where != group:
            group = where
            lines += ["", f"## {group}", "", "| builtin | known values | unknown values |", "|---|---|---|"]
        shown = name.replace("|", "\\|")
        lines.append(f"| `{shown}` | {state(cameo, expression, 'known')} | {state(cameo, expression, 'unknown')} |")
    return "\n".join(lines) + "\n"


def not_covered():
    covered = {op for row in ROWS for op in row[3]}
    return sorted(n for n in host_operators() if n not in covered and not INTERNAL.fullmatch(n))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write docs/builtins.md")
    options = parser.parse_args()
    text = page(os.environ.get("CAMEO", ROOT / "build" / "release" / "cameo"))
    if options.update:
        PAGE.write_text(text)
    else:
        sys.stdout.write(text)
    print("\n".join(not_covered()), file=sys.stderr)
