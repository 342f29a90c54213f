"""Caches of transformers as structures: the tensors of their layers (keys and values, states of convolutions, counts), one by one."""
import copy
import sys

HALVES = ("self_attention_cache", "cross_attention_cache")  # of an EncoderDecoderCache


def is_cache(value):
    classes = sys.modules.get("transformers.cache_utils")
    return classes is not None and isinstance(value, getattr(classes, "Cache", ())) and (_halves(value) or hasattr(value, "layers"))


def _halves(cache):
    return all(hasattr(cache, name) for name in HALVES)


def _with(cache, attributes):
    """A copy with other attributes, whose dicts are its own: models write to them."""
    new = copy.copy(cache)
    for name, value in (vars(cache) | dict(attributes)).items():
        setattr(new, name, dict(value) if type(value) is dict else value)
    return new


def children(cache):
    """The parts as [(key, part)], and how to make a cache like this one of new parts."""
    import torch
    if _halves(cache):
        return [(name, getattr(cache, name)) for name in HALVES], lambda parts: _with(cache, zip(HALVES, parts))
    places = [(i, name) for i, layer in enumerate(cache.layers) for name, part in vars(layer).items() if isinstance(part, torch.Tensor) and not name.startswith("_")]

    def remade(parts):
        new = [[] for _ in cache.layers]
        for (i, name), part in zip(places, parts):
            new[i].append((name, part))
        return _with(cache, {"layers": [_with(layer, attributes) for layer, attributes in zip(cache.layers, new)]})
    return [(f"{i}.{name}", getattr(cache.layers[i], name)) for i, name in places], remade


class _Kind:
    """What a cache is beside its tensors. torch.export compares it from call to call."""

    def __init__(self, cache):
        parts, self.remade = children(cache)
        self.names = [type(cache).__name__] + [key for key, _ in parts]

    def __eq__(self, other):
        return isinstance(other, _Kind) and self.names == other.names


def register():
    """Registers with torch.export the caches that are not registered yet."""
    from torch.utils import _pytree
    classes = sys.modules.get("transformers.cache_utils")
    base = getattr(classes, "Cache", None)
    for kind in vars(classes).values() if base else ():
        if base and isinstance(kind, type) and issubclass(kind, base) and kind not in _pytree.SUPPORTED_NODES:
            _pytree.register_pytree_node(kind, lambda cache: ([part for _, part in children(cache)[0]], _Kind(cache)), lambda parts, kind: kind.remade(parts),
                                         serialized_type_name=f"{kind.__module__}.{kind.__name__}", to_dumpable_context=lambda kind: kind.names,
                                         from_dumpable_context=lambda names: names,
                                         flatten_with_keys_fn=lambda cache: ([(_pytree.MappingKey(key), part) for key, part in children(cache)[0]], _Kind(cache)))
