"""Caches of transformers as structures: the tensors of their layers (keys and values, states of convolutions, counts), one by one."""
import copy
import sys

HALVES = ("self_attention_cache", "cross_attention_cache")  # of an EncoderDecoderCache


COUNT = "cumulative_length"  # of tokens that a sliding layer has seen: a number, and in a trace a tensor


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
    places = [(i, name) for i, layer in enumerate(cache.layers) for name, part in vars(layer).items()
              if isinstance(part, torch.Tensor) and not name.startswith("_") and not (part.dim() == 0 and name == COUNT and not getattr(layer, "is_compileable", False))]

    def remade(parts):
        new = [[] for _ in cache.layers]
        for (i, name), part in zip(places, parts):
            new[i].append((name, part))
        return _with(cache, {"layers": [_with(layer, attributes + _grown(layer, dict(attributes))) for layer, attributes in zip(cache.layers, new)]})
    return [(f"{i}.{name}", getattr(cache.layers[i], name)) for i, name in places], remade


def _seen(layer):
    """How many tokens a sliding layer has seen, and how many it holds; None where it does not count them."""
    import torch
    count, keys = getattr(layer, COUNT, None), getattr(layer, "keys", None)
    if not isinstance(count, int) or not isinstance(keys, torch.Tensor):
        return None
    recording = torch._C._get_tracing_state()
    torch._C._set_tracing_state(None)  # these are the example's sizes, no part of the program
    try:
        return (count, keys.shape[-2]) if keys.dim() > 2 else None
    finally:
        torch._C._set_tracing_state(recording)


def _grown(layer, tensors):
    """The count of a layer that still holds all that it has seen: as many as its new tensors have."""
    seen = _seen(layer)
    return [(COUNT, tensors["keys"].shape[-2])] if seen and seen[0] == seen[1] and "keys" in tensors else []


def fixed_counts(value):
    """The numbers of tokens that full sliding layers have seen: no tensors, so that an export fixes them."""
    layers = [layer for name in HALVES for layer in getattr(getattr(value, name), "layers", ())] if _halves(value) else value.layers
    return sorted({seen[0] for seen in map(_seen, layers) if seen and seen[0] != seen[1]})


def flat_shapes(cache, spec):
    """What people say of a cache's sizes, one entry per tensor: pairs of each layer, lists of keys and of values, or a dict of these."""
    parts = children(cache)[0]
    if isinstance(spec, dict) and set(spec) == {"key_cache", "value_cache"}:
        spec = [spec["key_cache"], spec["value_cache"]]
    if not isinstance(spec, (list, tuple)) or len(spec) == len(parts) or not all(isinstance(s, (list, tuple)) for s in spec):
        return spec
    flat = [s for group in spec for s in group] if len(spec) == len(cache.layers) else [s for pair in zip(*spec) for s in pair]
    return flat if len(flat) == len(parts) else spec


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
