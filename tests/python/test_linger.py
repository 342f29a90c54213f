"""linger's operators: kernels against numpy (linger_numpy.py), and the same nodes as standard Q/DQ in onnxruntime."""
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from linger_cases import cases

CASES = cases()
onnxruntime.set_default_logger_severity(4)


def model_of(case, path):
    names = [f"x{i}" for i in range(len(case.operands))]
    outs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, outs, name="node", domain="linger", **case.attributes)
    inputs = [helper.make_tensor_value_info(names[i], helper.np_dtype_to_tensor_dtype(case.operands[i].dtype), case.operands[i].shape) for i in case.inputs]
    weights = [numpy_helper.from_array(v, names[i]) for i, v in enumerate(case.operands) if i not in case.inputs]
    graph = helper.make_graph([node], "g", inputs, [helper.make_value_info(o, onnx.TypeProto()) for o in outs], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("linger", 1)], ir_version=10)
    onnx.save(proto, path)
    return {names[i]: case.operands[i] for i in case.inputs}


def run(cameo, model, feeds, folder, *flags):
    np.savez(folder / "in.npz", **feeds)
    done = cameo("-q", "run", model, "--inputs", folder / "in.npz", "-o", folder / "out.npz", *flags)
    assert done.returncode == 0, done.stderr
    arrays = np.load(folder / "out.npz")
    return [arrays[k] for k in sorted(arrays.files)]


def steps(got, want, case):
    """Between whole numbers; states are floats, in steps of scale_h."""
    assert got.dtype == want.dtype and got.shape == want.shape
    scale = 1 if got.dtype != np.float32 else case.attributes.get("scale_h", 1)
    return np.abs(got.astype(np.float64) - want.astype(np.float64)).max() * scale


@pytest.mark.parametrize("name", CASES)
def test_formula(cameo, tmp_path, name):
    case = CASES[name]
    feeds = model_of(case, tmp_path / "m.onnx")
    want = case.expect(*case.operands)
    for flags in ((), ("--reference",)):
        got = run(cameo, tmp_path / "m.onnx", feeds, tmp_path, *flags)
        assert [steps(g, w, case) for g, w in zip(got, want)] == [0] * case.outputs, flags


@pytest.mark.parametrize("name", CASES)
def test_checked_shown_and_simplified(cameo, tmp_path, name):
    case = CASES[name]
    feeds = model_of(case, tmp_path / "m.onnx")
    inferred = cameo("infer", tmp_path / "m.onnx", tmp_path / "i.onnx")
    assert inferred.returncode == 0, inferred.stderr
    want = case.expect(*case.operands)
    graph = onnx.load(tmp_path / "i.onnx").graph
    assert [tuple(d.dim_value for d in o.type.tensor_type.shape.dim) for o in graph.output] == [w.shape for w in want]
    assert [helper.tensor_dtype_to_np_dtype(o.type.tensor_type.elem_type) for o in graph.output] == [w.dtype for w in want]
    checked = cameo("check", tmp_path / "i.onnx")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"linger::{case.op}" in cameo("show", tmp_path / "m.onnx").stdout
    done = cameo("simplify", tmp_path / "i.onnx", tmp_path / "s.onnx")
    assert done.returncode == 0, done.stderr
    kept = onnx.load(tmp_path / "s.onnx").graph.node
    before = {a.name: helper.get_attribute_value(a) for a in graph.node[0].attribute}
    assert [(n.domain, n.op_type) for n in kept] == [("linger", case.op)] and {a.name: helper.get_attribute_value(a) for a in kept[0].attribute} == before
    assert [steps(g, w, case) for g, w in zip(run(cameo, tmp_path / "s.onnx", feeds, tmp_path), want)] == [0] * case.outputs


@pytest.mark.parametrize("exact", [False, True], ids=["", "exact"])
@pytest.mark.parametrize("name", CASES)
def test_standard_form(cameo, tmp_path, name, exact):
    case = CASES[name]
    feeds = model_of(case, tmp_path / "m.onnx")
    done = cameo("convert", tmp_path / "m.onnx", tmp_path / "q.onnx", "--to-qdq", *["--exact-rounding"] * exact)
    assert done.returncode == 0, done.stderr
    proto = onnx.load(tmp_path / "q.onnx")
    onnx.checker.check_model(proto, full_check=True)
    assert {n.domain for n in proto.graph.node} <= {"", "ai.onnx"} and {o.domain for o in proto.opset_import} <= {"", "ai.onnx"}
    session = onnxruntime.InferenceSession(tmp_path / "q.onnx", providers=["CPUExecutionProvider"])
    for got, want in zip(session.run(None, feeds), case.expect(*case.operands)):
        assert steps(got, want, case) <= (case.exact if exact else case.steps)


def test_float_operands_are_quantised(cameo, tmp_path):
    """As linger's modules write them, before the export is finished."""
    case = CASES["QLinear"]
    x, w, b = case.operands
    sx, sw = case.attributes["scale_x"], case.attributes["scale_w"]
    floats = [(v / s).astype(np.float32) for v, s in ((x, sx), (w, sw), (b, sx * sw))]
    feeds = model_of(type(case)(case.op, floats, case.attributes, None), tmp_path / "m.onnx")
    assert np.array_equal(run(cameo, tmp_path / "m.onnx", feeds, tmp_path)[0], case.expect(x, w, b)[0])


def test_quant_of_a_constant_is_folded(cameo, tmp_path):
    case = CASES["QLinear"]
    model_of(case, tmp_path / "m.onnx")
    proto = onnx.load(tmp_path / "m.onnx")
    w = proto.graph.initializer[0]
    w.CopyFrom(numpy_helper.from_array((case.operands[1] / 1024).astype(np.float32), "float"))
    proto.graph.node.insert(0, helper.make_node("Quant", ["float"], ["x1"], domain="linger", data_bits=8, scale_x=1024.0))
    onnx.save(proto, tmp_path / "m.onnx")
    assert cameo("simplify", tmp_path / "m.onnx", tmp_path / "s.onnx").returncode == 0
    simplified = onnx.load(tmp_path / "s.onnx").graph
    assert [n.op_type for n in simplified.node] == ["QLinear"]
    assert np.array_equal(run(cameo, tmp_path / "s.onnx", {"x0": case.operands[0]}, tmp_path)[0], case.expect(*case.operands)[0])


def test_an_unknown_operator_of_the_domain(cameo, tmp_path):
    case = CASES["QSigmoid"]
    model_of(case, tmp_path / "m.onnx")
    proto = onnx.load(tmp_path / "m.onnx")
    proto.graph.node[0].op_type = "QNew"
    onnx.save(proto, tmp_path / "m.onnx")
    assert "check.operator" not in cameo("check", tmp_path / "m.onnx").stderr  # a newer linger may have it
    refused = cameo("convert", tmp_path / "m.onnx", tmp_path / "q.onnx", "--to-qdq")
    assert refused.returncode != 0 and "convert.linger" in refused.stderr and not (tmp_path / "q.onnx").exists()


def quantised_around(middle, path, weights=()):
    nodes = [helper.make_node("Quant", ["x"], ["q"], domain="linger", data_bits=8, scale_x=16.0), *middle,
             helper.make_node("Dequant", ["c"], ["y"], domain="linger", scale_o=16.0)]
    values = [helper.make_tensor_value_info(v, onnx.TensorProto.FLOAT, [2, 30]) for v in "xy"]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], list(weights))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12), helper.make_opsetid("linger", 1)], ir_version=7), path)


def test_relu6_as_linger_writes_it(cameo, tmp_path):
    """Whole numbers with bounds that are floats: no ONNX, but the meaning is clear."""
    bounds = [numpy_helper.from_array(np.float32(v), n) for v, n in ((0, "lo"), (6, "hi"))]
    quantised_around([helper.make_node("Clip", ["q", "lo", "hi"], ["c"])], tmp_path / "m.onnx", bounds)
    assert cameo("convert", tmp_path / "m.onnx", tmp_path / "q.onnx", "--to-qdq").returncode == 0
    x = (np.arange(-30, 30).reshape(2, 30) / 4).astype(np.float32)
    (got,) = onnxruntime.InferenceSession(tmp_path / "q.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x})
    assert np.array_equal(got, np.clip(x, 0, 6))


@pytest.mark.parametrize("change", [{"strides": [1]}, {"pads": [0]}, {"kernel_shape": [2, 2, 2]}, {"scale_o": 0.0}], ids=str)
def test_a_faulty_node_in_a_body_is_refused(cameo, tmp_path, change):
    attributes = CASES["QAvgPool2d, ceil"].attributes | change
    inner = [helper.make_node("Reshape", ["q", "shape"], ["image"]), helper.make_node("QAvgPool2d", ["image"], ["pooled"], domain="linger", **attributes)]
    then = helper.make_graph(inner, "then", [], [helper.make_value_info("pooled", helper.make_tensor_type_proto(onnx.TensorProto.INT8, None))])
    other = helper.make_graph([helper.make_node("Identity", ["q"], ["same"])], "other", [], [helper.make_value_info("same", helper.make_tensor_type_proto(onnx.TensorProto.INT8, None))])
    weights = [numpy_helper.from_array(np.int64([1, 1, 6, 10]), "shape"), numpy_helper.from_array(np.array(True), "yes")]
    quantised_around([helper.make_node("If", ["yes"], ["c"], then_branch=then, else_branch=other)], tmp_path / "m.onnx", weights)
    done = cameo("convert", tmp_path / "m.onnx", tmp_path / "q.onnx", "--to-qdq")
    assert done.returncode in (1, 3) and "error[" in done.stderr, done.stderr
