"""Small scripted models, one per statement form of the language, with the sizes and values they are judged at.

CASES: (module, --input flags, calls, options). A call is a tuple of inputs; options: `keywords` for arguments that a flag fixes,
`tuple_of` for a NamedTuple that takes all of them, `numbers` for places of arguments that are numbers, `loops` for the count of Loop nodes,
`sequence` where a list is returned, `tolerance` where 1e-4 is not it.
"""
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
