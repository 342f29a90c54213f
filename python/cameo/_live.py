"""Exporting live models: capture, hand over, verify."""
import copy
import fnmatch
import functools
import itertools
import time
from typing import Any

import torch

from . import _arguments as arguments
from . import _caches, _cameo, _capture, _seen_results
from ._compiled import plain_parts
from ._findings import error_of, failure, note, warning
from ._progress import Steps
from ._result import ExportResult
from ._subclasses import plain_weights

SCRIPTED = (torch.jit.ScriptModule, torch.jit.ScriptFunction)


def feed(t):
    """A tensor as the engine takes it."""
    t = t.detach()
    if t.is_conj():
        t = t.resolve_conj()
    if torch.is_complex(t):
        t = torch.view_as_real(t)
    return t.cpu().contiguous()


def unwrapped(model, findings):
    """The module inside of what other parts of PyTorch wrap around it, and the module of a bound method."""
    while True:
        inner: Any = getattr(model, "_orig_mod" if isinstance(model, torch.nn.Module) else "_torchdynamo_orig_callable", None)
        if inner is None and isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
            inner = model.module
        if inner is None:
            break
        findings.append(note("export.unwrapped", f"{type(model).__name__} is a wrapper: what is inside was exported"))
        model = inner
    owner = getattr(model, "__self__", None)
    if isinstance(owner, torch.nn.Module) and not isinstance(owner, torch.jit.ScriptModule) and hasattr(model, "__name__"):
        if model.__name__ == "forward":
            return owner
        method, model = model, copy.copy(owner)
        vars(model)["forward"] = method
    return model


def export(model, args, kwargs, job, input_names, output_names, dynamic_axes, dynamic_shapes):
    model = unwrapped(model, job.findings)
    if isinstance(model, torch.export.ExportedProgram):
        args, kwargs = _program_arguments(model, args, kwargs)
        bound = arguments.Bound(model.module() if hasattr(model, "module") else model, args, kwargs)
    else:
        bound = arguments.Bound(model, args, kwargs)
    bound.model = model
    names = _input_names(bound, input_names)
    axes = _dynamic(bound, names, output_names, dynamic_axes, dynamic_shapes, job)
    for leaf in bound.fixed:
        job.findings.append(note("export.fixed-input", f"the input '{leaf.path}' is fixed to {leaf.value!r}: only tensors become inputs"))
    for value in (*bound.args, *bound.kwargs.values()):
        for count in _caches.fixed_counts(value) if _caches.is_cache(value) else ():
            job.findings.append(warning("export.fixed-count", f"a sliding layer of the cache has seen {count} tokens, and the model counts on from there in every run",
                                        "the count is a number, which an export fixes", "give position_ids (and cache_position, if forward has it) as inputs"))
    with plain_parts(model) as found, plain_weights(model):
        if found:
            job.findings.append(note("export.unwrapped", "parts of the model are compiled by torch.compile: what is inside was exported"))
        return _first_that_holds(model, bound, names, input_names, output_names, axes, job)


def _first_that_holds(model, bound, names, input_names, output_names, axes, job):
    """Tries the ways of capture in order. What a trace froze, or what is right at some sizes only, gives way to one that holds."""
    ways = _ways(model, job)
    tried: list = []
    held_back: list = []
    for way in ways:
        findings = list(job.findings)
        try:
            with _capture.Quiet(job.verbose):
                attempt = functools.partial(_attempt, model, bound, way, names, input_names, output_names, axes, job)
                result = attempt()
                if "verify.exporting" in {d.code for d in result.findings}:  # then better as it runs otherwise
                    result = _untold(result, attempt, findings, job)
        except Exception as e:  # whatever the model's own code raises, or what the result does not keep
            if e is job.raised or getattr(e, "code", "") in ("budget.interrupted", "budget.time"):
                raise
            if getattr(e, "code", "") == "use.lowering":  # another way would leave out what the caller registered
                raise
            if unknown := next((d for d in getattr(e, "diagnostics", ()) if d.because == "Cameo does not know this operator"), None):
                raise failure("use.lowering", unknown.what, "it is no operator of ONNX", 'an operator of an engine has a domain of its own: g.op("my.domain::Op", ...)') from e
            froze = any(d.code.startswith("export.frozen") for d in getattr(e, "diagnostics", ()))
            tried.append((way, RESERVATIONS[0][0] if froze else first_line(e), e))
            job.findings = findings
            continue
        worst = _reservation(result)
        if worst is None or len(ways) == 1:
            return _chosen(result, tried, job)
        held_back.append((worst, result))
        tried.append((way, RESERVATIONS[worst][0], None))
        job.findings = findings
    if held_back:
        _, result = max(held_back, key=lambda h: h[0])
        return _chosen(result, [t for t in tried if t[0] != result.captured], job)
    raise _refused(model, bound, tried)


def _untold(told, attempt, findings, job):
    """The export of a model that computes something else where is_in_onnx_export() is true, as it runs where it is not; `told` if that fails."""
    before, job.findings = job.findings, [*findings, note("export.untold", "captured with torch.onnx.is_in_onnx_export() false: the model computes something else where it is true")]
    try:
        return attempt(told=False)
    except Exception:  # a model that needs what it does for an export
        job.findings = before
        return told


# Why another way of capture may be better, the worst first: a frozen trace is the last resort.
RESERVATIONS = (("it froze what the inputs decide", lambda result, codes: result.frozen),
                ("the model computes something else while it is exported", lambda result, codes: "verify.exporting" in codes),
                ("its result differs from PyTorch's", lambda result, codes: "verify.mismatch" in codes),
                ("an axis that was to be dynamic is fixed in its result", lambda result, codes: "export.fixed-axis" in codes),
                ("its result does not run on all inputs", lambda result, codes: "verify.values" in codes),
                ("its result does not run at all sizes", lambda result, codes: "verify.some-sizes" in codes))


def _reservation(result):
    """The place of the worst in RESERVATIONS; None: nothing against it."""
    codes = {d.code for d in result.findings}
    return next((i for i, (_, holds) in enumerate(RESERVATIONS) if holds(result, codes)), None)


def _chosen(result, tried, job):
    if tried:
        result.findings.insert(0, warning("export.capture", f"captured by {result.captured}; {' and '.join(way for way, _, _ in tried)} tried as well",
                                          "; ".join(f"{way}: {why}" for way, why, _ in tried), f'capture="{result.captured}" goes there directly'))
    _compare_example(job.example_outputs, result)
    return result


def _refused(model, bound, tried):
    """The error where no way of capture does: the model's own, if it does not run on these arguments."""
    from . import _mistakes
    told = next((e for _, _, e in tried if isinstance(e, _cameo.Error) and e.code != "stage.raise"), None)
    own = _mistakes.own_failure(model, bound)
    if own is not None:
        return own
    if told is not None:
        return _told_with_the_others(told, tried)
    hint = 'fallback=True, or capture="auto" without dynamo=True, tries trace and script as well' if len(tried) == 1 and not isinstance(model, (torch.export.ExportedProgram, *SCRIPTED)) else ""
    error = failure("export.capture", "the model runs, but cannot be captured", hint=hint, more=[
        warning("export.capture", f"{way}: {why}") for way, why, _ in tried])
    error.__cause__ = tried[0][2]
    return error


def _told_with_the_others(told, tried):
    """The error of the first way, and a line for each other way that was tried."""
    others = [note("export.capture", f"{way} was tried as well: {why}") for way, why, e in tried if e is not told]
    if not others or told.code.split(".")[0] in ("use", "file", "text"):  # what the caller gave is wrong whatever the way
        return told
    error = error_of([*told.diagnostics, *others])
    error.__cause__ = told.__cause__
    return error


def _ways(model, job):
    if isinstance(model, torch.export.ExportedProgram):
        return ["export"]
    if isinstance(model, SCRIPTED):
        return ["script"]
    if job.fall_back and job.capture == "export":
        return ["export", "trace", "script"]
    return ["trace", "export", "script"] if job.capture == "auto" else [job.capture]


def _attempt(model, bound, way, names, input_names, output_names, axes, job, told=True):
    from ._lowering import Lowerings
    lowerings = Lowerings(job.custom_translation_table, job.options["opset"], not axes)
    quiet = _capture.still_observers(model, job.training, job.findings)
    with _capture.mode(model, job.training, job.findings), quiet, _capture.plain(told), lowerings.recording(), Steps("export", ["capture", "to ONNX", "verify"]) as steps:
        steps.next()
        started = time.perf_counter()
        with _capture.state_kept(model) as replaced:
            captured = _captured(model, bound, way, axes)
            _dropped_state(captured, replaced(), job)
            captured.expected = captured.expected and _capture.apart(model, captured.expected)
        job.findings.append(note("export.captured", f"captured by {way}"))
        capture_s = time.perf_counter() - started - captured.archive_s
        steps.next()
        result = _hand_over(captured, bound, names, input_names, output_names, axes, job, lowerings)
        result.seconds = {"capture": capture_s, "archive": captured.archive_s} | result.seconds
        result.program = getattr(captured, "program", None)
        result.captured_from = captured
        if captured.how == "export":
            axes = _tied(bound, names, axes, result)
        _frozen(model, bound, captured, result, axes, job)
        if job.verify:
            started = time.perf_counter()
            from ._verify import verify
            steps.next()
            _verified(verify, model, bound, captured, result, axes, job)
            result.seconds["verify"] = time.perf_counter() - started
    return result


def _dropped_state(captured, replaced, job):
    """A trace does not see that a module gets another tensor for a buffer (self.mean = self.mean * 0.9 + ...)."""
    if captured.how != "trace" or not replaced:
        return
    what = f"the program puts other tensors in the place of {', '.join(replaced)}"
    if job.options["state_outputs"]:
        raise failure("export.dropped-state", f"{what}, which a trace does not see", hint='capture="export" gives them as outputs; so does a trace of self.mean.copy_(...)')
    captured.findings.append(warning("export.dropped-state", f"{what}, and a model keeps nothing between runs: dropped", hint="state='outputs' gives them as outputs"))


def _verified(verify, model, bound, captured, result, axes, job):
    """linger's modules compute with floats while they are exported, and round when they are used: that is what their nodes do."""
    if not any(n.domain == "linger" for n in result.model.nodes):
        return verify(model, bound, captured, result, axes, job)
    if not job.options["linger"]:
        result.findings.append(note("verify.skipped", "linger's nodes are left as its modules write them: not verified"))
        return None
    with _capture.exporting(False):
        captured.expected = None
        return verify(model, bound, captured, result, axes, job)


def _program_arguments(program, args, kwargs):
    if args in ((), None) and not kwargs and program.example_inputs is not None:
        return program.example_inputs
    return args, kwargs


def _input_names(bound, given):
    """Names for the tensors, in order: those that were given, then paths."""
    paths = [leaf.path for leaf in bound.tensors]
    return arguments.unique(given[:len(paths)] + paths[len(given):])


def _dynamic(bound, names, output_names, dynamic_axes, dynamic_shapes, job):
    """{path: {axis: name}} for inputs; what is said of outputs goes to job.output_axes."""
    by_name, made_up = arguments.axes_by_name(dynamic_axes)
    if made_up:
        job.findings.append(note("export.dim-names", "axes without a name are called " + ", ".join(made_up)))
    axes = arguments.axes_of_shapes(dynamic_shapes, bound) if dynamic_shapes else {}
    job.output_axes = []
    for value, named in by_name.items():
        meant = [b for b, n in zip(bound.tensors, names) if value in (n, b.path)]
        inside = not meant and value not in output_names and any(b.path.startswith(f"{value}.") for b in bound.tensors)  # a container: all that is in it
        if not meant and ("*" in value or inside):  # "past_key_values.*.keys": inputs inside of containers, by path
            path = f"{value}.*" if inside else value
            meant = [b for b, n in zip(bound.tensors, names) if fnmatch.fnmatchcase(b.path, path) or fnmatch.fnmatchcase(n, path)]
            meant = [b for b in meant if any(-b.value.dim() <= a < b.value.dim() for a in named)] or meant  # not the counters among the tensors of a cache
            if not meant:
                raise failure("use.dynamic-axes", f"no input is called like '{value}'", hint="the inputs are " + ", ".join(b.path for b in bound.tensors))
        if not meant:
            job.output_axes += [(value, a, n) for a, n in named.items()]
        for leaf in meant:
            for a, n in named.items():
                if not -leaf.value.dim() <= a < leaf.value.dim():
                    raise failure("use.dynamic-axes", f"the input '{leaf.path}' has {leaf.value.dim()} axes, and axis {a} is called dynamic")
                before = axes.setdefault(leaf.path, {}).setdefault(a % leaf.value.dim(), n)
                if before != n:
                    raise failure("use.dynamic-axes", f"axis {a} of '{leaf.path}' is called '{before}' in dynamic_shapes and '{n}' in dynamic_axes", hint="give one of the two")
    _equal_names_have_equal_sizes(bound, axes)
    return {p: a for p, a in axes.items() if a}


def _equal_names_have_equal_sizes(bound, axes):
    seen: dict = {}
    for leaf in bound.tensors:
        for axis, text in axes.get(leaf.path, {}).items():
            name, size = arguments.size_name(text)[0], leaf.value.shape[axis]
            path, other, n = seen.setdefault(name, (leaf.path, axis, size))
            if n != size:
                raise failure("use.dynamic-axes", f"axis {other} of '{path}' and axis {axis} of '{leaf.path}' are both called '{name}', and the example has {n} and {size} there",
                              hint="equal names mean equal sizes: give them different names")


def _captured(model, bound, way, axes):
    if way == "export":
        return _capture.exported(model, bound, axes)
    if way == "script":
        return _capture.script(model, bound)
    return _capture.trace(model if isinstance(model, torch.nn.Module) else _Function(model), bound)


class _Function(torch.nn.Module):
    """A plain function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def first_line(e):
    if isinstance(e, _cameo.Error) and getattr(e, "diagnostics", None):
        return e.diagnostics[0].what[:300]
    return f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"[:300]


def _spec(t, named):
    dtype = arguments.DTYPES.get(str(t.dtype).split(".")[-1])
    if dtype is None:
        raise failure("use.input", f"an input of {t.dtype} has no type in ONNX")
    return f"{dtype}[{','.join(named.get(i, str(n)) for i, n in enumerate(t.shape))}]"


def _hand_over(captured, bound, names, given_names, output_names, axes, job, lowerings):
    options = dict(job.options)
    tensors = bound.tensors
    if captured.inputs is not None:
        options["inputs"] = [f"{parameter}={_spec(leaf.value, axes.get(leaf.path, {}))}" for parameter, leaf in zip(captured.inputs, tensors)]
        options["inputs"] += [f"{path}={value!r}" for path, value in captured.fixed.items()]
        options["input_names"] = names
    else:
        options["input_names"] = names if given_names or _all_tensors(captured.program, names) else given_names
        options["dynamic_axes"] = [(name, a, n) for leaf, name in zip(tensors, names) for a, n in axes.get(leaf.path, {}).items()]
    found = captured.output_names
    if found is not None:
        given = list(output_names[:len(found)])
        taken = names + given  # a result that is called like an input gets another name; one that the caller named is refused
        options["output_names"] = given + arguments.unique(taken + found[len(given):])[len(taken):]
        if len(output_names) > len(found):
            job.findings.append(warning("export.output-names", f"the model has {len(found)} outputs, and {len(output_names)} names are given"))
    else:
        options["output_names"] = output_names
    options["dynamic_axes"] = options.get("dynamic_axes", []) + job.output_axes
    lowerings.learn(captured)
    options |= lowerings.options()
    if options.get("fallback") not in (None, "none"):
        options["types"] = options.get("types", []) + _types_of_kept(captured, bound, axes, lowerings, options)
    started = time.perf_counter()
    model, recorded, report = to_model(captured, options)
    extra = given_names[len(tensors):]
    renamed: dict = {}
    if extra:
        model, renamed = _rename_weights(model, bound.model, extra, job)
    result = ExportResult(model, captured.how, job.findings + captured.findings + list(model.findings))
    result.recorded, result.report_json, result.bound = recorded, report, bound
    result.seconds["export"] = time.perf_counter() - started
    result.handed_over, result.renamed = options, renamed
    result.fixed_sizes, told = _fixed_axes(bound, names, axes, model)
    result.findings += told
    return result


def _all_tensors(program, names):
    """Whether the program's inputs are the tensors of these names, one by one."""
    kinds = [type(s.arg).__name__ for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    return [k for k in kinds if k != "ConstantArgument"] == ["TensorArgument"] * len(names)


def _tied(bound, names, axes, result):
    """The axes with one name where the program needs two of them equal; a warning, where both names are the caller's."""
    shapes = {i.name: i.shape for i in result.model.inputs}
    first: dict = {}
    tied = {path: dict(named) for path, named in axes.items()}
    for leaf, name in zip(bound.tensors, names):
        for axis, text in axes.get(leaf.path, {}).items():
            size = shapes[name][axis] if shapes.get(name) else None
            if not isinstance(size, str) or not size.isidentifier():
                continue
            wanted, (other, before) = arguments.size_name(text)[0], first.setdefault(size, ((leaf, axis), text))
            if wanted == arguments.size_name(before)[0]:
                continue
            tied[leaf.path][axis] = before
            if wanted != arguments.made_up_name(leaf.path, axis):
                result.findings.append(warning("export.equal-axes", f"axis {axis} of '{leaf.path}' ('{wanted}') has to be as large as axis {other[1]} of '{other[0].path}': both are called '{size}'",
                                               "torch.export found that the program works with equal sizes only"))
    return tied


def _types_of_kept(captured, bound, axes, lowerings, options):
    """What a trace, or a run of a script, saw operators give that have no lowering: the ranks, and the sizes where no axis is dynamic."""
    if captured.how == "export":
        return []  # its programs know
    declared = {t.split("=")[0] for t in options.get("types", [])} | set(lowerings.options().get("lowering_names", ()))
    known = {row[0].split(".")[0] for row in _cameo.operators(False)} | declared
    out = []
    if captured.how == "script":
        return [f"{op}={text}" for op, text in _seen_results.of_a_run(bound, known, axes).items()]
    for op, results in captured.results_of_operators():
        if op in known or op.startswith("prim::") or any(dtype is None or sizes is None for dtype, sizes in results):
            continue
        if not results:
            raise failure("export.fallback", f"{op} gives no result: it writes to its arguments, and a node cannot", hint="let it return new tensors")
        texts = [f"{arguments.DTYPES.get(str(dtype).split('.')[-1], '')}[{','.join('?' if axes else str(n) for n in sizes)}]" for dtype, sizes in results]
        if not any(t.startswith("[") for t in texts):
            out.append(f"{op}={';'.join(texts)}")
    return out


def _fixed_axes(bound, names, axes, model):
    """The names of sizes that were asked to be dynamic and are not, and a line for each axis."""
    shapes = {i.name: i.shape for i in model.inputs}
    is_program = isinstance(bound.model, torch.export.ExportedProgram)
    hint = "torch.export.export(..., dynamic_shapes=...) decides it, before the program is given to Cameo" if is_program else ""
    fixed = [(name, axis, arguments.size_name(text)[0]) for leaf, name in zip(bound.tensors, names) for axis, text in axes.get(leaf.path, {}).items()
             if shapes.get(name) is not None and isinstance(shapes[name][axis], int)]
    return {size for _, _, size in fixed}, [
        warning("export.fixed-axis", f"axis {axis} of '{name}' was to be dynamic ('{size}'), and is fixed at {shapes[name][axis]}",
                "the program, as it was captured, works with this size only", hint) for name, axis, size in fixed]


def to_model(captured, options):
    """Findings that need source lines use PyTorch's own archive of a trace, which has the lines."""
    by_line = captured.how == "trace"
    given = {k: v for k, v in options.items() if v is not None}

    def made():
        return _cameo.export_archive(captured.archive, "model", given | captured.options())
    if by_line and (options.get("trace") or options.get("doc_strings")):
        captured.complete()
    try:
        out = made()
        told = by_line and any(d.where for d in out[0].findings)
    except _cameo.Error:
        if not captured.complete():
            raise
        return made()
    return made() if told and captured.complete() else out


def _rename_weights(model, module, extra, job):
    """Names beyond the inputs are for the weights, in state_dict order, as they were in PyTorch's tutorials."""
    there = set(model.initializers) | {i.name for i in model.inputs}
    pairs, missing = [], []
    for name, weight in zip(extra, module.state_dict() if hasattr(module, "state_dict") else ()):
        if weight in there:
            pairs.append(("rename", weight, name))
        else:
            missing.append(weight)
    if missing:
        job.findings.append(note("export.input-names", "these weights were folded and have no name of their own: " + ", ".join(missing)))
    return model.edit(pairs), {new: weight for _, weight, new in pairs}


def _frozen(model, bound, captured, result, axes, job):
    """What a trace froze: what data decide, always; what sizes decide, where a second trace at other sizes differs."""
    found = [f.finding for f in captured.frozen if f.of_data]
    if captured.how == "trace" and axes and (job.strict or captured.frozen):
        from ._frozen import differing_constants
        from ._tries import inputs_at_one, much_larger, other_inputs, where_conditions_turn
        tries = inputs_at_one(bound, axes)[-1:] + list(itertools.islice(other_inputs(bound, axes), 2)) + much_larger(bound, axes) + where_conditions_turn(bound, axes, captured)
        found += differing_constants(model, bound, captured, tries)
    result.frozen = found
    result.findings += found
    if found and job.strict:
        raise failure("export.frozen", "capture froze values that depend on the inputs", hint="strict=False exports all the same", more=found)


def _compare_example(example, result):
    """Old calls give example_outputs: their types and shapes are compared with the inferred ones."""
    if example is None:
        return
    leaves = [leaf.value for leaf in arguments.flatten(example) if arguments.is_tensor(leaf.value)]
    for info, t in zip(result.model.outputs, leaves):
        dtype = arguments.DTYPES.get(str(t.dtype).split(".")[-1])
        fits = info.shape is None or (len(info.shape) == t.dim() and all(not isinstance(n, int) or n == m for n, m in zip(info.shape, t.shape)))
        if dtype != info.dtype or not fits:
            result.findings.append(warning("export.example-outputs", f"the output '{info.name}' is {info.dtype}{info.shape}, and the example given is {dtype}{list(t.shape)}"))
