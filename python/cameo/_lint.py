"""What a deployment target does not take."""
from typing import NamedTuple

from . import _cameo
from ._model import as_model


class LintFinding(NamedTuple):
    severity: str  # "error", "warning", "note"
    target: str
    rule: str
    node: str
    op: str
    what: str
    source: str
    cure: str
    fixable: bool
    version: str  # of the target


class LintReport:
    """targets (name to version; where a name was given in several versions, NAME:VERSION to version), findings, how many were ignored, and all of it as SARIF."""

    def __init__(self, targets, findings, ignored, sarif):
        names = [name for name, _ in targets]
        self.targets = {name if names.count(name) == 1 else f"{name}:{version}": version for name, version in targets}
        self.findings = [LintFinding(*f) for f in findings]
        self.ignored, self.sarif = ignored, sarif

    def count(self, severity):
        return sum(f.severity == severity for f in self.findings)

    @property
    def ok(self):
        """No error."""
        return not self.count("error")

    def __repr__(self):
        return f"<LintReport for {', '.join(self.targets)}: {self.count('error')} errors, {self.count('warning')} warnings, {self.count('note')} notes>"


def _list(names):
    return [names] if isinstance(names, str) else list(names)


def lint(model, targets="onnxruntime", *, ignore=()):
    """Findings for one or several targets: "tensorrt", "onnxruntime:1.20", "all". ignore: rules, as RULE or RULE@NODE, with * and ?."""
    return LintReport(*_cameo.lint(as_model(model), dict(targets=_list(targets), ignore=_list(ignore))))


class LintStep(NamedTuple):
    cure: str
    done: bool
    why: str  # it was not done


class LintFixed:
    """A model with the cures of its findings applied: model, before and after (reports), steps."""

    def __init__(self, model, before, after, steps):
        self.model, self.before, self.after = model, LintReport(*before), LintReport(*after)
        self.steps = [LintStep(*s) for s in steps]

    def __repr__(self):
        return f"<LintFixed: {self.before.count('error')} errors before, {self.after.count('error')} after {len(self.steps)} steps>"


def fix_lint(model, targets="onnxruntime", f=None, *, ignore=(), input_shapes=None, sizes=None, verify=True, progress=None):
    """The model with the cures of errors and warnings applied, each verified by running it; written to `f` where that is given.

    input_shapes ({"x": [1, 3, 224, 224]}) and sizes ({"batch": 1}) are for targets that want fixed sizes. progress: as simplify's."""
    shapes = {name: [str(n) for n in given] for name, given in (input_shapes or {}).items()}
    fixed = LintFixed(*_cameo.fix_lint(as_model(model), dict(targets=_list(targets), ignore=_list(ignore), verify=verify, input_shapes=shapes, sizes=dict(sizes or {}), progress=progress)))
    if f is not None:
        fixed.model.save(f)
    return fixed


def lint_targets():
    """Every target, and the version that is judged where none is given."""
    return dict(_cameo.lint_targets())


def lint_rules(targets="all"):
    """Rows of the targets' files, as dicts."""
    keys = ("rule", "severity", "when", "what", "source", "cure")
    return [dict(zip(keys, row)) for row in _cameo.lint_rules(_list(targets))]
