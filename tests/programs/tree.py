"""A program as a tree: expressions with a type, statements with blocks. Text is made of it at the end, so that it can be reduced."""
import re
from dataclasses import dataclass, field
from typing import NamedTuple

DTYPES = {"f32": "torch.float32", "f64": "torch.float64", "i32": "torch.int32", "i64": "torch.int64", "bool": "torch.bool"}
FLOATS, INTS = ("f32", "f64"), ("i32", "i64")


class Tensor(NamedTuple):
    """An element type and a size for each axis: a number, or a name that stands for one unknown size."""
    dtype: str
    shape: tuple

    @property
    def rank(self):
        return len(self.shape)

    @property
    def text(self):
        return "Tensor"


class Many(NamedTuple):
    """A list, a dict (key is not None) or an object of a class (members by name)."""
    text: str
    of: object = None
    key: object = None


class Members(NamedTuple):
    """A named tuple, a class or a tuple: attribute text and type."""
    text: str
    parts: tuple


@dataclass
class Expr:
    """`text` with {0}, {1}, ... for its parts. An empty text: the parts as a tuple, of which each can be left out."""
    type: object
    text: str
    parts: list = field(default_factory=list)

    def render(self):
        made = [p.render() for p in self.parts]
        if not self.text:
            return ", ".join(made)
        return re.sub(r"\{(\d)\}", lambda m: made[int(m.group(1))], self.text)

    def walk(self):
        yield self
        for p in self.parts:
            yield from p.walk()


@dataclass
class Piece:
    """A line of a statement, and the block under it if it has one."""
    text: str
    parts: list = field(default_factory=list)
    block: list = None

    def lines(self, indent):
        made = Expr(None, self.text, self.parts).render()
        yield from (" " * indent + line for line in made.split("\n"))
        if self.block is not None:
            inner = [line for s in self.block for line in s.lines(indent + 4)]
            yield from inner or [" " * (indent + 4) + "pass"]


@dataclass
class Stmt:
    pieces: list
    pinned: bool = False  # a loop would not end without it: it is not reduced away

    def lines(self, indent):
        for p in self.pieces:
            yield from p.lines(indent)

    def walk(self):
        """All statements below this one, itself included."""
        yield self
        for p in self.pieces:
            for s in p.block or []:
                yield from s.walk()

    def exprs(self):
        for p in self.pieces:
            for e in p.parts:
                yield from e.walk()


def line(text, *parts):
    return Stmt([Piece(text, list(parts))])


@dataclass
class Input:
    """An argument of forward: `flag` is what --input says, `kind` tensor, number, none or text."""
    name: str
    annotation: str
    flag: str
    kind: str
    type: object


@dataclass
class Program:
    capture: str  # script or export
    inputs: list
    body: list
    setup: list = field(default_factory=list)  # (name, line) of __init__
    outside: list = field(default_factory=list)  # (name, text) of classes and functions before the module

    def body_lines(self):
        return [text for s in self.body for text in s.lines(8)]

    def used_inputs(self):
        body = "\n".join(self.body_lines())
        return [i for i in self.inputs if re.search(rf"\b{i.name}\b", body)]

    def source(self):
        """The file: only what the body names."""
        lines = self.body_lines()
        body = "\n".join(lines)
        outside = [text for name, text in self.outside if re.search(rf"\b{name}\b", body)]
        setup = [text for name, text in self.setup if f"self.{name}" in body]
        whole = "\n".join([body, *outside, *setup])
        head = ["import math"] if "math." in whole else []
        typed = "\n".join([whole, *(i.annotation for i in self.used_inputs())])
        typing = [n for n in ("Dict", "List", "NamedTuple", "Optional") if re.search(rf"\b{n}\[|\({n}\)", typed)]
        head += [f"from typing import {', '.join(typing)}"] if typing else []
        out = [*head, *([""] if head else []), "import torch", "from torch import Tensor, nn", ""]
        for text in outside:
            out += ["", text, ""]
        out += ["", "class Program(nn.Module):"]
        if setup:
            out += ["    def __init__(self):", "        super().__init__()", *("        " + s for s in setup), ""]
        arguments = ", ".join(["self", *(f"{i.name}: {i.annotation}" for i in self.used_inputs())])
        return "\n".join([*out, f"    def forward({arguments}):", *(lines or ["        pass"])]) + "\n"
