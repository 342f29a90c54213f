"""Running models: Session, and InferenceSession with onnxruntime's everyday calls."""
import os

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


class SessionOptions:
    """onnxruntime's options that mean something here; others may be set and change nothing."""

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.enable_profiling = False

    def add_session_config_entry(self, key, value):
        pass


class NodeArg:
    """An input or output: name, shape, type."""

    def __init__(self, info):
        self.name, self.type, self.shape = info.name, info.type, info.shape

    def __repr__(self):
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


class ModelMetadata:
    def __init__(self, model):
        self.producer_name = model.producer.split(" ")[0]
        self.graph_name = model.graph_name
        self.custom_metadata_map = model.metadata
        self.version, self.domain, self.description, self.graph_description = 0, "", "", ""


class InferenceSession:
    """onnxruntime.InferenceSession's everyday calls: only the import changes."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        threads = getattr(sess_options, "intra_op_num_threads", 0)
        self._session = Session(path_or_bytes, threads=threads)
        self._model_path = os.fspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else ""

    def get_inputs(self):
        return [NodeArg(i) for i in self._session.inputs if not i.has_default]

    def get_overridable_initializers(self):
        return [NodeArg(i) for i in self._session.inputs if i.has_default]

    def get_outputs(self):
        return [NodeArg(o) for o in self._session.outputs]

    def get_modelmeta(self):
        return ModelMetadata(self._session.model)

    def get_providers(self):
        return ["CPUExecutionProvider"]

    def get_provider_options(self):
        return {"CPUExecutionProvider": {}}

    def set_providers(self, providers=None, provider_options=None):
        pass

    def run(self, output_names, input_feed, run_options=None):
        names, results = self._session._results(input_feed)
        if not output_names:
            return results
        return [results[self._session._output_index(n)] for n in output_names]
