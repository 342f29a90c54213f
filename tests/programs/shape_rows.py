"""Rows that change a tensor's shape: views, pieces, sums, joins, lookups. Each gives an expression with its own type, or None."""
from tensor_rows import REAL, like
from tree import DTYPES, FLOATS, INTS, Expr, Tensor


def base(s, fits=lambda t: True):
    return s.pick_tensor(lambda t: t.rank and fits(t))


def kept(shape, axis):
    return shape[:axis] + shape[axis + 1:]


def put(shape, axis, size):
    return shape[:axis] + (size,) + shape[axis + 1:]


def view(s):
    """A view of a variable (or, as PyTorch decides, a copy): what later writes have to respect."""
    x = base(s)
    if not x:
        return None
    shape, rank, dtype = x.type.shape, x.type.rank, x.type.dtype
    k = s.rng.randrange(rank)
    colons = ":, " * k
    rows = [(f"{{0}}[{colons}1:]", put(shape, k, s.fresh())), (f"{{0}}[{colons}:-1]", put(shape, k, s.fresh())),
            (f"{{0}}[{colons}::2]", put(shape, k, s.fresh())),
            (f"{{0}}[{colons}{{0}}.size({k}) - 3:]", put(shape, k, s.fresh())), (f"{{0}}[{colons}:{{0}}.size({k}) - {{0}}.size(0)]", put(shape, k, s.fresh())),
            (f"{{0}}[{colons}0]", kept(shape, k)), (f"{{0}}[{colons}-1]", kept(shape, k)), (f"{{0}}.select({k}, 0)", kept(shape, k)),
            (f"{{0}}.narrow({k}, 0, 1)", put(shape, k, 1)), (f"{{0}}[{colons}-1:]", put(shape, k, 1)),
            (f"{{0}}.unsqueeze({k})", shape[:k] + (1,) + shape[k:]),
            ("{0}.unsqueeze(-1)", (*shape, 1)),
            ("{0}.reshape(-1)", (s.fresh() if rank > 1 else shape[0],)), ("{0}.flatten()", (s.fresh() if rank > 1 else shape[0],)),
            ("{0}.contiguous()", shape),
            ("{0}.view(-1)", (s.fresh() if rank > 1 else shape[0],)), ("{0}.detach()", shape), ("{0}[:]", shape), ("{0}.view_as({0})", shape),
            ("{0}[None]", (1, *shape)),
            (f"{{0}}.to({DTYPES[dtype]})", shape), ("{0}.expand_as({0})", shape)]
    if rank >= 2:
        swapped = (*shape[:-2], shape[-1], shape[-2])
        rows += [("{0}.transpose(-1, -2)", swapped)] * 3 + [("{0}.transpose(-1, -2).contiguous()", swapped),
                                                            ("{0}.transpose(-1, -2).reshape(-1)", (s.fresh(),)),
                 ("{0}.transpose(-1, -2).flatten()", (s.fresh(),)), (f"{{0}}.flatten({rank - 2})", (*shape[:-2], s.fresh())),
                 ("{0}[0, 1:]", (s.fresh(), *shape[2:])),
                 ("{0}.reshape({0}.size(0), -1)", (shape[0], shape[1] if rank == 2 else s.fresh())),
                 ("{0}.view({0}.shape[0], -1)", (shape[0], shape[1] if rank == 2 else s.fresh())),
                 ("{0}.diagonal()", (*shape[2:], s.fresh())), ("{0}[..., 0]", shape[:-1]),
                 (f"{{0}}.permute({', '.join(map(str, (*range(1, rank), 0)))})", (*shape[1:], shape[0]))]
        if rank == 2:
            rows += [("{0}.t()", swapped)] * 2
    if 1 in shape:
        one = shape.index(1)
        rows += [(f"{{0}}.squeeze({one})", kept(shape, one))] * 3
        rows += [(f"{{0}}.expand({', '.join('3' if i == one else '-1' for i in range(rank))})", put(shape, one, 3))]
    text, result = s.rng.choice([r for r in rows if len(r[1]) <= 4])
    return Expr(Tensor(dtype, result), text, [x])


def reduced(s):
    x = base(s)
    if not x:
        return None
    shape, rank, dtype = x.type.shape, x.type.rank, x.type.dtype
    k = s.rng.randrange(rank)
    axis = k if s.rng.one_in(2) else k - rank
    whole = "i64" if dtype in (*INTS, "bool") else dtype
    rows = [(f"{{0}}.sum({axis})", whole, kept(shape, k)), (f"{{0}}.sum({axis}, keepdim=True)", whole, put(shape, k, 1)), ("{0}.sum()", whole, ()),
            (f"{{0}}.argmax({axis})", "i64", kept(shape, k)),
            (f"{{0}}.any({axis})", "bool", kept(shape, k)), ("({0} != 0).sum()", "i64", ()), (f"{{0}}.cumsum({axis})", whole, shape)]
    if dtype != "bool":
        rows += [(f"{{0}}.max({axis})[0]", dtype, kept(shape, k)), (f"{{0}}.min({axis})[1]", "i64", kept(shape, k)),
                 (f"{{0}}.amax({axis})", dtype, kept(shape, k)), ("{0}.max()", dtype, ()),
                 (f"{{0}}.prod({axis})", whole, kept(shape, k)), (f"{{0}}.sort({axis})[0]", dtype, shape),
                 (f"{{0}}.topk(1, {axis})[0]", dtype, put(shape, k, 1))]
    else:
        rows = [r for r in rows if "argmax" not in r[0]]
    if dtype in FLOATS:
        rows += [(f"{{0}}.mean({axis})", dtype, kept(shape, k)), (f"{{0}}.mean({axis}, keepdim=True)", dtype, put(shape, k, 1)),
                 ("{0}.mean()", dtype, ()), (f"{{0}}.logsumexp({axis})", dtype, kept(shape, k))]
    text, result, sizes = s.rng.choice(rows)
    return Expr(Tensor(result, sizes), text, [x])


def joined(s):
    """cat and stack of tensors that fit, written out or from a list."""
    x = base(s)
    if not x:
        return None
    k = s.rng.randrange(x.type.rank)
    if s.rng.one_in(3):
        y = like(s, x.type, 1)
        return Expr(Tensor(x.type.dtype, x.type.shape[:k] + (2,) + x.type.shape[k:]), f"torch.stack([{{0}}, {{1}}], {k})",
                    [x, y]) if y and x.type.rank < 4 else None
    y = s.pick_tensor(lambda t: t.dtype == x.type.dtype and t.rank == x.type.rank and kept(t.shape, k) == kept(x.type.shape, k)) or x
    return Expr(Tensor(x.type.dtype, put(x.type.shape, k, s.fresh())), f"torch.cat([{{0}}, {{1}}], {s.rng.choice([k, k - x.type.rank])})", [x, y])


def piece(s):
    x = base(s)
    if not x:
        return None
    k = s.rng.randrange(x.type.rank)
    text = s.rng.choice([f"{{0}}.chunk(2, {k})[0]", f"{{0}}.split(2, {k})[0]", f"{{0}}.split(1, {k})[-1]", f"{{0}}.unbind({k})[0]",
                         f"torch.split({{0}}, 2, {k})[-1]", f"{{0}}.chunk(3, {k})[0]", f"{{0}}.tensor_split(2, {k})[1]",
                         f"torch.tensor_split({{0}}, [1], {k})[1]", f"{{0}}.unfold({k}, 1, 1)[..., 0]",
                         f"{{0}}.unflatten({k}, (-1, 1)).squeeze({k + 1})"])
    same = "unfold" in text or "unflatten" in text
    shape = kept(x.type.shape, k) if "unbind" in text else x.type.shape if same else put(x.type.shape, k, 1 if ".split(1" in text else s.fresh())
    return Expr(Tensor(x.type.dtype, shape), text, [x])


def looked_up(s):
    """Indices that are data; they are kept in range with the size itself."""
    x, ids = base(s), s.pick_tensor(lambda t: t.dtype == "i64" and t.rank == 1)
    if not x or not ids:
        return None
    k = s.rng.randrange(x.type.rank)
    clamped = Expr(ids.type, s.rng.choice([f"({{0}} % {{1}}.size({k}))", f"{{0}}.clamp(0, {{1}}.size({k}) - 1)"]), [ids, x])
    text = s.rng.choice([f"{{0}}.index_select({k}, {{1}})", f"{{0}}[{':, ' * k}{{1}}]"])
    return Expr(Tensor(x.type.dtype, put(x.type.shape, k, ids.type.shape[0])), text, [x, clamped])


def gathered(s):
    x = base(s, lambda t: t.rank == 2)
    if not x:
        return None
    k = s.rng.randrange(2)
    text = f"{{0}}.gather({k}, {{0}}.argmax({k}, keepdim=True))" if x.type.dtype != "bool" else f"{{0}}.narrow({k}, 0, 1)"
    return Expr(Tensor(x.type.dtype, put(x.type.shape, k, 1)), text, [x])


def chosen(s):
    """As many as the data say."""
    x = base(s)
    if not x:
        return None
    mask = like(s, Tensor("bool", x.type.shape[:1]), 1)
    if s.rng.one_in(3) and x.type.dtype != "bool":
        if x.type.rank == 1:
            text = s.rng.choice(["({0} > 0).nonzero().squeeze(1)", "torch.where({0} > 0)[0]"])
            return Expr(Tensor("i64", (s.fresh(),)), text, [x])
        return Expr(Tensor("i64", (s.fresh(), x.type.rank)), "({0} > 0).nonzero()", [x])
    if x.type.rank == 1 and s.rng.one_in(3):
        return Expr(Tensor(x.type.dtype, (s.fresh(),)), "torch.unique_consecutive({0})", [x])
    return Expr(Tensor(x.type.dtype, (s.fresh(), *x.type.shape[1:])), "{0}[{1}]", [x, mask]) if mask else None


def product(s):
    x = base(s, lambda t: t.rank == 2 and t.dtype in REAL)
    if not x:
        return None
    a, b = x.type.shape
    y = s.pick_tensor(lambda t: t.rank == 2 and t.dtype == x.type.dtype and t.shape[0] == b)
    if y and s.rng.one_in(2):
        return Expr(Tensor(x.type.dtype, (a, y.type.shape[1])), s.rng.choice(["({0} @ {1})", "torch.matmul({0}, {1})", "torch.mm({0}, {1})"]), [x, y])
    return Expr(Tensor(x.type.dtype, (a, a)), s.rng.choice(["({0} @ {0}.t())", "torch.matmul({0}, {0}.transpose(0, 1))"]), [x])


def counted(s):
    """A new tensor whose size is a number of the program."""
    n = s.value("int", 1)
    text = s.rng.choice(["torch.arange(abs({0}))", "torch.arange(max({0}, 0))", "torch.zeros(abs({0}), dtype=torch.int64)",
                         "torch.arange(0, abs({0}) + 2, 2)"])
    return Expr(Tensor("i64", (s.fresh(),)), text, [n])


def padded(s):
    x = base(s, lambda t: t.dtype in REAL)
    if not x:
        return None
    rows = [("nn.functional.pad({0}, [0, {1}])", put(x.type.shape, x.type.rank - 1, s.fresh())),
            ("nn.functional.pad({0}, [1, 0], value=0.5)", put(x.type.shape, x.type.rank - 1, s.fresh()))]
    if x.type.rank == 2:
        rows += [("torch.tril({0})", x.type.shape), ("torch.triu({0}, {1})", x.type.shape)]
    if x.type.rank < 4:
        rows += [(f"{{0}}.repeat({', '.join(['2'] + ['1'] * (x.type.rank - 1))})", put(x.type.shape, 0, s.fresh()))]
    text, shape = s.rng.choice(rows)
    return Expr(Tensor(x.type.dtype, shape), text, [x, s.value("small", 0)] if "{1}" in text else [x])


def from_list(s):
    names = s.lists("Tensor")
    if not names:
        return None
    x = s.variable(s.recent(names))
    of = x.type.of
    rows = [("{0}[0]", of.shape), ("{0}[-1]", of.shape)]
    if of.rank < 4:
        rows += [("torch.stack({0})", (s.fresh(), *of.shape))]
    if of.rank:
        rows += [("torch.cat({0})", (s.fresh(), *of.shape[1:]))]
    text, shape = s.rng.choice(rows)
    return Expr(Tensor(of.dtype, shape), text, [x])


def from_ints(s):
    names = s.lists("int")
    return Expr(Tensor("i64", (s.fresh(),)), "torch.tensor({0})", [s.variable(s.recent(names))]) if names else None


def member(s):
    found = [(n, text, of) for n, t in s.vars.items() for text, of in getattr(t, "parts", ()) if isinstance(of, Tensor)]
    if not found:
        return None
    name, text, of = s.rng.choice(found)
    return Expr(of, "{0}" + text, [s.variable(name)])


def from_dict(s):
    names = s.names(lambda t: getattr(t, "key", None) is not None and isinstance(t.of, Tensor))
    if not names:
        return None
    x = s.variable(s.recent(names))
    return Expr(x.type.of, "{0}[{1}]", [x, Expr(x.type.key, '"a"' if x.type.key == "str" else "1")])


PROMOTED = ["bool", "i32", "i64", "f32", "f64"]  # of two tensors with axes, the later one is the result's type


def mixed(s):
    """Two element types in one operator."""
    x = base(s)
    y = x and s.pick_tensor(lambda t: t.shape == x.type.shape and t.dtype != x.type.dtype)
    if not y:
        return None
    dtype = max(x.type.dtype, y.type.dtype, key=PROMOTED.index)
    text = s.rng.choice(["({0} + {1})", "({0} * {1})", "torch.maximum({0}, {1})", "({0} > {1})", "torch.where({0} > 0, {0}, {1})"])
    return Expr(Tensor("bool" if text == "({0} > {1})" else dtype, x.type.shape), text, [x, y])


def divided(s):
    """Whole numbers that become floats: divided, or with a float beside them."""
    x = base(s, lambda t: t.dtype in INTS)
    text = s.rng.choice(["({0} / 2)", "({0} / ({0} * {0} + 1))", "torch.div({0}, 3)", "{0}.clamp(0.5, 2)", "{0}.clamp_max(1.5)", "({0} % 1.5)"])
    return Expr(Tensor("f32", x.type.shape), text, [x]) if x else None


def mapped(s):
    """torch.vmap, as torch.export records it."""
    x = base(s, lambda t: t.rank == 2 and t.dtype == "f32")
    if not x:
        return None
    text, shape = s.rng.choice([("torch.vmap(lambda a: a + a.sum())({0})", x.type.shape), ("torch.vmap(lambda a: a.max())({0})", x.type.shape[:1]),
                                ("torch.vmap(lambda a: a.flip(0) - a.sum(), in_dims=1)({0})", x.type.shape[::-1]),
                                ("torch.vmap(lambda a, b: torch.where(a > b, a.sort()[0], b))({0}, {0} * {0})", x.type.shape)])
    return Expr(Tensor("f32", shape), text, [x])


def square(s):
    """Tables over an axis of any size: the diagonal, every pair."""
    x = base(s, lambda t: t.rank == 1)
    if not x:
        return None
    (n,), dtype = x.type.shape, s.rng.choice(["f32", "i64", "bool", "i32"])
    text, made = s.rng.choice([("torch.eye({0}.size(0), dtype=" + DTYPES[dtype] + ")", Tensor(dtype, (n, n))),
                               ("torch.combinations({0}, 2)", Tensor(x.type.dtype, (s.fresh(), 2))),
                               ("torch.outer({0}, {0})", Tensor(x.type.dtype, (n, n)))])
    return Expr(made, text, [x])


def alike(s):
    x = s.pick_tensor()
    return like(s, x.type, 2) if x else None


OTHER = [(8, view), (5, reduced), (3, joined), (2, piece), (2, looked_up), (1, gathered), (2, chosen), (2, product), (1, counted), (2, padded),
         (3, from_list), (1, from_ints), (2, member),
         (1, from_dict), (2, mixed), (1, divided), (1, square), (5, alike)]
EXPORT_OTHER = [(8, view), (5, reduced), (3, joined), (2, piece), (2, looked_up), (1, gathered), (2, product), (2, padded), (2, mixed),
                (1, divided), (1, square), (1, mapped), (6, alike)]


def other(s, rows=None):
    """Some tensor; None now and then."""
    for _ in range(6):
        made = s.choose(rows or (OTHER if s.capture == "script" else EXPORT_OTHER))(s)
        if made is not None and made.type.rank <= 4:
            return made
    return None
