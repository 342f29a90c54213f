"""What an export gives back."""
import os
from typing import Any

from ._findings import failure


class ExportResult:
    """A model, and how it came about. Until it is saved, large weights are those of the live module, not copies.

    model          the cameo.Model
    captured       "trace", "script", "export", or "archive"
    findings       every note and warning, in order
    verification   how far PyTorch and the engine agree (None: not asked for)
    seconds        where the time went: capture (PyTorch's), archive, export, verify, total; save comes after
    """

    def __init__(self, model, captured, findings):
        self.model, self.captured, self.findings = model, captured, findings
        self.verification: Any = None
        self.frozen = []  # findings about what a trace made constants of
        self.seconds = {}
        self.recorded = self.report_json = ""
        self.captured_from = None
        self.program = None  # of capture="export": the ExportedProgram
        self.bound = None
        self.handed_over = None  # options of the export from a live module
        self.fixed_sizes = set()  # names of sizes that were to be dynamic, and that the program fixes
        self.renamed = {}  # weights that got names of the caller's: new name -> name in the state dict
        self._session: Any = None
        self._kernels = None  # of the caller's own, for verification and calls

    def save(self, destination, *, include_initializers=True, keep_initializers_as_inputs=False, external_data=None):
        """To a path or a file object; external_data=True puts the weights beside it."""
        weights = "external" if external_data else None
        if hasattr(destination, "write"):
            if weights:
                raise failure("use.weights", "a file object cannot have a data file beside it", hint="give a path")
            destination.write(self.model._bytes({}))
        else:
            self.model._save(os.fspath(destination), {"weights": weights} if weights else {})
        return self

    def optimize(self, **options):
        """Simplifies once more, in place; options as Model.simplify."""
        self.model = self.model.simplify(**options)
        self._session = None
        return self

    @property
    def model_proto(self):
        return self.model.to_proto()

    @property
    def program_text(self):
        """The captured program, as PyTorch prints it."""
        if self.program is not None:
            return str(self.program)
        module = getattr(self.captured_from, "module", None)
        if module is None:
            module = self.bound.model if self.bound else None
        return str(getattr(module, "inlined_graph", getattr(module, "graph", "")))

    @property
    def exported_program(self):
        return self.program

    def initialize_inference_session(self, *args, **kwargs):
        self._session = self.model.session(kernels=self._kernels)

    def __call__(self, *args, **kwargs):
        """Runs the model in Cameo's engine on arguments like the example's; gives a list of arrays."""
        if self._session is None:
            self.initialize_inference_session()
        return self._session._session._run(self._feeds(args, kwargs))

    def _feeds(self, args, kwargs):
        if self.bound is None:
            return list(args) + list(kwargs.values())
        from . import _arguments as arguments
        from ._live import feed
        bound = arguments.Bound(self.bound.model, arguments.as_tensors(args), arguments.as_tensors(kwargs))
        return [feed(leaf.value) for leaf in bound.tensors]

    def __str__(self):
        lines = [f"{self.model.node_count} nodes, opset {self.model.opset}, captured by {self.captured}"]
        if self.verification is not None:
            lines.append(self._verdict())
        return "\n".join(lines + [str(d).rstrip() for d in self.findings])

    def _verdict(self):
        why, tried = self._reservation(), self.verification.tried()
        if why or not self.verification.ok:
            return f"NOT verified: {why}; {tried}" if why else f"NOT verified: {tried}"
        return f"verified{self._limits()}: {tried}"

    def _limits(self):
        """Where a result is right, if not everywhere."""
        codes = {d.code for d in self.findings}
        if codes & {"export.fixed-axis", "verify.sizes"}:
            return " at the example's sizes only"
        if "verify.some-sizes" in codes:
            return " at some sizes only"
        if "verify.values" in codes:
            return " for some inputs only"
        assumed = [d.what.removeprefix("assumed that ").partition(":")[0] for d in self.findings if d.code == "stage.assumed" and d.severity == "warning"]
        return f" where {' and '.join(assumed)}" if assumed else ""

    def _reservation(self):
        """Why agreement on what was tried is not enough to call the result verified."""
        if self.frozen:
            return f"{len(self.frozen)} values that the inputs decide are frozen"
        if any(d.code == "verify.exporting" for d in self.findings):
            return "the model computes something else while it is exported"
        if any(d.code == "verify.unstable" for d in self.findings):
            return "the comparison is inconclusive (verify.unstable)"
        return ""

    def __repr__(self):
        return f"<cameo.ExportResult: {self.model.node_count} nodes, opset {self.model.opset}, captured by {self.captured}>"

    def _repr_html_(self):
        """In notebooks: how it was captured and how far it agrees, then the model's table and drawing."""
        import html
        return f"<pre>{html.escape(str(self))}</pre>{self.model._repr_html_()}"
