"""What people pass to an exporter, made uniform: arguments by path, names, dynamic sizes, modes."""
import collections
import collections.abc
import copy
import dataclasses
import enum
import inspect
import operator
import re

from . import _caches
from ._findings import failure


class TrainingMode(enum.Enum):
    """Stands in for torch.onnx.TrainingMode, where PyTorch no longer has it."""
    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.Enum):
    """Stands in for torch.onnx.OperatorExportTypes, where PyTorch no longer has it."""
    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    RAW = 3
    ONNX_FALLTHROUGH = 4


FALLBACKS = {"ONNX": "none", "ONNX_ATEN": "all-aten", "ONNX_ATEN_FALLBACK": "aten", "ONNX_FALLTHROUGH": "custom", "RAW": "none"}
DTYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int16": "i16", "int32": "i32",
          "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool", "complex64": "c64",
          "complex128": "c128", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2"}


def enum_name(value):
    """EVAL, ONNX_ATEN, ... of an enum of torch or ours, or of its name as text."""
    return str(getattr(value, "name", value)).split(".")[-1].upper()


@dataclasses.dataclass
class Leaf:
    path: str
    value: object


def is_tensor(value):
    import torch
    return isinstance(value, torch.Tensor)


def children(value):
    """The parts of a structure as [(key, part)], and how to make one of new parts; None for a leaf."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(n, getattr(value, n)) for n in value._fields], lambda parts: type(value)(*parts)
    if isinstance(value, (list, tuple)):
        return [(str(i), v) for i, v in enumerate(value)], lambda parts: type(value)(parts) if type(value) in (list, tuple) else list(parts)
    if isinstance(value, collections.abc.Mapping):
        keys = [k for k in value if value[k] is not None or not dataclasses.is_dataclass(value)]

        def remake(parts):
            new = dict(zip(keys, parts))
            if type(value) is dict:
                return new
            try:
                return type(value)(**new) if dataclasses.is_dataclass(value) else type(value)(new)  # type: ignore[call-arg]
            except TypeError:
                return new
        return [(str(k), value[k]) for k in keys], remake
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [f.name for f in dataclasses.fields(value) if f.init]
        return [(n, getattr(value, n)) for n in fields], lambda parts: dataclasses.replace(value, **dict(zip(fields, parts)))
    if _caches.is_cache(value):
        return _caches.children(value)
    return None


def flatten(value, path=""):
    """All leaves with their paths: "images.0", "extra.scale"."""
    parts = children(value)
    if parts is None:
        return [Leaf(path, value)]
    return [leaf for key, part in parts[0] for leaf in flatten(part, f"{path}.{key}" if path else key)]


def rebuild(value, replace):
    """The same structure with each leaf replaced."""
    parts = children(value)
    if parts is None:
        return replace(value)
    return parts[1]([rebuild(part, replace) for _, part in parts[0]])


def is_array(value):
    return type(value).__module__ == "numpy" and hasattr(value, "__array_interface__") and not _is_numpy_number(value)


def _is_numpy_number(value):
    """np.float32(2), not an array without axes."""
    return type(value).__module__ == "numpy" and hasattr(value, "item") and not hasattr(value, "ctypes")


def _plain_numbers(value):
    """NumPy's numbers in a structure as Python's."""
    return rebuild(value, lambda v: v.item() if _is_numpy_number(v) else v) if any(_is_numpy_number(leaf.value) for leaf in flatten(value)) else value


def as_tensors(value):
    """NumPy arrays in a structure as tensors."""
    import torch
    return rebuild(value, lambda v: torch.from_numpy(v) if is_array(v) else v)


def resized(t, sizes):
    """A tensor with other sizes {axis: size}: its elements again, or not all of them."""
    import torch
    for axis, size in sizes.items():
        if t.shape[axis]:
            t = t.index_select(axis, torch.arange(size, device=t.device) % t.shape[axis])
    return t


class Bound:
    """The arguments of one call: positional and by keyword, with a path for every tensor in them."""

    def __init__(self, model, args, kwargs):
        self.model, self.signature = model, _signature(model)
        self.numbers = False  # whether numbers that the model returns are outputs
        self.float_layers = False  # whether layers of quantize_dynamic compute in floats (_float_layers)
        self._take(*split_arguments(args, kwargs, self.signature))

    def _take(self, args, kwargs):
        self.args, self.kwargs, self.leaves = args, kwargs, []
        for name, value in self._named():
            self.leaves += flatten(value, name)

    @property
    def tensors(self):
        return [leaf for leaf in self.leaves if is_tensor(leaf.value)]

    @property
    def fixed(self):
        return [leaf for leaf in self.leaves if not is_tensor(leaf.value) and leaf.value is not None]

    def _named(self):
        names = []
        parameters = list(self.signature.parameters.values()) if self.signature else []
        for i, value in enumerate(self.args):
            plain = i < len(parameters) and parameters[i].kind in (parameters[i].POSITIONAL_ONLY, parameters[i].POSITIONAL_OR_KEYWORD)
            several = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), None)
            names.append((parameters[i].name if plain else f"{several or 'input'}_{i}", value))
        return names + list(self.kwargs.items())

    def with_tensors(self, tensors):
        """The same call with these tensors in place of its own, in order."""
        feed = iter(tensors)

        def replace(value):
            return next(feed) if is_tensor(value) else value
        new = copy.copy(self)
        new._take(tuple(rebuild(a, replace) for a in self.args), {k: rebuild(v, replace) for k, v in self.kwargs.items()})
        return new

    def call(self, model, tensors):
        """Calls the model with these tensors in place of its own."""
        new = self.with_tensors(tensors)
        return model(*new.args, **new.kwargs)


def _signature(model):
    target = getattr(model, "forward", model)
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def split_arguments(args, kwargs, signature):
    """A single value is one argument. A single dict, or one at the end, holds arguments by name if the model has such names."""
    args, kwargs = _plain_numbers(args), _plain_numbers(dict(kwargs or {}))
    names: set | None = set()
    explicit: set = set()
    if signature:
        names = explicit = {p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
        if any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values()):
            names = None

    def by_name(value):
        return (isinstance(value, (dict, collections.UserDict)) and not dataclasses.is_dataclass(value) and all(isinstance(k, str) for k in value)
                and (type(value) is dict or bool(explicit & set(value)) if names is None else len(value) > 0 and set(value) <= names))
    if isinstance(args, (dict, collections.UserDict)):
        return ((), dict(args) | kwargs) if by_name(args) else ((args,), kwargs)
    if isinstance(args, list):
        args = tuple(args)
    if not isinstance(args, tuple) or hasattr(args, "_fields"):
        args = (args,)
    last = args[-1] if args else None
    alone = len(args) == 1 and (not isinstance(last, (dict, collections.UserDict)) or not _needs(signature) <= set(last) or names is None and not explicit & set(last))
    if isinstance(last, (dict, collections.UserDict)) and (by_name(last) or last == {}) and not alone:
        return args[:-1], dict(last) | kwargs
    return args, kwargs


def _needs(signature):
    """The parameters without a default: a dict that has them all is a call by name."""
    return {p.name for p in signature.parameters.values() if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)} if signature else {""}


def identifier(path):
    name = re.sub(r"\W", "_", path)
    return name if name and not name[0].isdigit() else "x" + name


def unique(names):
    out, seen = [], set()
    for name in names:
        new, i = name, 1
        while new in seen:
            new, i = f"{name}_{i}", i + 1
        seen.add(new)
        out.append(new)
    return out


LIMITS = re.compile(r":(\d*\.\.\d*|%\d+)$")  # "h:1..64", "h:%32", as the command has them
QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")


def size_text(name):
    """A name of a size as the library reads it: in quotes where it would be taken for something else."""
    if not LIMITS.search(name) and (set(name) & set(",:'") or name != name.strip()):
        return "'" + re.sub(r"(['\\])", r"\\\1", name) + "'"
    return name


def size_name(text):
    """The name in such a text, and its limits: ("h", "1..64")."""
    quoted = QUOTED.match(text)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1]), text[quoted.end():].lstrip(":")
    limits = LIMITS.search(text)
    return (text[:limits.start()], limits[1]) if limits else (text, "")


def dim_text(dim):
    """The text of a torch.export.Dim with its range; None: not one of these."""
    name = getattr(dim, "__name__", None)
    if not name or str(dim).startswith("DimHint"):
        return None
    low, high = getattr(dim, "min", None), getattr(dim, "max", None)
    high = None if high is None or high > 2**31 else high
    return name if low in (None, 0, 1, 2) and high is None else f"{name}:{low if low is not None else 0}..{high if high is not None else ''}"


def _axis(a):
    """A whole number as int, NumPy's too; anything else as it is."""
    try:
        return a if isinstance(a, bool) else operator.index(a)
    except TypeError:
        return a


def _named_axis(value, axis, name):
    text = name if isinstance(name, str) else dim_text(name)
    if text is None or type(axis) is not int:
        raise _wrong_axes(value, {axis: name})
    if not text.strip() or re.fullmatch(r"\s*[-+]?\d+\s*", text):
        raise failure("use.dynamic-axes", f"axis {axis} of {value!r} is called {text!r}", hint=f'give it a name: dynamic_axes={{{value!r}: {{{axis}: "batch"}}}}')
    return size_text(text) if isinstance(name, str) else text


def _wrong_axes(value, axes):
    return failure("use.dynamic-axes", f"dynamic_axes[{value!r}] is {axes!r}", hint=f'write dynamic_axes={{{value!r}: {{0: "batch"}}}}, or a list of axes')


def axes_by_name(dynamic_axes):
    """torch's forms of dynamic_axes as {value: {axis: name}}: lists of axes get torch's names; and which were made up."""
    out, made_up = {}, []
    if not isinstance(dynamic_axes or {}, collections.abc.Mapping) or not all(isinstance(value, str) for value in dynamic_axes or ()):
        raise failure("use.dynamic-axes", f"dynamic_axes is {dynamic_axes!r}", hint='write dynamic_axes={"NAME OF AN INPUT": {0: "batch"}}')
    for value, axes in (dynamic_axes or {}).items():
        if isinstance(axes, collections.abc.Mapping):
            out[value] = {_axis(a): _named_axis(value, _axis(a), n) for a, n in axes.items()}
            continue
        numbers = [_axis(a) for a in axes] if isinstance(axes, collections.abc.Iterable) and not isinstance(axes, (str, bytes)) else [_axis(axes)]
        if not all(type(a) is int for a in numbers):
            raise _wrong_axes(value, axes)
        out[value] = {a: size_text(f"{value}_dynamic_axes_{i + 1}") for i, a in enumerate(numbers)}
        made_up += list(out[value].values())
    return out, made_up


def _without_stars(dynamic_shapes, bound):
    """What is said of *args and **kwargs as a whole, said of the arguments that they hold."""
    parameters = bound.signature.parameters.values() if bound.signature else ()
    out = dict(dynamic_shapes)
    for p in parameters:
        if p.kind == p.VAR_POSITIONAL and p.name in out:
            held = [name for name, _ in bound._named() if name.startswith(f"{p.name}_")]
            out.update(zip(held, out.pop(p.name) or ()))
        elif p.kind == p.VAR_KEYWORD and isinstance(out.get(p.name), collections.abc.Mapping):
            out.update(out.pop(p.name))
    return out


def made_up_name(path, axis):
    """Of an axis that is dynamic and was given no name."""
    return f"{identifier(path)}_dim_{axis}"


def _plain_shapes(dynamic_shapes, bound):
    """ShapesCollection and AdditionalInputs as the structure that they stand for."""
    made = getattr(dynamic_shapes, "dynamic_shapes", None)
    if callable(made):
        return made(bound.model, bound.args, bound.kwargs)
    if not isinstance(dynamic_shapes, (collections.abc.Mapping, tuple, list)):
        raise failure("use.dynamic-shapes", f"dynamic_shapes is {dynamic_shapes!r}", hint='write dynamic_shapes={"x": {0: "batch"}}, with the names of forward\'s own arguments')
    return dynamic_shapes


def _axes_of_tensor(spec, value, path):
    """{axis: dim} of one tensor's entry."""
    wrong = failure("use.dynamic-shapes", f"dynamic_shapes has {spec!r} for '{path}', which is a tensor with {value.dim()} axes", hint='write {0: "batch"} for it, one entry per axis, or None')
    if isinstance(spec, collections.abc.Mapping):
        axes = {_axis(a): d for a, d in spec.items()}
        if not all(type(a) is int and -value.dim() <= a < value.dim() for a in axes):
            raise wrong
        return {a % value.dim(): d for a, d in axes.items()}
    if not isinstance(spec, (tuple, list)) or len(spec) != value.dim():
        raise wrong
    return dict(enumerate(spec))


def axes_of_shapes(dynamic_shapes, bound):
    """torch.export's dynamic_shapes as {path: {axis: name}}."""
    dynamic_shapes = _plain_shapes(dynamic_shapes, bound)
    out = {}

    def name_of(dim, path, axis):
        if dim is None or isinstance(dim, int):
            return None
        if isinstance(dim, str):
            return dim
        if text := dim_text(dim):
            return text
        if "STATIC" in str(dim):
            return None
        return made_up_name(path, axis)

    def walk(spec, value, path):
        if spec is None:
            return
        if is_tensor(value):
            named = {a: name_of(d, path, a) for a, d in _axes_of_tensor(spec, value, path).items()}
            out[path] = {a: n for a, n in named.items() if n}
            return
        parts = children(value)
        if parts is None:
            return
        if _caches.is_cache(value) and hasattr(value, "layers"):
            spec = _caches.flat_shapes(value, spec)
        for i, (key, part) in enumerate(parts[0]):
            inner = spec.get(key) if isinstance(spec, collections.abc.Mapping) else spec[i] if i < len(spec) else None
            walk(inner, part, f"{path}.{key}" if path else key)
    named = bound._named()
    if isinstance(dynamic_shapes, collections.abc.Mapping):
        dynamic_shapes = _without_stars(dynamic_shapes, bound)
        unknown = [name for name in dynamic_shapes if name not in dict(named)]
        if unknown:
            raise failure("use.dynamic-shapes", f"dynamic_shapes names {unknown[0]!r}, and the model is called with " + ", ".join(name for name, _ in named),
                          hint="dynamic_shapes has the names of forward's own arguments; dynamic_axes has those of input_names")
        for name, value in named:
            walk(dynamic_shapes.get(name), value, name)
    else:
        if len(dynamic_shapes) != len(named):
            raise failure("use.dynamic-shapes", f"dynamic_shapes has {len(dynamic_shapes)} entries, and the model is called with {len(named)} arguments: " + ", ".join(name for name, _ in named),
                          hint="give one for each, None where nothing is dynamic")
        for (name, value), spec in zip(named, dynamic_shapes):
            walk(spec, value, name)
    return out
