#!/usr/bin/env python3
"""Weights in few bits of a model as large as a 7B language model: speed per core, memory, and whether the numbers are right.

usage: large_weights.py [--cameo build/release/cameo] [--place FOLDER] [--layers 32] [--width 4096] [--inner 11008] [--words 32000] [-- FLAGS...]

Writes a decoder of random f16 weights (13.5 GB as a model sees them; every layer reads the same 405 MB of the data file, so the disk holds under
1 GB of it), runs `cameo quantize --bits 4`, and prints f16 bytes read per second of processor time and of the clock, and how much memory the process took
beside the largest tensor. Then `cameo run` computes a token with the result: its anonymous memory, what is mapped of the file left out. Blocks of a few
matrices are compared with rounding to nearest, computed here by numpy. Needs numpy and onnx, and 5 GB of disk.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = 32


class DataFile:
    """A model's data file, written matrix by matrix."""

    def __init__(self, path):
        self.path, self.file, self.rng, self.places = path, path.open("wb"), np.random.default_rng(0), {}  # noqa: SIM115 closed by decoder

    def matrix(self, name, content, rows, columns):
        """A weight `name`; those with equal `content` share their bytes."""
        if content not in self.places:
            start = self.file.tell()
            for first in range(0, rows, 1024):
                part = self.rng.standard_normal((min(1024, rows - first), columns), dtype=np.float32) * 0.02
                self.file.write(part.astype(np.float16).tobytes())
            self.places[content] = (start, self.file.tell() - start)
        offset, length = self.places[content]
        t = TensorProto(name=name, data_type=TensorProto.FLOAT16, dims=[rows, columns], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.path.name), ("offset", offset), ("length", length)):
            t.external_data.add(key=key, value=str(value))
        return t


def decoder(path, args):
    """A table, layers of four square products and three of a feed-forward net with what a layer needs to run, and a last product."""
    data = DataFile(path.with_suffix(".data"))
    nodes, weights, width, inner = [], [data.matrix("table", "table", args.words, args.width)], args.width, args.inner
    add = lambda op, inputs, out, **more: nodes.append(helper.make_node(op, inputs, [out], name=out, **more)) or out
    last = add("Gather", ["table", "ids"], "embedded")
    for i in range(args.layers):
        def product(x, name, rows, columns, layer=i):
            weights.append(data.matrix(f"l{layer}.{name}.weight", name, rows, columns))
            return add("MatMul", [x, weights[-1].name], f"l{layer}.{name}")
        q, k, v = (product(last, n, width, width) for n in "qkv")
        scores = add("Softmax", [add("MatMul", [q, add("Transpose", [k], f"l{i}.kt", perm=[1, 0])], f"l{i}.s")], f"l{i}.p", axis=-1)
        mixed = add("Add", [last, product(add("MatMul", [scores, v], f"l{i}.a"), "o", width, width)], f"l{i}.x")
        gate = add("Sigmoid", [product(mixed, "gate", width, inner)], f"l{i}.g")
        wide = add("Mul", [gate, product(mixed, "up", width, inner)], f"l{i}.w")
        last = add("Tanh", [add("Add", [mixed, product(wide, "down", inner, width)], f"l{i}.y")], f"l{i}.out")
    weights.append(data.matrix("head", "head", width, args.words))
    add("MatMul", [last, "head"], "logits")
    data.file.close()
    graph = helper.make_graph(nodes, "decoder", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT16, ["n", args.words])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return {w.name: (w, *data.places[w.name.split(".")[1] if "." in w.name else w.name]) for w in weights}


def read(path, tensor, dtype):
    where = {e.key: e.value for e in tensor.external_data}
    if not where:
        return np.frombuffer(tensor.raw_data, dtype).reshape(tensor.dims)
    return np.memmap(path.parent / where["location"], dtype, "r", int(where.get("offset", 0)), tuple(tensor.dims))


def wrong_blocks(source, made, weights):
    """Of some MatMulNBits without zero points: blocks whose levels are not those of rounding to nearest."""
    model = onnx.load(str(made), load_external_data=False)
    tensors = {t.name: t for t in model.graph.initializer}
    nodes = [n for n in model.graph.node if n.op_type == "MatMulNBits" and len(n.input) == 3]
    wrong = count = 0
    for node in nodes[:7] + nodes[-8:]:
        packed, scales = read(made, tensors[node.input[1]], np.uint8), read(made, tensors[node.input[2]], np.float16)
        made_from = node.name.removesuffix("_Q4")
        weight = weights["head" if made_from == "logits" else f"{made_from}.weight"]
        rows, columns = weight[0].dims
        whole = np.memmap(source.with_suffix(".data"), np.float16, "r", weight[1], (rows, columns))
        for column in (0, columns // 2, columns - 1):
            x = np.asarray(whole[:, column], np.float32).reshape(-1, BLOCK)
            most, least = x.max(1), x.min(1)
            scale = np.where(np.abs(most) > np.abs(least), most, least) / -8
            level = np.clip(np.round(x / scale[:, None]) + 8, 0, 15)
            got = packed.reshape(columns, -1, BLOCK // 2)[column]
            pairs = np.stack([got & 15, got >> 4], -1).reshape(-1, BLOCK)
            wrong += int((np.abs(pairs - level) > 0).any(1).sum()) + int((np.abs(scales.reshape(columns, -1)[column] - scale) > 1e-3 * np.abs(scale)).sum())
            count += len(pairs)
    return wrong, count


def one_token(args, made):
    """Time of a run without start-up, and the most anonymous memory that the process had."""
    command = [args.cameo, "run", made, "--random", "0", "--dim", "n=1", "--repeat", "3", "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    most = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        most = max(most, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")), 0)
        time.sleep(0.02)
    told = process.communicate()[0]
    print(told, end="")
    size = sum(f.stat().st_size for f in made.parent.glob(f"{made.stem}*"))
    print(f"one token: {most / 1024:.0f} MiB of memory beside the file, which has {size / 2**20:.0f} MiB with its data")
    return process.returncode


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    p.add_argument("--place", type=pathlib.Path)
    for name, value in (("layers", 32), ("width", 4096), ("inner", 11008), ("words", 32000)):
        p.add_argument(f"--{name}", type=int, default=value)
    p.add_argument("flags", nargs="*")
    args = p.parse_args()
    with tempfile.TemporaryDirectory(dir=args.place) as folder:
        source, made = pathlib.Path(folder) / "f16.onnx", pathlib.Path(folder) / "few.onnx"
        weights = decoder(source, args)
        size = sum(2 * w[0].dims[0] * w[0].dims[1] for w in weights.values())
        largest = max(2 * w[0].dims[0] * w[0].dims[1] for w in weights.values())
        start = time.perf_counter()
        command = [args.cameo, "quantize", source, made, "--bits", "4", "--block", str(BLOCK), *args.flags]
        done = subprocess.run(command, env={**os.environ, "TMPDIR": folder}, capture_output=True, text=True)
        spent, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        print(done.stdout + done.stderr, end="")
        if done.returncode:
            raise SystemExit(done.returncode)
        cpu = used.ru_utime + used.ru_stime
        print(f"{size / 1e9:.2f} GB of f16 in {spent:.1f} s, {cpu:.1f} s of processor time: {size / 1e6 / cpu:.0f} MB/s per core ({2 * size / 1e6 / cpu:.0f} counted as f32)")
        print(f"memory: {used.ru_maxrss / 1024:.0f} MiB at most; the largest tensor is {largest / 2**20:.0f} MiB in f16, {largest / 2**19:.0f} as f32")
        if code := one_token(args, made):
            raise SystemExit(code)
        if not args.flags:
            print("blocks that differ from rounding to nearest: {} of {}".format(*wrong_blocks(source, made, weights)))


if __name__ == "__main__":
    main()
