"""Channels of very different sizes beside float nodes: DequantizeLinear has a scale per channel there, for onnxruntime, and factors go into gates."""
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper


def saved(path):
    """Convolutions with HardSwish between them, a squeezed gate, a sum, and a classifier; channels from 0.05 to 50."""
    made = np.random.default_rng(5)
    sizes = np.geomspace(0.05, 50, 16).astype(np.float32)[made.permutation(16)]
    weights = {"w0": made.normal(0, 0.3, (16, 3, 3, 3)) * sizes.reshape(-1, 1, 1, 1), "b0": made.normal(0, 1, 16) * sizes,
               "w1": made.normal(0, 0.3, (16, 16, 1, 1)) / sizes.reshape(1, -1, 1, 1) * sizes[::-1].reshape(-1, 1, 1, 1), "b1": made.normal(0, 1, 16) * sizes[::-1],
               "w2": made.normal(0, 0.3, (16, 16, 3, 3)) / sizes[::-1].reshape(1, -1, 1, 1), "b2": made.normal(0, 0.3, 16), "w3": made.normal(0, 0.3, (16, 10)),
               "wg": made.normal(0, 0.1, (16, 16, 1, 1))}
    nodes = [helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "first", pads=[1, 1, 1, 1]), helper.make_node("HardSwish", ["c0"], ["h0"]),
             helper.make_node("Conv", ["h0", "w1", "b1"], ["c1"], "second"), helper.make_node("HardSwish", ["c1"], ["h1"]),
             helper.make_node("GlobalAveragePool", ["h1"], ["p"]), helper.make_node("Conv", ["p", "wg"], ["q"], "squeeze"), helper.make_node("HardSigmoid", ["q"], ["g"]),
             helper.make_node("Mul", ["h1", "g"], ["m"]), helper.make_node("Conv", ["m", "w2", "b2"], ["c2"], "third", pads=[1, 1, 1, 1]),
             helper.make_node("HardSwish", ["c2"], ["h2"]), helper.make_node("GlobalAveragePool", ["h2"], ["a"]), helper.make_node("Flatten", ["a"], ["f"]),
             helper.make_node("MatMul", ["f", "w3"], ["y"], "last")]
    x, y, h = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", ["n", 3, 12, 12]), ("y", ["n", 10]), ("h2", ["n", 16, 12, 12])))
    initializers = [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y, h], initializers), opset_imports=[helper.make_opsetid("", 14)], ir_version=8), path)
    return made.normal(0, 1, (24, 3, 12, 12)).astype(np.float32)


def run(path, x, optimised=True):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})


def worst_db(wanted, got):
    return min(10 * np.log10((a ** 2).sum() / max(((a - b) ** 2).sum(), 1e-12)) for a, b in zip(wanted, got))


def quantized(cameo, place, out, *flags):
    done = cameo("quantize", place / "net.onnx", place / out, "--calibrate", place / "x.npy", "--max-float-macs", 0, *flags)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(str(place / out), full_check=True)
    return onnx.load(place / out).graph


def scales(graph):
    """Sizes of the scales of activations, by operator."""
    sizes = {t.name: int(np.prod(t.dims)) for t in graph.initializer}
    constant = {t.name for t in graph.initializer}
    return [(n.op_type, sizes[n.input[1]]) for n in graph.node if n.op_type.endswith("tizeLinear") and n.input[0] not in constant]


def test_scales_per_channel(cameo, tmp_path):
    x = saved(tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x[:8])
    plain = quantized(cameo, tmp_path, "plain.onnx", "--no-equalization")
    graph = quantized(cameo, tmp_path, "small.onnx", "--report", tmp_path / "r.json")
    assert {size for _, size in scales(plain)} == {1}
    assert ("DequantizeLinear", 16) in scales(graph) and ("QuantizeLinear", 16) not in scales(graph)
    assert sum(n.op_type == "Mul" for n in graph.node) <= 7  # the model's, one for its gate, before and behind two HardSwish, before the last
    wanted = run(tmp_path / "net.onnx", x[8:])
    worse, better = (worst_db(wanted, run(tmp_path / f, x[8:])) for f in ("plain.onnx", "small.onnx"))
    assert better > worse + 6 and better > 20, (worse, better)
    plain_run = run(tmp_path / "small.onnx", x[8:], optimised=False)
    assert worst_db(plain_run, run(tmp_path / "small.onnx", x[8:])) > 40
    np.savez(tmp_path / "x.npz", x=x[8:])
    done = cameo("run", tmp_path / "small.onnx", "--inputs", tmp_path / "x.npz", "-o", tmp_path / "y.npz")
    assert done.returncode == 0, done.stderr
    ours = np.load(tmp_path / "y.npz")
    assert worst_db(plain_run, [ours["y"], ours["h2"]]) > 40


@pytest.mark.parametrize("keep", ["first", "second", "third", "squeeze", "last", "Conv"])
def test_float_neighbours_have_their_own_weights(cameo, tmp_path, keep):
    x = saved(tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x[:8])
    graph = quantized(cameo, tmp_path, "small.onnx", "--keep", keep)
    weights = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    given = {t.name: numpy_helper.to_array(t) for t in onnx.load(tmp_path / "net.onnx").graph.initializer}
    kept = {"first": "w0", "second": "w1", "third": "w2", "squeeze": "wg", "last": "w3"}
    for name in [kept[keep]] if keep in kept else ["w0", "w1", "w2", "wg"]:
        assert any(w.shape == given[name].shape and np.allclose(w, given[name], rtol=1e-5) for w in weights.values()), name
    wanted = run(tmp_path / "net.onnx", x[8:])
    assert worst_db(wanted, run(tmp_path / "small.onnx", x[8:])) > 20


@pytest.mark.parametrize("target", ["tensorrt", "openvino", "qnn", "generic"])
def test_other_targets_have_one_scale(cameo, tmp_path, target):
    x = saved(tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x[:8])
    graph = quantized(cameo, tmp_path, "small.onnx", "--target", target)
    assert {size for _, size in scales(graph)} == {1}


def test_qoperator_and_back(cameo, tmp_path):
    x = saved(tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x[:8])
    quantized(cameo, tmp_path, "small.onnx")
    wanted = run(tmp_path / "small.onnx", x, optimised=False)
    for before, after, form in (("small", "integers", "qoperator"), ("integers", "back", "qdq")):
        done = cameo("convert", tmp_path / f"{before}.onnx", tmp_path / f"{after}.onnx", "--quantized", form)
        assert done.returncode == 0, done.stderr
        assert worst_db(wanted, run(tmp_path / f"{after}.onnx", x, optimised=False)) > 40
    found = [n.op_type for n in onnx.load(tmp_path / "integers.onnx").graph.node]
    assert found.count("QLinearConv") >= 2, found
