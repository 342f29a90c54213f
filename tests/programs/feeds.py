"""Inputs for a program: sizes and data chosen so that branches go different ways."""

import numpy as np

NUMPY = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


def size_sets(rng, zeros, count, least=0):
    """Sizes by name: different ones, equal ones, ones, odd and even, none at all where that is allowed."""
    names = "btcd"
    equal = rng.choice([2, 3])
    sets = [dict(b=2, t=3, c=4, d=5), dict.fromkeys(names, equal), dict(b=1, t=rng.choice([1, 4]), c=1, d=2),
            dict(b=rng.choice([3, 4]), t=1, c=2, d=1)]
    if zeros:
        sets.append({n: rng.choice([0, 0, 2]) if n in zeros else 2 for n in names})
    while len(sets) < count:
        sets.append({n: rng.choice([1, 2, 3, 4, 5, 6]) for n in names})
    return [{n: max(v, least) for n, v in sizes.items()} for sizes in sets[:max(count, 5)]]


def array(rng, dtype, shape):
    count = int(np.prod(shape, dtype=np.int64))
    style = rng.randrange(4)
    if dtype == "bool":
        values = [rng.randrange(2) if style else style for _ in range(count)]
    elif dtype.startswith("i"):
        values = [rng.randrange(4) if style else rng.choice([1, 2]) for _ in range(count)]
    else:
        values = [(rng.randrange(-8, 9) / 4 if style > 1 else rng.randrange(-1, 3)) for _ in range(count)]
    return np.array(values, NUMPY[dtype]).reshape(shape)


def one(rng, inputs, sizes):
    out = {}
    for i in inputs:
        if i.kind == "none":
            out[i.name] = None
        elif i.kind == "number":
            out[i.name] = {"int": lambda: rng.choice([0, 1, 1, 2, 3, 4]), "bool": lambda: rng.one_in(2),
                           "float": lambda: rng.choice([0.0, 1.0, -0.5, 2.5])}[i.type]()
        else:
            kind = i.type if i.type != "Optional" else None
            dtype, shape = (kind.dtype, kind.shape) if kind else ("f32", ("b", "t"))
            out[i.name] = array(rng, dtype, [sizes[d] if isinstance(d, str) else d for d in shape])
    return out


def calls(rng, inputs, source, count=5, least=0):
    """Sets of arguments. logsumexp of nothing differs everywhere: such programs get no size of 0."""
    declared = " ".join(i.flag for i in inputs)
    zeros = [d for d in "btcd" if f"{d}:0.." in declared] if rng.one_in(2) and "logsumexp" not in source else []
    return [one(rng, inputs, sizes) for sizes in size_sets(rng, zeros, count, least)]
