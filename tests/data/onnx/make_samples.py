#!/usr/bin/env python3
"""Writes the small ONNX models that the reader's tests and its fuzz target start from. Needs the onnx package.

usage: make_samples.py [FOLDER]       (the folder of this script unless said)
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent


def info(name, elem=T.FLOAT, shape=("N", 4)):
    return h.make_tensor_value_info(name, elem, shape)


def save(name, graph, opset=21, ir=8, functions=(), extra_opsets=(), **more):
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset), *extra_opsets], functions=list(functions),
                         producer_name="samples", **more)
    model.ir_version = ir
    onnx.save(model, OUT / f"{name}.onnx")
    return model


def typed_tensors():
    """Every way to hold numbers in a TensorProto."""
    inits = [
        h.make_tensor("f32", T.FLOAT, [2], [1.5, -2]), h.make_tensor("f64", T.DOUBLE, [2], [1.5, -2]),
        h.make_tensor("i64", T.INT64, [2], [1, -2]), h.make_tensor("u64", T.UINT64, [1], [2**63]),
        h.make_tensor("u32", T.UINT32, [1], [2**31]), h.make_tensor("i32", T.INT32, [2], [7, -7]),
        h.make_tensor("i16", T.INT16, [2], [7, -7]), h.make_tensor("i8", T.INT8, [2], [7, -7]),
        h.make_tensor("u8", T.UINT8, [2], [7, 255]), h.make_tensor("bool", T.BOOL, [2], [True, False]),
        h.make_tensor("f16", T.FLOAT16, [2], [1.5, -2]), h.make_tensor("bf16", T.BFLOAT16, [2], [1.5, -2]),
        h.make_tensor("f8", T.FLOAT8E4M3FN, [2], [1.5, -2]), h.make_tensor("i4", T.INT4, [3], [1, -2, 3]),
        h.make_tensor("c64", T.COMPLEX64, [1], [1 + 2j]), h.make_tensor("text", T.STRING, [2], [b"a", b"bc"]),
        nh.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "raw"), h.make_tensor("empty", T.FLOAT, [0, 3], []),
    ]
    nodes = [h.make_node("Identity", [t.name], [t.name + "_out"]) for t in inits]
    outputs = [h.make_tensor_value_info(t.name + "_out", t.data_type, list(t.dims)) for t in inits]
    return h.make_graph(nodes, "typed", [], outputs, inits)


def branches():
    then = h.make_graph([h.make_node("Relu", ["x"], ["t"])], "then", [], [info("t")])
    other = h.make_graph([h.make_node("Neg", ["x"], ["e"]), h.make_node("Add", ["e", "w"], ["e2"])], "else", [], [info("e2")],
                         [nh.from_array(np.ones(4, np.float32), "w")])
    return h.make_graph([h.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)], "branches",
                        [info("c", T.BOOL, []), info("x")], [info("y")])


def loop():
    body = h.make_graph([h.make_node("Add", ["s", "x"], ["s2"]), h.make_node("Identity", ["c"], ["c2"]), h.make_node("Identity", ["s2"], ["row"])],
                        "body", [info("i", T.INT64, []), info("c", T.BOOL, []), info("s")], [info("c2", T.BOOL, []), info("s2"), info("row")])
    return h.make_graph([h.make_node("Loop", ["n", "", "x"], ["last", "rows"], body=body)], "loop", [info("n", T.INT64, []), info("x")],
                        [info("last"), info("rows", T.FLOAT, ["n", "N", 4])])


def functions():
    ref = h.make_node("LeakyRelu", ["a"], ["b"])
    attr = onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
    ref.attribute.append(attr)
    f = h.make_function("local", "Activate", ["a"], ["c"], [ref, h.make_node("Add", ["b", "a"], ["c"])], [h.make_opsetid("", 18)], ["slope"])
    g = h.make_function("local", "Twice", ["a"], ["c"], [h.make_node("Activate", ["a"], ["b"], domain="local", slope=0.5),
                                                        h.make_node("Concat", ["b", "b"], ["c"], axis=1)],
                        [h.make_opsetid("", 18), h.make_opsetid("local", 1)])
    g.attribute_proto.append(h.make_attribute("unused", 3))
    graph = h.make_graph([h.make_node("Twice", ["x"], ["y"], domain="local", name="call")], "functions", [info("x")], [info("y", T.FLOAT, None)])
    return graph, [f, g]


def sparse():
    values = nh.from_array(np.array([1, 2], np.float32), "s")
    indices = nh.from_array(np.array([0, 3], np.int64), "s_indices")
    return h.make_graph([h.make_node("Add", ["x", "s"], ["y"])], "sparse", [info("x")], [info("y")],
                        sparse_initializer=[h.make_sparse_tensor(values, indices, [4])])


def containers():
    seq = h.make_tensor_sequence_value_info("seq", T.FLOAT, ["k", None])
    opt = h.make_value_info("opt", h.make_optional_type_proto(h.make_tensor_type_proto(T.FLOAT, [3])))
    nodes = [h.make_node("SequenceConstruct", ["x", "x"], ["seq"]), h.make_node("Optional", ["z"], ["opt"])]
    return h.make_graph(nodes, "containers", [info("x", T.FLOAT, ["k", None]), info("z", T.FLOAT, [3])], [seq, opt])


def custom():
    node = h.make_node("Mystery", ["x", "", "x"], ["y"], domain="com.example", f=1.5, i=3, s="text", fs=[1.0, 2.0], is_=[1, 2], ss=["a", "b"],
                       t=nh.from_array(np.ones(2, np.float32)), g=h.make_graph([h.make_node("Abs", ["x"], ["q"])], "g", [], [info("q")]),
                       ty=h.make_tensor_type_proto(T.INT64, [None, "M"]), doc_string="what it does")
    return h.make_graph([node], "custom", [info("x", T.FLOAT, ["2*N", "floor(M/2)", None])], [info("y")], doc_string="a graph", value_info=[])


def old_net(opset):
    """Encodings that changed later: axes and pads as attributes, Upsample, Clip's limits, Dropout's ratio."""
    nodes = [
        h.make_node("Unsqueeze", ["x"], ["u"], axes=[0]), h.make_node("Pad", ["u"], ["p"], pads=[0, 0, 1, 0, 0, 1]) if opset < 11 else
        h.make_node("Pad", ["u", "pads"], ["p"]),
        h.make_node("Clip", ["p"], ["c"], min=0.0, max=6.0) if opset < 11 else h.make_node("Clip", ["p", "lo", "hi"], ["c"]),
        h.make_node("ReduceSum", ["c"], ["r"], axes=[1], keepdims=0), h.make_node("Softmax", ["r"], ["s"], axis=1),
        h.make_node("Slice", ["s"], ["q"], starts=[0], ends=[2], axes=[1]) if opset < 10 else h.make_node("Slice", ["s", "from", "to", "ax"], ["q"]),
        h.make_node("Squeeze", ["q"], ["y"], axes=[0]),
    ]
    inits = []
    if opset >= 10:
        inits += [nh.from_array(np.array([v], np.int64), n) for n, v in (("from", 0), ("to", 2), ("ax", 1))]
    if opset >= 11:
        inits += [nh.from_array(np.array([0, 0, 1, 0, 0, 1], np.int64), "pads"), nh.from_array(np.array(0, np.float32), "lo"),
                  nh.from_array(np.array(6, np.float32), "hi")]
    return h.make_graph(nodes, "old", [info("x", T.FLOAT, [3, 4])], [info("y", T.FLOAT, [2])], inits)


def main():
    save("typed", typed_tensors(), ir=10)
    save("branches", branches())
    save("loop", loop())
    graph, local = functions()
    save("functions", graph, opset=18, functions=local, extra_opsets=[h.make_opsetid("local", 1)])
    save("sparse", sparse())
    save("containers", containers(), opset=18)
    model = save("custom", custom(), extra_opsets=[h.make_opsetid("com.example", 2)])
    h.set_model_props(model, {"author": "samples"})
    onnx.save(model, OUT / "custom.onnx")
    for opset in range(7, 13):
        save(f"old{opset}", old_net(opset), opset=opset, ir={7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7}[opset])
    external = save("external", h.make_graph([h.make_node("Add", ["x", "w"], ["y"])], "external", [info("x")], [info("y")],
                                             [nh.from_array(np.arange(4, dtype=np.float32), "w")]))
    onnx.save(external, OUT / "external.onnx", save_as_external_data=True, location="external.bin", size_threshold=0)


main()
