"""A model as a deployment target wants it."""
import json
import os
from typing import NamedTuple

from . import _cameo
from ._findings import failure
from ._lint import LintReport, _list
from ._model import as_model
from ._quantize import sample_source


class PrepareStep(NamedTuple):
    step: str
    what: str
    checked: str  # how its result compares
    why_not: str  # it was not done


class Prepared:
    """model, ledger (a list of PrepareStep), lint (a LintReport of the result), report (all of it as a dict), findings."""

    def __init__(self, model, ledger, lint, report, findings):
        self.model, self.ledger, self.lint = model, [PrepareStep(*s) for s in ledger], LintReport(*lint)
        self.report, self.findings = report, findings

    @property
    def ok(self):
        """Lint finds no error."""
        return self.lint.ok

    def save(self, f, **options):
        self.model.save(f, **options)
        return self

    def __repr__(self):
        return f"<Prepared for {', '.join(self.lint.targets)} in {len(self.ledger)} steps: {self.lint.count('error')} errors>"


def prepare(model, f=None, *, target="onnxruntime", inputs=(), sizes=None, opset=None, float_type=None, samples=None, min_db=20.0, image="",
            normalise=None, append_nms=None, ignore=(), simplify=True, fix=True, verify=True, progress=None):
    """The model as the target wants it, as a Prepared; written to `f` where that is given.

    inputs ("x=f32[1,3,640,640]") and sizes ({"batch": 1}) fix sizes; float_type is "f16", "bf16" or "mixed"; samples quantize, as
    in quantize(). image makes a picture of bytes the input; normalise is "fold", "keep" or "out". append_nms=True finds the boxes
    of a detector, a text or a dict says more: "score=0.3,max=100". After each step outputs are compared."""
    for name, value, known in (("float_type", float_type, ("f16", "bf16", "mixed")), ("normalise", normalise, ("fold", "keep", "out"))):
        if value is not None and value not in known:
            raise failure("use.value", f"{name} is {value!r}", hint=f"one of {', '.join(known)}")
    model = as_model(model)
    source = sample_source(model, samples)
    options = dict(target=target, inputs=_list(inputs), sizes=dict(sizes or {}), opset=opset or 0, float_type=float_type or "", min_db=float(min_db), image=image,
                   normalise=normalise or "", append_nms=_words(append_nms), ignore=_list(ignore), simplify=simplify, fix=fix, verify=verify, progress=progress)
    made, ledger, lint, report, findings = _cameo.prepare(model, source, {k: v for k, v in options.items() if v is not None})
    result = Prepared(made, ledger, lint, json.loads(report), findings)
    if f is not None:
        result.save(os.fspath(f) if isinstance(f, os.PathLike) else f)
    return result


def _words(given):
    if given is None or given is False:
        return None
    if given is True:
        return "auto"
    if isinstance(given, str):
        return given
    said = {True: "yes", False: "no"}
    return ",".join(f"{key}={said.get(value, value) if isinstance(value, bool) else value}" for key, value in given.items())
