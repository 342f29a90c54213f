"""Models in 8-bit integers, from samples of their inputs."""
import json
import os

from . import _cameo
from ._findings import failure
from ._kernel import kernel_list
from ._model import as_model


class Quantized:
    """A quantized model and how good it is: model, report (a dict), html (the report as a page), findings."""

    def __init__(self, model, report, html, findings):
        self.model, self.report, self.html, self.findings = model, report, html, findings

    @property
    def db(self):
        """Signal to noise of the worst output or part of one."""
        return self.report["db"]

    def save(self, f, **options):
        self.model.save(f, **options)
        return self

    def _repr_html_(self):
        return self.html

    def __repr__(self):
        r = self.report
        return f"<Quantized for {r['target']}: {r['db']:.1f} dB, {100 * r['int8_macs']:.1f} % of the multiplications in integers>"


def quantize(model, samples, f=None, *, target="onnxruntime", image="", method="auto", percentile=99.999, keep=(), min_db=20.0,
             max_float_macs=0.1, metric=None, max_drop=0.01, check_samples=16, simplify=True, correct_bias=True, equalize=True, compensate=True, form="qdq", opset=None, threads=0,
             kernels=None, progress=None):
    """The model in 8-bit integers, as a Quantized; written to `f` where that is given.

    samples: an iterable of dicts, arrays or tuples of arrays, as the model's inputs; or a path as `cameo quantize --calibrate`
    takes it, with `image` for pictures. It is read once. metric(model) gives a number, larger is better, and decides instead of
    signal to noise which nodes stay float. form="qoperator": QLinearConv and its like instead of Q and DQ.
    kernels: as Session takes them, for operators of your own. progress(what, done, all) is called now and then; False stops the call."""
    model = as_model(model)
    source = sample_source(model, samples)
    options = dict(target=target, method=method, percentile=percentile, keep=[keep] if isinstance(keep, str) else list(keep), min_db=min_db,
                   max_float_macs=max_float_macs, metric=metric, max_drop=max_drop, check_samples=check_samples, simplify=simplify,
                   correct_bias=correct_bias, equalize=equalize, compensate=compensate, form=form, opset=opset or 0, threads=threads,
                   kernels=kernel_list(kernels), progress=progress)
    made, report, html, findings = _cameo.quantize(model, source, image, {k: v for k, v in options.items() if v is not None})
    result = Quantized(made, json.loads(report), html, findings)
    if f is not None:
        result.save(f)
    return result


def sample_source(model, samples):
    """A file name, or an iterator of dicts; None stays None."""
    if samples is None or isinstance(samples, (str, os.PathLike)):
        return samples if samples is None else os.fspath(samples)
    return _named(samples, [i.name for i in model.inputs if not i.has_default])


def _named(samples, names):
    for sample in samples:
        if hasattr(sample, "items"):
            yield dict(sample)
            continue
        arrays = list(sample) if isinstance(sample, (tuple, list)) else [sample]
        if len(arrays) > len(names):
            raise failure("run.input-count", f"a sample has {len(arrays)} arrays, and the model has {len(names)} inputs")
        yield dict(zip(names, arrays))
