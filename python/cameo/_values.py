"""What export's arguments may be, a row for each. A wrong one is refused before anything runs."""
import collections.abc
import difflib
import inspect
import operator
import os

from . import _arguments as arguments
from ._findings import failure

FLAGS = ("export_params verbose aten export_raw_ir _retain_param_name do_constant_folding strip_doc_string keep_initializers_as_inputs enable_onnx_checker "
         "use_external_data_format dynamo external_data optimize profile dump_exported_program autograd_inlining strict lossy experimental linger").split()
ON_BY_DEFAULT = "export_params _retain_param_name do_constant_folding strip_doc_string enable_onnx_checker optimize autograd_inlining linger".split()
ONE_OF = {
    "fallback": (None, True, False, "none", "aten", "all-aten", "custom"),
    "capture": ("auto", "trace", "script", "export"),
    "loops": ("keep", "unroll"),
    "state": ("drop", "outputs"),
    "frozen": ("error", "allow"),
    "asserts": ("drop", "keep"),
    "verify": (True, False, "warn"),
    "referee": (None, "cameo", "onnxruntime"),
}
TRAINING = ("EVAL", "PRESERVE", "TRAINING", "TRAIN")
OPERATOR_EXPORT_TYPES = ("DEFAULT", *arguments.FALLBACKS)


def checked(given):
    """The arguments by name, each in the form that export works with."""
    given |= {name: True for name in ON_BY_DEFAULT if given[name] is None}
    for name in FLAGS:
        if not _is_flag(given[name]):
            raise _wrong(name, "True or False", given[name])
    for name, allowed in ONE_OF.items():
        if not any(given[name] is value or isinstance(value, str) and given[name] == value for value in allowed):
            raise _wrong(name, "one of " + ", ".join(map(repr, allowed)), given[name])
    return given | {name: convert(name, given[name]) for name, convert in CONVERTED.items()}


def names(name, value):
    """A list of names; one name is a list of one."""
    listed = [value] if isinstance(value, str) else list(value) if isinstance(value, collections.abc.Iterable) else [value] if value else []
    if not all(isinstance(v, str) and v for v in listed):
        raise _wrong(name, "a list of names", value)
    return listed


# Names that other exporters, or fingers, have for arguments of export.
OTHER_NAMES = {"opset": "opset_version", "target_opset": "opset_version", "output": "f", "path": "f", "filename": "f", "example_inputs": "args", "inputs": "args", "sample_input": "args",
               "do_simplify": "optimize", "simplify": "optimize", "check": "verify", "decomposition_table": "capture", "fixed_batch_size": "dynamic_axes", "large_model": "external_data"}


def told_of_unknown(name):
    """What Python says of an argument that is not there, and which one may be meant."""
    from ._export import export
    there = [p for p in inspect.signature(export).parameters if p != "unknown"]
    near = OTHER_NAMES.get(name) or next(iter(difflib.get_close_matches(name, there, 1)), "")
    return f"export() got an unexpected keyword argument {name!r}" + (f". Did you mean {near!r}?" if near else "")


def _is_flag(value):
    return value is None or (isinstance(value, (bool, int)) or type(value).__module__ == "numpy") and value in (0, 1)


def _wrong(name, wanted, value):
    return failure("use.value", f"{name} is {wanted}, not {value!r}")


def _different_names(name, value):
    value = names(name, value)
    twice = next((v for i, v in enumerate(value) if v in value[:i]), None)
    if twice is not None:
        raise failure("use.input-names", f"two inputs are called {twice!r}")
    return value


def _opset(name, value):
    if value is None:
        return 18
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise _wrong(name, "a whole number", value) from None


def _tolerance(name, value):
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0):
        raise _wrong(name, "a number, 0 or more", value)
    return value


def _training(name, value):
    if value is None or isinstance(value, bool):
        return "TRAINING" if value else "EVAL"
    if arguments.enum_name(value) not in TRAINING:
        raise _wrong(name, "one of " + ", ".join(map(repr, TRAINING)), value)
    return arguments.enum_name(value)


def _operator_export_type(name, value):
    if value is None:
        return None
    if arguments.enum_name(value) not in OPERATOR_EXPORT_TYPES:
        raise _wrong(name, "one of " + ", ".join(map(repr, OPERATOR_EXPORT_TYPES)), value)
    return arguments.enum_name(value)


def _opsets(name, value):
    wanted = '{domain: version}, for example {"my.domain": 1}'
    try:
        return {str.strip(domain): operator.index(version) for domain, version in dict(value or {}).items()} or None
    except (TypeError, ValueError):
        raise _wrong(name, wanted, value) from None


def _assume(name, value):
    if isinstance(value, bool):
        return value
    return names(name, value)


def _classes(name, value):
    """None: no functions; []: every module that it may be; or names of classes."""
    if isinstance(value, bool) or value is None:
        return [] if value else None
    return [value] if isinstance(value, str) else [getattr(c, "__name__", str(c)) for c in value]


def _destination(name, value):
    if isinstance(value, bytes):
        value = os.fsdecode(value)
    if value is None or isinstance(value, (os.PathLike, tuple, list)) or hasattr(value, "shape") or isinstance(value, str) and value:
        return value  # tensors are the business of _mistakes
    if not hasattr(value, "write"):
        raise _wrong(name, "a path, a file object or None", value)
    if hasattr(value, "encoding"):
        raise failure("use.value", f"{name} is a file for text: a model is bytes", hint='open(path, "wb"), or give the path itself')
    return value


CONVERTED = {"input_names": _different_names, "output_names": names, "keep_outputs": names, "opset_version": _opset, "rtol": _tolerance, "atol": _tolerance,
             "training": _training, "operator_export_type": _operator_export_type, "custom_opsets": _opsets, "assume": _assume,
             "export_modules_as_functions": _classes, "f": _destination}
