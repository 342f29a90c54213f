"""Types of the package; docs/python.md explains it."""
import enum
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import IO, Any, Literal, NamedTuple, TypeAlias

import numpy as np

__version__: str
newest_opset: int
Array: TypeAlias = Any  # NumPy's, or anything with __dlpack__
Path: TypeAlias = str | os.PathLike[str]
Source: TypeAlias = Path | bytes | bytearray | memoryview | IO[bytes] | "Model" | "ExportResult" | Any  # the last: onnx.ModelProto

class Diagnostic:
    severity: Literal["error", "warning", "note"]
    code: str
    what: str
    because: str
    hint: str
    where: dict[str, Any] | None
    notes: list[str]
    def json(self) -> str: ...

class Error(Exception):
    diagnostics: Sequence[Diagnostic]
    code: str
    exit_code: int

class Bug(RuntimeError):
    diagnostics: Sequence[Diagnostic]
    code: str
    exit_code: int

class ValueInfo(NamedTuple):
    name: str
    type: str
    shape: list[int | str | None] | None
    dtype: str
    has_default: bool

class NodeInfo(NamedTuple):
    name: str
    domain: str
    op: str
    inputs: list[str]
    outputs: list[str]
    where: str

class Difference(NamedTuple):
    what: str
    first: str
    second: str

class Model:
    opset: int
    opsets: dict[str, int]
    metadata: dict[str, str]
    graph_name: str
    producer: str
    node_count: int
    findings: list[Diagnostic]
    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    nodes: list[NodeInfo]
    statistics: dict[str, Any]
    initializers: dict[str, tuple[str, tuple[int, ...]]]
    def weight(self, name: str) -> np.ndarray: ...
    def text(self) -> str: ...
    def save(self, f: Path | IO[bytes], *, opset: int | None = None, weights: Literal["embed", "external", "in-place", "auto"] | None = None,
             external_name: str | None = None, lossy: bool = False, durable: bool = False) -> Model: ...
    def to_bytes(self, *, opset: int | None = None, lossy: bool = False) -> bytes: ...
    def SerializeToString(self) -> bytes: ...
    def to_proto(self) -> Any: ...
    def check(self, *, types: bool = True, strict: bool = False) -> list[Diagnostic]: ...
    def infer(self, *, strict: bool = False) -> Model: ...
    def convert(self, opset: int | None = None, *, lossy: bool = False, float_type: Literal["f16", "bf16", "mixed"] | None = None, keep_io: bool = False,
                keep: str | Iterable[str] = (), inline_functions: bool = False, to_qdq: bool = False, exact_rounding: bool = False,
            quantized: Literal["qdq", "qoperator"] | None = None) -> Model: ...
    def extract(self, inputs: str | Iterable[str] = (), outputs: str | Iterable[str] = ()) -> Model: ...
    def edit(self, edits: Iterable[Sequence[Any]] | None = None, **one: Any) -> Model: ...
    def diff(self, second: Source, *, limit: int = 100) -> list[Difference]: ...
    def merge(self, second: Source, connect: Mapping[str, str], *, keep_connected: bool = False) -> Model: ...
    def run(self, feeds: Mapping[str, Array] | Sequence[Array], outputs: str | Sequence[str] | None = None, *, threads: int = 0) -> dict[str, np.ndarray]: ...
    def random_inputs(self, seed: int = 0, **sizes: int) -> dict[str, np.ndarray]: ...
    def simplify(self, *, skip: str | Iterable[str] = (), only: str | Iterable[str] = (), without: str | Iterable[str] = (), exact: bool = False, fuse: bool = True, fold: bool = True,
                 freeze_initializers: bool = False, unroll: int = 0, input_shapes: Mapping[str, Sequence[int | str]] | None = None, check: int = 0,
                 rtol: float | None = None, atol: float | None = None, sizes: Mapping[str, int] | None = None, sizes_may_be_zero: bool = False,
                 shapes: bool = True, kernels: Kernels | None = None, progress: Callable[[str, int, int], bool | None] | None = None) -> Model: ...
    def session(self, **options: Any) -> Session: ...
    def svg(self, open_all: bool = False) -> str: ...
    def view(self, output: Path | None = None, *, open_all: bool = False, name: str = "model.onnx", port: int = 0, browser: bool = True, block: bool = True,
             gone_seconds: float = 20.0, threads: int = 0) -> View | None: ...

class KernelType(NamedTuple):
    dtype: str
    shape: list[int | str | None]

class Kernel:
    run: Callable[..., Any]
    types: Callable[..., Any] | None
    def __init__(self, run: Callable[..., Any], types: Callable[..., Any] | None = None) -> None: ...

Kernels = Mapping[str, Callable[..., Any] | Kernel]

class Session:
    model: Model
    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    output_names: list[str]
    threads: int
    def __init__(self, model: Source, *, threads: int = 0, reference: bool = False, seed: int = 0, keep_outputs: str | Iterable[str] = (),
                 kernels: Kernels | None = None) -> None: ...
    def run(self, feeds: Mapping[str, Array] | Sequence[Array], outputs: str | Sequence[str] | None = None) -> dict[str, np.ndarray]: ...
    def __call__(self, *args: Array, **kwargs: Array) -> np.ndarray | tuple[np.ndarray, ...]: ...
    def profile(self, feeds: Mapping[str, Array] | Sequence[Array]) -> tuple[dict[str, np.ndarray], list[tuple[str, str, str, float, float]]]: ...

class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99

class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1

class RunOptions: ...

class SessionOptions:
    intra_op_num_threads: int
    inter_op_num_threads: int
    enable_profiling: bool
    profile_file_prefix: str
    optimized_model_filepath: str
    graph_optimization_level: GraphOptimizationLevel
    execution_mode: ExecutionMode
    def add_session_config_entry(self, key: str, value: str) -> None: ...
    def add_free_dimension_override_by_name(self, name: str, size: int) -> None: ...
    def register_custom_ops_library(self, path: str) -> None: ...

def get_available_providers() -> list[str]: ...
def get_device() -> str: ...
def set_default_logger_severity(severity: int) -> None: ...

class NodeArg:
    name: str
    type: str
    shape: list[int | str | None] | None

class OrtValue:
    @staticmethod
    def ortvalue_from_numpy(array: np.ndarray, device_type: str = "cpu", device_id: int = 0) -> OrtValue: ...
    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue: ...
    def numpy(self) -> np.ndarray: ...
    def shape(self) -> list[int]: ...
    def data_type(self) -> str: ...
    def data_ptr(self) -> int: ...
    def device_name(self) -> str: ...
    def is_tensor(self) -> bool: ...
    def has_value(self) -> bool: ...
    def update_inplace(self, array: np.ndarray) -> None: ...

class IOBinding:
    def bind_cpu_input(self, name: str, array: Array) -> None: ...
    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None: ...
    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int) -> None: ...
    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None, shape: Sequence[int] | None = None,
                    buffer_ptr: int | None = None) -> None: ...
    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None: ...
    def synchronize_inputs(self) -> None: ...
    def synchronize_outputs(self) -> None: ...
    def clear_binding_inputs(self) -> None: ...
    def clear_binding_outputs(self) -> None: ...
    def get_outputs(self) -> list[OrtValue]: ...
    def copy_outputs_to_cpu(self) -> list[np.ndarray]: ...

class InferenceSession:
    def __init__(self, path_or_bytes: Source, sess_options: SessionOptions | None = None, providers: Sequence[Any] | None = None,
                 provider_options: Sequence[Any] | None = None, *, kernels: Kernels | None = None, disabled_optimizers: Any = None,
                 enable_fallback: Any = None, read_config_from_model: Any = None) -> None: ...
    def get_inputs(self) -> list[NodeArg]: ...
    def get_outputs(self) -> list[NodeArg]: ...
    def get_overridable_initializers(self) -> list[NodeArg]: ...
    def get_modelmeta(self) -> Any: ...
    def get_session_options(self) -> Any: ...
    def get_providers(self) -> list[str]: ...
    def get_provider_options(self) -> dict[str, dict[str, str]]: ...
    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None: ...
    def disable_fallback(self) -> None: ...
    def enable_fallback(self) -> None: ...
    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Array], run_options: Any = None) -> list[np.ndarray]: ...
    def run_with_ort_values(self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue], run_options: Any = None) -> list[OrtValue]: ...
    def io_binding(self) -> IOBinding: ...
    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None: ...
    def end_profiling(self) -> str: ...

class OutputCheck:
    name: str
    max_abs: float
    max_rel: float
    ok: bool
    why: str

class Verification:
    ok: bool
    outputs: list[OutputCheck]
    sizes: list[tuple[dict[str, int], list[OutputCheck]]]
    referee: str
    first_module: str
    max_abs: float
    max_rel: float

class ExportResult:
    model: Model
    captured: Literal["trace", "script", "export", "archive"]
    findings: list[Diagnostic]
    verification: Verification | None
    seconds: dict[str, float]
    recorded: str
    program_text: str
    model_proto: Any
    exported_program: Any
    def save(self, destination: Path | IO[bytes], *, include_initializers: bool = True, keep_initializers_as_inputs: bool = False,
             external_data: bool | None = None) -> ExportResult: ...
    def optimize(self, **options: Any) -> ExportResult: ...
    def __call__(self, *args: Any, **kwargs: Any) -> list[np.ndarray]: ...

class TrainingMode:
    EVAL: TrainingMode
    PRESERVE: TrainingMode
    TRAINING: TrainingMode

class OperatorExportTypes:
    ONNX: OperatorExportTypes
    ONNX_ATEN: OperatorExportTypes
    ONNX_ATEN_FALLBACK: OperatorExportTypes
    RAW: OperatorExportTypes
    ONNX_FALLTHROUGH: OperatorExportTypes

def export(model: Any, args: Any = (), f: Path | IO[bytes] | None = None, export_params: bool = True, verbose: bool | None = None,
           training: Any = "EVAL", input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None, aten: bool = False,
           export_raw_ir: bool = False, operator_export_type: Any = None, opset_version: int | None = None, _retain_param_name: bool = True,
           do_constant_folding: bool = True, example_outputs: Any = None, strip_doc_string: bool = True,
           dynamic_axes: Mapping[str, Mapping[int, str] | Sequence[int]] | None = None, keep_initializers_as_inputs: bool | None = None,
           custom_opsets: Mapping[str, int] | None = None, enable_onnx_checker: bool = True, use_external_data_format: bool = False, *,
           kwargs: Mapping[str, Any] | None = None, dynamo: bool | None = None, external_data: bool | None = None, dynamic_shapes: Any = None,
           custom_translation_table: Mapping[Callable[..., Any], Callable[..., Any]] | None = None, report: bool | Path = False, optimize: bool = True,
           verify: bool | Literal["warn"] = True, profile: bool = False, dump_exported_program: bool = False, artifacts_dir: Path = ".",
           export_modules_as_functions: bool | Collection[type] = False, autograd_inlining: bool = True, fallback: Any = None,
           capture: Literal["auto", "trace", "script", "export"] = "auto", strict: bool = False, loops: Literal["keep", "unroll"] = "keep",
           state: Literal["drop", "outputs"] = "drop", frozen: Literal["error", "allow"] = "error",
           assume: bool | str | Sequence[str] = True, asserts: Literal["drop", "keep"] = "drop", keep_outputs: Sequence[str] = (),
           rules: Path | None = None, method: str = "forward", lossy: bool = False, experimental: bool = False, rtol: float | None = None,
           atol: float | None = None, referee: Literal["onnxruntime"] | None = None, linger: bool = True,
           kernels: Kernels | None = None, types: Mapping[str, str | Sequence[str]] | None = None,
           progress: Callable[[str, int, int], bool | None] | None = None) -> ExportResult: ...
def torch_onnx_export(active: bool = True) -> Any: ...
def lowering(*names: str, opset: int | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
def load(source: Source) -> Model: ...
def save(model: Source, f: Path | IO[bytes], *, opset: int | None = None, weights: Literal["embed", "external", "in-place", "auto"] | None = None,
         external_name: str | None = None, lossy: bool = False, durable: bool = False) -> Model: ...
def check(model: Source, *, types: bool = True, strict: bool = False) -> list[Diagnostic]: ...
def infer(model: Source, *, strict: bool = False) -> Model: ...
def convert(model: Source, opset: int | None = None, *, lossy: bool = False, float_type: Literal["f16", "bf16", "mixed"] | None = None, keep_io: bool = False,
            keep: str | Iterable[str] = (), inline_functions: bool = False, to_qdq: bool = False, exact_rounding: bool = False,
            quantized: Literal["qdq", "qoperator"] | None = None) -> Model: ...
def extract(model: Source, inputs: str | Iterable[str] = (), outputs: str | Iterable[str] = ()) -> Model: ...
def edit(model: Source, edits: Iterable[Sequence[Any]] | None = None, **one: Any) -> Model: ...
def diff(first: Source, second: Source, *, limit: int = 100) -> list[Difference]: ...
def merge(first: Source, second: Source, connect: Mapping[str, str], *, keep_connected: bool = False) -> Model: ...
def run(model: Source, feeds: Mapping[str, Array] | Sequence[Array], outputs: str | Sequence[str] | None = None, *, threads: int = 0) -> dict[str, np.ndarray]: ...
def simplify(model: Source, check_n: int = 0, perform_optimization: bool = True, skip_fuse_bn: bool = False,
             overwrite_input_shapes: Mapping[str, Sequence[int]] | None = None, test_input_shapes: Mapping[str, Sequence[int]] | None = None,
             skipped_optimizers: Sequence[str] | None = None, skip_constant_folding: bool = False, skip_shape_inference: bool = False,
             input_data: Mapping[str, np.ndarray] | None = None, dynamic_input_shape: bool = False, custom_lib: str | None = None,
             include_subgraph: bool = False, unused_output: Sequence[str] | None = None, tensor_size_threshold: Any = None,
             mutable_initializer: bool = False, *, input_shapes: Mapping[str, Sequence[int]] | None = None, **more: Any) -> tuple[Any, bool]: ...
def rules() -> list[tuple[str, str]]: ...

class Quantized:
    model: Model
    report: dict[str, Any]
    html: str
    findings: list[Diagnostic]
    db: float
    def save(self, f: Path | IO[bytes], **options: Any) -> Quantized: ...

def quantize(model: Source, samples: Path | Iterable[Any], f: Path | IO[bytes] | None = None, *,
             target: Literal["onnxruntime", "tensorrt", "openvino", "qnn", "generic"] = "onnxruntime", image: str = "",
             method: Literal["auto", "minmax", "percentile", "entropy", "mse", "margin"] = "auto", percentile: float = 99.999,
             keep: str | Iterable[str] = (), min_db: float = 20.0, max_float_macs: float = 0.1,
             metric: Callable[[Model], float] | None = None, max_drop: float = 0.01, check_samples: int = 16, simplify: bool = True,
             correct_bias: bool = True, equalize: bool = True, compensate: bool = True, form: Literal["qdq", "qoperator"] = "qdq", opset: int | None = None, threads: int = 0,
             kernels: Kernels | None = None, progress: Callable[[str, int, int], bool | None] | None = None) -> Quantized: ...

class WeightQuantized:
    model: Model
    report: dict[str, Any]
    findings: list[Diagnostic]
    def save(self, f: Path | IO[bytes], **options: Any) -> WeightQuantized: ...

def quantize_weights(model: Source, f: Path | IO[bytes] | None = None, *, bits: Literal[8, 4, 2] = 4, block: int = 32, symmetric: bool = True,
                     method: Literal["rtn", "search", "gptq", "awq"] = "rtn", form: Literal["nbits", "qdq"] = "nbits",
                     samples: Path | Iterable[Any] | None = None, image: str = "", embeddings: bool = True, keep: str | Iterable[str] = (),
                     opset: int | None = None, threads: int = 0,
                     kernels: Kernels | None = None, progress: Callable[[str, int, int], bool | None] | None = None) -> WeightQuantized: ...

def convert_weights(model: Source, form: Literal["nbits", "qdq"], f: Path | IO[bytes] | None = None) -> WeightQuantized: ...

class DynamicQuantized(WeightQuantized): ...

def quantize_dynamic(model: Source, f: Path | IO[bytes] | None = None, *, target: Literal["onnxruntime", "generic"] = "onnxruntime",
                     per_channel: bool = True, keep: str | Iterable[str] = (), opset: int | None = None) -> DynamicQuantized: ...

class Half:
    model: Model
    report: dict[str, Any]
    findings: list[Diagnostic]
    error: float | None
    def save(self, f: Path | IO[bytes], **options: Any) -> Half: ...

def to_half(model: Source, f: Path | IO[bytes] | None = None, *, float_type: Literal["f16", "bf16", "mixed"] = "f16",
            samples: Path | Iterable[Any] | None = None, image: str = "", keep_io: bool = False, keep: str | Iterable[str] = (),
            max_error: float | None = None, check: bool = True, target: Literal["", "tensorrt"] = "", opset: int | None = None, threads: int = 0,
            kernels: Kernels | None = None, progress: Callable[[str, int, int], bool | None] | None = None) -> Half: ...

class LintFinding(NamedTuple):
    severity: Literal["error", "warning", "note"]
    target: str
    rule: str
    node: str
    op: str
    what: str
    source: str
    cure: str
    fixable: bool
    version: str

class LintReport:
    targets: dict[str, str]
    findings: list[LintFinding]
    ignored: int
    sarif: str
    def count(self, severity: Literal["error", "warning", "note"]) -> int: ...
    @property
    def ok(self) -> bool: ...

def lint(model: Source, targets: str | Iterable[str] = "onnxruntime", *, ignore: str | Iterable[str] = ()) -> LintReport: ...
class LintStep(NamedTuple):
    cure: str
    done: bool
    why: str

class LintFixed:
    model: Model
    before: LintReport
    after: LintReport
    steps: list[LintStep]

def fix_lint(model: Source, targets: str | Iterable[str] = "onnxruntime", f: Path | IO[bytes] | None = None, *, ignore: str | Iterable[str] = (),
             input_shapes: Mapping[str, Sequence[int]] | None = None, sizes: Mapping[str, int] | None = None, verify: bool = True,
             progress: Callable[[str, int, int], bool | None] | None = None) -> LintFixed: ...
def lint_targets() -> dict[str, str]: ...
def lint_rules(targets: str | Iterable[str] = "all") -> list[dict[str, str]]: ...

class PrepareStep(NamedTuple):
    step: str
    what: str
    checked: str
    why_not: str

class Prepared:
    model: Model
    ledger: list[PrepareStep]
    lint: LintReport
    report: dict[str, Any]
    findings: list[Diagnostic]
    @property
    def ok(self) -> bool: ...
    def save(self, f: Path | IO[bytes], **options: Any) -> Prepared: ...

def prepare(model: Source, f: Path | IO[bytes] | None = None, *, target: str = "onnxruntime", inputs: str | Iterable[str] = (),
            sizes: Mapping[str, int] | None = None, opset: int | None = None, float_type: Literal["f16", "bf16", "mixed"] | None = None,
            samples: Any = None, min_db: float = 20.0, image: str = "", normalise: Literal["fold", "keep", "out"] | None = None,
            append_nms: bool | str | Mapping[str, Any] | None = None, ignore: str | Iterable[str] = (), simplify: bool = True, fix: bool = True,
            verify: bool = True, progress: Callable[[str, int, int], bool | None] | None = None) -> Prepared: ...

class Place(NamedTuple):
    rule: str
    value: str
    why: str

class Explanation(NamedTuple):
    applied: list[Place]
    refused: list[Place]
    waiting: list[str]

def explain(model: Source, rule: str = "", *, opset: int = 0) -> Explanation: ...

class OutputDifference(NamedTuple):
    name: str
    why: str
    worst: float

class Verified(NamedTuple):
    agree: bool
    outputs: list[OutputDifference]
    first_difference: str

def verify(model: Source, reference: Source, *, inputs: Path | None = None, random: int = 0, sizes: Mapping[str, int] | None = None,
           rtol: float | None = None, atol: float | None = None, kernels: Kernels | None = None,
           progress: Callable[[str, int, int], bool | None] | None = None) -> Verified: ...

class Operator(NamedTuple):
    name: str
    support: Literal["lowered", "staged", "missing"]
    onnx: list[str]
    from_opset: int
    why: str

def operators(*, missing: bool = False) -> list[Operator]: ...

class GraphValue:
    dtype: str
    shape: list[int | str | None] | None
    constant: np.ndarray | None
    def __add__(self, o: Any) -> GraphValue: ...
    def __radd__(self, o: Any) -> GraphValue: ...
    def __sub__(self, o: Any) -> GraphValue: ...
    def __rsub__(self, o: Any) -> GraphValue: ...
    def __mul__(self, o: Any) -> GraphValue: ...
    def __rmul__(self, o: Any) -> GraphValue: ...
    def __truediv__(self, o: Any) -> GraphValue: ...
    def __rtruediv__(self, o: Any) -> GraphValue: ...
    def __pow__(self, o: Any) -> GraphValue: ...
    def __matmul__(self, o: Any) -> GraphValue: ...
    def __neg__(self) -> GraphValue: ...

class View:
    address: str
    running: bool
    def close(self) -> None: ...
    def __enter__(self) -> View: ...
    def __exit__(self, *_: object) -> None: ...

def view(model: Source | Sequence[Path], output: Path | None = None, *, open_all: bool = False, name: str = "model.onnx", port: int = 0,
         browser: bool = True, block: bool = True, gone_seconds: float = 20.0, threads: int = 0) -> View | None: ...

class Desk:
    blobs: list[bytes]
    def __init__(self, files: Iterable[Path] = (), *, threads: int = 0, out: Path = "") -> None: ...
    def allow(self, path: Path) -> None: ...
    def offer(self, name: str, model: Source) -> None: ...
    def call(self, method: str, *, blobs: Iterable[bytes] = (), progress: Callable[[str, int, int], Any] | None = None, **params: Any) -> dict[str, Any]: ...

class Builder:
    def __init__(self, name: str = "graph") -> None: ...
    def input(self, name: str, type: str) -> GraphValue: ...
    def weight(self, name: str, array: Array) -> GraphValue: ...
    def constant(self, array: Array) -> GraphValue: ...
    def op(self, name: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any: ...
    def __getattr__(self, op: str) -> Callable[..., Any]: ...
    def set_type(self, value: GraphValue, type: str) -> None: ...
    def if_else(self, condition: GraphValue, then: Callable[[], Any], otherwise: Callable[[], Any]) -> list[GraphValue]: ...
    def loop(self, count: Any, condition: Any, carried: Sequence[Any],
             body: Callable[[GraphValue, list[GraphValue]], tuple[Any, Any, Any]]) -> list[GraphValue]: ...
    def output(self, name: str, value: GraphValue) -> None: ...
    def text(self) -> str: ...
    def model(self, opset: int = 0) -> Model: ...
    def save(self, f: Path | IO[bytes], opset: int = 0) -> Model: ...
