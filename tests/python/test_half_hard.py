"""cameo convert --float on what exporters rarely write: sequences, random numbers, operators of nobody's, scatters, long recurrences."""
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

MODES = [["--float", "f16", "--keep-io"], ["--float", "f16"], ["--float", "mixed", "--keep-io"], ["--float", "f16", "--keep-io", "--target", "tensorrt"],
         ["--float", "f16", "--keep-io", "--no-check"]]
node = helper.make_node
RNG = np.random.default_rng(0)
SQUARE = numpy_helper.from_array((RNG.normal(size=(16, 16)) * 0.25).astype(np.float32), "w")
PRODUCT = node("MatMul", ["x", "w"], ["a"])


def info(name, *shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def ints(name, values):
    return numpy_helper.from_array(np.array(values), name)


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None)


def loop_that_collects():
    body = helper.make_graph([node("MatMul", ["x", "w"], ["m"]), node("SequenceInsert", ["s", "m"], ["s2"]), node("Identity", ["go"], ["on"])], "body",
                             [info("i", kind=TensorProto.INT64), info("go", kind=TensorProto.BOOL), sequence("s")], [info("on", kind=TensorProto.BOOL), sequence("s2")])
    return [node("SequenceEmpty", [], ["e"]), node("Loop", ["n", "", "e"], ["o"], body=body), node("ConcatFromSequence", ["o"], ["y"], axis=0)], [ints("n", 3)]


CASES = {
    "sequences": ([PRODUCT, node("SplitToSequence", ["a"], ["s"], axis=1, keepdims=1), node("SequenceAt", ["s", "i"], ["b"]), node("SequenceErase", ["s", "i"], ["s2"]),
                   node("ConcatFromSequence", ["s2"], ["c"], axis=1), node("Add", ["c", "b"], ["y"])], [ints("i", 3)]),
    "loop": loop_that_collects(),
    "optional": ([PRODUCT, node("Optional", ["a"], ["o"]), node("OptionalGetElement", ["o"], ["g"]), node("Relu", ["g"], ["y"])], []),
    "random": ([PRODUCT, node("RandomNormalLike", ["a"], ["r"], seed=1.0, scale=1e-6), node("RandomUniformLike", ["a"], ["u"], seed=1.0, high=1e-6, dtype=1), node("Sum", ["a", "r", "u"], ["y"])], []),
    "unknown operator": ([PRODUCT, node("Gelu", ["a"], ["b"], domain="com.microsoft"), node("MatMul", ["b", "w"], ["y"])], []),
    "scatter": ([PRODUCT, node("ScatterElements", ["a", "at", "x"], ["b"], axis=0, reduction="add"), node("ScatterND", ["b", "where", "by"], ["y"], reduction="mul")],
                [ints("at", np.zeros((4, 16), np.int64)), ints("where", [[0, 1], [1, 2]]), numpy_helper.from_array(np.array([3, -0.5], np.float32), "by")]),
}


@pytest.mark.parametrize("flags", MODES, ids=lambda f: "_".join(f[1:]))
@pytest.mark.parametrize("name", CASES)
def test_runs_in_onnxruntime(cameo, tmp_path, name, flags):
    nodes, weights = CASES[name]
    graph = helper.make_graph(nodes, "g", [info("x", 4, 16)], [info("y", None, 16)], [SQUARE, *weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=8), tmp_path / "m.onnx")
    done = cameo("convert", tmp_path / "m.onnx", tmp_path / "h.onnx", *flags)
    assert done.returncode == 0, done.stderr
    x = np.random.default_rng(1).random((4, 16)).astype(np.float32)
    wanted, got = [], []
    for path, into in ((tmp_path / "m.onnx", wanted), (tmp_path / "h.onnx", got)):
        s = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        into += s.run(None, {"x": x.astype(np.float16) if s.get_inputs()[0].type == "tensor(float16)" else x})
    np.testing.assert_allclose(got[0].astype(np.float32), wanted[0], atol=1e-2 * np.abs(wanted[0]).max())


def test_recurrences_are_judged_on_many_steps(cameo, tmp_path):
    """Each step adds a ten-thousandth to a number near 8: f16 loses all of it, which a few steps do not show."""
    body = helper.make_graph([node("Add", ["s", "k"], ["next"]), node("Mul", ["next", "x"], ["out"])], "step", [info("s", 1), info("x", 1)], [info("next", 1), info("out", 1)])
    scalar = lambda name, v: numpy_helper.from_array(np.array([v], np.float32), name)
    nodes = [node("Scan", ["start", "x"], ["end", "all"], body=body, num_scan_inputs=1), node("Sub", ["end", "start"], ["y"])]
    graph = helper.make_graph(nodes, "g", [info("x", "n", 1)], [info("y", 1)], [scalar("start", 8.0), scalar("k", 1e-4)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    assert cameo("convert", tmp_path / "m.onnx", tmp_path / "h.onnx", "--float", "f16", "--keep-io").returncode == 0
    x = np.ones((400, 1), np.float32)
    run = lambda name: onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    np.testing.assert_allclose(run("h.onnx"), run("m.onnx"), atol=1e-3)


def test_no_more_casts_than_there_are_where_everything_is_half(cameo, tmp_path):
    """Parts that have to stay f32 grow instead, where each would need casts of its own."""
    nodes, last = [], "x"
    for i in range(4):
        nodes += [node("MatMul", [last, "w"], [f"m{i}"]), node("Add", [f"m{i}", "far"], [f"f{i}"]), node("Sub", [f"f{i}", "far"], [f"b{i}"])]
        last = f"b{i}"
    graph = helper.make_graph(nodes, "g", [info("x", 4, 16)], [info(last, 4, 16)], [SQUARE, numpy_helper.from_array(np.array(1e5, np.float32), "far")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    done = cameo("--json", "convert", tmp_path / "m.onnx", tmp_path / "h.onnx", "--float", "f16", "--keep-io")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["casts"] <= 2


def converted(cameo, folder, nodes, inputs, outputs, weights, *flags, opset=17):
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 20 else 9), folder / "m.onnx")
    done = cameo("convert", folder / "m.onnx", folder / "h.onnx", "--float", "f16", "--keep-io", *flags)
    assert done.returncode == 0, done.stderr
    assert "convert.unchecked" not in done.stderr
    model = onnx.load(folder / "h.onnx")
    onnx.checker.check_model(model, full_check=True)
    return model


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4])
def test_epsilons_of_norms_stay_in_onnxruntime(cameo, tmp_path, epsilon):
    """Its optimiser makes one operator of such a norm, and takes 1e-5 for an epsilon that is not f32."""
    scalar = lambda name, v: numpy_helper.from_array(np.array(v, np.float32), name)
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Pow", ["a", "two"], ["s"]), node("ReduceMean", ["s"], ["m"], axes=[-1]), node("Add", ["m", "epsilon"], ["e"], name="sum"),
             node("Sqrt", ["e"], ["r"]), node("Div", ["a", "r"], ["d"]), node("Mul", ["d", "g"], ["n"]), node("MatMul", ["n", "w"], ["y"])]
    weights = [SQUARE, scalar("two", 2), scalar("epsilon", epsilon), numpy_helper.from_array(np.ones(16, np.float32), "g")]
    x = (np.random.default_rng(1).normal(size=(4, 16)) * 5e-3).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    converted(cameo, tmp_path, nodes, [info("x", 4, 16)], [info("y", 4, 16)], weights, "--calibrate", tmp_path / "x.npz")
    run = lambda name: onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    wanted = run("m.onnx")
    np.testing.assert_allclose(run("h.onnx"), wanted, atol=5e-3 * np.abs(wanted).max())


def test_parameters_behind_identities_are_measured(cameo, tmp_path):
    """Exporters write Identity before parameters that two modules share."""
    names = ["scale", "bias", "mean", "variance"]
    weights = [numpy_helper.from_array((RNG.normal(size=(4, 3, 3, 3)) * 0.2).astype(np.float32), "k"), *[numpy_helper.from_array(np.full(4, 0.5, np.float32), n) for n in names]]
    nodes = [node("Conv", ["x", "k"], ["c"]), *[node("Identity", [n], [f"{n}_2"]) for n in names], node("BatchNormalization", ["c", *[f"{n}_2" for n in names]], ["y"])]
    converted(cameo, tmp_path, nodes, [info("x", 1, 3, 9, 9)], [info("y", 1, 4, 7, 7)], weights)
    x = np.random.default_rng(1).random((1, 3, 9, 9)).astype(np.float32)
    run = lambda name: onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    np.testing.assert_allclose(run("h.onnx"), run("m.onnx"), atol=1e-2)


def test_grids_that_onnxruntime_has_no_kernel_for(cameo, tmp_path):
    nodes = [node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1]), node("AffineGrid", ["t", "size"], ["g"]), node("GridSample", ["c", "g"], ["y"])]
    weights = [numpy_helper.from_array((RNG.normal(size=(4, 3, 3, 3)) * 0.2).astype(np.float32), "k"), ints("size", [1, 4, 9, 9])]
    converted(cameo, tmp_path, nodes, [info("x", 1, 3, 9, 9), info("t", 1, 2, 3)], [info("y", 1, 4, 9, 9)], weights, opset=20)
    feeds = {"x": np.random.default_rng(1).random((1, 3, 9, 9)).astype(np.float32), "t": np.array([[[1, 0.1, 0], [0, 1, 0.1]]], np.float32)}
    run = lambda name: onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    np.testing.assert_allclose(run("h.onnx"), run("m.onnx"), atol=2e-2)


def test_bits_that_are_read_as_another_type_stay(cameo, tmp_path):
    nodes = [PRODUCT, node("BitCast", ["a"], ["y"], to=TensorProto.INT32), node("MatMul", ["a", "w"], ["z"])]
    graph = helper.make_graph(nodes, "g", [info("x", 4, 16)], [info("y", 4, 16, kind=TensorProto.INT32), info("z", 4, 16)], [SQUARE])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=13), tmp_path / "m.onnx")
    done = cameo("convert", tmp_path / "m.onnx", tmp_path / "h.onnx", "--float", "f16", "--no-check")
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(onnx.load(tmp_path / "h.onnx"), full_check=True)
