"""Custom operators from Python: @cameo.lowering, and the registrations that people already have."""
import contextlib

from ._cameo import Error
from ._findings import failure
from ._graph import Graph, Value

_registered = {}


def lowering(*names, opset=None):
    """Says what an operator becomes: `@cameo.lowering("mylib::op")` on a function of a graph and the operator's arguments.

        @cameo.lowering("mylib::scale_shift")
        def scale_shift(g, x, scale):
            return g.Add(g.Mul(x, scale), 1.0)

    Tensors are values of the graph, everything else is as the call has it. Operators are ONNX's newest unless `opset` says
    otherwise. A function of several results gives a tuple."""
    def register(function):
        for name in names:
            _registered[name.removeprefix("torch.ops.").replace(".", "::", 1) if "::" not in name else name] = (function, opset)
        return function
    return register


class Lowerings:
    """Everything that the user registered, for one export."""

    def __init__(self, table, opset, fixed_sizes):
        self._opset, self._fixed_sizes = opset, fixed_sizes
        self._functions = dict(_torch_registrations(opset))
        self._functions |= {name: (f, o or 0) for name, (f, o) in _registered.items()}
        for target, function in (table or {}).items():
            names = target.name() if hasattr(target, "name") and callable(target.name) else str(target)
            if isinstance(function, (list, tuple)):  # torch.onnx takes several, of which the first that fits is used
                function = next(iter(function), None)
            self._functions[names] = (_scripted(function), 0)
        self._calls: list = []
        self._seen: dict = {}  # operator: [(element type, sizes) or None for each result]

    def options(self):
        names = list(self._functions) + (["cameo::call"] if self._calls else [])
        return {"lowering_names": names, "lowering": self._lower} if names else {}

    def _lower(self, host, op, positional, keywords, has_signature):
        base = op.split(".")[0]
        if base == "cameo::call":
            return self._call(host, *positional, **keywords)
        if _writes(op):
            raise failure("use.lowering", f"{base} writes to its arguments, which a lowering cannot", hint="let the operator return new tensors")
        function, opset = self._functions.get(op) or self._functions[base]
        graph = Graph(host, opset)
        args = [_wrap(graph, v) for v in positional]
        args += _missing_arguments(op, len(args), {k: _wrap(graph, v) for k, v in keywords.items()}, has_signature)
        results = _asked(function, f"the lowering of {base}", graph, args)
        given = results if isinstance(results, (tuple, list)) else [results]
        first = next((a for a in args if isinstance(a, Value)), None)
        for i, r in enumerate(given):
            if not isinstance(r, Value) or host.type(r._host)[0]:
                continue  # the type of a foreign node cannot be inferred
            seen = self._seen.get(base, [])
            if i < len(seen) and seen[i]:
                host.set_type(r._host, seen[i][0], list(seen[i][1]) if self._fixed_sizes else [None if n != 1 else 1 for n in seen[i][1]])
            elif first is not None and not has_signature:
                host.set_type(r._host, first.dtype, None)
        wanted = len(self._seen.get(base, ()))
        if wanted and len(given) != wanted:
            raise failure("use.lowering", f"the lowering of {base} gives {len(given)} values, and the operator has {wanted} results")
        return _results(results)

    def learn(self, captured):
        """What capture knows of the operators' results: element type and sizes, where all calls of one give the same."""
        if not self._functions:
            return
        from ._graph import _ours
        for name, results in captured.results_of_operators():
            if name not in self._functions:
                continue
            types = [(_ours(dtype), tuple(sizes)) if sizes is not None else None for dtype, sizes in results]
            before = self._seen.setdefault(name, types)
            self._seen[name] = [a if a == b else None for a, b in zip(before, types)]

    @contextlib.contextmanager
    def recording(self):
        """While a model is captured, autograd Functions with a symbolic are recorded as calls, others as what they do."""
        import torch
        from torch.autograd import function as module
        single = module._SingleLevelFunction
        plain = torch._C._FunctionBase.__dict__.get("apply")
        lowerings = self

        def apply(cls, *args):
            tracing = torch.jit.is_tracing()
            if (tracing or _is_exporting()) and hasattr(cls, "symbolic"):
                return lowerings._record(cls, args)
            return _forward(cls, args) if tracing else super(single, cls).apply(*args)  # type: ignore[misc]
        if plain is None or "apply" in single.__dict__:
            yield
            return
        _define()
        _active.append(self)
        single.apply = classmethod(apply)
        try:
            yield
        finally:
            del single.apply
            _active.pop()

    def _record(self, cls, args):
        import torch
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        self._calls.append((cls, args, None))
        index = len(self._calls) - 1
        results = torch.ops.cameo.call(index, tensors)
        single = self._calls[index][2][0]
        return results[0] if single else tuple(results)

    def _run(self, index, tensors):
        """What the recorded call computes, for the trace or on torch.export's tensors without numbers."""
        import torch
        cls, args, _ = self._calls[index]
        feed = iter(tensors)
        given = [next(feed) if isinstance(a, torch.Tensor) else a for a in args]
        results = _forward(cls, given)
        single = isinstance(results, torch.Tensor)
        results = [results] if single else list(results)
        # The operator gives new tensors, never its own arguments.
        held = {t.untyped_storage()._cdata for t in tensors}
        results = [r.clone() if r.untyped_storage()._cdata in held else r for r in results]
        fixed = self._fixed_sizes or _is_exporting()  # which knows the sizes that depend on nothing
        self._calls[index] = (cls, args, (single, [(r.dtype, [n if fixed and isinstance(n, int) else None for n in r.shape]) for r in results]))
        return results

    def _call(self, host, index, inputs):
        import torch
        cls, args, (single, types) = self._calls[index]
        graph = Graph(host, self._opset)
        feed = iter(inputs)
        given = [Value(graph, next(feed)) if isinstance(a, torch.Tensor) else a for a in args]
        results = _asked(cls.symbolic, f"{cls.__name__}.symbolic", graph, given)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        for r, (dtype, shape) in zip(results, types):
            if not host.type(r._host)[0]:  # of a foreign node: what it was while tracing
                from ._graph import _ours
                host.set_type(r._host, _ours(dtype), shape)
        return [r._host for r in results]


def _asked(function, called, graph, args):
    """What a function of the caller's gives."""
    try:
        return function(graph, *args)
    except Error:
        raise
    except Exception as e:
        raise failure("use.lowering", f"{called} raised {type(e).__name__}: {e}", hint=f"it is called with the graph and {len(args)} arguments") from e


_active = []
_library = []


def _is_exporting():
    """Whether torch.export is at work."""
    import torch
    return getattr(torch.compiler, "is_exporting", lambda: False)()


def _define():
    """The operator that stands for a Python function in what is captured."""
    if _library:
        return
    import torch
    lib = torch.library.Library("cameo", "FRAGMENT")
    lib.define("call(int index, Tensor[] inputs) -> Tensor[]")

    def run(index, inputs):
        return _active[-1]._run(index, inputs)
    lib.impl("call", run, "CompositeExplicitAutograd")
    with contextlib.suppress(AttributeError):  # of PyTorch before 2.4, whose torch.export sees what the Function does
        torch.library.register_fake("cameo::call", run, lib=lib)
    _library.append(lib)


class _Context:
    """What a Function's forward may use while it is only run."""

    def __init__(self):
        self.needs_input_grad = (False,) * 64
        self.saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    save_for_forward = save_for_backward

    def mark_dirty(self, *args):
        pass

    def mark_non_differentiable(self, *args):
        pass

    def set_materialize_grads(self, value):
        pass


def _forward(cls, args):
    from torch.autograd import function as module
    if module._is_setup_context_defined(cls.setup_context):
        return cls.forward(*args)
    return cls.forward(_Context(), *args)


def _torch_registrations(opset):
    """What torch.onnx.register_custom_op_symbolic holds: for each operator, the newest registration up to the opset."""
    try:
        from torch.onnx._internal.torchscript_exporter import registration
    except ImportError:
        try:
            from torch.onnx._internal import registration
        except ImportError:
            return
    for name, group in registration.registry._registry.items():
        custom = getattr(group._functions, "_overrides", {})
        fitting = [o for o in custom if o <= opset] or list(custom)
        if fitting:
            best = max(fitting)
            function = custom[best]
            yield name, (function, opset)


def _writes(op):
    """Whether the operator changes its arguments in place and gives nothing."""
    import torch
    name, _, overload = op.partition(".")
    try:
        schema = torch._C._get_schema(name, overload)
    except RuntimeError:
        return False
    return schema.is_mutable and not schema.returns


def _missing_arguments(op, given, keywords, complete):
    """The arguments after those by place, from keywords and the operator's own defaults."""
    if complete:
        return []
    import torch
    name, _, overload = op.partition(".")
    try:
        parameters = torch._C._get_schema(name, overload).arguments
    except RuntimeError:
        return list(keywords.values())
    return [keywords.get(p.name, p.default_value) for p in parameters[given:]
            if p.name in keywords or p.has_default_value()]


def _wrap(graph, v):
    if isinstance(v, list):
        return [_wrap(graph, x) for x in v]
    return Value(graph, v) if type(v).__name__ == "HostValue" else v


def _results(results):
    if isinstance(results, Value):
        return results._host
    if isinstance(results, tuple):
        return tuple(_results(r) for r in results)
    if isinstance(results, list):
        return [_results(r) for r in results]
    if results is None:
        raise failure("use.lowering", "a lowering gave None: it has to give the values that stand for the operator's results")
    return results


def _scripted(function):
    """A function written with onnxscript's operators, as one of a graph."""
    def call(graph, *args):
        from onnxscript._internal import evaluator

        class Recorder(evaluator.BaseEvaluator):
            def _eval(self, schema, inputs, attributes, closure=None):
                count = len(schema.outputs)
                name = schema.name if schema.domain in ("", "ai.onnx") else f"{schema.domain}::{schema.name}"
                return graph.op(name, *inputs, outputs=count, **attributes)

            def eval(self, schema, inputs, attributes):
                return self._eval(schema, inputs, attributes)

            def eval_op(self, op, args, kwargs):
                schema = op.op_schema
                names = [i.name for i in schema.inputs]
                inputs = list(args[:len(names)]) if not (schema.inputs and schema.inputs[-1].option.name == "Variadic") else list(args)
                attributes = dict(zip(schema.attributes, args[len(inputs):])) | kwargs
                for name in names[len(inputs):]:
                    inputs.append(attributes.pop(name, None))
                while inputs and inputs[-1] is None:
                    inputs.pop()
                count = max(1, sum(o.option.name == "Single" for o in schema.outputs))
                name = schema.name if schema.domain in ("", "ai.onnx") else f"{schema.domain}::{schema.name}"
                return graph.op(name, *inputs, outputs=count, **attributes)

            def eval_function(self, f, args, kwargs):
                return f.function(*args, **kwargs)
        with evaluator.default_as(Recorder()):
            inner = getattr(function, "function", function)
            return inner(*args)
    return call
