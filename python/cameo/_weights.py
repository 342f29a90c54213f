"""Models whose weights have few bits, and dynamic quantization."""
import json

from . import _cameo
from ._kernel import kernel_list
from ._model import as_model
from ._quantize import sample_source


class WeightQuantized:
    """A model with weights in few bits, and what was done: model, report (a dict), findings."""

    def __init__(self, model, report, findings):
        self.model, self.report, self.findings = model, report, findings

    def save(self, f, **options):
        self.model.save(f, **options)
        return self

    def __repr__(self):
        r = self.report
        return f"<WeightQuantized: {sum(w['quantized'] for w in r['weights'])} weights, {r['bytes_before']} to {r['bytes_after']} bytes>"


def quantize_weights(model, f=None, *, bits=4, block=32, symmetric=True, method="rtn", form="nbits", samples=None, image="", embeddings=True, keep=(),
                     opset=None, threads=0, kernels=None, progress=None):
    """The model with its matrices and tables in `bits` (8, 4 or 2), as a WeightQuantized; written to `f` where that is given.

    method: "rtn", "search", and with samples as cameo.quantize takes them "gptq" or "awq". form: "nbits" (com.microsoft's MatMulNBits) or
    "qdq" (DequantizeLinear with blocks, opset 21). kernels: as Session takes them, to run the model on the samples."""
    model = as_model(model)
    options = dict(bits=bits, block=block, symmetric=symmetric, method=method, form=form, embeddings=embeddings, keep=[keep] if isinstance(keep, str) else list(keep),
                   opset=opset or 0, threads=threads, kernels=kernel_list(kernels), progress=progress)
    made, report, findings = _cameo.quantize_weights(model, sample_source(model, samples), image, {k: v for k, v in options.items() if v is not None})
    result = WeightQuantized(made, json.loads(report), findings)
    if f is not None:
        result.save(f)
    return result


def convert_weights(model, form, f=None):
    """The model with its weights in few bits in the other form, "nbits" or "qdq", as a WeightQuantized; written to `f` where that is given.
    Levels and scales stay what they are."""
    made, report, findings = _cameo.convert_weights(as_model(model), form)
    result = WeightQuantized(made, json.loads(report), findings)
    if f is not None:
        result.save(f)
    return result


class DynamicQuantized(WeightQuantized):
    """A model with 8-bit products, and what was done: model, report (a dict), findings."""

    def __repr__(self):
        return f"<DynamicQuantized: {sum(n['quantized'] for n in self.report['nodes'])} of {len(self.report['nodes'])} nodes>"


def quantize_dynamic(model, f=None, *, target="onnxruntime", per_channel=True, keep=(), opset=None):
    """The model with 8-bit weights and data that is rounded while it runs, as a DynamicQuantized; written to `f` where that is given.

    target: "onnxruntime" (com.microsoft's operators too) or "generic" (only ONNX's own)."""
    made, report = _cameo.quantize_dynamic(as_model(model), dict(target=target, per_channel=per_channel, keep=[keep] if isinstance(keep, str) else list(keep), opset=opset or 0))
    result = DynamicQuantized(made, json.loads(report), [])
    if f is not None:
        result.save(f)
    return result
