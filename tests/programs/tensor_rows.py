"""Rows for tensors: `like` makes one of a wanted type, `other` makes whatever a change of shape gives."""
from tree import DTYPES, FLOATS, INTS, Expr, Tensor

REAL = ("f32", "f64")  # what operators without a form for halves are given

# {0}, {1} are tensors of the wanted type, {b} a mask of its shape, {n} a number, {w} something that broadcasts, {k} an axis.
SAME = {
    "float": [(3, "torch.relu({0})"), (2, "torch.tanh({0})"), (1, "torch.sigmoid({0})"), (2, "{0}.abs()"), (1, "torch.sin({0})"), (1, "{0}.cos()"),
              (2, "-{0}"),
              (4, "({0} + {1})"), (2, "({0} - {1})"), (2, "({0} * {1})"), (1, "({0} / ({1}.abs() + 1))"), (4, "({0} + {w})"), (3, "({0} * {w})"),
              (2, "({0} - {w})"),
              (2, "({0} + {n})"), (2, "({0} * {n})"), (1, "({n} - {0})"), (1, "({0} * 2 + 1)"), (1, "torch.maximum({0}, {1})"),
              (1, "torch.minimum({0}, {1})"),
              (2, "torch.where({b}, {0}, {1})"), (2, "{0}.masked_fill({b}, {n})"), (1, "{0}.clamp(-1, 2)"), (1, "{0}.clamp(min=0)"),
              (1, "torch.floor({0})"), (1, "{0}.round()"),
              (1, "{0}.softmax({k})"), (1, "{0}.cumsum({k})"), (1, "{0}.cummax({k})[0]"), (1, "{0}.cummin({k})[0]"), (1, "{0}.flip({k})"),
              (1, "{0}.roll(1, {k})"), (1, "torch.add({0}, {1}, alpha=2)"),
              (1, "{0}.sign()"),
              (1, "{0}.clone()"), (1, "torch.zeros_like({0})"), (1, "torch.ones_like({0})"), (1, "torch.full_like({0}, 2)"),
              (1, "{0}.square().sqrt()"), (1, "({0} ** 2)")],
    "int": [(3, "({0} + {1})"), (2, "({0} - {1})"), (1, "({0} * {1}) % 7"), (3, "({0} + {n})"), (2, "({0} * {n})"), (2, "({0} % 3)"),
            (2, "({0} // 2)"), (1, "-{0}"), (1, "{0}.abs()"),
            (2, "{0}.clamp(0, 3)"), (2, "torch.where({b}, {0}, {1})"), (1, "{0}.masked_fill({b}, 2)"), (1, "({0} & {1})"), (1, "({0} | 1)"),
            (1, "({0} ^ {1})"), (1, "({0} ^ 3)"), (1, "({0} & 6)"), (1, "(2 ^ {0})"), (1, "({0} >> 1)"), (1, "{0}.cummin({k})[0]"),
            (1, "{0}.flip({k})"), (1, "torch.maximum({0}, {1})"), (1, "{0}.clone()"), (1, "torch.zeros_like({0})"), (1, "({0} << 1)"),
            (1, "torch.bitwise_not({0})")],
    "bool": [(2, "({0} & {1})"), (2, "({0} | {1})"), (2, "~{0}"), (1, "({0} ^ {1})"), (1, "torch.logical_and({0}, {1})"), (1, "{0}.logical_not()"),
             (1, "({0} == {1})"),
             (1, "{0}.clone()"), (1, "torch.zeros_like({0})"), (1, "torch.where({b}, {0}, {1})")],
}


def family(dtype):
    return "float" if dtype in FLOATS else "int" if dtype in INTS else "bool"


def like(s, wanted, depth):
    """A tensor of exactly this type (element type and sizes); None where none can be made."""
    known = s.tensors(lambda t: t == wanted)
    if depth <= 0 or known and s.rng.one_in(3):
        return s.variable(s.recent(known)) if known and not s.rng.one_in(8) else made_new(s,
                                                                                          wanted) or (s.variable(s.recent(known)) if known else None)
    if s.rng.one_in(5) or wanted.dtype == "bool" and s.rng.one_in(2):
        made = converted(s, wanted, depth)
        if made:
            return made
    return filled(s, wanted, s.choose(SAME[family(wanted.dtype)]), depth)


def filled(s, wanted, text, depth):
    parts = []

    def put(mark, make):
        nonlocal text
        if text is not None and mark in text:
            made = make()
            text = None if made is None else text.replace(mark, f"\x01{len(parts)}\x02", 1)
            parts.append(made)
    put("{0}", lambda: like(s, wanted, depth - 1))
    put("{1}", lambda: like(s, wanted, depth - 2))
    put("{b}", lambda: like(s, Tensor("bool", wanted.shape), depth - 2))
    put("{w}", lambda: broadcasting(s, wanted, depth))
    put("{n}", lambda: number(s, wanted, depth))
    put("{k}", lambda: Expr("axis", str(s.rng.randrange(-wanted.rank, wanted.rank))) if wanted.rank else None)
    if text is None:
        return like(s, wanted, 0)
    return Expr(wanted, text.replace("\x01", "{").replace("\x02", "}"), parts)


def number(s, wanted, depth):
    kind = "int" if wanted.dtype in INTS or s.rng.one_in(2) else "float"
    return s.value(kind, 1 if s.rng.one_in(2) else 0)


def broadcasting(s, wanted, depth):
    """A tensor that broadcasts to the wanted sizes and does not change the type."""
    fits = s.tensors(lambda t: t.dtype == wanted.dtype and t.rank and t.rank <= wanted.rank and t != wanted
                     and all(a in (b, 1) for a, b in zip(t.shape[::-1], wanted.shape[::-1])))
    if fits and not s.rng.one_in(4):
        return s.variable(s.recent(fits))
    base = like(s, wanted, 0)
    if base is None or not wanted.rank:
        return base
    axis = s.rng.randrange(wanted.rank)
    shape = tuple(1 if i == axis else a for i, a in enumerate(wanted.shape))
    text = f"{{0}}.sum({axis}, keepdim=True)" if wanted.dtype not in ("i32", "bool") else f"{{0}}.narrow({axis}, 0, 1)"
    return Expr(Tensor(wanted.dtype, shape), text, [base])


def converted(s, wanted, depth):
    """From another element type: a comparison, a cast, a promotion."""
    source = s.pick_tensor(lambda t: t.shape == wanted.shape and t.dtype != wanted.dtype)
    if source is None:
        return None
    dtype = source.type.dtype
    if wanted.dtype == "bool":
        text = s.rng.choice(["({0} > 0)", "({0} == 1)", "({0} != 0)", "({0} >= {1})", "({0} < {1})", "({0} == {1})"])
        parts = [source] + ([like(s, source.type, depth - 1) if s.rng.one_in(2) else s.value("int", 1)] if "{1}" in text else [])
        return None if None in parts else Expr(wanted, text, parts)
    if wanted.dtype in INTS and dtype in FLOATS:
        return Expr(wanted, f"{{0}}.round().to({DTYPES[wanted.dtype]})", [source])
    short = {"f32": [".float()"], "i64": [".long()"], "f64": [".double()"], "i32": [".int()"]}.get(wanted.dtype, [])
    texts = [f"{{0}}.to({DTYPES[wanted.dtype]})", f"{{0}}.type({DTYPES[wanted.dtype]})", *("{0}" + t for t in short)]
    if wanted.dtype == "f32" and dtype in INTS:
        texts += ["({0} / 2)", "({0} * 0.5)", "({0} + 1.5)"]
    if wanted.dtype == "i64" and dtype in ("i32", "bool"):
        texts += ["({0} + {1})"]
    text = s.rng.choice(texts)
    parts = [source] + ([like(s, wanted, 0)] if "{1}" in text else [])
    return None if None in parts else Expr(wanted, text, parts)


def made_new(s, wanted):
    """A new tensor of sizes that some variable has."""
    sizes = s.sizes_text(wanted.shape)
    if sizes is None or len(sizes) > 4:
        return None
    listed = "[" + ", ".join(f"{{{i}}}" for i in range(len(sizes))) + "]"
    dtype = f"dtype={DTYPES[wanted.dtype]}"
    text = s.rng.choice([f"torch.zeros({listed}, {dtype})", f"torch.ones({listed}, {dtype})",
                         f"torch.full({listed}, {'True' if wanted.dtype == 'bool' else 2}, {dtype})"])
    if wanted.rank == 1 and wanted.dtype in INTS and s.rng.one_in(2):
        text = f"torch.arange({{0}}, {dtype})"
    return Expr(wanted, text, sizes)
