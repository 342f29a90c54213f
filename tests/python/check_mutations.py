#!/usr/bin/env python3
"""Breaks ONNX's node models in many ways and holds `cameo check` against onnx.checker (full check).

  python tests/python/check_mutations.py [--cameo build/release/cameo] [--cases FOLDER] [--models 200] [--from 0] [-v]

Nothing that onnx.checker rejects may be accepted: such cases are listed and the exit status is 1. What only Cameo finds is
listed with -v. Needs the onnx package; the cases are ../shared/conformance/onnx-node-tests.tar.xz, unpacked.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx
from onnx import AttributeProto, TensorProto, checker, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]


class NotHere(Exception):
    """The model offers nothing to break in this way."""


def need(condition):
    if not condition:
        raise NotHere


def first_attribute(m, kinds=None):
    for node in m.graph.node:
        for a in node.attribute:
            if kinds is None or a.type in kinds:
                return node, a
    raise NotHere


def tensor_input(m):
    for v in m.graph.input:
        if v.type.HasField("tensor_type"):
            return v.type.tensor_type
    raise NotHere


def tensor_output(m):
    for v in m.graph.output:
        if v.type.HasField("tensor_type"):
            return v.type.tensor_type
    raise NotHere


def drop_input(m):
    need(m.graph.node[0].input)
    del m.graph.node[0].input[-1]


def many_inputs(m):
    need(m.graph.node[0].input)
    m.graph.node[0].input.extend([m.graph.node[0].input[0]] * 12)


def drop_output(m):
    del m.graph.node[-1].output[-1]


def many_outputs(m):
    m.graph.node[-1].output.extend(f"more_{i}" for i in range(12))


def empty_first_input(m):
    need(m.graph.node[0].input)
    m.graph.node[0].input[0] = ""


def unknown_operator(m):
    m.graph.node[0].op_type = "NoSuchOperator"


def other_operator(m):
    m.graph.node[0].op_type = "Where" if m.graph.node[0].op_type != "Where" else "Concat"


def no_operator(m):
    m.graph.node[0].op_type = ""


def unknown_domain(m):
    m.graph.node[0].domain = "nobody.knows"


def unknown_attribute(m):
    m.graph.node[0].attribute.append(helper.make_attribute("no_such_attribute", 1))


def attribute_of_other_type(m):
    _, a = first_attribute(m, (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS))
    name, kind = a.name, a.type
    a.CopyFrom(helper.make_attribute(name, 1.5 if kind != AttributeProto.FLOAT else "text"))


def attribute_says_other_type(m):
    _, a = first_attribute(m)
    a.type = AttributeProto.FLOAT if a.type != AttributeProto.FLOAT else AttributeProto.INT


def attribute_twice(m):
    node, a = first_attribute(m)
    node.attribute.append(a)


def drop_attribute(m):
    node, _ = first_attribute(m)
    del node.attribute[0]


def huge_integer_attribute(m):
    _, a = first_attribute(m, (AttributeProto.INT,))
    a.i = 99


def undefined_name(m):
    need(m.graph.node[0].input)
    m.graph.node[0].input[0] = "nobody_computes_this"


def cycle(m):
    need(m.graph.node[0].input and m.graph.node[0].output)
    m.graph.node[0].input[0] = m.graph.node[0].output[0]


def wrong_order(m):
    need(m.graph.node[0].input)
    name = m.graph.node[0].input[0]
    m.graph.node[0].input[0] = "copied_later"
    m.graph.node.append(helper.make_node("Identity", [name], ["copied_later"]))


def duplicate_node(m):
    m.graph.node.append(m.graph.node[0])


def duplicate_input(m):
    need(m.graph.input)
    m.graph.input.append(m.graph.input[0])


def output_of_nobody(m):
    m.graph.output[0].name = "nobody_computes_this"


def input_element_type(m):
    t = tensor_input(m)
    t.elem_type = TensorProto.STRING if t.elem_type != TensorProto.STRING else TensorProto.FLOAT


def input_other_number(m):
    t = tensor_input(m)
    t.elem_type = TensorProto.INT16 if t.elem_type != TensorProto.INT16 else TensorProto.DOUBLE


def input_without_type(m):
    need(m.graph.input)
    m.graph.input[0].ClearField("type")


def input_without_shape(m):
    tensor_input(m).ClearField("shape")


def input_rank(m):
    tensor_input(m).shape.dim.add().dim_value = 7


def input_size(m):
    t = tensor_input(m)
    need(t.shape.dim)
    t.shape.dim[-1].dim_value += 3


def output_element_type(m):
    t = tensor_output(m)
    t.elem_type = TensorProto.STRING if t.elem_type != TensorProto.STRING else TensorProto.FLOAT


def output_rank(m):
    tensor_output(m).shape.dim.add().dim_value = 7


def output_size(m):
    t = tensor_output(m)
    need(t.shape.dim)
    t.shape.dim[0].dim_value += 3


def first_opset(m):
    m.opset_import[0].version = 1


def opset_before(m):
    need(m.opset_import[0].version > 8)
    m.opset_import[0].version = 7


def no_opset(m):
    del m.opset_import[:]


def newest_ir(m):
    m.ir_version = 1000


def old_ir(m):
    m.ir_version = 2


def unnamed_graph(m):
    m.graph.name = ""


def initializer_twice(m):
    m.graph.initializer.extend([numpy_helper.from_array(__import__("numpy").zeros(2, "float32"), "twice")] * 2)


def initializer_without_data(m):
    m.graph.initializer.add(name="hollow", data_type=TensorProto.FLOAT, dims=[2])


def initializer_without_type(m):
    m.graph.initializer.add(name="typeless", dims=[0])


def metadata_twice(m):
    for value in "ab":
        m.metadata_props.add(key="k", value=value)


MUTATIONS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", None) == __name__
             and f.__name__ not in ("need", "first_attribute", "tensor_input", "tensor_output", "NotHere")]


def judged(m):
    try:
        checker.check_model(m, full_check=True)
        return ""
    except Exception as e:  # checker.ValidationError, shape_inference.InferenceError, and what bindings throw
        return str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__


def onnx_says(m):
    """In a process of its own: some broken models make onnx abort."""
    end, other = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(other, judged(m).encode()[:4000] or b"\0")
        os._exit(0)
    os.close(other)
    with os.fdopen(end, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return "onnx crashes" if not told else None if told == b"\0" else told.decode(errors="replace")


def cameo_says(command, path):
    done = subprocess.run([command, "check", path], capture_output=True, text=True, timeout=60)
    first = next((line for line in done.stderr.splitlines() if line.startswith("error[")), "")
    if done.returncode not in (0, 1, 3):
        first = f"exit {done.returncode}: {done.stderr.strip()[:200]}"
        return "crash", first
    return (first or "?") if done.returncode else None, first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--cases", default=str(ROOT / "build/release/conformance/onnx-node-tests"))
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--from", dest="start", type=int, default=0, help="other models: the sample begins at this one")
    parser.add_argument("--only", default="", help="only mutations whose name contains this")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    folders = sorted(p.parent for p in pathlib.Path(args.cases).glob("*/model.onnx"))
    chosen = folders[args.start :: max(1, len(folders) // args.models)][: args.models]
    counts = collections.Counter()
    missed, extra, wrong = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        path = str(pathlib.Path(scratch) / "model.onnx")
        for folder in chosen:
            raw = (folder / "model.onnx").read_bytes()
            for mutate in [None] + [f for f in MUTATIONS if args.only in f.__name__]:
                m = onnx.load_from_string(raw)
                try:
                    if mutate:
                        mutate(m)
                except (NotHere, IndexError):
                    counts["not applicable"] += 1
                    continue
                pathlib.Path(path).write_bytes(m.SerializeToString())
                theirs, (ours, first) = onnx_says(m), cameo_says(args.cameo, path)
                what = f"{mutate.__name__ if mutate else 'as it is'} {folder.name}"
                if ours == "crash" or not mutate and ours and not theirs:
                    wrong.append(f"{what}: {first}")
                elif theirs and not ours:
                    missed.append(f"{what}: {theirs}")
                elif ours and not theirs:
                    extra.append(f"{what}: {first}")
                counts["both reject" if theirs and ours else "both accept" if not theirs and not ours else "missed" if theirs else "extra"] += 1
    for line in missed:
        print("missed:", line[:300])
    for line in wrong:
        print("wrong:", line[:300])
    for line in extra if args.v else []:
        print("extra:", line[:300])
    print(f"{len(MUTATIONS)} mutations of {len(chosen)} models:", ", ".join(f"{v} {k}" for k, v in sorted(counts.items())), f"({len(wrong)} wrong)")
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
