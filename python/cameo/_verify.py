"""Whether a result computes what the model computes: on the example, and at other sizes of what is dynamic."""
import dataclasses

import torch

from . import _arguments as arguments
from . import _cameo, _capture
from ._cameo import Error
from ._findings import failure, note, warning
from ._live import feed, first_line
from ._session import Session


@dataclasses.dataclass
class OutputCheck:
    name: str
    max_abs: float
    max_rel: float
    ok: bool
    why: str = ""


@dataclasses.dataclass
class Verification:
    """ok: everything agreed. outputs: on the example. sizes: [(sizes, outputs)] at other sizes."""
    ok: bool = True
    outputs: list = dataclasses.field(default_factory=list)
    sizes: list = dataclasses.field(default_factory=list)
    referee: str = "cameo"
    first_module: str = ""

    @property
    def max_abs(self):
        return max([o.max_abs for o in self.outputs], default=0.0)

    @property
    def max_rel(self):
        return max([o.max_rel for o in self.outputs], default=0.0)

    def __str__(self):
        worst = f"largest error {self.max_abs:.3g} absolute, {self.max_rel:.3g} relative"
        return f"verified: {len(self.outputs)} outputs, {worst}, {len(self.sizes)} other sizes" if self.ok else f"NOT verified: {worst}"


def compare(name, got, wanted, rtol=None, atol=None):
    """One output against PyTorch's, by the tolerances for what another program computed (include/cameo/verify.h)."""
    given = {k: v for k, v in {"rtol": rtol, "atol": atol}.items() if v is not None}
    same, why, _, worst, relative = _cameo.compare(feed(got) if isinstance(got, torch.Tensor) else got, feed(wanted), given | {"other_program": True})
    return OutputCheck(name, worst, relative, same, why)


def other_inputs(bound, axes, changes=(lambda n: n + 1, lambda n: n * 2, lambda n: n + 2, lambda n: max(1, n - 1), lambda n: n + 32)):
    """The example's tensors with every dynamic size changed, in ways that a model may accept: [(sizes, tensors), ...]."""
    names = {}
    for leaf in bound.tensors:
        for axis, text in axes.get(leaf.path, {}).items():
            names.setdefault(text.split(":")[0], (leaf.value.shape[axis], text.partition(":")[2]))
    ways = []
    for change in changes:
        sizes = {name: _within(change(n), n, limits) for name, (n, limits) in names.items()}
        if sizes != {name: n for name, (n, _) in names.items()} and sizes not in [s for s, _ in ways]:
            ways.append((sizes, [arguments.resized(leaf.value, {a: sizes[text.split(':')[0]] for a, text in axes.get(leaf.path, {}).items()}) for leaf in bound.tensors]))
    return ways


def _within(n, example, limits):
    if limits.startswith("%"):
        return example + int(limits[1:])
    low, dots, high = limits.partition("..")
    if not dots:
        return n
    return min(max(n, int(low or 0)), int(high) if high else n)


def call_outputs(model, bound, tensors):
    return _capture.tensor_outputs(bound.call(_callable(model), [t.clone() for t in tensors]), [])[1]


def _callable(model):
    return model.module() if isinstance(model, torch.export.ExportedProgram) else model


def verify(model, bound, captured, result, axes, job):
    if job.options["training"] != "eval" and isinstance(model, torch.nn.Module) and any(m.training for m in model.modules()):
        result.findings.append(note("verify.skipped", "the model is exported in training mode, where numbers are random: not verified"))
        return
    report = result.verification = Verification()
    try:
        runner = _runner(result, job)
    except Error as e:
        return _differs(result, job, f"the engine cannot run it: {e}")
    expected = captured.expected
    tensors = [leaf.value for leaf in bound.tensors]
    if expected is None:
        expected = call_outputs(model, bound, tensors)
    try:
        report.outputs = _compared(result, runner(_weights_too(result, model, tensors)), expected, job)
    except Error as e:
        if e.code.startswith("eval.foreign") or e.code in ("eval.no-kernel", "run.foreign"):
            result.findings.append(note("verify.skipped", f"not verified: {e.diagnostics[0].what}"))
            result.verification = None
            return
        return _differs(result, job, f"the engine cannot run it: {e}")
    if any(not o.ok for o in report.outputs) and _is_random(model, bound, tensors):
        result.findings.append(note("verify.random", "the model gives other numbers each time: not verified"))
        result.verification = None
        return
    wrong = _wrong(report.outputs, model, bound, tensors, expected, result)
    if wrong:
        from ._blame import first_module
        report.first_module = first_module(model, bound, captured, result)
        return _differs(result, job, f"the output '{wrong[0].name}' differs from PyTorch's: {wrong[0].why}", report.first_module)
    if axes:
        _other_sizes(model, bound, captured, result, axes, job, runner)


def verify_archive(path, given, result, job):
    """The archive as PyTorch runs it, on what was given, or its own example, or numbers made up; named sizes at another size too."""
    try:
        module, example = _loaded(path)
    except Exception as e:
        result.findings.append(note("verify.skipped", f"PyTorch cannot load {path} ({type(e).__name__}): not verified"))
        return
    tensors = [torch.as_tensor(v) for v in given] or example
    shapes = [i.shape for i in result.model.inputs]
    symbols = {n for shape in shapes for n in shape or () if isinstance(n, str) and n.isidentifier()}
    if tensors is None or len(tensors) < len(shapes):
        tensors = [torch.from_numpy(a) for a in result.model.random_inputs(0).values()]
    sizes = {n: t.shape[axis] + 1 for shape, t in zip(shapes, tensors) for axis, n in enumerate(shape or ()) if n in symbols}
    report = result.verification = Verification()
    runner = _runner(result, job)
    tries = [({}, tensors)]
    if sizes:
        tries.append((sizes, [torch.from_numpy(a) for a in result.model.random_inputs(1, **sizes).values()]))
    for sizes, values in tries:
        try:
            with torch.no_grad():
                expected = _capture.tensor_outputs(module(*[t.clone() for t in values]), [])[1]
        except Exception as e:  # sizes, or numbers, that it does not take
            result.findings.append(note("verify.sizes", f"PyTorch does not run the archive on the inputs that were tried ({type(e).__name__})"))
            if not sizes:
                result.verification = None
                return
            continue
        checks = _compared(result, runner([feed(t) for t in values]), expected, job)
        if sizes:
            report.sizes.append((sizes, checks))
        else:
            report.outputs = checks
        for wrong in [o for o in checks if not o.ok][:1]:
            return _differs(result, job, f"the output '{wrong.name}' differs from what PyTorch makes of {path}: {wrong.why}")


def _loaded(path):
    """The archive as a module in evaluation mode, and the example it was captured with, where it tells."""
    try:
        module = torch.jit.load(path, map_location="cpu")
    except RuntimeError:
        program = torch.export.load(path)
        args, kwargs = program.example_inputs or ((), {})
        flat = torch.utils._pytree.tree_leaves((args, kwargs))
        return program.module(), [t for t in flat if isinstance(t, torch.Tensor)] or None
    return module.eval(), None


def _weights_too(result, model, tensors):
    """Where weights are inputs, they follow the model's own."""
    feeds = [feed(t) for t in tensors]
    inputs = result.model.inputs
    if len(inputs) > len(feeds) and not inputs[-1].has_default and isinstance(model, torch.nn.Module):
        state = dict(model.state_dict())
        own = [result.renamed.get(i.name, i.name) for i in inputs[len(feeds):]]
        feeds += [feed(state[name]) for name in own if name in state]
    return feeds


def _runner(result, job):
    if job.referee == "onnxruntime":
        import onnxruntime
        session = onnxruntime.InferenceSession(result.model.to_bytes(), providers=["CPUExecutionProvider"])
        names = [i.name for i in session.get_inputs()]
        result.verification.referee = "onnxruntime"
        own = [i.name for i in result.model.inputs]
        return lambda feeds: session.run(None, {n: t.numpy() if hasattr(t, "numpy") else t for n, t in zip(own, feeds) if n in names})
    session = Session(result.model)
    result._session = session
    return session._session._run


def _compared(result, got, expected, job):
    names = [o.name for o in result.model.outputs]
    return [compare(n, g, w, job.rtol, job.atol) for n, g, w in zip(names, got, expected)]


def _wrong(checks, model, bound, tensors, expected, result):
    """The checks that fail by more than rounding."""
    if any(not o.ok for o in checks):
        from ._rounding import excused
        excused(checks, _callable(model), lambda called, given: call_outputs(called, bound, given), tensors, expected, compare, result.findings)
    return [o for o in checks if not o.ok]


def _is_random(model, bound, tensors):
    first, second = call_outputs(model, bound, tensors), call_outputs(model, bound, tensors)
    return any(a.shape != b.shape or not torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)) for a, b in zip(first, second))


def _differs(result, job, what, module=""):
    result.verification.ok = False
    because = f"the first module whose output differs is {module}" if module else ""
    if job.verify == "warn":
        result.findings.append(warning("verify.mismatch", what, because))
        return
    raise failure("verify.mismatch", what, because, "verify='warn' or verify=False gives the model all the same", result.findings)


def _size_differs(model, bound, captured, other, result, job, what):
    """Says what a trace froze, where that is why: a second trace at the size that went wrong shows it, by line."""
    if captured.how == "trace" and not any(d.code.startswith("export.frozen") for d in result.findings):
        from ._frozen import differing_constants
        result.findings += differing_constants(model, bound, captured, [other])
    return _differs(result, job, what)


def _at_one(model, bound, captured, result, axes, job, runner):
    """Every dynamic size at 1, where programs squeeze, broadcast and branch. What was assumed not to be 1 has been told."""
    for sizes, tensors in other_inputs(bound, axes, (lambda n: 1,)):
        try:
            expected = call_outputs(model, bound, tensors)
            got = runner(_weights_too(result, model, tensors))
        except Exception:  # PyTorch itself cannot, or the model was exported for other sizes and says so
            continue
        checks = _compared(result, got, expected, job)
        result.verification.sizes.append((sizes, checks))
        wrong = _wrong(checks, model, bound, tensors, expected, result)
        if wrong:
            said = ", ".join(f"{n} = {s}" for n, s in sizes.items())
            return _size_differs(model, bound, captured, (sizes, tensors), result, job, f"with {said} the output '{wrong[0].name}' differs from PyTorch's: {wrong[0].why}")


def _other_sizes(model, bound, captured, result, axes, job, runner):
    failed = None
    for sizes, tensors in other_inputs(bound, axes):
        try:
            expected = call_outputs(model, bound, tensors)
        except Exception:  # the model itself cannot: another size may do
            continue
        said = ", ".join(f"{n} = {s}" for n, s in sizes.items())
        try:
            checks = _compared(result, runner(_weights_too(result, model, tensors)), expected, job)
        except Exception as e:  # whoever runs it is told, so that it may do for the sizes where it works
            failed = failed or ((sizes, tensors), said, e)
            continue
        result.verification.sizes.append((sizes, checks))
        wrong = _wrong(checks, model, bound, tensors, expected, result)
        if wrong:
            return _size_differs(model, bound, captured, (sizes, tensors), result, job, f"with {said} the output '{wrong[0].name}' differs from PyTorch's: {wrong[0].why}")
        _at_one(model, bound, captured, result, axes, job, runner)
        if failed:
            result.findings.append(warning("verify.some-sizes", f"right with {said}, but with {failed[1]} the result fails: {first_line(failed[2])}",
                                           "at some sizes the model goes another way (often where they are no multiples of its strides), and capture recorded one"))
        return
    if failed:
        return _size_differs(model, bound, captured, failed[0], result, job, f"with {failed[1]} the result fails: {failed[2]}")
    result.findings.append(note("verify.sizes", "the model runs at none of the other sizes that were tried: only the example was verified"))
