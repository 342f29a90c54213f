"""What the generator knows at a place of the program: variables with their types, a seeded source of choices, how deep it is."""
import re

from chance import Chance
from tree import Expr, Many, Tensor, line

HOLE = re.compile(r"<(\w+)>")


class Scope:
    def __init__(self, seed, capture):
        self.rng = Chance(seed)
        self.capture = capture
        self.vars = {}  # name -> type
        self.frozen = set()  # names that must not be assigned: counters of loops, what is being iterated
        self.fixed = set()  # names whose size must stay: in a loop, what was there before it
        self.made = 0
        self.sizes = 0
        self.loops = 0
        self.blocks = 0
        self.result = None  # the types that every return has, where there are early ones
        self.outside, self.setup = [], []
        self.host = None  # set by grammar.py: rows by type

    def name(self, stem):
        self.made += 1
        return f"{stem}{self.made}"

    def assigned(self, stem, made):
        """The statement that gives an expression a new name; None where there is no expression."""
        if made is None:
            return None
        name = self.name(stem)
        self.vars[name] = made.type
        return line(f"{name} = {{0}}", made)

    def need(self, name, source):
        """A class or function that has to stand before the module; once."""
        if (name, source) not in self.outside:
            self.outside.append((name, source))

    def fresh(self):
        """A size that nothing else has."""
        self.sizes += 1
        return f"?{self.sizes}"

    def names(self, fits):
        return [n for n, t in self.vars.items() if fits(t)]

    def tensors(self, fits=lambda t: True):
        return self.names(lambda t: isinstance(t, Tensor) and fits(t))

    def variable(self, name):
        return Expr(self.vars[name], name)

    def pick(self, fits):
        names = self.names(fits)
        return self.variable(self.recent(names)) if names else None

    def recent(self, names):
        """One of them; later ones more often, so that what was computed is used."""
        return names[max(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    def pick_tensor(self, fits=lambda t: True):
        names = self.tensors(fits)
        return self.variable(self.recent(names)) if names else None

    def choose(self, rows):
        """One of (weight, row)."""
        return self.rng.choices([r for _, r in rows], [w for w, _ in rows])[0]

    def fill(self, kind, template, depth):
        """An expression of a row's text: <int> and its like are made, the rest stays."""
        parts = []

        def part(match):
            parts.append(self.value(match.group(1), depth - 1))
            return f"{{{len(parts) - 1}}}"
        return Expr(kind, HOLE.sub(part, template), parts)

    def value(self, kind, depth):
        """An expression of a host type: int, float, bool, str; small and pos are literals."""
        if kind == "small":
            return Expr("int", str(self.rng.choice([0, 1, 1, 2, 2, 3, 4])))
        if kind == "pos":
            return Expr("int", str(self.rng.choice([1, 2, 2, 3, 4])))
        if kind == "axis0":
            return Expr("int", self.rng.choice(["0", "-1"]))
        known = self.names(lambda t: t == kind)
        if depth <= 0 or known and self.rng.one_in(4):
            if known and not self.rng.one_in(4):
                return self.variable(self.recent(known))
            return Expr(kind, self.literal(kind))
        for _ in range(8):
            row = self.choose(self.host[kind])
            made = row(self, depth) if callable(row) else self.fill(kind, row, depth)
            if made is not None:
                made.type = kind
                return made
        return Expr(kind, self.literal(kind))

    def literal(self, kind):
        rng = self.rng
        return {"int": lambda: rng.choice(["0", "1", "1", "2", "3", "4", "-1", "-2", "5"]),
                "float": lambda: rng.choice(["0.5", "1.0", "-0.5", "2.0", "0.25", "-1.0", "0.0"]),
                "bool": lambda: rng.choice(["True", "False"]),
                "str": lambda: rng.choice(['"a"', '"b"', '"left"', '"1"', '""'])}[kind]()

    def size_text(self, size):
        """Text for a size, from a variable that has it; None where none has."""
        if isinstance(size, int):
            return Expr("int", str(size))
        for name in self.rng.sample(self.tensors(), len(self.tensors())):
            shape = self.vars[name].shape
            if size in shape:
                axis = shape.index(size)
                return Expr("int", f"{{0}}.{self.rng.choice([f'size({axis})', f'shape[{axis}]'])}", [self.variable(name)])
        return None

    def sizes_text(self, shape):
        """All sizes of a shape, or None."""
        made = [self.size_text(s) for s in shape]
        return None if any(m is None for m in made) else made

    def lists(self, of=None):
        return self.names(lambda t: isinstance(t, Many) and t.key is None and (of is None or t.of == of or of == "Tensor" and isinstance(t.of,
            Tensor)))

    def dicts(self, of=None):
        return self.names(lambda t: isinstance(t, Many) and t.key is not None and (of is None or t.of == of))


def free(s, fits):
    """Names that may be assigned."""
    return [n for n in s.names(fits) if n not in s.frozen]


def joined(scope, ways):
    """The types after branches: sizes that differ become unknown ones."""
    out = {}
    for name, first in ways[0].items():
        types = [w.get(name) for w in ways]
        if any(t is None for t in types):
            continue
        if isinstance(first, Tensor):
            if any(t.rank != first.rank or t.dtype != first.dtype for t in types):
                continue  # no longer to be used: its rank depends on the way
            shape = tuple(s if all(t.shape[i] == s for t in types) else scope.fresh() for i, s in enumerate(first.shape))
            out[name] = Tensor(first.dtype, shape)
        else:
            out[name] = first
    return out
