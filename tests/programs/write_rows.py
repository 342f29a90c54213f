"""Statements that write into tensors, through names, slices and views; and those that make new names for the same storage."""
from shape_rows import piece, view
from tensor_rows import like
from tree import FLOATS, Piece, Stmt, Tensor, line


def target(s, fits=lambda t: True):
    names = [n for n in s.tensors(fits) if n not in s.frozen]
    return s.variable(s.recent(names)) if names else None


def amount(s, dtype):
    """A number that the element type takes."""
    if dtype == "bool":
        return s.value("bool", 0)
    return s.value("float", 1) if dtype in FLOATS and s.rng.one_in(2) else s.value("int", 1)


def alias(s):
    """A view with a name of its own, to be written or read later."""
    return s.assigned("v", piece(s) if s.rng.one_in(6) else view(s))


def whole(s):
    """x.add_(...), x += ..., x.zero_()."""
    x = target(s)
    if not x:
        return None
    dtype = x.type.dtype
    if dtype == "bool":
        rows = ["{0}.logical_not_()", "{0}.fill_({n})", "{0} |= {1}"]
    elif dtype in FLOATS:
        rows = ["{0}.add_({n})", "{0}.mul_(0.5)", "{0}.add_({1})", "{0} += {n}", "{0} += {1}", "{0} *= 0.5", "{0}.zero_()", "{0}.fill_({n})",
                "{0}.copy_({1})", "{0}.relu_()",
                "{0}.clamp_(-1, 2)", "{0}.masked_fill_({b}, {n})", "{0}.sub_({1})", "{0}.neg_()", "{0}.tanh_()", "{0}.div_(2)"]
    else:
        rows = ["{0}.add_({n})", "{0} += {n}", "{0}.add_({1})", "{0}.zero_()", "{0}.fill_({n})", "{0}.copy_({1})", "{0}.clamp_(0, 3)",
                "{0}.masked_fill_({b}, 1)", "{0} %= 3", "{0} ^= 3", "{0} <<= 1", "{0} >>= 1"]
    return written(s, s.rng.choice(rows), x, x.type)


def written(s, text, x, region, *more):
    """A statement with {0} the tensor, {1} a tensor of the region's type, {n} a number, {b} a mask."""
    parts = [x, *more]
    for mark, make in (("{1}", lambda: like(s, region, 1)), ("{n}", lambda: amount(s, region.dtype)),
                       ("{b}", lambda: like(s, Tensor("bool", region.shape), 1))):
        if mark in text:
            made = make()
            if made is None:
                return None
            text = text.replace(mark, f"{{{len(parts)}}}")
            parts.append(made)
    return line(text, *parts)


def region(s):
    """x[...] = and x[...] op=: an item, a slice, a mask, a view of a view."""
    x = target(s, lambda t: t.rank)
    if not x:
        return None
    shape, rank, dtype = x.type.shape, x.type.rank, x.type.dtype
    k = s.rng.randrange(rank)
    colons = ":, " * k
    places = [(f"{{0}}[{colons}0]", shape[:k] + shape[k + 1:]), (f"{{0}}[{colons}-1]", shape[:k] + shape[k + 1:]), (f"{{0}}[{colons}1:]", None),
              (f"{{0}}[{colons}::2]", None), ("{0}[{b}]", None),
              (f"{{0}}[{colons}:1]", None)]
    counters = sorted(n for n in s.frozen if s.vars.get(n) == "int")
    if counters:
        places += [(f"{{0}}[{colons}{s.rng.choice(counters)}]", shape[:k] + shape[k + 1:])] * 3
    if rank >= 2:
        places += [("{0}.t()[0]" if rank == 2 else "{0}.transpose(0, 1)[0]", (shape[0], *shape[2:])), ("{0}[0, 0]", shape[2:]),
                   ("{0}[..., 0]", shape[:-1])]
    place, sizes = s.rng.choice(places)
    if place == "{0}[{b}]":
        return written(s, place + (" += {n}" if dtype != "bool" and s.rng.one_in(3) else " = {n}"), x, x.type)
    ops = ["=", "="] if dtype == "bool" else ["=", "=", "=", "+=", "-=" if dtype in FLOATS else "+=", "*="]
    method = "" if s.rng.one_in(4) or dtype == "bool" else s.rng.choice(["", "", ".add_({n})", ".zero_()", ".mul_(2)", ".fill_({n})"])
    if method:
        return written(s, place + method, x, x.type)
    if sizes is not None and s.rng.one_in(2):
        return written(s, f"{place} {s.rng.choice(ops)} {{1}}", x, Tensor(dtype, sizes))
    return written(s, f"{place} {s.rng.choice(ops)} {{n}}", x, x.type)


def through_view(s):
    """A view made and written in one go: x[:, 0].add_(1), x.view(-1)[0] = 2."""
    made = piece(s) if s.rng.one_in(6) else view(s)
    if made is None or made.parts[0].text in s.frozen:
        return None
    text = s.rng.choice(["{0}.zero_()", "{0}.fill_({n})", "{0}.copy_({1})"] + ([] if made.type.dtype == "bool" else ["{0}.add_({n})", "{0}.mul_(2)"]))
    return written(s, text, made, made.type)


def rows_of_loop(s):
    """A write under a loop over an axis, as users fill tables."""
    x = target(s, lambda t: t.rank)
    if not x or s.loops > 1:
        return None
    counter, dtype = s.name("i"), x.type.dtype
    outer, frozen = dict(s.vars), set(s.frozen)
    s.vars[counter] = "int"
    s.frozen |= {counter}
    inner = Tensor(dtype, x.type.shape[1:])
    value = like(s, inner, 1) if s.rng.one_in(2) else amount(s, dtype)
    s.vars, s.frozen = outer, frozen
    if value is None:
        return None
    op = s.rng.choice(["=", "="] if dtype == "bool" else ["=", "+="])
    return Stmt([Piece(f"for {counter} in range({{0}}.size(0)):", [x], [line(f"{{0}}[{counter}] {op} {{1}}", x, value)])])


def turned(s):
    """A view, or a tensor of its own, that gets another shape in place."""
    x = s.pick_tensor(lambda t: 1 <= t.rank <= 3)
    if not x or s.blocks or s.loops:
        return None
    dtype, shape = x.type.dtype, x.type.shape
    text, shape = s.rng.choice([("{0}[1:]", (s.fresh(), *shape[1:])), ("{0}[:1]", (1, *shape[1:])), ("{0}[0]", shape[1:]), ("{0}.clone()", shape)])
    rows = [("unsqueeze_(0)", (1, *shape)), ("unsqueeze_(-1)", (*shape, 1))]
    if len(shape) >= 2:
        rows += [("transpose_(0, 1)", (shape[1], shape[0], *shape[2:]))] * 2
    if shape[:1] == (1,):
        rows += [("squeeze_(0)", shape[1:])] * 2
    call, shape = s.rng.choice(rows)
    name = s.name("v")
    s.vars[name] = Tensor(dtype, shape)
    return Stmt([Piece(f"{name} = {text}", [x]), Piece(f"{name}.{call}")])


WRITES = [(5, alias), (0.5, turned), (4, whole), (5, region), (2, through_view), (1, rows_of_loop)]
