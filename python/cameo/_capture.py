"""From a live PyTorch model to an archive in memory: by tracing, scripting, or torch.export."""
import collections
import contextlib
import dataclasses
import inspect
import io
import logging
import struct
import sys
import time
import warnings
from typing import Any

import torch

from . import _archive, _caches, _conditions
from . import _arguments as arguments
from ._archive import STAMP, lendable, lent
from ._findings import note
from ._watch import watching

_TOLD: dict = {}  # warnings of traced models: a model is traced several times, and warns once
LENT_FROM = 1024  # bytes; smaller tensors of torch.export programs travel in the archive


_SCALARS = {name: dtype for dtype, name in _archive.STORAGES.items()}  # as types of a trace call them


class Captured:
    """An archive, what stands beside it, and what capturing told."""

    def __init__(self, how, archive):
        self.how, self.archive = how, archive
        self.inputs: Any = []     # parameter names of the archive's forward, for tensors in order; None: taken from the archive
        self.fixed = {}           # parameters that are not tensors: path -> value
        self.output_names = None  # None: the library finds them
        self.returned = ""        # what the model gave, in words
        self.expected = None      # outputs that were seen while capturing, in order
        self.lent, self.stamp = None, 0
        self.findings = []
        self.frozen = []          # _watch.Frozen: what a trace made constants of
        self.conditions = set()   # numbers that it compared sizes with (_conditions)
        self.constants = []       # lines at which it made tensors of Python's numbers
        self.archive_s = 0.0
        self.module = None        # of a trace
        self.program = None       # of torch.export
        self._complete = None     # writes PyTorch's own archive, which knows the user's lines, where `archive` is ours

    def pack(self, ours, theirs):
        """The archive: ours, which is quick to make, or PyTorch's own for what is not plain."""
        started = time.perf_counter()
        try:
            self.archive, weights = ours()
            self.lent, self.stamp, self._complete = weights.tensors, STAMP, theirs
        except Exception:  # whatever it is that this one does not know, PyTorch does
            theirs()
        self.archive_s = time.perf_counter() - started

    def complete(self):
        """Whether there is a better archive than the one that was made first; it is made."""
        if self._complete is None:
            return False
        self._complete()
        self._complete = None
        return True

    def results_of_operators(self):
        """(operator, [(dtype, sizes or None), ...]) for every call that capture saw."""
        if self.module is not None:
            for node in self.module.inlined_graph.nodes():
                types = [o.type() for o in _parts(node)]
                if all(t.kind() == "TensorType" for t in types):
                    yield node.kind(), [(_SCALARS.get(t.scalarType()), t.sizes()) for t in types]
        elif self.program is not None:
            for node in self.program.graph.nodes:
                name = node.target.name() if node.op == "call_function" and hasattr(node.target, "name") and callable(node.target.name) else ""
                values = node.meta.get("val")
                values = values if isinstance(values, (tuple, list)) else [values]
                if name and all(isinstance(v, torch.Tensor) for v in values):
                    yield name.split(".")[0], [(v.dtype, [n if isinstance(n, int) else None for n in v.shape]) for v in values]

    def computes_nothing(self):
        """Whether it holds torch.onnx.ops.symbolic: placeholders, whose results in PyTorch are zeros."""
        return any(name.startswith("onnx_symbolic::") for name, _ in self.results_of_operators())

    def options(self):
        return {"lent": self.lent, "lent_stamp": self.stamp} if self.lent else {}


def _parts(node):
    """The results of a traced call; of a list of tensors those that the trace took from it."""
    outputs = list(node.outputs())
    if len(outputs) == 1 and outputs[0].type().kind() == "ListType":
        return next((list(use.user.outputs()) for use in outputs[0].uses() if use.user.kind() == "prim::ListUnpack"), outputs)
    return outputs


@contextlib.contextmanager
def mode(model, training, findings):
    """Evaluation, training, or as it is; given back afterwards module by module."""
    if not isinstance(model, torch.nn.Module) or training == "PRESERVE":
        yield
        return
    wanted = training == "TRAINING"
    try:
        before = [(m, m.training) for m in model.modules()]
        if any(was != wanted for _, was in before):
            model.train(wanted)
            if not wanted and any(was for _, was in before):
                findings.append(note("export.mode", "the model was in training mode: exported as in evaluation, and set back"))
    except Exception:  # programs that have no modes
        before = []
    try:
        yield
    finally:
        for m, was in before:
            m.training = was


@contextlib.contextmanager
def still_observers(model, training, findings):
    """Fake quantizers keep the scales that they learned: in evaluation their observers rest while the model is exported."""
    flags = [m.observer_enabled for m in model.modules() if isinstance(getattr(m, "observer_enabled", None), torch.Tensor) and hasattr(m, "fake_quant_enabled")] if (
        training == "EVAL" and isinstance(model, torch.nn.Module) and not isinstance(model, torch.jit.ScriptModule)) else []
    before = [f.clone() for f in flags]
    if any(bool(b.any()) for b in before):
        findings.append(note("export.observers", f"{sum(bool(b.any()) for b in before)} fake quantizers had their observers on: they rest during the export",
                             "the scales are those that were learned"))
    try:
        for f in flags:
            f.zero_()
        yield
    finally:
        for f, b in zip(flags, before):
            f.copy_(b)


@contextlib.contextmanager
def seen_data():
    """`x.data` escapes the tracer; while it works, it is what it means: x.detach()."""
    base = torch._C.TensorBase.data if hasattr(torch._C, "TensorBase") else None
    if base is None or "data" in torch.Tensor.__dict__:
        yield
        return
    torch.Tensor.data = property(lambda t: t.detach() if torch.jit.is_tracing() else base.__get__(t), lambda t, v: base.__set__(t, v))
    try:
        yield
    finally:
        del torch.Tensor.data


@contextlib.contextmanager
def state_kept(model):
    """Buffers that the model writes to, or has others in the place of, are afterwards as they were. Gives a function that names the latter."""
    owners = dict(model.named_modules()) if isinstance(model, torch.nn.Module) and not isinstance(model, torch.jit.ScriptModule) else {}
    before = [(m, name, t, t.clone()) for m in owners.values() for name, t in m._buffers.items() if t is not None and not t.is_meta and not t.is_inference()]
    try:
        yield lambda: [f"{path}.{name}".lstrip(".") for path, m in owners.items() for owner, name, t, _ in before if owner is m and m._buffers.get(name) is not t]
    finally:
        for owner, name, t, values in before:
            if owner._buffers.get(name) is not t:
                owner._buffers[name] = t
            if not _same_numbers(t, values):
                t.copy_(values)


def _same_numbers(a, b):
    if a.is_floating_point() and a.dtype.itemsize == 1:  # torch has no comparison of these
        a, b = a.view(torch.uint8), b.view(torch.uint8)
    return torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))


def apart(model, tensors):
    """Those that lie in the memory of a buffer as copies: state_kept changes that memory back."""
    held = {t.untyped_storage().data_ptr() for t in model.buffers()} if isinstance(model, torch.nn.Module) else set()
    return [t.clone() if t.layout == torch.strided and t.untyped_storage().data_ptr() in held else t for t in tensors]


class Quiet:
    """Keeps what PyTorch and the model print while one way of capture is tried: a failed way may print thousands of lines."""

    def __init__(self, verbose):
        self._kept, self._verbose = (io.StringIO(), io.StringIO()), verbose

    def __enter__(self):
        self._old, self._disabled = (sys.stdout, sys.stderr), logging.root.manager.disable
        if not self._verbose:
            sys.stdout, sys.stderr = self._kept
            logging.disable(logging.CRITICAL)

    def __exit__(self, kind, *_):
        sys.stdout, sys.stderr = self._old
        logging.disable(self._disabled)
        if kind is None:
            for stream, kept in zip(self._old, self._kept):
                stream.write(kept.getvalue())


@contextlib.contextmanager
def exporting(answer):
    """What torch.onnx.is_in_onnx_export() says, however it was imported."""
    asked = getattr(torch.onnx, "is_in_onnx_export", None)
    before = getattr(asked, "__code__", None)
    if asked and before:
        asked.__code__ = (lambda: True).__code__ if answer else (lambda: False).__code__
    try:
        yield
    finally:
        if asked and before:
            asked.__code__ = before


@contextlib.contextmanager
def fused(model):
    """PyTorch's own fused attention, as it is used outside of an export. Gives whether this model may use it."""
    mha = getattr(torch.backends, "mha", None)
    may = mha is not None and isinstance(model, torch.nn.Module) and any(isinstance(m, (torch.nn.TransformerEncoder, torch.nn.TransformerEncoderLayer)) for m in model.modules())
    before = mha.get_fastpath_enabled() if mha and may else False
    if mha and may:
        mha.set_fastpath_enabled(True)
    try:
        yield may
    finally:
        if mha and may:
            mha.set_fastpath_enabled(before)


@contextlib.contextmanager
def plain(told=True):
    """No gradients, no fused attention of PyTorch's own; `told`: torch.onnx.is_in_onnx_export() is true."""
    mha = getattr(torch.backends, "mha", None)
    fast = mha.get_fastpath_enabled() if mha else None
    if mha:
        mha.set_fastpath_enabled(False)
    try:
        with exporting(told), torch.no_grad():
            yield
    finally:
        if mha:
            mha.set_fastpath_enabled(fast)


def tensor_outputs(result, findings, numbers=False):
    """The tensors of what a model returned, named by path; what is not a tensor is dropped with a note. numbers=True: numbers are tensors."""
    leaves = arguments.flatten(result, "" if arguments.children(result) else "output")
    named = isinstance(result, dict) or hasattr(result, "_fields") or hasattr(result, "__dataclass_fields__")
    names, tensors = [], []
    for leaf in leaves:
        if arguments.is_tensor(leaf.value) or numbers and isinstance(leaf.value, (bool, int, float)):
            names.append(leaf.path if named or leaf.path == "output" else f"output.{leaf.path}")
            tensors.append(leaf.value if arguments.is_tensor(leaf.value) else _of_number(leaf.value))
        elif leaf.value is not None:
            findings.append(note("export.output", f"the output '{leaf.path}' is {leaf.value!r}, no tensor: dropped"))
    if len(names) == 1 and not named:
        names = ["output"]
    return names, tensors


def _of_number(value):
    """A tensor in place of a number, whose element type the comparison may choose."""
    t = torch.as_tensor(value)
    t.is_number = True
    return t


def constant_places(recorded):
    """Where the tracer saw Python's numbers become tensors."""
    return list(dict.fromkeys(f"{w.filename}:{w.lineno}" for w in recorded
                              if issubclass(w.category, torch.jit.TracerWarning) and "registered as constants" in str(w.message)))


def trace(model, bound):
    """torch.jit.trace of a function over flat tensors, which keeps the module's own names of weights and places."""
    from torch.jit import _trace
    names = arguments.unique([arguments.identifier(leaf.path) for leaf in bound.tensors])
    out = Captured("trace", None)
    out.inputs = names
    tensors = [leaf.value.clone() for leaf in bound.tensors]  # the tracer tells inputs apart by their identity, and a model may write to them

    def call(*flat):
        dropped = []
        returned = bound.call(model, flat)
        out.returned = "None" if returned is None else f"an object of {type(returned).__name__}"
        out.output_names, results = tensor_outputs(returned, dropped)
        out.expected = [r.detach() for r in results]
        out.findings = dropped
        if not results:
            from ._findings import failure
            raise failure("export.no-output", f"the model returns {out.returned}, in which there is no tensor",
                          hint="return tensors, or tuples, lists, dicts or dataclasses of tensors")
        return tuple(results) if len(results) > 1 else results[0]

    old_map = _trace._trace_module_map
    module_map = {"__module": model}

    def register(module, prefix):
        for name, child in module.named_children():
            module_map[child] = f"{prefix}.{name}"
            register(child, f"{prefix}.{name}")
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        try:
            register(model, "__module")
            _trace._trace_module_map = module_map
            module = _trace.make_module(model, None, torch.jit._state._python_cu if hasattr(torch.jit._state, "_python_cu") else _trace._python_cu)
            lookup = _trace._create_interpreter_name_lookup_fn(0)
            with seen_data(), watching() as out.frozen:
                module._c._create_method_from_trace("forward", call, tuple(tensors), lookup, False, False, names, False)
        finally:
            _trace._trace_module_map = old_map
    for w in recorded:
        if not issubclass(w.category, (torch.jit.TracerWarning, DeprecationWarning, FutureWarning)):  # the tracer reads attributes that nobody else does
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno, registry=_TOLD)
    out.constants = constant_places(recorded)
    out.conditions = {n for f in out.frozen for n in f.numbers}
    out.module = module
    out.pack(lambda: _archive.traced(module), lambda: save(out, module))
    return out


def save(out, module):
    """PyTorch's archive, with placeholders in place of the weights, which stay where they are."""
    borrowed = []
    out.stamp, out.lent = STAMP, []
    for m in module.modules():
        for table in (torch._C.ParameterDict(m._c), torch._C.BufferDict(m._c)):
            borrowed += [(m._c, name, t, t.detach()) for name, t in table.items() if lendable(t)]
    try:
        for (owner, name, _, _), stand_in in zip(borrowed, placeholders(out, [b[3] for b in borrowed])):
            owner.setattr(name, stand_in)
        out.archive = module.save_to_buffer()
    finally:
        for owner, name, t, _ in borrowed:
            owner.setattr(name, t)


def placeholders(out, tensors):
    """One per tensor, the same for the same; those of a dtype share a storage, since every storage is a file in the archive."""
    by_key, keys = {}, []
    for t in tensors:
        key = (t.data_ptr(), t.shape, t.stride(), t.dtype, t.device)
        keys.append(key)
        if key not in by_key:
            by_key[key] = len(out.lent)
            out.lent.append(lent(t))
    used = {}
    for key, index in by_key.items():
        used.setdefault(key[3], []).append((key, index))
    made = {}
    for dtype, entries in used.items():
        marks = bytearray(b"".join(struct.pack("<QQ", out.stamp, index) for _, index in entries))
        base = torch.frombuffer(marks, dtype=torch.uint8).clone().view(dtype)
        step = 16 // base.element_size()
        for i, (key, _) in enumerate(entries):
            made[key] = base.as_strided(key[1], (0,) * len(key[1]), i * step)
    return [made[k] for k in keys]


def _alone(out, t):
    """A placeholder in a storage of its own: torch.export writes whole storages, once per tensor."""
    out.lent.append(lent(t))
    raw = torch.frombuffer(bytearray(struct.pack("<QQ", out.stamp, len(out.lent) - 1)), dtype=torch.uint8).clone()
    return raw.view(t.dtype).as_strided(tuple(t.shape), (0,) * t.dim())


def script(model, bound):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        scripted = model if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)) else torch.jit.script(model)
    out = Captured("script", None)
    if isinstance(scripted, torch.jit.ScriptModule):
        names = [a.name for a in scripted.forward.schema.arguments if a.name != "self"]
        started = time.perf_counter()
        save(out, scripted)
        out.archive_s = time.perf_counter() - started
    else:
        names = [a.name for a in scripted.schema.arguments]
        out.archive = scripted.save_to_buffer()
    values = dict(zip(names, bound.args)) | bound.kwargs
    for name, value in values.items():
        for leaf in arguments.flatten(value, name):
            if arguments.is_tensor(leaf.value):
                out.inputs.append(leaf.path)
            else:
                out.fixed[leaf.path] = leaf.value
    return out


def exported(model, bound, axes, strict=False):
    """torch.export, with dims named as dynamic_axes or dynamic_shapes name them."""
    if not isinstance(model, torch.export.ExportedProgram):
        _caches.register()
        program = _program_of(model, bound, axes, strict)
    else:
        program = model
    out = Captured("export", None)
    out.program, out.conditions = program, _conditions.of_program(program) if axes else set()
    out.inputs = None
    from . import _program
    out.pack(lambda: _program.archive(program), lambda: save_program(out, program))
    return out


def _program_of(model, bound, axes, strict):
    """An axis of size one is fixed by torch.export whatever is said of it, so that dynamic ones are shown as two."""
    shapes = dynamic_shapes(bound, axes) if axes else None
    twos = [{a: 2 for a in axes.get(leaf.path, {}) if leaf.value.shape[a] == 1} for leaf in bound.tensors]
    if any(twos):
        wide = bound.with_tensors([arguments.resized(leaf.value, sizes) for leaf, sizes in zip(bound.tensors, twos)])
        with contextlib.suppress(Exception):  # a model that takes only one
            return _export(model, wide, shapes, strict)
    return _export(model, bound, shapes, strict)


def _export(model, bound, shapes, strict):
    """torch.export, once more where the model returns dataclasses that it does not know yet."""
    _register_dataclasses((bound.args, bound.kwargs))
    with _with_named_kwargs(model, bound):
        try:
            return torch.export.export(model, bound.args, bound.kwargs, dynamic_shapes=shapes, strict=strict)
        except RuntimeError as e:
            if "not a known type" not in str(e) or not _register_dataclasses(bound.call(model, [leaf.value for leaf in bound.tensors])):
                raise
            return torch.export.export(model, bound.args, bound.kwargs, dynamic_shapes=shapes, strict=strict)


@contextlib.contextmanager
def _with_named_kwargs(model, bound):
    """What forward takes as **kwargs are parameters of its own for a while: torch.export 2.13 finds no dynamic_shapes for them otherwise."""
    parameters = list(bound.signature.parameters.values()) if bound.signature else []
    others = [name for name in bound.kwargs if name not in {p.name for p in parameters}]
    if not others or not isinstance(model, torch.nn.Module):
        yield
        return
    plain, had = model.forward, vars(model).get("forward")

    def forward(*args, **kwargs):
        return plain(*args, **kwargs)
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in others]
    forward.__signature__ = bound.signature.replace(parameters=[p for p in parameters if p.kind != p.VAR_KEYWORD] + named)  # type: ignore[attr-defined]
    vars(model)["forward"] = forward
    try:
        yield
    finally:
        if had is None:
            del vars(model)["forward"]
        else:
            vars(model)["forward"] = had


def _register_dataclasses(value):
    """Registers the dataclasses in a structure; whether there was one to register."""
    from torch.utils import _pytree
    parts = arguments.children(value)
    if parts is None:
        return False
    kind, new = type(value), False
    if dataclasses.is_dataclass(value) and kind not in _pytree.SUPPORTED_NODES:
        torch.export.register_dataclass(kind, serialized_type_name=f"{kind.__module__}.{kind.__qualname__}")
        new = True
    return any([_register_dataclasses(part) for _, part in parts[0]]) or new


def save_program(out, program):
    """PyTorch's archive of an ExportedProgram; its large weights stay where they are."""
    weights = program._state_dict if isinstance(getattr(program, "_state_dict", None), dict) else {}
    kept, made = dict(weights), {}
    out.stamp, out.lent = STAMP, []
    buffer = io.BytesIO()
    try:
        for name, t in kept.items():
            if lendable(t, LENT_FROM):
                if id(t) not in made:
                    made[id(t)] = _alone(out, t.detach())
                stand_in = made[id(t)]
                weights[name] = torch.nn.Parameter(stand_in, requires_grad=False) if isinstance(t, torch.nn.Parameter) else stand_in
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.export.save(program, buffer)
    finally:
        weights.update(kept)
    out.archive = buffer.getbuffer()


def dynamic_shapes(bound, axes):
    paths = iter([leaf.path for leaf in bound.tensors])

    def spec(value):
        if not arguments.is_tensor(value):
            return None
        named = axes.get(next(paths), {})
        return {a % value.dim(): torch.export.Dim.AUTO for a, n in named.items()} or None
    args = tuple(_spec_of(a, spec) for a in bound.args)
    kwargs = {k: _spec_of(v, spec) for k, v in bound.kwargs.items()}
    parameters = list(bound.signature.parameters.values()) if bound.signature else []
    stars = next((i for i, p in enumerate(parameters) if p.kind == p.VAR_POSITIONAL), len(args))
    if len(args) > stars:  # what *rest takes is one entry
        args = (*args[:stars], args[stars:])
    if kwargs:
        return {p.name: a for p, a in zip(parameters, args)} | kwargs
    return args


def _spec_of(value, spec):
    parts = arguments.children(value)
    if parts is None:
        return spec(value)
    inner = [_spec_of(part, spec) for _, part in parts[0]]
    if type(value) in (dict, collections.OrderedDict):  # torch.export takes others, as outputs of transformers, as lists
        return dict(zip([k for k, _ in parts[0]], inner))
    return type(value)(inner) if type(value) in (list, tuple) else inner
