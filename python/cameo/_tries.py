"""What a model is tried on beside its example: other sizes of what is dynamic, each of them at 1, and numbers of other signs and magnitudes."""
import math

import torch

from . import _arguments as arguments
from . import _conditions

CHANGES = (lambda n: n + 1, lambda n: n * 2, lambda n: n + 2, lambda n: max(1, n - 1), lambda n: n + 32)
VALUES = (("negated", -1.0), ("8 times as large", 8.0))
# Operators for which negative numbers mean something else than in PyTorch: ONNX sorts the corners of a box, torchvision does not.
NOT_NEGATED = {"NonMaxSuppression"}


def named_sizes(bound, axes):
    """{name: (the example's size, limits as text)} of what is dynamic."""
    names = {}
    for leaf in bound.tensors:
        for axis, text in axes.get(leaf.path, {}).items():
            name, limits = arguments.size_name(text)
            names.setdefault(name, (leaf.value.shape[axis], limits))
    return names


def other_inputs(bound, axes, changes=CHANGES):
    """The example's tensors with every dynamic size changed, in ways that a model may accept: (sizes, tensors), each made when it is asked for."""
    names = named_sizes(bound, axes)
    yield from _resized(bound, axes, names, [_changed(names, change) for change in changes])


def _changed(names, change):
    return {name: within(change(n), n, limits) for name, (n, limits) in names.items()}


def much_larger(bound, axes):
    """Sizes at which what grows slowly, as a logarithm, is another number; only where a trace of them is quick."""
    names = named_sizes(bound, axes)
    sizes = _changed(names, lambda n: n * 37 + 1)
    elements = sum(math.prod(_of_leaf(leaf, axes, sizes).get(axis, n) for axis, n in enumerate(leaf.value.shape)) for leaf in bound.tensors)
    return list(_resized(bound, axes, names, [sizes])) if elements <= 1 << 15 else []


def together(bound, axes):
    """A dynamic size made larger together with undeclared axes of the same size: [((path, axis, name), [(path, axis), ...], tensors), ...]."""
    ways = []
    for leaf in bound.tensors:
        for axis, text in axes.get(leaf.path, {}).items():
            size, name = leaf.value.shape[axis], arguments.size_name(text)[0]
            for place in sorted({a for other in bound.tensors for a in range(other.value.dim())}):
                others = [o for o in bound.tensors if o is not leaf and place < o.value.dim() and o.value.shape[place] == size and place not in axes.get(o.path, {})]
                if others:
                    wanted = {o.path: {place: size + 1} for o in others}
                    for o in bound.tensors:
                        wanted.setdefault(o.path, {}).update({a: size + 1 for a, t in axes.get(o.path, {}).items() if arguments.size_name(t)[0] == name})
                    ways.append(((leaf.path, axis, name), [(o.path, place) for o in others], [arguments.resized(o.value, wanted[o.path]) for o in bound.tensors]))
    return ways


def inputs_at_one(bound, axes):
    """Every dynamic size at 1, where programs squeeze, broadcast and branch: each by itself, and all at once."""
    names = named_sizes(bound, axes)
    example = {name: n for name, (n, _) in names.items()}
    ones = {name: within(1, n, limits) for name, (n, limits) in names.items()}
    return list(_resized(bound, axes, names, [example | {name: one} for name, one in ones.items()] + [ones]))


def where_conditions_turn(bound, axes, captured):
    """Sizes at which the program may take another way, by the conditions that capture saw."""
    return list(_resized(bound, axes, named_sizes(bound, axes), _conditions.sizes(bound, axes, captured.conditions))) if captured.conditions else []


def other_values(tensors, model):
    """The tensors with their numbers changed, so that a choice by sign, size or order falls otherwise: [(how, tensors), ...]."""
    kept = NOT_NEGATED & {n.op for n in model.nodes}
    ways = [(how, [t * factor if t.is_floating_point() else t for t in tensors]) for how, factor in VALUES if factor > 0 or not kept]
    ways = ways if any(t.is_floating_point() for t in tensors) else []
    if any(t.is_floating_point() and _constant(t) for t in tensors):
        ways.append(("made up", [_made_up(t, place) if t.is_floating_point() and _constant(t) else t for place, t in enumerate(tensors)]))
    if any(_whole(t) and bool((t > 0).any()) for t in tensors):
        ways.append(("one less in every second place", [_lowered(t) if _whole(t) else t for t in tensors]))
    return ways


def _constant(t):
    """Zeros and ones, as examples often are: negated or made larger, they meet few other choices."""
    return t.numel() > 0 and bool((t == t.flatten()[0]).all())


def _made_up(t, seed):
    size = abs(float(t.flatten()[0]))
    numbers = torch.randn(t.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (numbers * (size if size and math.isfinite(size) else 1.0)).to(t.dtype)


def _whole(t):
    return t.dtype in (torch.int8, torch.int16, torch.int32, torch.int64) and not _is_offsets(t)


def _is_offsets(t):
    """Where bags or sequences begin, perhaps with the end of the last: in order, and as many as another input has."""
    return t.dim() == 1 and t.numel() > 1 and int(t[0]) == 0 and bool((t[1:] >= t[:-1]).all())


def _lowered(t):
    """Whole numbers stay in the range that the example has: indices and lengths stay such."""
    second = (torch.arange(t.numel()) % 2 == 0).reshape(t.shape)
    return torch.where(second & (t > 0), t - 1, t)


def comparable(expected, example):
    """False where numbers beyond those of the example came of it: no engine promises the same choice among them."""
    return all(bool(torch.isfinite(e).all()) or not bool(torch.isfinite(o).all()) for e, o in zip(expected, example) if e.is_floating_point() and not e.is_quantized)


def told(sizes):
    return ", ".join(f"{n} = {s}" for n, s in sizes.items())


def _resized(bound, axes, names, wanted):
    done = [{name: n for name, (n, _) in names.items()}]
    for sizes in wanted:
        if sizes not in done:
            done.append(sizes)
            yield sizes, [arguments.resized(leaf.value, _of_leaf(leaf, axes, sizes)) for leaf in bound.tensors]


def _of_leaf(leaf, axes, sizes):
    """{axis: size} of one tensor, where the named sizes are these."""
    return {axis: sizes[arguments.size_name(text)[0]] for axis, text in axes.get(leaf.path, {}).items()}


def within(n, example, limits):
    if limits.startswith("%"):
        return example + int(limits[1:])
    low, dots, high = limits.partition("..")
    if not dots:
        return n
    return min(max(n, int(low or 0)), int(high) if high else n)
