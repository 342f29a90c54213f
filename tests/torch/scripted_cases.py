"""Small scripted models, one per statement form of the language, with the sizes and values they are judged at.

CASES: (module, --input flags, calls, options). A call is a tuple of inputs; options: `keywords` for arguments that a flag fixes,
`tuple_of` for a NamedTuple that takes all of them, `numbers` for places of arguments that are numbers, `loops` for the count of Loop
nodes, `sequence` where a list is returned, `tolerance` where 1e-4 is not it, `refused` for the code of the finding with which the
export ends.
"""
import numpy as np
import torch

CASES = []


def case(flags, *calls, **options):
    """Registers a module class: flags are --input values, calls are tuples of tensors (or shapes, filled with seeded noise)."""
    def add(cls):
        CASES.append((cls, flags.split(), calls, options))
        return cls
    return add


def noise(shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def inputs_of(call):
    return [noise(a, i) if isinstance(a, tuple) else a for i, a in enumerate(call)]


def ints(*v):
    return torch.tensor(v)


def flat(y):
    """What the exported model gives: tensors and numbers; strings and None are not outputs."""
    if isinstance(y, torch.Tensor):
        return [y.detach().numpy()]
    if isinstance(y, dict):
        return [t for v in y.values() for t in flat(v)]
    if isinstance(y, (list, tuple)):
        return [t for v in y for t in flat(v)]
    return [np.asarray(y)] if isinstance(y, (bool, int, float)) else []
