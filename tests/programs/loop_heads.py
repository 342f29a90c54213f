"""What a loop runs over: each row gives the lines before the body, the names that they make, and statements that begin every turn."""
from scope import free
from tree import Expr, Piece, Stmt, Tensor, line


def grown(s):
    """In some loops a tensor becomes longer turn by turn: its size is unknown before, inside and after."""
    if not s.rng.one_in(6):
        return None
    names = [n for n in free(s, lambda t: isinstance(t, Tensor) and t.rank and t.dtype in ("f32", "i64")) if n not in s.fixed]
    if not names:
        return None
    name = s.recent(names)
    kind = s.vars[name]
    s.vars[name] = Tensor(kind.dtype, (s.fresh(), *kind.shape[1:]))
    return line(s.rng.choice([f"{name} = torch.cat([{name}, {name}[:1]])", f"{name} = {name}[1:]",
                              f"{name} = torch.cat([{name}, {name}.sum(0, keepdim=True)])"]))


def over_range(s):
    i = s.name("i")
    x = s.pick_tensor(lambda t: t.rank)
    rows = [("range({0})", [Expr("int", str(s.rng.choice([1, 2, 3, 3, 4])))])] * 3 + [("range(1, 4)", []), ("range(0, 5, 2)", []),
                                                                                      ("range(min({0}, 5))", [s.value("int", 2)]),
                                                                                      ("range(3, 0, -1)", [])]
    if x:
        axis = s.rng.randrange(x.type.rank)
        rows += [(f"range({{0}}.size({axis}))", [x]), (f"range({{0}}.shape[{axis}] - 1)", [x]), (f"range(1, {{0}}.size({axis}))", [x])] * 3
    names = s.names(lambda t: t == "int")
    rows += [("range(min({0}, 6))", [s.variable(s.recent(names))])] * 2 if names else []
    rows += [("range(n)", [])] * 3 if "n" in s.vars else []
    text, parts = s.rng.choice(rows)
    return [Piece(f"for {i} in {text}:", parts)], {i: "int"}


def over_while(s):
    name = s.name("k")
    condition = s.value("bool", 2) if s.rng.one_in(2) else None
    limit = s.value("small", 0) if s.rng.one_in(2) else Expr("int", "min({0}, 5)", [s.value("int", 1)])
    text = f"while {name} < {{0}}:" if condition is None else f"while {name} < {{0}} and {{1}}:"
    return [Piece(f"{name} = 0"), Piece(text, [limit] + ([condition] if condition else []))], {name: "int"}, Stmt([Piece(f"{name} += 1")],
        pinned=True)


def over_list(s):
    names = s.lists()
    if not names:
        return None, {}
    x = s.variable(s.recent(names))
    e = s.name("e")
    s.frozen |= {x.text}
    return [Piece(f"for {e} in {{0}}:", [x])], {e: x.type.of}


def over_tensor(s):
    x = s.pick_tensor(lambda t: t.rank)
    e = s.name("r")
    if not x or x.text in s.frozen:
        return None, {}
    return [Piece(f"for {e} in {{0}}:", [x])], {e: Tensor(x.type.dtype, x.type.shape[1:])}


def over_enumerate(s):
    names = s.lists()
    if not names:
        return None, {}
    x = s.variable(s.recent(names))
    i, e = s.name("i"), s.name("e")
    s.frozen |= {x.text}
    return [Piece(f"for {i}, {e} in enumerate({{0}}):", [x])], {i: "int", e: x.type.of}


def over_zip(s):
    names = s.lists()
    if not names:
        return None, {}
    x, y = s.variable(s.recent(names)), s.variable(s.rng.choice(names))
    a, b = s.name("e"), s.name("e")
    s.frozen |= {x.text, y.text}
    return [Piece(f"for {a}, {b} in zip({{0}}, {{1}}):", [x, y])], {a: x.type.of, b: y.type.of}


def over_dict(s):
    names = s.dicts()
    if not names:
        return None, {}
    x = s.variable(s.recent(names))
    k, v = s.name("k"), s.name("e")
    s.frozen |= {x.text}
    return [Piece(f"for {k}, {v} in {{0}}.items():", [x])], {k: x.type.key, v: x.type.of}


LOOPS = [(8, over_range), (3, over_while), (3, over_list), (2, over_tensor), (2, over_enumerate), (1, over_zip), (2, over_dict)]
