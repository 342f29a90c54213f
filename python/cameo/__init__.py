"""Cameo: PyTorch models to ONNX, checked; ONNX models read, checked, simplified, converted and run.

    import cameo
    cameo.export(model, (x,), "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    cameo.Session("net.onnx").run({"x": array})

PyTorch is needed only where live modules are given. docs/python.md has the whole of it.
"""
import importlib

from ._cameo import Bug, Diagnostic, Error, Model, __version__, limits, newest_opset

# Everything else is imported when it is asked for, so that `import cameo` costs little.
_WHERE = {
    "load": "_model", "save": "_model", "check": "_model", "infer": "_model", "convert": "_model", "extract": "_model",
    "edit": "_model", "diff": "_model", "merge": "_model", "run": "_model", "ValueInfo": "_model", "Difference": "_model",
    "verify": "_model", "operators": "_model", "simplify": "_simplify", "rules": "_simplify", "explain": "_simplify",
    "quantize": "_quantize", "Quantized": "_quantize", "to_half": "_half", "Half": "_half",
    "lint": "_lint", "lint_rules": "_lint", "lint_targets": "_lint", "LintReport": "_lint",
    "LintFinding": "_lint", "fix_lint": "_lint", "LintFixed": "_lint", "LintStep": "_lint",
    "prepare": "_prepare", "Prepared": "_prepare", "PrepareStep": "_prepare",
    "quantize_weights": "_weights", "WeightQuantized": "_weights", "convert_weights": "_weights", "quantize_dynamic": "_weights", "DynamicQuantized": "_weights",
    "Builder": "_builder", "view": "_view", "View": "_view", "Desk": "_view",
    "Session": "_session", "Kernel": "_kernel", "KernelType": "_kernel",
    "InferenceSession": "_inference", "SessionOptions": "_inference", "RunOptions": "_inference", "OrtValue": "_inference", "IOBinding": "_inference",
    "GraphOptimizationLevel": "_inference", "ExecutionMode": "_inference", "get_available_providers": "_inference", "get_device": "_inference",
    "set_default_logger_severity": "_inference",
    "export": "_export", "ExportResult": "_result", "torch_onnx_export": "_patch",
    "lowering": "_lowering", "TrainingMode": "_arguments", "OperatorExportTypes": "_arguments",
}
__all__ = ["Bug", "Diagnostic", "Error", "Model", "__version__", "limits", "newest_opset", *_WHERE]


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"module 'cameo' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)


def _methods():
    """Model's methods that are written in Python, each imported when it is called."""
    def forward(module, function):
        def method(self, *args, **kwargs):
            return getattr(importlib.import_module(f".{module}", __name__), function)(self, *args, **kwargs)
        method.__name__ = function
        return method

    for name, function in {"save": "save", "to_bytes": "to_bytes", "SerializeToString": "to_bytes", "to_proto": "to_proto",
                           "check": "check", "infer": "infer", "convert": "convert", "extract": "extract", "edit": "edit",
                           "diff": "diff", "merge": "merge", "run": "run", "random_inputs": "random_inputs"}.items():
        setattr(Model, name, forward("_model", function))
    Model.simplify = forward("_simplify", "simplified")
    Model.session = forward("_session", "session_of")
    Model._repr_html_ = forward("_display", "page")
    Model._repr_svg_ = forward("_display", "svg_or_none")
    Model.svg = forward("_display", "svg")
    Model.view = forward("_view", "view")
    Model.__str__ = forward("_display", "told")
    Model.__repr__ = forward("_display", "short")
    for name in ("inputs", "outputs", "nodes", "statistics", "initializers"):
        setattr(Model, name, property(forward("_model", f"model_{name}")))


_methods()
del _methods
