"""Statements for torch.export: no Python control flow over data; branches are torch.cond."""
from shape_rows import other
from tensor_rows import like
from tree import Expr, Piece, Stmt, Tensor, line
from write_rows import WRITES


def named(s):
    return s.assigned("t", other(s))


def again(s):
    x = s.pick_tensor()
    made = like(s, x.type, 2)
    return line("{0} = {1}", x, made) if made else None


def condition(s):
    x = s.pick_tensor(lambda t: t.dtype in ("f32", "f64", "i64"))
    texts = ["{0}.sum() > 0", "({0} > 0).any()", "{0}.sum() == 1", "({0} == 1).all()"]
    texts += ["{0}.size(0) > 3", "{0}.size(0) % 2 == 1", "{0}.size(0) == 3"] if x.type.rank else ["{0} > 1", "{0} == 1", "{0}.item() == 1"]
    return Expr("bool", s.rng.choice(texts), [x])


def branch(s):
    """Both sides are functions of one tensor, with results of its type."""
    x = s.pick_tensor(lambda t: t.rank and t.dtype == "f32")
    if not x:
        return None
    outer, a = s.vars, s.name("a")
    s.vars = {a: x.type}
    sides = [like(s, x.type, 2), like(s, x.type, 2)]
    s.vars = outer
    if None in sides:
        return None
    name = s.name("t")
    made = line(f"{name} = torch.cond({{0}}, lambda {a}: {{1}} + 0, lambda {a}: {{2}} * 1, ({{3}},))", condition(s), *sides, x)
    s.vars[name] = x.type
    return made


def sizes_as_data(s):
    """torch.tensor of sizes, which torch.export records in an operator of its own."""
    x = s.pick_tensor(lambda t: t.rank >= 2)
    if not x:
        return None
    text, kind = s.rng.choice([("torch.tensor({0}.shape[:2])", "i64"), ("torch.tensor([{0}.size(0), 3])", "i64"),
                               ("torch.tensor([{0}.size(0) * 0.5, 1.0])", "f32")])
    return s.assigned("t", Expr(Tensor(kind, (2,)), text, [x]))


def turned(s):
    """What is a copy or a view as sizes say, and then written: torch.export's archives run at sizes of 1 too."""
    x = s.pick_tensor(lambda t: t.rank == 2 and t.dtype in ("f32", "i64"))
    if not x:
        return None
    a, b = s.name("t"), s.name("v")
    text, shape = s.rng.choice([("{0}.t().contiguous()", x.type.shape[::-1]), ("{0}.t().reshape({0}.size(1), {0}.size(0))", x.type.shape[::-1]),
                                ("{0}[:, :1].contiguous()", (x.type.shape[0], 1))])
    s.vars[a], s.vars[b] = x.type, Tensor(x.type.dtype, shape)
    return Stmt([Piece(f"{a} = {{0}} * 1", [x]), Piece(f"{b} = {text.replace('{0}', a)}"), Piece(f"{b}[0].fill_(2)")])


ROWS = [(6, named), (2, again), (3, branch), (1, sizes_as_data), (1, turned), *((w * 0.8, r) for w, r in WRITES)]


def export_body(s):
    made = []
    for _ in range(s.rng.randint(3, 9)):
        statement = s.choose(ROWS)(s)
        if statement is not None:
            made.append(statement)
    names = s.tensors()
    made.append(line("return {0}", Expr("result", "", [s.variable(n) for n in names[-6:]])))
    return made
