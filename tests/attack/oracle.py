"""onnxruntime and onnx.checker as referees, in a process of their own: both may crash or hang on what they are given."""
import os
import pickle
import re
import resource
import select
import struct
import subprocess
import sys
import time

import numpy as np

LENGTH = struct.Struct("<Q")
NOT_SIZES = re.compile(r"nsupported|NOT_IMPLEMENTED|Unrecognized attribute|does not match expected type|not a registered")
SIZES = re.compile(r"(?i)dimension|shape|broadcast|\brank\b|mismatch|incompatible|must match|out of (?:range|bounds)|axis|size")


class Referee:
    """Asks the process; starts it anew when it is gone. Answers: ("ok", value), ("refused", text), ("died", text)."""

    def __init__(self, seconds=10):
        self.seconds, self.process, self.served = seconds, None, 0

    def start(self):
        self.process = subprocess.Popen([sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.served = 0

    def ask(self, what, *arguments):
        if self.process is None or self.served > 5000:
            self.close()
            self.start()
        data = pickle.dumps((what, *arguments))
        try:
            self.process.stdin.write(LENGTH.pack(len(data)) + data)
            self.process.stdin.flush()
            self.served += 1
            return self.answer(time.monotonic() + self.seconds + (20 if self.served == 1 else 0))
        except (EOFError, BrokenPipeError, OSError, MemoryError, pickle.UnpicklingError):
            self.close()
            return "died", f"{what}: the referee crashed"
        except TimeoutError:
            self.close()
            return "died", f"{what}: the referee took over {self.seconds} s"

    def answer(self, deadline):
        return pickle.loads(self.take(LENGTH.unpack(self.take(LENGTH.size, deadline))[0], deadline))

    def take(self, n, deadline):
        fd, out = self.process.stdout.fileno(), b""
        while len(out) < n:
            ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            got = os.read(fd, n - len(out))
            if not got:
                raise EOFError
            out += got
        return out

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def serve():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    import onnx
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4

    def run(model, arrays):
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        named = {i.name for i in session.get_inputs()}
        outputs = session.run(None, {k: v.astype(object) if v.dtype.kind == "U" else v for k, v in arrays.items() if k in named})
        return {o.name: v for o, v in zip(session.get_outputs(), outputs)}

    def check(model):
        onnx.checker.check_model(onnx.load_from_string(model), full_check=True)
        return True

    verbs = {"run": run, "check": check}
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # what a runtime prints is no answer
    while True:
        head = source.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return
        what, *arguments = pickle.loads(source.read(LENGTH.unpack(head)[0]))
        try:
            answer = pickle.dumps(("ok", verbs[what](*arguments)))
        except Exception as e:
            answer = pickle.dumps(("refused", f"{type(e).__name__}: {e}"[:2000]))
        sink.write(LENGTH.pack(len(answer)) + answer)
        sink.flush()


FLAGS = {"keepdims", "noop_with_empty_axes", "select_last_index", "ceil_mode", "count_include_pad", "exclusive", "reverse", "saturate", "largest", "sorted",
         "fmod", "transA", "transB", "upper", "is_causal", "allowzero", "linear_before_reset", "training_mode", "onesided"}


def every_node(model):
    """Of a model and its functions and bodies."""
    import onnx

    def inside(nodes):
        for node in nodes:
            yield node
            for a in node.attribute:
                for g in (*a.graphs, *([a.g] if a.HasField("g") else [])):
                    yield from inside(g.node)

    m = onnx.load_from_string(model)
    for place in (m.graph, *m.functions):
        yield from inside(place.node)


def rounds_data(model):
    """Whether MatMulNBits may round its data to bytes: engines that do and that do not are both right."""
    return any(a.name == "accuracy_level" and a.i == 4 for node in every_node(model) for a in node.attribute)


def steps_apart(first, second, model):
    """Whether two results of a quantised model differ by a step or two of its grids: what lies between two codes may be rounded to either."""
    import onnx
    from onnx import numpy_helper

    names = {node.input[1] for node in every_node(model) if node.op_type == "QuantizeLinear" and len(node.input) > 1}
    scales = [numpy_helper.to_array(t) for t in onnx.load_from_string(model).graph.initializer if t.name in names]
    step = max((float(np.max(np.abs(s))) for s in scales if s.size), default=0.0)
    with np.errstate(all="ignore"):
        return step > 0 and all(np.nanmax(np.abs(np.asarray(first[n], np.float64) - np.asarray(second[n], np.float64)), initial=0) <= 2.01 * step
                                for n in first if n in second and np.asarray(first[n]).dtype.kind == "f" and np.shape(first[n]) == np.shape(second[n]))


def flags_are_plain(model):
    """Whether every yes or no of a model is 1 or 0: of other numbers ONNX does not say which they are, nor whether an empty list
    of axes means none or all, and runtimes differ."""
    import onnx

    def plain(a):
        return not (a.name in FLAGS and a.type == onnx.AttributeProto.INT and a.i not in (0, 1)
                    or a.name == "axes" and a.type == onnx.AttributeProto.INTS and not a.ints)

    return all(plain(a) for node in every_node(model) for a in node.attribute)


def about_sizes(message):
    return bool(SIZES.search(message)) and not NOT_SIZES.search(message)


TOLERANCE = {"float16": (2e-2, 2e-3), "float32": (2e-3, 1e-5), "float64": (2e-3, 1e-7), "complex64": (2e-3, 1e-5), "complex128": (2e-3, 1e-7)}


def difference(a, b):
    """How two results differ: "" or a short phrase that begins with type, shape or value."""
    if isinstance(a, (list, dict)) or isinstance(b, (list, dict)) or a is None or b is None:
        return ""  # sequences and maps are flattened in .npz files in another way
    a, b = np.asarray(a), np.asarray(b)
    texts = [x.dtype.kind in "UO" for x in (a, b)]
    if any(texts):
        if not all(texts):
            return f"type {a.dtype} {b.dtype}"
        if a.shape != b.shape:
            return f"shape {list(a.shape)} {list(b.shape)}"
        return "" if (a.astype(str) == b.astype(str)).all() else "value of strings"
    if a.dtype.kind == "V" or b.dtype.kind == "V":
        return ""  # bfloat16 and smaller: numpy's files do not say which
    if a.dtype != b.dtype:
        return f"type {a.dtype} {b.dtype}" if a.dtype.name in TOLERANCE or a.dtype.kind in "iub" else ""
    if a.shape != b.shape:
        return f"shape {list(a.shape)} {list(b.shape)}"
    if a.dtype.kind not in "fc":
        return "" if np.array_equal(a, b) else f"value {a.reshape(-1)[(a != b).reshape(-1)][0]} {b.reshape(-1)[(a != b).reshape(-1)][0]}"
    rtol, atol = TOLERANCE[a.dtype.name]
    with np.errstate(all="ignore"):
        finite = np.isfinite(a) & np.isfinite(b)
        scale = float(np.max(np.abs(b[finite]))) if finite.any() else 0.0
        near = np.isclose(a, b, rtol=rtol, atol=atol + rtol * 1e-2 * scale, equal_nan=True)
    if near.all():
        return ""
    at = int(np.argmin(near.reshape(-1)))
    return f"value {a.reshape(-1)[at]} {b.reshape(-1)[at]}"


def tame(arrays):
    """Whether the numbers stay where rounding and overflow do not decide: others are compared only by type and shape."""
    for a in arrays:
        a = np.asarray(a)
        if a.dtype.kind in "fc" and a.size and not (np.isfinite(a).all() and float(np.max(np.abs(a))) < 1e4):
            return False
    return True


def compare(first, second, values=True):
    """Of two name-to-array maps, the first difference; names that only one has are not compared."""
    for name in first:
        if name in second:
            how = difference(first[name], second[name])
            if how and (values or not how.startswith("value")):
                return name, how
    return None


if __name__ == "__main__":
    serve()
