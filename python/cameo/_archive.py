"""Archives for the C++ library, made in memory. PyTorch's own writers compress what is read at once, print where every line came
from, and copy: for a small model that takes as long as capturing it. What is not plain is left to them (NotPlain)."""
import re
import struct
import zlib

import torch

STAMP = struct.unpack("<Q", b"cameoLNT")[0]  # the first half of a placeholder; docs/python.md: weights are lent
# Of the operators that PyTorch's printed code calls: an older number would give them the meaning that they had then (div of integers rounded before 4).
VERSION = f"{torch._C._get_max_operator_version()}\n".encode()
STORAGES = {torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16", torch.int64: "Long", torch.int32: "Int",
            torch.int16: "Short", torch.int8: "Char", torch.uint8: "Byte", torch.bool: "Bool", torch.complex64: "ComplexFloat", torch.complex128: "ComplexDouble"}


class NotPlain(Exception):
    """PyTorch's own writer has to do it."""


def lendable(t, least=0):
    return (isinstance(t, torch.Tensor) and t.layout == torch.strided and not t.is_quantized and t.device.type != "meta" and t.numel() > 0
            and t.numel() * t.element_size() >= least and 16 % t.element_size() == 0 and not t.is_conj() and not t.is_neg())


def lent(t):
    """Where a tensor is: address, bytes from there, sizes, strides, and the tensor itself, which keeps them."""
    if t.device.type != "cpu":
        t = t.cpu()
    storage = t.untyped_storage()
    start = t.storage_offset() * t.element_size()
    return storage.data_ptr() + start, storage.nbytes() - start, list(t.shape), list(t.stride()), t


class Lent:
    """Tensors that stay where they are: for each a placeholder of 16 bytes, the same for the same; those of a dtype share a storage."""

    def __init__(self):
        self.tensors, self._known, self._count = [], {}, {}

    def place(self, t):
        """(dtype, number of the placeholder among those of its dtype)"""
        key = (t.data_ptr(), t.shape, t.stride(), t.dtype, t.device)
        if key not in self._known:
            mine = self._count.setdefault(t.dtype, [])
            self._known[key] = (t.dtype, len(mine))
            mine.append(len(self.tensors))
            self.tensors.append(lent(t.detach()))
        return self._known[key]

    def mark(self, t):
        """Only its placeholder."""
        dtype, number = self.place(t)
        return struct.pack("<QQ", STAMP, self._count[dtype][number])

    def storages(self):
        """{dtype: bytes of all its placeholders}"""
        return {dtype: b"".join(struct.pack("<QQ", STAMP, i) for i in indices) for dtype, indices in self._count.items()}


def zipped(entries):
    """A zip archive of stored entries: [(name, bytes)]."""
    parts, directory, at = [], [], 0
    for name, data in entries:
        name = name.encode()
        head = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, zlib.crc32(data), len(data), len(data), len(name), 0)
        parts += [b"PK\3\4", head, name, data]
        directory += [b"PK\1\2\x14\0", head, struct.pack("<HHHII", 0, 0, 0, 0, at), name]
        at += 30 + len(name) + len(data)
    listed = b"".join(directory)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, len(entries), len(entries), len(listed), at, 0)
    return b"".join([*parts, listed, end])


def traced(module):
    """The archive of a traced module, and its tensors, lent: (bytes, Lent)."""
    weights, constants = Lent(), []
    root = _Class(module, constants)
    files = {}
    pickled = [b"\x80\2"]
    # Every tensor has its place before the first is written: how many there are is part of each.
    root.collect(weights)
    places = [_place(weights, t) for t in constants]
    sizes = {dtype: len(data) for dtype, data in weights.storages().items()}
    root.write(files, pickled, sizes)
    listed = b"".join([b"\x80\2(", *(_tensor(p, t, sizes) for p, t in zip(places, constants)), b"t."])
    entries = [("model/data.pkl", b"".join([*pickled, b"."])), ("model/constants.pkl", listed), ("model/version", VERSION), ("model/byteorder", b"little")]
    entries += [(f"model/code/{path.replace('.', '/')}.py", "".join(texts).encode()) for path, texts in files.items()]
    for dtype, data in weights.storages().items():
        entries += [(f"model/{folder}/{STORAGES[dtype]}", data) for folder in ("data", "constants")]
    entries += [(f"model/{folder}/none", b"") for folder in ("data", "constants")]
    return zipped(entries), weights


def _place(weights, t):
    if t.dtype not in STORAGES or not (lendable(t) or (t.numel() == 0 and t.layout == torch.strided and not t.is_quantized)):
        raise NotPlain(f"a tensor of {t.dtype}")
    return weights.place(t) if t.numel() else None


class _Class:
    """A traced module: its class as text, its object as a pickle."""

    def __init__(self, module, constants):
        c = module._c
        self.name = c._type().qualified_name()
        self.training = bool(module.training)
        self.parameters = torch._C.ParameterDict(c).items()
        self.buffers = torch._C.BufferDict(c).items()
        self.methods = []
        for name in c._method_names():
            text, own = c._get_method(name).code_with_constants
            if "__torch__" in text or not text.startswith(f"def {name}(self"):
                raise NotPlain("functions and classes of its own")
            if own:
                text = self._renumbered(text, own, constants)
            self.methods.append(f"  def {name}(self: {self.name}" + text[len(name) + 9:].replace("\n", "\n  ").rstrip() + "\n")
        self.children = [(name, _Class(child, constants)) for name, child in module._modules.items()]

    @staticmethod
    def _renumbered(text, own, constants):
        first = len(constants)
        order = {name: first + i for i, name in enumerate(own)}
        constants += map(_constant, own.values())
        return re.sub(r"CONSTANTS\.(c\d+)", lambda m: f"CONSTANTS.c{order[m.group(1)]}", text)

    def collect(self, weights):
        self.places = [_place(weights, t) for _, t in self.parameters + self.buffers]
        for _, child in self.children:
            child.collect(weights)

    def write(self, files, pickled, sizes):
        path, _, name = self.name.rpartition(".")
        for attribute, _ in self.parameters + self.buffers + self.children:
            if "\n" in attribute or '"' in attribute:
                raise NotPlain(attribute)
        lines = [f"class {name}(Module):\n", *self._lists(), "  training : bool\n"]
        lines += [_declared(n, "Tensor") for n, _ in self.parameters + self.buffers]
        lines += [_declared(n, child.name) for n, child in self.children]
        files.setdefault(path, []).append("".join(lines + self.methods))
        pickled.append(f"c{path}\n{name}\n)\x81}}(".encode("latin1") + _text("training") + (b"\x88" if self.training else b"\x89"))
        for (n, t), place in zip(self.parameters + self.buffers, self.places):
            pickled.append(_text(n) + _tensor(place, t, sizes))
        for n, child in self.children:
            pickled.append(_text(n))
            child.write(files, pickled, sizes)
        pickled.append(b"ub")

    def _lists(self):
        for title, values in (("__parameters__", self.parameters), ("__buffers__", self.buffers)):
            yield f"  {title} = [" + "".join(f'"{n}", ' for n, _ in values) + "]\n"


def _constant(value):
    """A tensor; those of no axes that stood for a number come as that number."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, (bool, int, float, complex)):
        return torch.tensor(value, dtype={bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}[type(value)])
    raise NotPlain(f"a constant of {type(value)}")


def _declared(name, kind):
    return f"  {name} : {kind}\n" if name.isidentifier() else f'  __annotations__["{name}"] = {kind}\n'


def _text(s):
    data = s.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def _integer(n):
    return struct.pack("<ci", b"J", n) if -2**31 <= n < 2**31 else b"\x8a\x08" + struct.pack("<q", n)


def _tensor(place, t, sizes):
    """torch._utils._rebuild_tensor_v2 of a placeholder that looks as if all elements were the same one."""
    dtype = t.dtype
    per_placeholder = 16 // t.element_size()
    storage, count, offset = (STORAGES[dtype], sizes[dtype] // t.element_size(), place[1] * per_placeholder) if place else ("none", 0, 0)
    return b"".join([b"ctorch._utils\n_rebuild_tensor_v2\n((", _text("storage"), f"ctorch\n{STORAGES[dtype]}Storage\n".encode(), _text(storage), _text("cpu"),
                     _integer(count), b"tQ", _integer(offset), b"(", *map(_integer, t.shape), b"t(", _integer(0) * t.dim(), b"t\x89ccollections\nOrderedDict\n)RtR"])
