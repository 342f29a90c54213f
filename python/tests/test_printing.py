"""Names and texts from a file, printed by Python: no control characters, no marks that turn text, no line of their own."""
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import cameo

NAME = "e\x1b[2Jvil\r\n\u202eerror[x]: \x85<script>"
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")


def hostile_model():
    """Every place that has a name or a text."""
    nodes = [helper.make_node("MatMul", [NAME, NAME + "w"], [NAME + "m"], name=NAME, doc_string=NAME), helper.make_node("Relu", [NAME + "m"], [NAME + "y"], name=NAME)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [NAME, 4]) for name in (NAME, NAME + "y")]
    weights = [numpy_helper.from_array(np.eye(4, dtype=np.float32), NAME + "w")]
    graph = helper.make_graph(nodes, NAME, infos[:1], infos[1:], weights, doc_string=NAME)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name=NAME, producer_version=NAME, doc_string=NAME)
    made.metadata_props.append(onnx.StringStringEntryProto(key=NAME, value=NAME))
    return cameo.load(made.SerializeToString())


def printed(thing):
    yield repr(thing)
    yield str(thing)
    for method in ("_repr_html_", "_repr_svg_"):
        if hasattr(thing, method):
            yield str(getattr(thing, method)())
    for part in ("findings", "ledger", "steps", "html"):
        for one in ([value] if isinstance(value := getattr(thing, part, ()), str) else value):
            yield from (repr(one), str(one))
    for one in getattr(thing, "diagnostics", ()):
        yield from (repr(one), str(one), one.what)


def test_what_is_printed_is_safe():
    model = hostile_model()
    samples = [{NAME: np.ones([3, 4], np.float32)}]
    wrong = {NAME: np.ones([3, 5], np.float32)}
    calls = [lambda: model, lambda: cameo.simplify(model), lambda: cameo.infer(model), lambda: cameo.convert(model, opset=17), lambda: cameo.quantize(model, samples),
             lambda: cameo.quantize_weights(model, block=16), lambda: cameo.quantize_dynamic(model), lambda: cameo.to_half(model), lambda: cameo.lint(model, "all"),
             lambda: cameo.fix_lint(model, "rknn"), lambda: cameo.prepare(model, target="tensorrt"), lambda: cameo.verify(model, model), lambda: cameo.explain(model),
             lambda: cameo.Session(model), lambda: cameo.Session(model).run(wrong), lambda: cameo.merge(model, model, connect={NAME: NAME})]
    for number, call in enumerate(calls):
        try:
            made = call()
        except cameo.Error as error:
            made = error
        for one in made if isinstance(made, (list, tuple)) else [made]:
            for text in printed(one):
                assert not RAW.search(text) and not re.search("^error.x.", text, re.M), (number, text)
