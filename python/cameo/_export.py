"""cameo.export: torch.onnx.export's call, old and new, with the answer checked."""
import importlib.util
import os
import time

from . import _arguments as arguments
from . import _cameo, _values
from ._findings import Error, failure, note, tell
from ._result import ExportResult


def export(model, args=(), f=None, export_params=True, verbose=None, training="EVAL", input_names=None, output_names=None,
           aten=False, export_raw_ir=False, operator_export_type=None, opset_version=None, _retain_param_name=True,
           do_constant_folding=True, example_outputs=None, strip_doc_string=True, dynamic_axes=None,
           keep_initializers_as_inputs=None, custom_opsets=None, enable_onnx_checker=True, use_external_data_format=False, *,
           kwargs=None, dynamo=None, external_data=None, dynamic_shapes=None, custom_translation_table=None, report=False,
           optimize=True, verify=True, profile=False, dump_exported_program=False, artifacts_dir=".",
           export_modules_as_functions=False, autograd_inlining=True, fallback=None,
           capture="auto", strict=False, loops="keep", state="drop", frozen="error", assume=True, asserts="drop", keep_outputs=(), rules=None,
           method="forward", lossy=False, experimental=False, rtol=None, atol=None, referee=None, linger=True, kernels=None, types=None, progress=None, **unknown):
    """Exports a PyTorch model (nn.Module, ScriptModule, ScriptFunction, ExportedProgram, or a path to an archive) to ONNX.

    Everything torch.onnx.export takes or took is taken, after `f` also by position in the order of PyTorch 1.8. `f` is a
    path, a file object, or None. The result is an ExportResult: save, optimize, model_proto, findings, verification, and a
    call that runs it. docs/python.md explains each argument. What is Cameo's own:

    capture   "auto", "trace", "script" or "export"; auto tries trace, export, script in this order and says which it was
    strict    what capture froze (Python branches, counts, numbers) is an error, not a warning
    assume    True: where one model can only be right for some sizes (squeeze of a dynamic axis), a note says which were assumed;
              False: that is an error; "t != 1" or a list of such: conditions that will hold
    asserts   "drop": what the model raises on is dropped, with a note; "keep": a run of the model fails there
    linger    True: models of linger get the form that linger.onnx.export gives them; False: the nodes that its modules write
    verify    True: the example inputs run through PyTorch and Cameo's engine, dynamic sizes at other sizes too; a
              difference is an error. "warn": a warning. False: not at all. referee="onnxruntime" asks that one as well
    types     {"mylib::op": "f32[batch,3]"} for operators that `fallback` keeps: the type of what they give, ";" between several,
              "arg0" for that of the first argument; a list is for the calls in order. Live models know them already
    kernels   {"my.domain::Op": function}, as Session takes them: verification runs them for operators of your own
    progress  function(what, done, all), called now and then while the captured program becomes a model; False stops the export
    """
    if unknown:
        raise TypeError(_values.told_of_unknown(next(iter(unknown))))
    given = _values.checked(locals())
    started = time.perf_counter()
    f, training, kind = given["f"], given["training"], given["operator_export_type"]
    export_params, do_constant_folding, optimize, linger = (given[name] for name in ("export_params", "do_constant_folding", "optimize", "linger"))
    _retain_param_name, strip_doc_string, enable_onnx_checker = (given[name] for name in ("_retain_param_name", "strip_doc_string", "enable_onnx_checker"))
    input_names, output_names, assume = given["input_names"], given["output_names"], given["assume"]
    job = _Job()
    job.verbose = bool(verbose)
    job.findings = []
    job.options = options = {
        "opset": given["opset_version"], "params": bool(export_params), "fold": bool(do_constant_folding), "lossy": lossy,
        "experimental": experimental, "unroll": loops == "unroll", "state_outputs": state == "outputs",
        "asserts": asserts == "keep", "may_assume": assume is not False, "assumptions": [] if isinstance(assume, bool) else assume,
        "allow_frozen": frozen == "allow", "keep_outputs": given["keep_outputs"], "method": method,
        "number_weights": not _retain_param_name, "doc_strings": not strip_doc_string, "trace": bool(verbose or report),
        "initializers_as_inputs": bool(keep_initializers_as_inputs), "custom_opsets": given["custom_opsets"],
        "rules": os.fspath(rules) if rules else None, "simplify": bool(optimize), "linger": bool(linger),
        "types": [f"{op}={text}" for op, texts in (types or {}).items() for text in ([texts] if isinstance(texts, str) else texts)],
        "progress": progress and job.told(progress),
    }
    kept = fallback if isinstance(fallback, str) else None
    if aten:
        kept = "all-aten"
    elif kind is not None:
        kept = kept or arguments.FALLBACKS.get(kind)
    options["fallback"] = kept
    options["training"] = {"EVAL": "eval", "TRAINING": "train", "TRAIN": "train"}.get(training, "preserve")
    if given["export_modules_as_functions"] is not None:
        options["functions"] = given["export_modules_as_functions"]
    job.verify, job.referee, job.rtol, job.atol, job.kernels = verify, referee, rtol, atol, kernels
    if isinstance(model, (str, os.PathLike)):
        if hasattr(args, "state_dict"):
            raise failure("use.arguments", f"the model comes first, and {os.fspath(model)!r} after its arguments", hint='export(model, (x,), "net.onnx")')
        result = _from_archive(os.fspath(model), args, kwargs, job, input_names, output_names, dynamic_axes)
    else:
        from . import _live, _mistakes
        _mistakes.check_call(model, args, f)
        job.custom_translation_table = custom_translation_table
        job.training, job.strict, job.capture = training, strict, capture
        job.example_outputs = example_outputs
        job.fall_back = fallback is True
        if capture == "auto" and dynamo and not isinstance(model, _live.SCRIPTED):
            job.capture = "export"
        result = _live.export(model, args, kwargs, job, input_names, output_names, dynamic_axes, dynamic_shapes)
    result.seconds["total"] = time.perf_counter() - started
    if verbose:
        print(result.recorded)
    tell(result.findings, verbose)
    external = external_data is True if external_data is not None else bool(use_external_data_format)
    if export_raw_ir:
        _write_text(result.program_text, f)
    elif f is not None:
        before = time.perf_counter()
        unfinished = not linger and any(n.domain == "linger" for n in result.model.nodes)  # their types are not those of the file yet
        _save(result, f, external, enable_onnx_checker and kept in (None, "none") and not unfinished)
        result.seconds["save"] = time.perf_counter() - before
    if dump_exported_program and result.program is not None:
        os.makedirs(artifacts_dir, exist_ok=True)
        with open(os.path.join(artifacts_dir, "exported_program.txt"), "w") as out:
            out.write(str(result.program))
    if report:
        _write_report(result, report, artifacts_dir)
    if profile:
        for name, seconds in result.seconds.items():
            print(f"{name:>10} {seconds * 1e3:8.1f} ms")
    return result


class _Job:
    """What one export was asked for, and what it found on its way."""
    verbose: bool
    findings: list
    options: dict
    verify: "bool | str"
    referee: "str | None"
    rtol: "float | None"
    atol: "float | None"
    kernels: "dict | None"
    custom_translation_table: "dict | None"
    training: str
    strict: bool
    capture: str
    fall_back = False  # dynamo=True, fallback=True: the other ways of capture where torch.export does not do
    raised = None  # what the caller's progress raised: no way of capture is to blame

    def told(self, progress):
        def tell(*how_far):
            try:
                return progress(*how_far)
            except BaseException as e:
                self.raised = e
                raise
        return tell
    example_outputs: object
    output_axes: list


def _from_archive(path, args, kwargs, job, input_names, output_names, dynamic_axes):
    axes, made_up = arguments.axes_by_name(dynamic_axes)
    options = job.options
    options["input_names"], options["output_names"] = input_names, output_names
    if made_up:
        job.findings.append(note("export.dim-names", "axes without a name are called " + ", ".join(made_up)))
    options["dynamic_axes"] = [(value, axis, name) for value, named in axes.items() for axis, name in named.items()]
    values = list(args) if isinstance(args, (list, tuple)) else [args]
    named = [(f"x{i}", v) for i, v in enumerate(values)] + list((kwargs or {}).items())
    options["inputs"] = [v for _, v in named if isinstance(v, str)]  # "x=f32[batch,3]", as the command takes them
    options["examples"] = [_example(n, v) for n, v in named if not isinstance(v, str)]
    before = time.perf_counter()
    model, recorded, report = _cameo.export_archive(path, path, {k: v for k, v in options.items() if v is not None})
    result = ExportResult(model, "archive", job.findings + list(model.findings))
    result.recorded, result.report_json = recorded, report
    result.seconds["export"] = time.perf_counter() - before
    if job.verify:
        before = time.perf_counter()
        _verify_archive(path, [v for _, v in named if not isinstance(v, str)], result, job)
        result.seconds["verify"] = time.perf_counter() - before
    return result


def _verify_archive(path, given, result, job):
    if importlib.util.find_spec("torch") is None:
        result.findings.append(note("verify.skipped", "PyTorch is not installed: not verified"))
        return
    from ._verify import verify_archive
    verify_archive(path, given, result, job)


def _example(name, value):
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        dtype = arguments.DTYPES.get(str(value.dtype).split(".")[-1], str(value.dtype))
        return name, dtype, [int(n) for n in value.shape], ""
    dtype = {bool: "bool", int: "i64", float: "f32"}.get(type(value), "")
    if not dtype:
        raise failure("use.input", f"the argument '{name}' is {type(value).__name__}: an archive takes arrays and numbers")
    return name, dtype, [], repr(value)


def _save(result, f, external, check):
    """Holds the result against ONNX's rules, and gives it its name only where it keeps them."""
    if not check:
        result.save(f, external_data=external or None)
    elif hasattr(f, "write") and not external:
        data = result.model._bytes({})
        errors = [d for d in _cameo.check_bytes(data, True, False) if d.severity == "error"]
        if errors:
            raise _broken(errors)
        f.write(data)
    elif hasattr(f, "write"):
        result.save(f, external_data=external)  # which says that it cannot
    else:
        try:
            result.model._save_checked(os.fspath(f), {"weights": "external"} if external else {})
        except Error as e:
            if e.code != "export.check":
                raise
            raise _broken([d for d in e.diagnostics if d.what != _WRITTEN]) from None


_WRITTEN = "the exported model breaks ONNX's rules, and was not written"


def _broken(errors):
    return failure("export.check", _WRITTEN, more=errors,
                   hint="this should not be: please report it; enable_onnx_checker=False writes the file without the check")


def _write_text(text, f):
    if hasattr(f, "write"):
        f.write(text.encode())
    elif f is not None:
        with open(f, "w") as out:
            out.write(text)


def _write_report(result, report, artifacts_dir):
    path = report if isinstance(report, (str, os.PathLike)) else os.path.join(artifacts_dir, "cameo_export_report.json")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as out:
        out.write(result.report_json)
