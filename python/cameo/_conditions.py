"""What a captured program decides by sizes: the numbers that its conditions compare sizes with, and the sizes at which they may turn out otherwise."""
import torch

from . import _arguments as arguments

LEAST, MOST = 3, 100_000  # a branch at 1 or 2, or by parity, is met by the sizes that are tried anyway
ELEMENTS = 1 << 22        # of the inputs of one try
TRIES = 4


def nodes_behind(value, ends):
    """The nodes that a traced value is computed by; nothing behind those of the kinds `ends`."""
    todo, seen = [value], set()
    while todo:
        value = todo.pop()
        if value.unique() in seen:
            continue
        seen.add(value.unique())
        yield value.node()
        if value.node().kind() not in ends:
            todo += list(value.node().inputs())


def of_traced(value):
    """Numbers in what a traced value is computed from."""
    found = set()
    for node in nodes_behind(value, ("aten::size",)):  # its axis is no size
        if node.kind() == "prim::Constant" and node.hasAttribute("value") and node.kindOf("value") in ("i", "t"):
            number = getattr(node, node.kindOf("value"))("value")
            found.add(int(number) if not isinstance(number, torch.Tensor) or number.numel() == 1 else 0)
    return _in_range(found)


def of_program(program):
    """Numbers in the conditions under which torch.export recorded a program."""
    try:
        import sympy
        from torch._guards import detect_fake_mode
        values = [node.meta["val"] for node in program.graph.nodes if isinstance(node.meta.get("val"), torch.Tensor)]
        guards = detect_fake_mode(values).shape_env.guards
        return _in_range({int(n) for guard in guards for n in guard.expr.atoms(sympy.Integer)})
    except Exception:  # a program without symbols, or loaded from a file, which does not keep them
        return set()


def _in_range(numbers):
    return {n for n in numbers if LEAST <= n <= MOST}


def sizes(bound, axes, numbers):
    """Sizes at which conditions on these numbers may turn out otherwise: [{name: size}, ...]."""
    from ._tries import named_sizes, within
    names = named_sizes(bound, axes)
    wanted = []
    for number in sorted(numbers):
        for change in (lambda n, c=number: (n // c + 1) * c, lambda n, c=number: c + 1 if n <= c else c):
            sizes = {name: within(change(n), n, limits) for name, (n, limits) in names.items()}
            if sizes not in wanted and _elements(bound, axes, sizes) <= ELEMENTS:
                wanted.append(sizes)
    return wanted[:TRIES]


def _elements(bound, axes, sizes):
    total = 0
    for leaf in bound.tensors:
        count = 1
        for axis, n in enumerate(leaf.value.shape):
            text = axes.get(leaf.path, {}).get(axis)
            count *= sizes[arguments.size_name(text)[0]] if text else n
        total += count
    return total
