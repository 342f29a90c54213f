"""Files of `cameo quantize` compute the same in onnxruntime with and without its optimisations."""
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper


def saved(path):
    """Three convolutions; the second has channels whose weights are nearly 0 and whose bias is not, as pruned channels have."""
    made = np.random.default_rng(3)
    w = [made.normal(0, 0.3, s).astype(np.float32) for s in ((8, 3, 3, 3), (8, 8, 3, 3), (6, 8, 1, 1))]
    b = [made.normal(0, 1, len(x)).astype(np.float32) for x in w]
    w[1][2:4] *= 1e-12
    weights = [numpy_helper.from_array(x, f"{kind}{i}") for kind, all in (("w", w), ("b", b)) for i, x in enumerate(all)]
    nodes = [helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "first"), helper.make_node("Relu", ["c0"], ["r0"]),
             helper.make_node("Conv", ["r0", "w1", "b1"], ["c1"], "second"), helper.make_node("Clip", ["c1", "low", "high"], ["r1"]),
             helper.make_node("Conv", ["r1", "w2", "b2"], ["y"], "third")]
    weights += [numpy_helper.from_array(np.float32(v), n) for v, n in ((-3, "low"), (9, "high"))]
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", [1, 3, 12, 12]), ("y", [1, 6, 8, 8])))
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y], weights), opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return made.normal(0, 1, (8, 3, 12, 12)).astype(np.float32)


def run(path, x, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"x": x[i:i + 1]})[0] for i in range(len(x))])


@pytest.mark.parametrize("keep", [[], ["--keep", "second"], ["--keep", "first", "--keep", "third"]])
def test_onnxruntimes_optimisations_change_nothing(cameo, tmp_path, keep):
    x = saved(tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x)
    done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "small.onnx", "--calibrate", tmp_path / "x.npy", "--min-db", 0, *keep)
    assert done.returncode == 0, done.stderr
    level = ort.GraphOptimizationLevel
    wanted = run(tmp_path / "net.onnx", x, level.ORT_ENABLE_ALL)
    plain, optimised = (run(tmp_path / "small.onnx", x, v) for v in (level.ORT_DISABLE_ALL, level.ORT_ENABLE_ALL))
    step = np.abs(wanted).max() / 100  # of the last value; sums in another order may round to the neighbouring one
    assert np.abs(plain - optimised).max() <= step
    assert 10 * np.log10((wanted ** 2).sum() / ((optimised - wanted) ** 2).sum()) > 28


def operators(path):
    return [n.op_type for n in onnx.load(path).graph.node]


def test_qoperator_and_back(cameo, tmp_path):
    x = saved(tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x)
    calls = [("quantize", "net.onnx", "qdq.onnx", "--calibrate", tmp_path / "x.npy", "--min-db", 0),
             ("quantize", "net.onnx", "direct.onnx", "--calibrate", tmp_path / "x.npy", "--min-db", 0, "--qoperator"),
             ("convert", "qdq.onnx", "integer.onnx", "--quantized", "qoperator"), ("convert", "integer.onnx", "back.onnx", "--quantized", "qdq")]
    for verb, before, after, *rest in calls:
        done = cameo(verb, tmp_path / before, tmp_path / after, *rest)
        assert done.returncode == 0, done.stderr
        onnx.checker.check_model(str(tmp_path / after), full_check=True)
    for name in ("integer.onnx", "direct.onnx"):
        found = operators(tmp_path / name)
        assert found.count("QLinearConv") == 2 and found.count("Conv") == 1, found  # the Clip behind the second stays, and keeps it
    assert operators(tmp_path / "back.onnx").count("Conv") == 3 and "QLinearConv" not in operators(tmp_path / "back.onnx")
    level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    wanted = run(tmp_path / "qdq.onnx", x, level)
    step = np.abs(wanted).max() / 100
    for name in ("integer.onnx", "direct.onnx", "back.onnx"):
        assert np.abs(run(tmp_path / name, x, level) - wanted).max() <= step, name
    assert cameo("convert", tmp_path / "qdq.onnx", tmp_path / "no.onnx", "--quantized", "other").returncode == 2
    ours = cameo("verify", tmp_path / "qdq.onnx", tmp_path / "integer.onnx", "--atol", step)
    assert ours.returncode == 0, ours.stderr + ours.stdout
