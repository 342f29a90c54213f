"""Models: reading, asking, changing, writing. Each function takes a path, bytes, an onnx.ModelProto or a Model."""
import os
from typing import NamedTuple

from . import _cameo
from ._cameo import Model
from ._findings import failure
from ._kernel import kernel_list


class ValueInfo(NamedTuple):
    """An input or output. `shape` is None while the rank is unknown; sizes are ints, names or expressions, or None."""
    name: str
    type: str  # "tensor(float)", as onnxruntime says it
    shape: "list | None"
    dtype: str  # "f32"
    has_default: bool = False


class NodeInfo(NamedTuple):
    name: str
    domain: str
    op: str
    inputs: list
    outputs: list
    where: str


class Difference(NamedTuple):
    what: str
    first: str
    second: str


def as_model(source):
    if isinstance(source, Model):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _cameo.load(os.fspath(source))
    if hasattr(source, "model") and isinstance(source.model, Model):
        return source.model
    return _cameo.load(_bytes_of(source))


def _bytes_of(source):
    if hasattr(source, "SerializeToString") and (not hasattr(source, "DESCRIPTOR") or source.DESCRIPTOR.name == "ModelProto"):
        return source.SerializeToString()
    data = source.read() if hasattr(source, "read") else source
    if isinstance(data, (bytes, bytearray, memoryview)) or hasattr(data, "__array_interface__"):
        return data
    kind = type(source).__name__
    hint = {"GraphProto": "onnx.helper.make_model(graph) makes a model of a graph", "NoneType": "", "InferenceSession": "give the path or the bytes that the session was made of"}.get(
        kind, "cameo.export(model, args) makes a model of a PyTorch module" if hasattr(source, "forward") or "torch" in type(source).__module__ else "")
    raise failure("use.model", f"this is {'None' if source is None else kind}: a model is a path, bytes, a file object, an onnx.ModelProto or a cameo.Model", hint=hint)


def load(source):
    """A model from a file (.onnx, .onnxtxt), bytes, a file object or an onnx.ModelProto."""
    return as_model(source)


def save(model, f, *, opset=None, weights=None, external_name=None, lossy=False, durable=False):
    """Writes to a path or a file object. weights: "embed", "external" (a data file beside it), "in-place" or "auto"."""
    if isinstance(f, Model) or hasattr(f, "SerializeToString"):
        raise failure("use.arguments", "the model is the first argument of save, the file the second", hint='cameo.save(model, "net.onnx")')
    model = as_model(model)
    options = _given(opset=opset, weights=weights, external_name=external_name, lossy=lossy or None, durable=durable or None)
    if hasattr(f, "write"):
        f.write(model._bytes(options))
    else:
        model._save(os.fspath(f), options)
    return model


def to_bytes(model, *, opset=None, lossy=False):
    return as_model(model)._bytes(_given(opset=opset, lossy=lossy or None))


def to_proto(model):
    """As an onnx.ModelProto; needs the onnx package."""
    import onnx
    return onnx.load_from_string(as_model(model)._bytes({}))


def check(model, *, types=True, strict=False):
    """Every finding about a model, at its own opset; none: it is as ONNX wants it. types=False: names, operators and attributes only.
    strict=True: rules that onnx.checker and the engines do not enforce are errors too, not warnings."""
    if isinstance(model, (str, os.PathLike)):
        return _cameo.check_file(os.fspath(model), types, strict)
    if isinstance(model, Model) or isinstance(getattr(model, "model", None), Model):
        return as_model(model)._check(types, strict)
    return _cameo.check_bytes(_bytes_of(model), types, strict)  # as the file would be: what a loader refuses is a finding too


def infer(model, *, strict=False):
    """The model with types and symbolic shapes of every value; where and why that stopped is in its findings, or raised (strict)."""
    return _cameo.infer(as_model(model), strict)


def _float_name(given):
    """torch.float16, np.float16, "float16", "fp16" as f16."""
    if given is None:
        return None
    name = getattr(given, "__name__", str(given)).split(".")[-1]
    return {"float16": "f16", "half": "f16", "fp16": "f16", "bfloat16": "bf16"}.get(name, name)


def convert(model, opset=None, *, lossy=False, float_type=None, keep_io=False, keep=(), inline_functions=False, to_qdq=False,
            exact_rounding=False, quantized=None):
    """The model for another opset, up or down. Raises with one finding per node that the opset cannot express.

    float_type="f16", "bf16" or "mixed": half precision, but for inputs and outputs (keep_io=True) and the nodes in `keep`; to_half has more
    settings and a report. inline_functions: calls of the model's own functions become their nodes. to_qdq: linger's operators become
    QuantizeLinear, DequantizeLinear and standard operators; exact_rounding: with halves rounded up, as linger's are.
    quantized="qdq" or "qoperator": the form of 8-bit nodes."""
    return _cameo.convert(as_model(model), _given(opset=opset, lossy=lossy, float_type=_float_name(float_type), keep_io=keep_io, keep=_names(keep),
                                                    inline_functions=inline_functions, to_qdq=to_qdq, exact_rounding=exact_rounding,
                                                  quantized=quantized))


def extract(model, inputs=(), outputs=()):
    """What is needed to compute `outputs` from `inputs`; either may be left out: the model's own."""
    return _cameo.extract(as_model(model), _names(inputs), _names(outputs))


def merge(first, second, connect, *, keep_connected=False):
    """Two models as one: connect = {output of the first: input of the second}."""
    return _cameo.merge(as_model(first), as_model(second), dict(connect), keep_connected)


def diff(first, second, *, limit=100):
    """How two models differ, whatever their names: an empty list where they do not."""
    return [Difference(*d) for d in _cameo.diff(as_model(first), as_model(second), limit)]


def _nms(given):
    """The arguments of append_nms by name."""
    if len(given) == 1 and isinstance(given[0], dict):
        return given[0]
    names = ("boxes", "scores", "iou", "score", "max_per_class")
    if not 2 <= len(given) <= len(names):
        raise TypeError(f"append_nms takes {', '.join(names)}; the last three may be left out")
    return dict(zip(names, given))


def edit(model, edits=None, **one):
    """A changed model. Edits work in order: edit(m, [("rename", "x", "image"), ("set_dim", "image", 0, "batch")]), or one
    by keyword: edit(m, rename={"x": "image"}), edit(m, add_output="h"), edit(m, insert="y2 = Relu(y)").

    add_output, remove_output, remove_input, rename, set_dim, fix_shape, set_attribute, set_operator, insert, rewire,
    remove_node, set_initializer, set_metadata, strip, append_nms=("boxes", "scores", iou, score, max_per_class), or a dict of
    these with center=True, layout="classes_first" or "classes_last"."""
    steps = [(e[0], (_nms(e[1:]),) if e[0] == "append_nms" else tuple(e[1:])) for e in edits or ()]
    for what, value in one.items():
        if what == "append_nms":
            steps.append((what, (_nms([value] if isinstance(value, dict) else value),)))
        elif isinstance(value, dict):
            for key, v in value.items():
                key = key if isinstance(key, tuple) else (key,)
                steps.append((what, (*key, v)))
        elif what == "strip":
            steps += [(what, ())] if value else []
        elif isinstance(value, (list, tuple)):
            steps += [(what, (v,)) for v in value]
        else:
            steps.append((what, (value,)))
    return _cameo.edit(as_model(model), steps)


class OutputDifference(NamedTuple):
    name: str
    why: str  # empty where it agrees
    worst: float


class Verified(NamedTuple):
    agree: bool
    outputs: list  # of OutputDifference
    first_difference: str  # the first inner value that differs, of those that both models name alike


def verify(model, reference, *, inputs=None, random=0, sizes=None, rtol=None, atol=None, kernels=None, progress=None):
    """Whether a model computes what another one does, or what was recorded: reference is a model, or the path of an .npz, an .npy
    or a test_data_set folder with outputs. inputs: such a path too; else they are made up from the seed `random`, named sizes
    from `sizes`. kernels: as Session's, for both models. progress: as simplify's."""
    if isinstance(reference, (str, os.PathLike)) and not os.fspath(reference).endswith((".onnx", ".onnxtxt")):
        reference = os.fspath(reference)
    else:
        reference = as_model(reference)
    options = _given(inputs=os.fspath(inputs) if inputs is not None else None, random=random, sizes=sizes, rtol=rtol, atol=atol,
                     kernels=kernel_list(kernels), progress=progress)
    agree, outputs, first = _cameo.verify(as_model(model), reference, options)
    return Verified(agree, [OutputDifference(*o) for o in outputs], first)


class Operator(NamedTuple):
    """A PyTorch operator: what it becomes, or why it cannot be exported."""
    name: str
    support: str  # "lowered", "staged" (computed while exporting), "missing"
    onnx: list
    from_opset: int  # 0: not known
    why: str


def operators(*, missing=False):
    """The PyTorch operators that can be exported, or those that cannot."""
    return [Operator(*row) for row in _cameo.operators(missing)]


def run(model, feeds, outputs=None, *, threads=0):
    """Runs once; a Session is better for more."""
    from ._session import Session
    return Session(model, threads=threads).run(feeds, outputs)


def random_inputs(model, seed=0, **sizes):
    """Inputs made up from a seed: {name: array}. Named sizes are 1 unless given."""
    return dict(_cameo.random_inputs(as_model(model), seed, sizes))


def _values(rows):
    return [ValueInfo(name, onnx, dims, dtype, default) for name, dtype, dims, onnx, default in rows]


def model_inputs(model):
    return _values(model._inputs())


def model_outputs(model):
    return _values(model._outputs())


def model_nodes(model):
    return [NodeInfo(*n) for n in model._nodes()]


def model_statistics(model):
    return model._statistics()


def model_initializers(model):
    return model._initializers()


def _names(names):
    return [names] if isinstance(names, str) else list(names)


def _given(**options):
    return {k: v for k, v in options.items() if v is not None}
