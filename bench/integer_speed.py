"""Convolutions of bytes: cameo run against onnxruntime, in one run on one machine; processor time, or wall clock with --wall.

usage: bench/integer_speed.py [--cases a,b] [--threads 1,2] [--rounds N] [--repeat N] [--size N] [--before OLDER_CAMEO] [--wall]
Needs onnx and onnxruntime. A case is one layer (channels in and out, kernel, stride, groups) on a square image in one of these forms:
dynamic (DynamicQuantizeLinear, ConvInteger with a zero point that varies, scaled back: what quantize_dynamic writes; weights u8 or i8),
qlinear (QLinearConv), qdq (DequantizeLinear, Conv, QuantizeLinear), the last two with one scale per channel too. The ratio is
onnxruntime's time over Cameo's: above 1, Cameo is faster. Results are compared: equal, or one step apart.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = {  # channels in, out, kernel, stride, groups, and how much smaller the image is
    "first": (3, 16, 3, 2, 1, 1),
    "wide": (16, 16, 3, 1, 1, 2),
    "point": (32, 64, 1, 1, 1, 4),
    "deep": (64, 64, 3, 1, 1, 8),
    "depthwise": (64, 64, 3, 1, 64, 4),
}
FORMS = "dynamic_u8 dynamic_i8 qlinear qlinear_channels qdq qdq_channels".split()


class Maker:
    """One model under construction."""

    def __init__(self):
        self.nodes, self.weights = [], []
        self.random = numpy.random.default_rng(0)

    def constant(self, name, array):
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def node(self, op, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))

    def save(self, path, kind, shape, out_kind):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", kind, shape)],
                                  [helper.make_tensor_value_info("y", out_kind, None)], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def make(layer, form, size, path):
    """Writes the model; gives its input."""
    inside, outside, kernel, stride, groups, smaller = LAYERS[layer]
    m, shape = Maker(), [1, inside, size // smaller, size // smaller]
    attributes = {"pads": [kernel // 2] * 4, "strides": [stride] * 2, "group": groups, "kernel_shape": [kernel] * 2}
    per_channel = form.endswith("channels")
    unsigned = form == "dynamic_u8"
    integers = m.random.integers(0, 256, (outside, inside // groups, kernel, kernel))
    w = m.constant("w", integers.astype(numpy.uint8) if unsigned else (integers - 128).clip(-127, 127).astype(numpy.int8))
    count = (outside,) if per_channel else ()
    scale = m.constant("ws", m.random.uniform(0.005, 0.02, count).astype(numpy.float32))
    zero = m.constant("wz", numpy.uint8(121) if unsigned else numpy.zeros(count, numpy.int8))
    if form.startswith("dynamic"):
        m.node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])
        m.node("ConvInteger", ["q", w, "z", zero], ["sums"], **attributes)
        m.node("Cast", ["sums"], ["floats"], to=TensorProto.FLOAT)
        m.node("Mul", ["s", scale], ["both"])
        m.node("Mul", ["floats", "both"], ["y"])
        m.save(path, TensorProto.FLOAT, shape, TensorProto.FLOAT)
        return m.random.standard_normal(shape).astype(numpy.float32)
    xs, xz = m.constant("xs", numpy.float32(0.02)), m.constant("xz", numpy.uint8(113))
    ys, yz = m.constant("ys", numpy.float32(0.05 * (inside // groups) ** 0.5 * kernel)), m.constant("yz", numpy.uint8(121))
    if form.startswith("qlinear"): m.node("QLinearConv", ["x", xs, xz, w, scale, zero, ys, yz], ["y"], **attributes)
    else:
        m.node("DequantizeLinear", ["x", xs, xz], ["f"])
        m.node("DequantizeLinear", [w, scale, zero], ["v"], axis=0)
        m.node("Conv", ["f", "v"], ["a"], **attributes)
        m.node("QuantizeLinear", ["a", ys, yz], ["y"])
    m.save(path, TensorProto.UINT8, shape, TensorProto.UINT8)
    return m.random.integers(0, 256, shape).astype(numpy.uint8)


def ours(cameo, path, inputs, threads, repeat, out, key):
    told = subprocess.run([cameo, "run", str(path), "--inputs", str(inputs), "--threads", str(threads), "--repeat", str(repeat), "--json", "-o", str(out)],
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(told.stdout)[key]


def peer_session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def measure(path, inputs, x, threads, asked):
    """Medians in milliseconds: Cameo's, onnxruntime's, the older Cameo's; and the largest difference."""
    session, clock = peer_session(path, threads), time.perf_counter if asked.wall else time.process_time
    wanted, mine, theirs, older = session.run(None, {"x": x})[0], [], [], []
    out, key = path.with_suffix(".y.npz"), "median_ms" if asked.wall else "cpu_ms"
    for _ in range(asked.rounds):
        mine.append(ours(asked.cameo, path, inputs, threads, asked.repeat + 1, out, key))
        got = next(iter(numpy.load(out).values()))
        if asked.before: older.append(ours(asked.before, path, inputs, threads, asked.repeat + 1, out, key))
        times = []
        for _ in range(asked.repeat):
            start = clock()
            session.run(None, {"x": x})
            times.append((clock() - start) * 1000)
        theirs.append(statistics.median(times))
    difference = float(numpy.abs(got.astype(float) - wanted).max())
    return statistics.median(mine), statistics.median(theirs), statistics.median(older) if older else None, difference


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(f"{layer}:{form}" for layer in LAYERS for form in FORMS))
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--before")
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    asked = parser.parse_args()
    print("case                        threads  cameo ms  onnxruntime ms  ratio  before  difference")
    with tempfile.TemporaryDirectory() as folder:
        for case in asked.cases.split(","):
            layer, form = case.split(":")
            path, inputs = pathlib.Path(folder) / f"{layer}_{form}.onnx", pathlib.Path(folder) / "x.npz"
            x = make(layer, form, asked.size, path)
            numpy.savez(inputs, x=x)
            for threads in map(int, asked.threads.split(",")):
                mine, theirs, older, difference = measure(path, inputs, x, threads, asked)
                before = f"{older / mine:6.2f}" if older else "     -"
                print(f"{case:28}{threads:7}{mine:10.2f}{theirs:16.2f}{theirs / mine:7.2f}  {before}  {difference:.3g}", flush=True)


if __name__ == "__main__":
    main()
