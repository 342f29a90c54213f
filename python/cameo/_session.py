"""Running models."""
from . import _cameo
from ._findings import failure
from ._kernel import kernel_list
from ._model import as_model, model_inputs, model_outputs


class Session:
    """A model ready to run. Threads may run it at the same time; Python's lock is given up meanwhile.

    Inputs are NumPy arrays or anything with __dlpack__ (torch tensors): dense ones on the CPU are not copied. Outputs are
    NumPy arrays over the engine's own memory. kernels: {"my.domain::Op": function} for operators of your own (Kernel)."""

    def __init__(self, model, *, threads=0, reference=False, seed=0, keep_outputs=(), kernels=None):
        self.model = as_model(model)
        options = {"threads": threads, "reference": reference, "seed": seed}
        if keep_outputs:
            options["keep_outputs"] = [keep_outputs] if isinstance(keep_outputs, str) else list(keep_outputs)
        if kernels:
            options["kernels"] = kernel_list(kernels)
        self._session = _cameo.Session(self.model, options)
        self.inputs = model_inputs(self.model)
        self.outputs = model_outputs(self.model)
        self.output_names = self._session.names
        self._input_index = {v.name: i for i, v in enumerate(self.inputs)}

    @property
    def threads(self):
        return self._session.threads

    def run(self, feeds, outputs=None):
        """feeds: {name: array}, or arrays in the inputs' order. Gives {name: array}, or those of `outputs`.

        onnxruntime's order is understood too: run(None, feeds) and run(["y"], feeds) give a list."""
        if hasattr(outputs, "items"):
            named = self.run(outputs, None if feeds is None else list(feeds))
            return list(named.values())
        names, results = self._results(feeds)
        if outputs is None:
            return dict(zip(names, results))
        outputs = [outputs] if isinstance(outputs, str) else outputs
        return {name: results[self._output_index(name)] for name in outputs}

    def __call__(self, *args, **kwargs):
        """Arrays by place and by name; gives one array, or a tuple of them."""
        feeds = dict(zip(self._input_index, args)) | kwargs
        results = self._results(feeds)[1]
        return results[0] if len(results) == 1 else tuple(results)

    def profile(self, feeds):
        """One run, and where its time went: (outputs, [(node, operator, kernel, start_us, length_us), ...])."""
        steps = []
        results = self._session._run(self._ordered(feeds), True, steps)
        return dict(zip(self.output_names, results)), steps

    def _results(self, feeds):
        return self.output_names, self._session._run(self._ordered(feeds))

    def _ordered(self, feeds):
        if not hasattr(feeds, "items"):
            if feeds is None or hasattr(feeds, "shape"):
                raise failure("use.arguments", f"the inputs are {'None' if feeds is None else 'one array'}: run takes arrays by name", hint=f"{{{next(iter(self._input_index), 'x')!r}: array}}")
            return list(feeds)
        ordered = [None] * len(self.inputs)
        for name, array in feeds.items():
            if name not in self._input_index:
                raise failure("run.input-name", f"the model has no input '{name}'", hint="it has: " + ", ".join(self._input_index))
            ordered[self._input_index[name]] = array
        while ordered and ordered[-1] is None:
            ordered.pop()
        return ordered

    def _output_index(self, name):
        if name not in self.output_names:
            raise failure("run.output-name", f"the model has no output '{name}'", hint="it has: " + ", ".join(self.output_names))
        return self.output_names.index(name)


def session_of(model, **options):
    return Session(model, **options)
