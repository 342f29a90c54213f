"""Branches and loops, and the plain assignments between them."""
from holder_rows import HOLDERS, some_tensor
from host_rows import condition as if_condition
from loop_heads import LOOPS, grown
from scope import free, joined
from shape_rows import other
from tensor_rows import like
from tree import FLOATS, Expr, Many, Piece, Stmt, Tensor, line
from write_rows import WRITES


def number(s):
    kind = s.rng.choice(["int", "int", "float", "bool"])
    name = s.name({"int": "n", "float": "f", "bool": "c"}[kind])
    made = s.value(kind, 3)
    s.vars[name] = kind
    return line(f"{name} = {{0}}", made)


def change_number(s):
    kind = s.rng.choice(["int", "int", "float", "bool"])
    names = free(s, lambda t: t == kind)
    if not names:
        return number(s)
    name = s.recent(names)
    text = {"int": [f"{name} += {{0}}", f"{name} = ({{0}}) % 11", f"{name} = ({{0}}) % 5", f"{name} -= 1"],
            "float": [f"{name} = ({{0}}) * 0.5", f"{name} += 0.5", f"{name} = min({{0}}, 4.0)"],
            "bool": [f"{name} = {{0}}", f"{name} = not {name}"]}[kind]
    chosen = s.rng.choice(text)
    return line(chosen, *([s.value("small" if "+= {0}" in chosen else kind, 2)] if "{0}" in chosen else []))


def change_tensor(s):
    names = free(s, lambda t: isinstance(t, Tensor))
    if not names:
        return None
    name = s.recent(names)
    kind = s.vars[name]
    made = None
    if name not in s.fixed and s.rng.one_in(3):
        made = other(s)
        if made is not None and (made.type.rank != kind.rank or made.type.dtype != kind.dtype):
            made = None
    made = made or like(s, kind, 2)
    if made is None:
        return None
    s.vars[name] = made.type
    text = f"{name} = {{0}}"
    if s.loops and kind.dtype in FLOATS:
        text = s.rng.choice([f"{name} = torch.tanh({{0}})", f"{name} = ({{0}}).clamp(-4, 4)"])
    elif s.loops and kind.dtype in ("i64", "i32"):
        text = f"{name} = ({{0}}) % 7"
    return line(text, made)


def body(s, statements, most):
    """A block in its own frame; gives the statements and the types at its end."""
    outer = dict(s.vars)
    s.blocks += 1
    made = block(s, s.rng.randint(1, most), statements)
    if not ends(made) and not s.rng.one_in(4):
        made += kept(s, [n for n in s.vars if n not in outer])
    s.blocks -= 1
    inner, s.vars = s.vars, outer
    return made, {n: t for n, t in inner.items() if n in outer}


def kept(s, inner):
    """What a block computed goes into a name that outlives it: most faults would not be seen otherwise."""
    names = [n for n in inner if as_number(s, n)]
    if not names:
        return []
    name = s.recent(names)
    if s.vars[name] == "int" and s.rng.one_in(2):
        return [line("count = (count + {0}) % 11", s.variable(name))]
    return [line("acc = acc * 0.5 + {0}", as_number(s, name))]


def as_number(s, name):
    """A float that tells whether a variable is right; None for what has none."""
    kind, x = s.vars[name], s.variable(name)
    if isinstance(kind, Tensor):
        return Expr("float", "float({0}.sum())", [x])
    if isinstance(kind, Many) and kind.key is None:
        return Expr("float", "float(sum({0}))" if kind.of == "int" and s.rng.one_in(2) else "float(len({0}))", [x])
    return {"int": Expr("float", "float({0})", [x]), "bool": Expr("float", "float({0})", [x]), "float": x,
            "str": Expr("float", "float(len({0}))", [x])}.get(kind)


def digest(s):
    """One number made of the latest variables, for results of fixed types."""
    numbers = [m for m in (as_number(s, n) for n in list(s.vars)[-6:]) if m is not None]
    return Expr("float", " + ".join(f"{{{k}}}" for k in range(len(numbers))), numbers) if numbers else s.value("float", 1)


def branch(s):
    condition = if_condition(s, 3)
    first, after = body(s, INNER, 3)
    pieces, ways = [Piece("if {0}:", [condition], first)], [after]
    leaves = ends(first)
    for _ in range(s.rng.choice([0, 0, 0, 1])):
        middle, after_middle = body(s, INNER, 2)
        pieces.append(Piece("elif {0}:", [s.value("bool", 2)], middle))
        ways.append(after_middle)
    if s.rng.one_in(2) and not leaves:
        last, after_last = body(s, INNER, 3)
        pieces.append(Piece("else:", [], last))
        ways.append(after_last)
    else:
        ways.append(dict(s.vars))
    s.vars = joined(s, ways)
    return Stmt(pieces)


def new_in_both(s):
    """A name that is made on both sides."""
    x = s.pick_tensor()
    condition = s.value("bool", 3)
    a, b = (like(s, x.type, 2), like(s, x.type, 2)) if x and not s.rng.one_in(3) else (None, None)
    kind = x.type if a and b else s.rng.choice(["int", "float", "bool", "str"])
    if not (a and b):
        a, b = s.value(kind, 2), s.value(kind, 2)
    name = s.name("t" if isinstance(kind, Tensor) else {"int": "n", "float": "f", "bool": "c", "str": "s"}[kind])
    s.vars[name] = kind
    if s.rng.one_in(3):
        return line(f"{name} = {{0}} if {{1}} else {{2}}", a, condition, b)
    return Stmt([Piece("if {0}:", [condition], [line(f"{name} = {{0}}", a)]), Piece("else:", [], [line(f"{name} = {{0}}", b)])])


def ends(block):
    return bool(block) and block[-1].pieces[0].text.split(" ")[0] in ("return", "break", "continue")


def optional(s):
    """None or a tensor, asked before use."""
    names = [n for n in s.vars if s.vars[n] == "Optional"]
    x = s.pick_tensor(lambda t: t.dtype == "f32" and t.shape == ("b", "t"))
    if not names or not x:
        return None
    name = s.rng.choice(names)
    if x.text in s.frozen:
        return None
    text = s.rng.choice(["{0} = {0} + {1}", "{0} = {1} * 2", "{0} += {1}"])
    piece = Piece(f"if {name} is not None:", [], [line(text, x, Expr(x.type, name))])
    if s.rng.one_in(3):
        return Stmt([Piece(f"if {name} is None:", [], [line("{0} = {0} - 1", x)]), Piece("else:", [], piece.block)])
    return Stmt([piece])


def bounded(s):
    """A slice whose bound is a number or None."""
    x = s.pick_tensor(lambda t: t.rank)
    if not x:
        return None
    bound, name, condition = s.name("lo"), s.name("t"), if_condition(s, 2)
    s.vars[name] = Tensor(x.type.dtype, (s.fresh(), *x.type.shape[1:]))
    taken = s.rng.choice([f"{name} = {{0}}[{bound}:]", f"{name} = {{0}}[:{bound}]", f"{name} = {{0}}[{bound}:] * 2"])
    return Stmt([Piece(f"{bound}: Optional[int] = None"), Piece("if {0}:", [condition], [line(f"{bound} = {{0}}", s.value("small", 0))]),
                 Piece(taken, [x])])


def jump(s):
    """break or continue under a condition; an early return."""
    if s.loops and s.rng.one_in(2):
        return Stmt([Piece("if {0}:", [if_condition(s, 2)], [line(s.rng.choice(["break", "continue"]))])])
    if s.result is None:
        return None
    return Stmt([Piece("if {0}:", [if_condition(s, 3)], [returned(s)])])


def returned(s):
    """A return of the program's result types."""
    parts = [like(s, t, 1) if isinstance(t, Tensor) else digest(s) if t == "float" else s.value(t, 1) for t in s.result]
    parts = [p if p is not None else s.variable(s.tensors()[0]) for p in parts]
    return line("return {0}", Expr("result", "", parts))


def loop(s):
    if s.loops >= 2:
        return None
    fixed, frozen, before = set(s.fixed), set(s.frozen), dict(s.vars)
    growing = grown(s)
    heads, made, *turns = s.choose(LOOPS)(s)
    if heads is None:
        s.vars, s.fixed, s.frozen = before, fixed, frozen
        return None
    s.fixed |= set(before)
    s.vars.update(made)
    s.frozen |= {n for n, t in made.items() if not isinstance(t, Tensor)}
    s.loops += 1
    inner, _ = body(s, INNER, 4)
    s.loops -= 1
    if growing:
        inner.insert(s.rng.randrange(len(inner) + 1) if not ends(inner) else 0, growing)
    inner[:0] = turns
    after = {n: s.vars[n] for n in before if n in s.vars}
    s.vars, s.fixed, s.frozen = after, fixed, frozen
    *first, head = heads
    return Stmt([*first, Piece(head.text, head.parts, inner)])


def called(s):
    """A helper function, a submodule."""
    x = s.pick_tensor(lambda t: t.dtype == "f32" and t.rank == 2)
    if not x:
        return None
    name = s.name("t")
    if x.type.shape[-1] == 3 and s.rng.one_in(2):
        if all(n != "linear" for n, _ in s.setup):
            s.setup.append(("linear", "self.linear = nn.Linear(3, 3)"))
        s.vars[name] = x.type
        return line(f"{name} = self.linear({{0}})", x)
    text = s.rng.choice(HELPERS)
    helper = text.split("(")[0].removeprefix("def ")
    s.outside.append((helper, text)) if (helper, text) not in s.outside else None
    made = line(f"{name} = {helper}({{0}}, {{1}})", x, s.value("int", 1))
    s.vars[name] = x.type if helper != "halves" else Tensor("f32", (s.fresh(), x.type.shape[1]))
    return made


HELPERS = ['''def scaled(x: Tensor, n: int) -> Tensor:
    if n == 1:
        return x
    return x * n''', '''def halves(x: Tensor, n: int) -> Tensor:
    if x.size(0) % 2 == 1:
        x = x[1:]
    return x + n''', '''def written(x: Tensor, n: int) -> Tensor:
    x += n
    return x''', '''def stepped(x: Tensor, n: int) -> Tensor:
    for i in range(min(n, 3)):
        if i == 1:
            continue
        x = x + i
    return x''']


def checked(s):
    """An assertion that mostly holds."""
    x = s.pick_tensor(lambda t: t.rank)
    return line(s.rng.choice(["assert {0}.size(0) >= 0", "assert {0}.dim() == {1}, \"rank\""]), x, Expr("int", str(x.type.rank))) if x else None


PLAIN = [(8, some_tensor), (5, number), (4, change_number), (5, change_tensor), (3, new_in_both), (1, called)]
INNER = [*PLAIN, *((w * 0.6, r) for w, r in WRITES), *((w * 0.4, r) for w, r in HOLDERS), (4, branch), (2, loop), (4, jump), (1, optional)]
OUTER = [*PLAIN, *((w * 0.7, r) for w, r in WRITES), *((w * 0.5, r) for w, r in HOLDERS), (9, branch), (8, loop), (1, jump), (3, optional),
         (0.5, checked), (0.5, bounded)]


def block(s, count, rows):
    made = []
    while len(made) < count:
        if s.blocks > 3 and rows is INNER:
            rows = PLAIN
        before = dict(s.vars)
        statement = s.choose(rows)(s)
        if statement is None:
            s.vars = before
            count -= 0.3
            continue
        made.append(statement)
    return made
