"""Whether a result computes what the model computes: on the example, and at other sizes of what is dynamic."""
import dataclasses
import itertools

import torch

from . import _cameo, _capture
from ._arguments import size_name
from ._cameo import Error
from ._findings import failure, note, warning
from ._float_layers import float_layers
from ._live import feed, first_line
from ._session import Session
from ._tries import comparable, inputs_at_one, other_inputs, other_values, together, told, where_conditions_turn

RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout"}


@dataclasses.dataclass
class OutputCheck:
    name: str
    max_abs: float
    max_rel: float
    ok: bool
    why: str = ""


@dataclasses.dataclass
class Verification:
    """ok: everything agreed. outputs: on the example. sizes: [(sizes, outputs)] at other sizes. values: [(how, outputs)] on other numbers."""
    ok: bool = True
    outputs: list = dataclasses.field(default_factory=list)
    sizes: list = dataclasses.field(default_factory=list)
    values: list = dataclasses.field(default_factory=list)
    referee: str = "cameo"
    first_module: str = ""

    @property
    def max_abs(self):
        return max([o.max_abs for o in self.outputs], default=0.0)

    @property
    def max_rel(self):
        return max([o.max_rel for o in self.outputs], default=0.0)

    def __str__(self):
        return f"verified: {self.tried()}" if self.ok else f"NOT verified: {self.tried()}"

    def tried(self):
        return f"{len(self.outputs)} outputs, largest error {self.max_abs:.3g} absolute, {self.max_rel:.3g} relative, {len(self.sizes)} other sizes"


def _quantised(name, got, wanted):
    """A quantised tensor is right where no element is more than one step off."""
    by_channel = wanted.qscheme() not in (torch.per_tensor_affine, torch.per_tensor_symmetric)
    got = torch.as_tensor(got)
    if got.is_quantized:  # PyTorch's own, of another run
        got = got.dequantize()
    whole = not got.is_floating_point()
    step = 1.0 if whole else float(wanted.q_per_channel_scales().max() if by_channel else wanted.q_scale())
    wanted = (wanted.int_repr() if whole else wanted.dequantize()).double()
    if got.shape != wanted.shape or not wanted.numel():
        return compare(name, got.double(), wanted)
    worst = float((got.double() - wanted).abs().max())
    ok = worst <= step * 1.001
    return OutputCheck(name, worst, worst / max(float(wanted.abs().max()), step), ok, "" if ok else f"its numbers are up to {worst / step:.3g} steps off")


def compare(name, got, wanted, rtol=None, atol=None):
    """One output against PyTorch's, by the tolerances for what another program computed (include/cameo/verify.h)."""
    if wanted.is_quantized:
        return _quantised(name, got, wanted)
    if getattr(wanted, "is_number", False) and hasattr(got, "dtype"):  # Python's numbers have no element type
        wanted = wanted.to(torch.as_tensor(got).dtype)
    given = {k: v for k, v in {"rtol": rtol, "atol": atol}.items() if v is not None}
    same, why, _, worst, relative = _cameo.compare(feed(got) if isinstance(got, torch.Tensor) else got, feed(wanted), given | {"other_program": True})
    return OutputCheck(name, worst, relative, same, why)


def call_outputs(model, bound, tensors):
    """What the model gives, from the state that it was exported with."""
    with _capture.state_kept(model), float_layers(bound.float_layers):
        return _capture.apart(model, _call_outputs(model, bound, tensors))


def _call_outputs(model, bound, tensors):
    return _capture.tensor_outputs(bound.call(_callable(model), [t.clone() for t in tensors]), [], bound.numbers)[1]


def _callable(model):
    return model.module() if isinstance(model, torch.export.ExportedProgram) else model


def verify(model, bound, captured, result, axes, job):
    if job.options["training"] != "eval" and isinstance(model, torch.nn.Module) and any(m.training for m in model.modules()):
        result.findings.append(note("verify.skipped", "the model is exported in training mode, where numbers are random: not verified"))
        return
    if captured.computes_nothing():
        result.findings.append(note("verify.skipped", "torch.onnx.ops.symbolic gives zeros in PyTorch: not verified"))
        return
    report = result.verification = Verification()
    try:
        runner = _runner(result, job)
    except Error as e:
        return _differs(result, job, f"the engine cannot run it: {first_line(e)}")
    expected = captured.expected
    tensors = [leaf.value for leaf in bound.tensors]
    if any(d.code == "lower.float-activations" for d in result.findings):
        bound.float_layers, expected = True, None
    if expected is None:
        expected = call_outputs(model, bound, tensors)
    if len(expected) < len(result.model.outputs):  # numbers that the program computes are outputs too
        bound.numbers = True
        expected = call_outputs(model, bound, tensors)
    if not expected:
        result.findings.append(note("verify.skipped", "nothing that the model returns can be compared: not verified"))
        result.verification = None
        return
    if RANDOM & {n.op for n in result.model.nodes} and _is_random(model, bound, tensors):  # however little it moves the outputs
        return _not_for_random(result)
    try:
        report.outputs = _compared(result, runner(_weights_too(result, model, tensors)), expected, job)
    except Error as e:
        if _has_no_kernel(e, result):
            return
        if e.code == "run.assumption":
            if captured.how == "trace" and axes:  # a kernel as large as the example, made a constant, is such a reason
                from ._frozen import differing_constants
                result.findings += differing_constants(model, bound, captured, itertools.islice(other_inputs(bound, axes), 2))
            return _example_excluded(result, job, e)
        return _differs(result, job, f"the engine cannot run it: {first_line(e)}")
    if any(not o.ok for o in report.outputs) and _is_random(model, bound, tensors):
        return _not_for_random(result)
    wrong = _wrong(report.outputs, model, bound, tensors, expected, result)
    if wrong:
        from ._blame import first_module
        report.first_module = first_module(model, bound, captured, result)
        return _differs(result, job, f"the output '{wrong[0].name}' differs from PyTorch's: {wrong[0].why}", report.first_module)
    if bound.float_layers:
        _rounded_by_pytorch(model, bound, tensors, expected, result)
    _only_while_exported(model, bound, tensors, expected, result)
    _fused_otherwise(model, bound, tensors, expected, result)
    trial = _Trial(model, bound, captured, result, axes, job, runner)
    if result.fixed_sizes and (job.capture == "export" or isinstance(model, torch.export.ExportedProgram)):  # else another way may keep them dynamic
        trial.pinned()
        axes = trial.axes = {path: {a: n for a, n in named.items() if size_name(n)[0] not in result.fixed_sizes} for path, named in axes.items()}
    if any(axes.values()):
        trial.other_sizes()
        trial.at(inputs_at_one(bound, axes))
        trial.at(where_conditions_turn(bound, axes, captured))
    trial.other_values(tensors, expected)


def _fused_otherwise(model, bound, tensors, expected, result):
    """Warns where PyTorch's fused attention, which only works outside of exports, gives other numbers: it leaves out what is padded."""
    with _capture.fused(model) as may:
        if not may:
            return
        try:
            own = call_outputs(model, bound, tensors)
        except Exception:  # nothing to compare with
            return
        wrong = next((c for c in (compare(info.name, got, wanted) for info, got, wanted in zip(result.model.outputs, expected, own)) if not c.ok), None)
        if wrong and not _is_random(model, bound, tensors):
            result.findings.append(warning("verify.fused", f"outside of an export PyTorch gives another '{wrong.name}': {wrong.why}",
                                           "its fused nn.TransformerEncoder gives zeros in padded places, and the model computes them",
                                           "compare the other places, or after torch.backends.mha.set_fastpath_enabled(False)"))


def _rounded_by_pytorch(model, bound, tensors, expected, result):
    """Tells how far PyTorch's own numbers are: it rounds what the model does not."""
    bound.float_layers = False
    own = call_outputs(model, bound, tensors)
    bound.float_layers = True
    off = [compare(info.name, got, wanted).max_abs for info, got, wanted in zip(result.model.outputs, expected, own)]
    result.findings.append(note("verify.rounding", f"the model computes what PyTorch does with these weights; PyTorch's own numbers are up to {max(off):.3g} away",
                                "PyTorch also rounds the inputs and states of dynamically quantized recurrent layers to 8 bits"))


def _only_while_exported(model, bound, tensors, expected, result):
    """Warns where the model computes something else when nobody exports it: some have a way for exporters, and it may be a rough one."""
    try:
        with _capture.exporting(False):
            plain = call_outputs(model, bound, tensors)
    except Exception:  # a model that runs for exporters only
        return
    if [t.shape for t in plain] != [t.shape for t in expected] or [t.dtype for t in plain] != [t.dtype for t in expected]:
        return  # other outputs are meant
    checks = [compare(info.name, got, wanted) for info, got, wanted in zip(result.model.outputs, expected, plain)]
    with _capture.exporting(False):
        wrong = next(iter(_wrong(checks, model, bound, tensors, plain, result)), None)
        random = wrong and _is_random(model, bound, tensors)
    if wrong and not random:
        result.findings.append(warning("verify.exporting", f"while the model is exported its output '{wrong.name}' is another one: {wrong.why}",
                                       "it asks torch.onnx.is_in_onnx_export(), and has another way to compute for exporters"))


def _not_for_random(result):
    result.findings.append(note("verify.random", "the model gives other numbers each time: not verified"))
    result.verification = None


def _has_no_kernel(e, result):
    """Whether it failed for an operator that only another engine has; a note tells it."""
    if not e.code.startswith("eval.foreign") and e.code not in ("eval.no-kernel", "run.foreign"):
        return False
    result.findings.append(note("verify.skipped", f"not verified: {e.diagnostics[0].what}", hint="kernels={...} runs operators of your own"))
    result.verification = None
    return True


def verify_archive(path, given, result, job):
    """The archive as PyTorch runs it, on what was given, or its own example, or numbers made up; named sizes at another size too."""
    try:
        with _capture.Quiet(False):
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
    as_floats = any(d.code == "lower.float-activations" for d in result.findings)
    tries = [({}, tensors)] + [({}, values) for _, values in other_values(tensors, result.model)]
    if sizes:
        tries += [(s, [torch.from_numpy(a) for a in result.model.random_inputs(1, **s).values()]) for s in (sizes, dict.fromkeys(sizes, 1))]
    first = None
    for sizes, values in tries:
        try:
            with torch.no_grad(), float_layers(as_floats):
                expected = _capture.tensor_outputs(module(*[t.clone() for t in values]), [])[1]
        except Exception as e:  # sizes, or numbers, that it does not take
            result.findings.append(note("verify.sizes", f"PyTorch does not run the archive on the inputs that were tried ({type(e).__name__})"))
            if first is None:
                result.verification = None
                return
            continue
        first = first or expected
        if not comparable(expected, first):
            continue
        try:
            checks = _compared(result, runner([feed(t) for t in values]), expected, job)
        except Error as e:
            if _has_no_kernel(e, result):
                return
            if e.code == "run.assumption" and sizes:
                continue  # it was told when it was assumed
            raise
        if sizes:
            report.sizes.append((sizes, checks))
        elif values is tensors:
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
    session = Session(result.model, kernels=job.kernels)
    result._kernels = job.kernels
    result._session = session
    return session._session._run


def _compared(result, got, expected, job):
    names = [o.name for o in result.model.outputs]
    missing = [OutputCheck(f"output {i}", float("inf"), float("inf"), False, "it is missing") for i in range(len(got), len(expected))]
    return [compare(n, g, w, job.rtol, job.atol) for n, g, w in zip(names, got, expected)] + missing


def _wrong(checks, model, bound, tensors, expected, result):
    """The checks that fail by more than rounding."""
    if any(not o.ok for o in checks):
        from ._rounding import excused, within_a_step
        within_a_step(checks, lambda: call_outputs(model, bound, tensors), result.findings)
        excused(checks, _callable(model), lambda called, given: call_outputs(called, bound, given), tensors, expected, compare, result.findings)
    return [o for o in checks if not o.ok]


def _is_random(model, bound, tensors):
    first, second = ([torch.nan_to_num(t.dequantize() if t.is_quantized else t) for t in call_outputs(model, bound, tensors)] for _ in range(2))
    return any(a.shape != b.shape or not torch.equal(a, b) for a, b in zip(first, second))


def _differs(result, job, what, module="", because="", hint=""):
    result.verification.ok = False
    because = f"the first module whose output differs is {module}" if module else because
    if job.verify == "warn":
        result.findings.append(warning("verify.mismatch", what, because, hint))
        return
    raise failure("verify.mismatch", what, because, f"{hint}; " * bool(hint) + "verify='warn' or verify=False gives the model all the same", result.findings)


def _example_excluded(result, job, e):
    """The example has a size that was assumed away: which operator wanted that, and what to do."""
    assumed = [d.what for d in result.findings if d.code == "stage.assumed"]
    return _differs(result, job, f"the example itself has a size that the model cannot have: {e.diagnostics[0].what}", because="; ".join(assumed),
                    hint="name the axes to squeeze that always have size 1, or give an example with another size there, or leave that axis fixed")


class _Trial:
    """One export, tried on more than its example."""

    def __init__(self, model, bound, captured, result, axes, job, runner):
        self.model, self.bound, self.captured, self.result, self.axes, self.job, self.runner = model, bound, captured, result, axes, job, runner

    def _expected(self, tensors):
        """What PyTorch gives. A size in an output is a tensor in a trace, and a number when the model runs by itself."""
        out = call_outputs(self.model, self.bound, tensors)
        if len(out) < len(self.result.verification.outputs) and not self.bound.numbers:
            self.bound.numbers = True
            out = call_outputs(self.model, self.bound, tensors)
        return out

    def other_sizes(self):
        failed = None
        for sizes, tensors in other_inputs(self.bound, self.axes):
            try:
                expected = self._expected(tensors)
            except Exception:  # the model itself cannot: another size may do
                continue
            try:
                got = self.runner(_weights_too(self.result, self.model, tensors))
            except Exception as e:  # reported, since the model may still be used at the sizes where it works
                failed = failed or ((sizes, tensors), e)
                continue
            self._compare(f"with {told(sizes)}", (sizes, tensors), got, expected)
            if failed:
                self._some_sizes(told(sizes), failed[0][0], failed[1])
            return
        if failed:
            self._differs(failed[0], f"with {told(failed[0][0])} the result fails: {first_line(failed[1])}")
        else:
            self.result.findings.append(note("verify.sizes", "the model runs at none of the other sizes that were tried: only the example was verified"))
            self.pinned()

    def pinned(self):
        """Names what an axis is tied to: another one that is not declared, as the batch of a cache."""
        for (path, axis, name), others, tensors in together(self.bound, self.axes):
            try:
                call_outputs(self.model, self.bound, tensors)
            except Exception:  # not these
                continue
            first = ", ".join(f"axis {a} of '{p}'" for p, a in others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
            self.result.findings.append(warning("verify.pinned-axis", f"axis {axis} of '{path}' ('{name}') has to be as large as {first}, which is not declared dynamic",
                                                hint=f'dynamic_axes={{"{others[0][0]}": {{{others[0][1]}: "{name}"}}, ...}} declares it too'))
            return

    def at(self, tries):
        for sizes, tensors in tries:
            try:
                expected = self._expected(tensors)
            except Exception:  # PyTorch itself cannot
                continue
            try:
                got = self.runner(_weights_too(self.result, self.model, tensors))
            except Exception as e:
                if getattr(e, "code", "") != "run.assumption":  # those have been told
                    self._some_sizes("the example", sizes, e)
                continue
            self._compare(f"with {told(sizes)}", (sizes, tensors), got, expected)

    def other_values(self, tensors, example):
        for how, values in other_values(tensors, self.result.model):
            try:
                expected = self._expected(values)
            except Exception:  # PyTorch itself cannot
                continue
            if not comparable(expected, example):
                continue
            try:
                got = self.runner(_weights_too(self.result, self.model, values))
            except Exception as e:  # reported by the caller; nothing is silently wrong
                self.result.findings.append(warning("verify.values", f"with the inputs {how} the result fails: {first_line(e)}"))
                continue
            self._compare(f"with the inputs {how}", (how, values), got, expected)

    def _compare(self, said, tried, got, expected):
        checks = _compared(self.result, got, expected, self.job)
        report = self.result.verification
        (report.sizes if isinstance(tried[0], dict) else report.values).append((tried[0], checks))
        wrong = _wrong(checks, self.model, self.bound, tried[1], expected, self.result)
        if wrong:
            self._differs(tried, f"{said} the output '{wrong[0].name}' differs from PyTorch's: {wrong[0].why}")

    def _differs(self, tried, what):
        """Says what a trace froze, where that is why: a second trace of what went wrong shows it, by line."""
        if self.captured.how == "trace" and isinstance(tried[0], dict) and not any(d.code.startswith("export.frozen") for d in self.result.findings):
            from ._frozen import differing_constants
            self.result.findings += differing_constants(self.model, self.bound, self.captured, [tried])
        _differs(self.result, self.job, what)

    def _some_sizes(self, right, sizes, e):
        if not any(d.code == "verify.some-sizes" for d in self.result.findings):
            self.result.findings.append(warning("verify.some-sizes", f"right with {right}, but with {told(sizes)} the result fails: {first_line(e)}",
                                                "at some sizes the model takes another path (often sizes that are not multiples of its strides), and capture recorded only one"))
