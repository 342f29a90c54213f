"""Rows for numbers, truth values and strings: what users branch on and count with. <kind> is a hole; a function makes what a text cannot express."""
from tree import INTS, Expr


def size(s, depth):
    x = s.pick_tensor(lambda t: t.rank)
    if not x:
        return None
    axis = s.rng.randrange(-x.type.rank, x.type.rank) if s.rng.one_in(3) else s.rng.randrange(x.type.rank)
    return Expr("int", s.rng.choice([f"{{0}}.size({axis})", f"{{0}}.shape[{axis}]"]), [x])


def of_tensor(*texts, dtypes=None, rank=None):
    """A row that reads one tensor."""
    def row(s, depth):
        x = s.pick_tensor(lambda t: (not dtypes or t.dtype in dtypes) and (rank is None or t.rank == rank))
        return Expr(None, s.rng.choice(texts), [x]) if x else None
    return row


def of_list(*texts, of="int", holes=()):
    def row(s, depth):
        names = s.lists(of)
        if not names:
            return None
        text, parts = s.rng.choice(texts), [s.variable(s.recent(names))]
        for i, kind in enumerate(holes):
            if f"{{{i + 1}}}" in text:
                parts.append(s.value(kind, depth - 1))
        return Expr(None, text, parts)
    return row


def of_dict(*texts, of="int"):
    """{1} is a key."""
    def row(s, depth):
        names = s.dicts(of)
        if not names:
            return None
        d = s.variable(s.recent(names))
        return Expr(None, s.rng.choice(texts), [d, s.value(d.type.key, min(depth - 1, 1))])
    return row


def member(kind):
    """A field of a named tuple, an attribute of an object, an element of a tuple."""
    def row(s, depth):
        found = [(n, text) for n, t in s.vars.items() for text, of in getattr(t, "parts", ()) if of == kind]
        if not found:
            return None
        name, text = s.rng.choice(found)
        return Expr(None, "{0}" + text, [s.variable(name)])
    return row


def counter(s):
    """A place that a loop counts, if there is one."""
    names = [n for n in s.frozen if s.vars.get(n) == "int"]
    return s.variable(s.rng.choice(sorted(names))) if names else Expr("int", "0")


def token(s, depth):
    x = s.pick_tensor(lambda t: t.dtype in INTS and t.rank == 1)
    if not x:
        return None
    return Expr("int", s.rng.choice(["int({0}[{1}])", "int({0}[{1}])", "int({0}[{1}].item())"]),
                [x, Expr("int", s.rng.choice(["0", "0", "1", "-1", "-1"])) if s.rng.one_in(2) else counter(s)])


def two_shapes(s, depth):
    a, b = s.pick_tensor(), s.pick_tensor()
    text = s.rng.choice(["{0}.shape == {1}.shape", "{0}.size() == {1}.size()", "{0}.shape != {1}.shape", "torch.equal({0}, {1})"])
    if "equal" in text:
        b = s.pick_tensor(lambda t: t.dtype == a.type.dtype)
    return Expr("bool", text, [a, b])


def same_kind(s, depth):
    kind = s.rng.choice(["bool", "str", "float"])
    ops = {"bool": ["==", "!="], "str": ["==", "!="], "float": ["<", ">", "<=", ">="]}[kind]
    return Expr("bool", f"({{0}}) {s.rng.choice(ops)} ({{1}})", [s.value(kind, depth - 1), s.value(kind, depth - 1)])


def compared(s, depth):
    return s.fill("bool", f"<int> {s.rng.choice(['==', '==', '!=', '<', '>', '<=', '>='])} <{s.rng.choice(['small', 'small', 'int'])}>", depth)


def condition(s, depth):
    """What stands behind `if`: there a tensor will do."""
    if s.rng.one_in(8):
        row = of_tensor("{0}.sum() > 0", "{0}.max() > 1", "({0} == 1).any()", "{0}.sum() == 0", dtypes=("f32", "f64", "i64"))(s, depth)
        if row:
            return row
    return s.value("bool", depth)


def compared_size(s, depth):
    x = size(s, depth)
    text = s.rng.choice(["{0} == 1", "{0} == 0", "{0} > 1", "{0} % 2 == 1", "{0} % 2 == 0", "{0} == {1}", "{0} != 1", "{0} <= {1}", "{0} >= 2"])
    return Expr("bool", text, [x, size(s, depth)] if "{1}" in text else [x]) if x else None


INT = [
    (8, size), (1, of_tensor("{0}.numel()")), (1, of_tensor("{0}.dim()")), (1, of_tensor("len({0})")),
    (3, of_tensor("int({0}.argmax())", dtypes=("f32", "f64", "i64", "i32"))), (2, of_tensor("int({0}.sum())")),
    (2, of_tensor("int({0}.max())", "int({0}.min())", dtypes=INTS)), (2, of_tensor("int({0}.sum().item())", dtypes=INTS + ("bool",))),
    (3, token), (1, of_tensor("int({0})", "int({0}.item())", dtypes=INTS + ("bool",), rank=0)),
    (4, "<int> + <small>"), (3, "<int> - <small>"), (2, "<int> + <int>"), (1, "<int> - <int>"), (2, "<int> * <small>"),
    (2, "<int> // <pos>"), (2, "<int> % <pos>"), (1, "(<int> + 1) // 2"), (1, "-<int>"),
    (1, "min(<int>, <int>)"), (1, "min((9223372036854775807 if <bool> else <int>), <int>)"), (1, "max(<int>, <int>)"), (1, "abs(<int>)"), (2, "(<int> if <bool> else <int>)"), (1, "int(<bool>)"),
    (1, "(<int> & <int>)"), (1, "(<int> | <small>)"), (1, "(<int> ^ <small>)"), (1, "(<int> << 1)"), (1, "(<int> >> 1)"),
    (1, "divmod(<int>, <pos>)[0]"), (1, "divmod(<int>, <pos>)[1]"), (1, "int(math.floor(<float>))"), (1, "math.ceil(<int> / <pos>)"),
    (1, "len(<str>)"), (1, "len(str(<int>))"),
    (3, of_list("len({0})", of=None)), (2, of_list("{0}[0]", "{0}[-1]", "{0}[{1}]", holes=("small",))),
    (1, of_list("{0}.count({1})", "sum({0})", "max({0})", "min({0})", "{0}.index({0}[-1])", holes=("int",))), (1, of_dict("{0}[{1}]")),
    (1, of_list("len({0}[{1}:])", "sum({0}[:{1}])", "sum({0}[{1}:-1])", holes=("int",))),
    (1, of_dict("len({0})", of=None)), (3, member("int")),
]

FLOAT = [
    (4, of_tensor("float({0}.sum())", "float({0}.sum().item())", dtypes=("f32", "f64"))),
    (2, of_tensor("float({0}.max())", "float({0}.mean())", dtypes=("f32", "f64"))),
    (2, of_tensor("float({0})", rank=0)), (3, "<float> + <float>"), (2, "<float> * 0.5"), (1, "<float> - <float>"), (2, "float(<int>)"),
    (2, "<int> / <pos>"),
    (1, "math.sqrt(abs(<float>))"), (1, "math.tanh(<float>)"), (1, "math.exp(min(<float>, 1.0))"), (1, "math.log(abs(<float>) + 1.0)"),
    (1, "math.sin(<float>)"), (1, "math.cos(<float>)"), (1, "math.fmod(<float>, 2.0)"), (1, "math.pow(<float>, 2.0)"), (1, "abs(<float>)"),
    (1, "max(<float>, <float>)"), (1, "min(<float>, <float>)"), (2, "(<float> if <bool> else <float>)"), (1, "float(<bool>)"), (1, "<float> ** 2"),
    (1, "<small> ** 2"),
    (1, "<float> // 2.0"), (1, "(<float> % 3.0)"), (1, of_list("{0}[0]", "{0}[-1]", "sum({0})", "max({0})", of="float")), (2, member("float")),
    (1, of_dict("{0}[{1}]", of="float")),
]

BOOL = [
    (10, compared_size), (6, compared), (4, two_shapes), (3, same_kind),
    (2, of_tensor("{0}.numel() == 0", "{0}.numel() > 0")), (1, of_tensor("{0}.dim() == 2", "{0}.dim() > 1")),
    (3, of_tensor("bool({0}.sum() > 0)", "{0}.sum().item() > 0", "bool(({0} > 0).any())", "bool(({0} >= 0).all())", dtypes=("f32", "f64"))),
    (2, of_tensor("bool({0}.any())", "bool({0}.all())", "bool({0}.sum() > 1)", dtypes=("bool",))),
    (1, of_tensor("{0}.is_floating_point()", "{0}.dtype == torch.float32")),
    (4, "<int> in [1, 2]"), (1, "<int> not in [0, <small>]"), (1, "<int> in (1, 3)"), (2, "(<int>, <int>) == (<small>, <small>)"),
    (1, "[<int>, <int>] == [<int>, <small>]"),
    (2, "not (<bool>)"), (2, "(<bool> and <bool>)"), (2, "(<bool> or <bool>)"), (1, "bool(<int>)"), (1, "(<bool> if <bool> else <bool>)"),
    (1, '<str> in ["a", "b"]'), (1, "<str> == <str>"), (2, of_list("{1} in {0}", "len({0}) == {1}", "{1} not in {0}", holes=("int",))),
    (1, of_list("len({0}) > 0", "len({0}) == 0", "len({0}) == 1", of=None)), (2, of_dict("{1} in {0}", "{1} not in {0}", of=None)),
    (2, member("bool")),
    (1, 'str(<int>) == "1"'), (1, '"{}x{}".format(<int>, <int>) in ["1x2", "2x3", "3x-1"]'), (1, '("n" + str(<int>)) != ("n" + str(<int>))'),
    (1, "math.isnan(<float>)"), (1, "0 < <int> < 3"), (1, of_tensor("{0}.is_contiguous()")),
]

STR = [  # text of a number that the inputs decide is refused: seldom
    (24, '("a" if <bool> else "b")'), (12, "str(<small>)"), (1, "str(<int>)"), (8, '"{}-{}".format(<small>, <str>)'), (8, "<str> + <str>"),
    (1, '"{}".format(<int>)'), (8, "<str>.upper()"), (8, "(<str> if <bool> else <str>)"), (8, of_list("{0}[0]", "{0}[-1]", of="str")), (16, member("str")),
]

ROWS = {"int": INT, "float": FLOAT, "bool": BOOL, "str": STR}
