"""Statements over lists, dicts, tuples, named tuples, strings and objects."""
from shape_rows import other
from tensor_rows import like
from tree import Expr, Many, Members, Piece, Stmt, Tensor, line

PAIR = '''class Pair(NamedTuple):
    left: Tensor
    count: int'''

BOX = '''@torch.jit.script
class Box:
    def __init__(self, value: Tensor, n: int):
        self.value = value
        self.n = n
        self.seen: List[int] = []

    def add(self, x: Tensor, k: int):
        self.value = self.value + x
        self.n += k
        self.seen.append(k)

    def odd(self) -> bool:
        return self.n % 2 == 1'''


def element(s, of, depth=1):
    return like(s, of, depth) if isinstance(of, Tensor) else s.value(of, depth)


def new_list(s):
    of = s.rng.choice(["int", "int", "float", "str", "bool", "Tensor", "Tensor"])
    if of == "Tensor":
        x = s.pick_tensor(lambda t: t.rank < 3)
        of = x.type
    kind = "Tensor" if isinstance(of, Tensor) else of
    count = s.rng.randrange(4)
    parts = [element(s, of) for _ in range(count)]
    if None in parts:
        return None
    name = s.name("l")
    s.vars[name] = Many(f"List[{kind}]", of)
    return line(f"{name}: List[{kind}] = [{', '.join(f'{{{i}}}' for i in range(count))}]", *parts)


def comprehension(s):
    name, i = s.name("l"), s.name("i")
    rows = [(f"[{i} * 2 for {i} in range({{0}})]", "int", [s.value("small", 0)])]
    known = s.lists("int")
    if known:
        rows += [(f"[{i} + 1 for {i} in {{0}}]", "int", [s.variable(s.recent(known))]),
                 (f"[{i} == 1 for {i} in {{0}}]", "bool", [s.variable(s.recent(known))])]
    x = s.pick_tensor(lambda t: t.rank in (1, 2, 3) and t.dtype in ("f32", "i64"))
    if x:
        rows += [(f"[{{0}}[{i}] for {i} in range({{0}}.size(0))]", Tensor(x.type.dtype, x.type.shape[1:]), [x]),
                 (f"[{{0}}.size({i}) for {i} in range({x.type.rank})]", "int", [x])]
    tensors = s.lists("Tensor")
    if tensors:
        y = s.variable(s.recent(tensors))
        rows += [(f"[{i} + 1 for {i} in {{0}}]", y.type.of, [y])] if y.type.of.dtype not in ("bool",) else []
    text, of, parts = s.rng.choice(rows)
    s.vars[name] = Many(f"List[{'Tensor' if isinstance(of, Tensor) else of}]", of)
    return line(f"{name} = {text}", *parts)


def listed(s):
    """A tensor's numbers, a list of lists: what is read from it depends on data or on two places."""
    x = s.pick_tensor(lambda t: t.rank == 1 and t.dtype in ("i64", "f32"))
    name = s.name("l")
    if x and s.rng.one_in(2):
        kind = "int" if x.type.dtype == "i64" else "float"
        s.vars[name] = Many(f"List[{kind}]", kind)
        return line(f"{name}: List[{kind}] = {{0}}.tolist()", x)
    parts = [s.value("int", 1) for _ in range(3)]
    flat = s.name("l")
    s.vars[flat] = Many("List[int]", "int")
    return Stmt([Piece(f"{name}: List[List[int]] = [[{{0}}, {{1}}], [{{2}}]]", parts), Piece(f"{name}[1].append(len({name}[0]))"),
                 Piece(f"{flat} = {name}[{s.rng.choice(['0', '1', '-1'])}]")])


CHANGES = ["{0}.append({1})"] * 5 + [
    "{0} += [{1}]", "{0} += [{1}]", "{0}.insert(0, {1})", "{0}.extend([{1}])", "{0}[0] = {1}", "{0}[-1] = {1}", "{0}.reverse()", "{0} = {0}[1:]",
    "{0} = {0}[:2]", "{0} = {0} + [{1}]", "{0}.pop()", "{0} = {0}[::-1]", "del {0}[0]", "{0}.clear()", "{0} = {0} * 2", "{0}.insert({n}, {1})",
    "{0}[{n}] = {1}"]


def change_list(s):
    names = [n for n in s.lists() if n not in s.frozen]
    if not names:
        return None
    x = s.variable(s.recent(names))
    of = x.type.of
    text = s.rng.choice(CHANGES)
    if of in ("int", "float") and s.rng.one_in(5):
        text = s.rng.choice(["{0}.sort()", "{0} = sorted({0})", "{0}[0] += {1}", "{0}.remove({0}[0])"])
    parts = [x]
    if "{1}" in text:
        parts.append(element(s, of))
    if "{n}" in text:
        parts.append(s.value("small", 0))
        text = text.replace("{n}", f"{{{len(parts) - 1}}}")
    return None if None in parts else line(text, *parts)


def popped(s):
    names = [n for n in s.lists() if n not in s.frozen]
    if not names:
        return None
    x = s.variable(s.recent(names))
    name = s.name("p")
    s.vars[name] = x.type.of
    guarded = f"{name} = {{0}}.pop({s.rng.choice(['', '0', '-1'])})"
    return line(guarded, x)


def new_dict(s):
    key, of = s.rng.choice(["str", "int"]), s.rng.choice(["int", "float", "Tensor"])
    if of == "Tensor":
        of = s.pick_tensor().type
    kind = "Tensor" if isinstance(of, Tensor) else of
    keys = ['"a"', '"b"'] if key == "str" else ["1", "2"]
    parts = [element(s, of) for _ in keys]
    if None in parts:
        return None
    name = s.name("d")
    s.vars[name] = Many(f"Dict[{key}, {kind}]", of, key)
    return line(f"{name}: Dict[{key}, {kind}] = {{{', '.join(f'{k}: {{{i}}}' for i, k in enumerate(keys))}}}", *parts)


def change_dict(s):
    names = [n for n in s.dicts() if n not in s.frozen]
    if not names:
        return None
    x = s.variable(s.recent(names))
    key = s.value(x.type.key, 1) if s.rng.one_in(2) else Expr(x.type.key, '"a"' if x.type.key == "str" else "1")
    value = element(s, x.type.of)
    if value is None:
        return None
    text = s.rng.choice(["{0}[{1}] = {2}", "{0}[{1}] = {2}", "{0}.setdefault({1}, {2})", "{0}.update({{1}: {2}})"])
    return line(text, x, key, value)


def read_dict(s):
    """get, with the None that it may give."""
    names = s.dicts()
    if not names:
        return None
    x = s.variable(s.recent(names))
    name, of = s.name("g"), x.type.of
    key, instead = s.value(x.type.key, 1), element(s, of, 0)
    if instead is None:
        return None
    s.vars[name] = of
    if s.rng.one_in(2):
        return line(f"{name} = {{0}}.get({{1}}, {{2}})", x, key, instead)
    found = s.name("o")
    return Stmt([Piece(f"{found} = {{0}}.get({{1}})", [x, key]), Piece(f"{name} = {{0}}", [instead]),
                 Piece(f"if {found} is not None:", [], [line(f"{name} = {found}")])])


def named_tuple(s):
    x = s.pick_tensor(lambda t: t.dtype == "f32")
    left = like(s, x.type, 1) if x else None
    if left is None:
        return None
    s.need("Pair", PAIR)
    name = s.name("q")
    made = line(f"{name} = Pair({{0}}, {{1}})", left, s.value("int", 2))
    s.vars[name] = Members("Pair", ((".left", x.type), (".count", "int"), ("[1]", "int")))
    return made


def plain_tuple(s):
    kinds = [s.rng.choice(["int", "float", "bool", "str"]) for _ in range(2)]
    name = s.name("q")
    made = line(f"{name} = ({{0}}, {{1}})", *(s.value(k, 2) for k in kinds))
    s.vars[name] = Members("Tuple", tuple((f"[{i}]", k) for i, k in enumerate(kinds)))
    return made


def unpacked(s):
    a, b = s.name("n"), s.name("n")
    made = line(f"{a}, {b} = {{0}}, {{1}}", s.value("int", 1), s.value("int", 1))
    x = s.pick_tensor(lambda t: t.rank == 2)
    if x and s.rng.one_in(2):
        made = line(f"{a}, {b} = {{0}}.shape", x)
    s.vars[a] = s.vars[b] = "int"
    return made


def new_object(s):
    x = s.pick_tensor(lambda t: t.dtype == "f32")
    if not x:
        return None
    s.need("Box", BOX)
    name = s.name("box")
    made = line(f"{name} = Box({{0}}, {{1}})", x, s.value("int", 1))
    s.vars[name] = Members("Box", ((".value", x.type), (".n", "int"), (".odd()", "bool")))
    return made


def change_object(s):
    names = s.names(lambda t: isinstance(t, Members) and t.text == "Box")
    if not names:
        return None
    x = s.variable(s.recent(names))
    y = like(s, dict(x.type.parts)[".value"], 1)
    if y is None:
        return None
    text = s.rng.choice(["{0}.add({1}, {2})", "{0}.add({1}, {2})", "{0}.n = {2}", "{0}.value = {1}", "{0}.n += {2}", "{0}.value.add_({2})"])
    return line(text, x, y, s.value("int", 1))


def toggled(s):
    """A string that changes: flags as users keep them."""
    names = [n for n in s.names(lambda t: t == "str") if n not in s.frozen]
    if not names:
        name = s.name("s")
        made = line(f"{name} = {{0}}", s.value("str", 1))
        s.vars[name] = "str"
        return made
    name = s.rng.choice(names)
    return line(f"{name} = {{0}} if {{1}} else {{2}}", s.value("str", 0), s.value("bool", 1), s.value("str", 0))


def some_tensor(s):
    return s.assigned("t", other(s))


HOLDERS = [(4, new_list), (2, comprehension), (1, listed), (6, change_list), (1, popped), (2, new_dict), (3, change_dict), (2, read_dict),
           (2, named_tuple), (1, plain_tuple), (2, unpacked), (2, new_object), (3, change_object),
           (2, toggled)]
