"""onnxruntime's everyday names over Session: only the import changes."""
import enum
import json
import os
import time
import warnings

from ._findings import failure
from ._session import Session

PROVIDER = "CPUExecutionProvider"
TYPES = {"float32": "float", "float64": "double"}  # onnxruntime's words for NumPy's, where they differ


class GraphOptimizationLevel(enum.IntEnum):
    """Understood, and without effect: a session is planned in one way, which never changes what a model computes."""
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Understood, and without effect."""
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class RunOptions:
    """Taken by InferenceSession.run. Its fields may be set and change nothing."""


class SessionOptions:
    """onnxruntime's options. intra_op_num_threads, enable_profiling, profile_file_prefix and optimized_model_filepath have an effect."""

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.enable_profiling = False
        self.profile_file_prefix = "onnxruntime_profile_"
        self.optimized_model_filepath = ""
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL

    def add_session_config_entry(self, key, value):
        pass

    def add_free_dimension_override_by_name(self, name, size):
        raise failure("use.value", "a session fixes no sizes", hint=f"fix them in the model: cameo.edit(model, fix_shape=...), or simplify(model, overwrite_input_shapes=...); here '{name}' = {size}")

    def register_custom_ops_library(self, path):
        raise failure("use.value", f"{os.fspath(path)} is a library for onnxruntime, whose operators no other engine can load",
                      hint='InferenceSession(model, kernels={"my.domain::Op": function}) runs operators of your own')


def get_available_providers():
    return [PROVIDER]


def get_device():
    return "CPU"


def set_default_logger_severity(severity):
    """A session of Cameo logs nothing."""


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


class OrtValue:
    """An array that is bound to an input or output; on the CPU, whatever device is named."""

    def __init__(self, array):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        import numpy
        return OrtValue(numpy.ascontiguousarray(array))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        import numpy
        return OrtValue(numpy.zeros(tuple(shape), element_type))

    def numpy(self):
        return self._array

    def shape(self):
        return list(self._array.shape)

    def data_type(self):
        return f"tensor({TYPES.get(str(self._array.dtype), self._array.dtype)})"

    def data_ptr(self):
        return self._array.ctypes.data

    def device_name(self):
        return "cpu"

    def is_tensor(self):
        return True

    def has_value(self):
        return True

    def update_inplace(self, array):
        self._array[...] = array


def _at(pointer, shape, element_type):
    """The array at an address on the CPU: what the caller binds by data_ptr()."""
    import ctypes

    import numpy
    dtype = numpy.dtype(element_type)
    count = int(numpy.prod(shape, dtype="int64"))
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(pointer)
    return numpy.frombuffer(memory, dtype, count).reshape(tuple(shape))


def _on_cpu(name, device_type):
    if str(device_type).split(":")[0] != "cpu":
        raise failure("use.value", f"'{name}' is bound on {device_type}, and sessions run on the CPU", hint="bind an array of the CPU")


class IOBinding:
    """Inputs and outputs that are named once and used in many runs."""

    def __init__(self, session):
        self._session, self._feeds, self._wanted, self._results = session, {}, {}, []

    def bind_cpu_input(self, name, array):
        self._feeds[name] = array

    def bind_ortvalue_input(self, name, value):
        self._feeds[name] = value.numpy()

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        _on_cpu(name, device_type)
        self._feeds[name] = _at(buffer_ptr, shape, element_type)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        self._wanted[name] = None
        if buffer_ptr is not None:
            _on_cpu(name, device_type)
            self._wanted[name] = _at(buffer_ptr, shape, element_type)

    def bind_ortvalue_output(self, name, value):
        self._wanted[name] = value.numpy()

    def synchronize_inputs(self):
        pass

    synchronize_outputs = synchronize_inputs

    def clear_binding_inputs(self):
        self._feeds = {}

    def clear_binding_outputs(self):
        self._wanted, self._results = {}, []

    def get_outputs(self):
        return [OrtValue(r) for r in self._results]

    def copy_outputs_to_cpu(self):
        return list(self._results)

    def _run(self):
        self._results = self._session.run(list(self._wanted), self._feeds)
        for i, bound in enumerate(self._wanted.values()):
            if bound is None:
                continue
            got = self._results[i]
            if (bound.shape, bound.dtype) != (got.shape, got.dtype):
                raise failure("run.size", f"the output '{list(self._wanted)[i]}' is {got.dtype} {list(got.shape)}, and {bound.dtype} {list(bound.shape)} is bound to it")
            bound[...] = got
            self._results[i] = bound


class InferenceSession:
    """onnxruntime.InferenceSession's everyday calls. kernels: as Session takes them."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, *, kernels=None, disabled_optimizers=None,
                 enable_fallback=None, read_config_from_model=None):
        self._options = sess_options or SessionOptions()
        self._session = Session(path_or_bytes, threads=getattr(sess_options, "intra_op_num_threads", 0), kernels=kernels)
        self._model_path = os.fspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else ""
        self._steps: list | None = [] if getattr(sess_options, "enable_profiling", False) else None
        self._started = time.perf_counter()
        self.set_providers(providers)
        if path := getattr(sess_options, "optimized_model_filepath", ""):
            self._session.model.simplify().save(path)

    def get_inputs(self):
        return [NodeArg(i) for i in self._session.inputs if not i.has_default]

    def get_overridable_initializers(self):
        return [NodeArg(i) for i in self._session.inputs if i.has_default]

    def get_outputs(self):
        return [NodeArg(o) for o in self._session.outputs]

    def get_modelmeta(self):
        return ModelMetadata(self._session.model)

    def get_session_options(self):
        return self._options

    def get_providers(self):
        return [PROVIDER]

    def get_provider_options(self):
        return {PROVIDER: {}}

    def set_providers(self, providers=None, provider_options=None):
        names = [p if isinstance(p, str) else p[0] for p in providers or ()]
        if names and PROVIDER not in names:
            warnings.warn(f"{', '.join(names)}: Cameo's engine has no such provider, and runs on the CPU", stacklevel=3)

    def disable_fallback(self):
        pass

    enable_fallback = disable_fallback

    def run(self, output_names, input_feed, run_options=None):
        if self._steps is None:
            results = self._session._results(input_feed)[1]
        else:
            begun, steps = time.perf_counter() - self._started, []
            results = self._session._session._run(self._session._ordered(input_feed), True, steps)
            self._steps += [(begun * 1e6, *step) for step in steps]
        if not output_names:
            return results
        if isinstance(output_names, str):
            raise failure("use.arguments", f"output_names is {output_names!r}: run takes a list of names", hint=f"run([{output_names!r}], feeds)")
        return [results[self._session._output_index(n)] for n in output_names]

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        return [OrtValue(r) for r in self.run(output_names, {name: value.numpy() for name, value in input_dict_ort_values.items()})]

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        iobinding._run()

    def end_profiling(self):
        """Writes where the time of the runs went, as Chrome's about:tracing reads it, and gives the file's name."""
        path = f"{getattr(self._options, 'profile_file_prefix', 'onnxruntime_profile_')}{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        events = [{"cat": "Node", "ph": "X", "pid": os.getpid(), "tid": 0, "name": node, "ts": round(begun + start), "dur": round(length), "args": {"op_name": op, "kernel": kernel}}
                  for begun, node, op, kernel, start, length in self._steps or ()]
        with open(path, "w") as out:
            json.dump(events, out)
        return path
