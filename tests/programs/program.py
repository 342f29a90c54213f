"""A whole program from a seed: its inputs, its statements, what it returns."""
import flow_rows
import host_rows
from export_rows import export_body
from scope import Scope
from tree import Expr, Input, Many, Program, Tensor, line

MOST_RETURNED = 9

# name, element type, sizes; the first is always there
TENSORS = [("x", "f32", ("b", "t")), ("y", "f32", ("b", "t")), ("y", "f32", ("c", "t")), ("y", "f32", ("t", "d")), ("y", "f32", ("c", "d")),
           ("z", "f32", ("b", "t", 3)), ("z", "f32", ("b", 3)), ("z", "f32", ("b", 1)),
           ("ids", "i64", ("t",)), ("ids", "i64", ("d",)), ("ids", "i64", ("b",)), ("w", "f64", ("b", "t")), ("k", "i32", ("t",)),
           ("mask", "bool", ("b", "t")), ("mask", "bool", ("b",)), ("p", "i64", ()),
           ("h", "f32", ("t",)), ("g", "f32", ("b", "c", "t"))]
RANGES = ["", "", "", ":0..64", ":1..64", ":1..64"]


def tensor_input(name, dtype, shape, ranges):
    sizes = ",".join(f"{d}{ranges.get(d, '')}" if isinstance(d, str) else str(d) for d in shape)
    return Input(name, "Tensor", f"{name}={dtype}[{sizes}]", "tensor", Tensor(dtype, shape))


def make_inputs(s, capture):
    ranges = {d: s.rng.choice(RANGES) for d in "btcd"} if capture == "script" else {}
    out = [tensor_input(*TENSORS[0], ranges)]
    for row in s.rng.sample(TENSORS[1:], s.rng.choice([1, 2, 2, 3])):
        if all(i.name != row[0] for i in out):
            said = set(row[2]) <= set("bt") and s.rng.one_in(3)  # with x: a range once is enough
            out.append(tensor_input(*row, {} if said else ranges))
    if capture != "script":
        return out
    if s.rng.one_in(3):
        out.append(Input("n", "int", "n=i64[]", "number", "int"))
    if s.rng.one_in(4):
        out.append(Input("flag", "bool", "flag=bool[]", "number", "bool"))
    if s.rng.one_in(6):
        out.append(Input("a", "float", "a=f64[]", "number", "float"))
    if s.rng.one_in(5):
        out.append(Input("opt", "Optional[Tensor]", *(("opt=None", "none") if s.rng.one_in(3) else (tensor_input("opt", "f32", ("b", "t"),
            ranges).flag, "tensor")), "Optional"))
    return out


def result_types(s):
    """What every return gives, where some are early."""
    x = s.vars["x"]
    rows = [x, x, Tensor("f32", x.shape[1:]), Tensor("i64", x.shape[:1]), Tensor("f32", ()), "int", "float", "bool"]
    return [s.rng.choice(rows[:5]), *(s.rng.choice(rows) for _ in range(s.rng.randrange(2))), "float"]


def returnable(t):
    return isinstance(t, Tensor) or t in ("int", "float", "bool") or isinstance(t, Many) and t.key is None and isinstance(t.of, Tensor)


def last_return(s):
    names = s.names(returnable)
    first = [n for n in names if n in ("x", "y", "z", "acc", "count")]
    later = [n for n in names if n not in first]
    chosen = [*first, *later[-(MOST_RETURNED - len(first)):]]
    return line("return {0}", Expr("result", "", [s.variable(n) for n in chosen]))


def make(seed, number, capture="script"):
    """The program with this number; always the same."""
    s = Scope(f"{seed}/{number}", capture)
    s.host = host_rows.ROWS
    inputs = make_inputs(s, capture)
    s.vars = {i.name: i.type for i in inputs if i.type != "Optional" or capture == "script"}
    if capture == "export":
        body = export_body(s)
    else:
        s.result = result_types(s) if s.rng.one_in(3) else None
        s.vars.update(acc="float", count="int")
        body = [line("acc = 0.0"), line("count = 0")]
        body += flow_rows.block(s, s.rng.randint(3, 11), flow_rows.OUTER)
        body.append(flow_rows.returned(s) if s.result else last_return(s))
    return Program(capture, inputs, body, s.setup, s.outside)
