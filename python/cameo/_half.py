"""Models in half precision, no worse than asked."""
import json

from . import _cameo
from ._kernel import kernel_list
from ._model import as_model
from ._quantize import sample_source


class Half:
    """A model in half precision and what was done: model, report (a dict), findings."""

    def __init__(self, model, report, findings):
        self.model, self.report, self.findings = model, report, findings

    @property
    def error(self):
        """Of the worst output, as a part of its largest number; None where it was not measured."""
        return self.report.get("error")

    def save(self, f, **options):
        self.model.save(f, **options)
        return self

    def __repr__(self):
        r = self.report
        measured = f"error {self.error:.2g}" if self.error is not None else "not measured"
        return f"<Half: {r['values']} values and {r['weights']} weights, {r['casts']} casts, {len(r['kept'])} kept in f32, {measured}>"


def to_half(model, f=None, *, float_type="f16", samples=None, image="", keep_io=False, keep=(), max_error=None, check=True, target="", opset=None,
            threads=0, kernels=None, progress=None):
    """The model in half precision, as a Half; written to `f` where that is given.

    float_type: "f16", "bf16" or "mixed" (products in f16, what PyTorch's autocast computes in f32 in f32). samples: inputs as cameo.quantize
    takes them, to measure ranges and errors on; None: made-up ones. More stays f32 until every output is within max_error (default: 0.01,
    bf16 0.05) of its largest number; check=False runs nothing. target="tensorrt": a strongly typed file, where sums of squares fit in f16.
    kernels: as Session takes them, for operators of your own."""
    model = as_model(model)
    options = dict(float_type=float_type, samples=sample_source(model, samples), image=image, keep_io=keep_io, keep=[keep] if isinstance(keep, str) else list(keep),
                   max_error=max_error, check=check, target=target, opset=opset or 0, threads=threads, kernels=kernel_list(kernels), progress=progress)
    made, report, findings = _cameo.half(model, {k: v for k, v in options.items() if v is not None})
    result = Half(made, json.loads(report), findings)
    if f is not None:
        result.save(f)
    return result
