"""cameo convert --float: half precision, judged by onnxruntime."""
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper


def network(path):
    """A convolution, a branch, a Resize (whose scales are only f32), a Loop, a product and a softmax."""
    rng = np.random.default_rng(0)
    weight = lambda name, *shape: numpy_helper.from_array((rng.normal(size=shape) * 0.2).astype(np.float32), name)
    scalar = lambda name, value, dtype: numpy_helper.from_array(np.asarray(value, dtype), name)
    info = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    branch = lambda op, name: helper.make_graph([helper.make_node(op, ["c"], [name])], name, [], [info(name, "n", 4, 8, 8)])
    body = helper.make_graph(
        [helper.make_node("Mul", ["before", "half"], ["after"]), helper.make_node("Identity", ["go"], ["go_on"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []), info("before", "n", 10)],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []), info("after", "n", 10)])
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Greater", ["m", "zero"], ["positive"]),
        helper.make_node("If", ["positive"], ["b"], then_branch=branch("Relu", "t"), else_branch=branch("Neg", "e")),
        helper.make_node("Resize", ["b", "", "scales"], ["r"], mode="nearest"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "v", "bias"], ["s"], transB=1),
        helper.make_node("Loop", ["trips", "", "s"], ["l"], body=body),
        helper.make_node("Cast", ["l"], ["d"], to=TensorProto.DOUBLE),
        helper.make_node("Cast", ["d"], ["q"], to=TensorProto.FLOAT),
        helper.make_node("Softmax", ["q"], ["y"], axis=-1, name="last"),
    ]
    weights = [weight("w", 4, 3, 3, 3), weight("v", 10, 4), weight("bias", 10), scalar("zero", 0, np.float32), scalar("half", 0.5, np.float32),
               scalar("trips", 2, np.int64), numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")]
    graph = helper.make_graph(nodes, "g", [info("x", "n", 3, 8, 8)], [info("y", "n", 10)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)


def run(path, x):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


@pytest.mark.parametrize("flags", [[], ["--keep-io"], ["--keep", "Softmax,Conv"], ["--keep-io", "--keep", "Gemm", "--opset", "21"]])
def test_f16(cameo, tmp_path, flags):
    network(tmp_path / "net.onnx")
    done = cameo("convert", tmp_path / "net.onnx", tmp_path / "half.onnx", "--float", "f16", *flags)
    assert done.returncode == 0, done.stderr
    assert cameo("check", tmp_path / "half.onnx").returncode == 0
    model = onnx.load(tmp_path / "half.onnx")
    onnx.checker.check_model(model, full_check=True)
    kind = TensorProto.FLOAT if "--keep-io" in flags else TensorProto.FLOAT16
    assert {v.type.tensor_type.elem_type for v in [*model.graph.input, *model.graph.output]} == {kind}
    types = {w.name: w.data_type for w in model.graph.initializer}
    assert types["scales"] == TensorProto.FLOAT
    assert types["v"] == (TensorProto.FLOAT if "--keep" in flags and "Gemm" in flags[-1] + flags[2 if len(flags) > 2 else 1] else TensorProto.FLOAT16)
    x = np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)
    wanted = run(tmp_path / "net.onnx", x)
    got = run(tmp_path / "half.onnx", x if "--keep-io" in flags else x.astype(np.float16))
    np.testing.assert_allclose(got.astype(np.float32), wanted, rtol=1e-2, atol=2e-3)


def saved(path, nodes, inputs, outputs, weights=(), opset=17):
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, list(weights)), opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def floats(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def converted(cameo, folder, *flags):
    done = cameo("convert", folder / "m.onnx", folder / "h.onnx", "--float", "f16", "--keep-io", "--report", folder / "r.json", *flags)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(onnx.load(folder / "h.onnx"), full_check=True)
    report = json.loads((folder / "r.json").read_text())
    return report, {k["name"]: k["why"] for k in report["kept"]}


def scalar(name, value, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def test_large_values_stay_f32_with_what_reads_them(cameo, tmp_path):
    """The square overflows f16; its logarithm would read an infinity."""
    nodes = [helper.make_node("Mul", ["x", "k"], ["big"], name="scale"), helper.make_node("Mul", ["big", "big"], ["square"], name="square"),
             helper.make_node("Log", ["square"], ["y"], name="log")]
    saved(tmp_path / "m.onnx", nodes, [floats("x", 64)], [floats("y", 64)], [scalar("k", 2000)])
    report, kept = converted(cameo, tmp_path)
    assert "reaches" in kept["square"] and "reaches" in kept["log"] and report["error"] < 1e-2
    x = np.linspace(0.1, 1, 64, dtype=np.float32)
    np.testing.assert_allclose(run(tmp_path / "h.onnx", x), run(tmp_path / "m.onnx", x), rtol=1e-2)


def test_tiny_and_large_constants_stay_f32(cameo, tmp_path):
    nodes = [helper.make_node("Add", ["x", "epsilon"], ["a"], name="add"), helper.make_node("Div", ["x", "a"], ["b"], name="div"),
             helper.make_node("Mul", ["b", "huge"], ["c"], name="mul"), helper.make_node("Div", ["c", "huge"], ["y"], name="back")]
    saved(tmp_path / "m.onnx", nodes, [floats("x", 64)], [floats("y", 64)], [scalar("epsilon", 1e-12), scalar("huge", 1e6)])
    _, kept = converted(cameo, tmp_path)
    assert "too small" in kept["add"] and "1e+06" in kept["mul"]
    x = np.zeros(64, np.float32)
    assert np.isfinite(run(tmp_path / "h.onnx", x)).all()  # 0 / 0 without the epsilon


def test_arithmetic_on_sizes_stays_f32(cameo, tmp_path):
    """3001 is no f16 number: the slice would end elsewhere."""
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
             helper.make_node("Mul", ["f", "half"], ["h"], name="scaled"), helper.make_node("Floor", ["h"], ["r"], name="rounded"),
             helper.make_node("Cast", ["r"], ["n"], to=TensorProto.INT64), helper.make_node("Slice", ["x", "zero", "n"], ["y"])]
    saved(tmp_path / "m.onnx", nodes, [floats("x", "n")], [floats("y", "m")], [scalar("half", 0.5), numpy_helper.from_array(np.array([0]), "zero")])
    _, kept = converted(cameo, tmp_path)
    assert "sizes" in kept["scaled"] and "sizes" in kept["rounded"]
    x = np.random.default_rng(0).random(6002).astype(np.float32)
    assert run(tmp_path / "h.onnx", x).shape == (3001,)


def test_errors_are_mended_by_a_stretch_in_f32(cameo, tmp_path):
    """1 + x/1000 - 1 loses x in f16."""
    nodes = [helper.make_node("Mul", ["x", "small"], ["a"]), helper.make_node("Add", ["a", "one"], ["b"], name="add"), helper.make_node("Sub", ["b", "one"], ["c"], name="sub"),
             helper.make_node("Div", ["c", "small"], ["d"], name="div"), helper.make_node("MatMul", ["d", "w"], ["y"], name="product")]
    w = numpy_helper.from_array(np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32), "w")
    saved(tmp_path / "m.onnx", nodes, [floats("x", 64, 256)], [floats("y", 64, 256)], [scalar("small", 1e-3), scalar("one", 1), w])
    report, kept = converted(cameo, tmp_path)
    assert report["tried"] > 1 and report["error"] <= 5e-3 and "error" in kept["sub"] and "product" not in kept
    x = np.random.default_rng(1).random((64, 256)).astype(np.float32)
    wanted = run(tmp_path / "m.onnx", x)
    assert np.abs(run(tmp_path / "h.onnx", x) - wanted).max() <= 1e-2 * np.abs(wanted).max()


def test_casts_that_were_there_go(cameo, tmp_path):
    """f32 -> f16 -> f32 around a product, as mixed precision is exported: all half now."""
    w = numpy_helper.from_array(np.random.default_rng(0).normal(size=(64, 64)).astype(np.float16), "w")
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Cast", ["a"], ["b"], to=TensorProto.FLOAT16), helper.make_node("MatMul", ["b", "w"], ["c"]),
             helper.make_node("Cast", ["c"], ["d"], to=TensorProto.FLOAT), helper.make_node("Relu", ["d"], ["y"])]
    saved(tmp_path / "m.onnx", nodes, [floats("x", 64, 64)], [floats("y", 64, 64)], [w])
    report, _ = converted(cameo, tmp_path)
    assert sum(n.op_type == "Cast" for n in onnx.load(tmp_path / "h.onnx").graph.node) == 2


def test_bodies_with_names_of_the_graph_around(cameo, tmp_path):
    """Names that a body and the graph around it share; both branches use the same names."""
    branch = lambda op: helper.make_graph([helper.make_node(op, ["a"], ["t"]), helper.make_node("Mul", ["t", "w"], ["r"])], "b", [], [floats("r", 8, 8)], [weight])
    weight = numpy_helper.from_array(np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32), "w")
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs"))]
    saved(tmp_path / "m.onnx", nodes, [floats("x", 8, 8), helper.make_tensor_value_info("c", TensorProto.BOOL, [])], [floats("y", 8, 8)], [])
    converted(cameo, tmp_path)
    session = lambda name: onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"])
    for choice in (True, False):
        feeds = {"x": np.random.default_rng(1).normal(size=(8, 8)).astype(np.float32), "c": np.array(choice)}
        np.testing.assert_allclose(session("h.onnx").run(None, feeds)[0], session("m.onnx").run(None, feeds)[0], rtol=1e-2, atol=1e-2)


def test_mixed_computes_norms_in_f32(cameo, tmp_path):
    w = numpy_helper.from_array(np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="product"), helper.make_node("Softmax", ["a"], ["y"], name="softmax")]
    saved(tmp_path / "m.onnx", nodes, [floats("x", 64, 256)], [floats("y", 64, 256)], [w])
    done = cameo("--json", "convert", tmp_path / "m.onnx", tmp_path / "h.onnx", "--float", "mixed", "--keep-io")
    assert done.returncode == 0, done.stderr
    kept = {k["name"] for k in json.loads(done.stdout)["kept"]}
    assert "softmax" in kept and "product" not in kept


def test_bf16_is_read_back_and_runs(cameo, tmp_path):
    network(tmp_path / "net.onnx")
    assert cameo("convert", tmp_path / "net.onnx", tmp_path / "half.onnx", "--float", "bf16", "--keep-io").returncode == 0
    np.savez(tmp_path / "in.npz", x=np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32))
    for model in ("net", "half"):
        done = cameo("run", tmp_path / f"{model}.onnx", "--inputs", tmp_path / "in.npz", "-o", tmp_path / f"{model}.npz")
        assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "half.npz")["y"], np.load(tmp_path / "net.npz")["y"], rtol=5e-2, atol=1e-2)


def test_an_opset_without_a_half_form_is_named_with_the_one_that_has_it(cameo, tmp_path):
    network(tmp_path / "net.onnx")  # opset 18 has no Conv in bf16
    done = cameo("convert", tmp_path / "net.onnx", tmp_path / "half.onnx", "--float", "bf16", "--keep-io")
    assert done.returncode == 0 and "convert.half-form" in done.stderr and "--opset 22" in done.stderr
    done = cameo("convert", tmp_path / "net.onnx", tmp_path / "half.onnx", "--float", "bf16", "--keep-io", "--opset", "22")
    assert done.returncode == 0 and "convert.half-form" not in done.stderr
    assert any(n.op_type == "Conv" for n in onnx.load(tmp_path / "half.onnx").graph.node)
    assert "convert.half-form" not in cameo("convert", tmp_path / "net.onnx", tmp_path / "half.onnx", "--float", "f16", "--keep-io").stderr


def test_numbers_beyond_the_range_are_clamped_and_told(cameo, tmp_path):
    nodes = [helper.make_node("Add", ["x", "mask"], ["y"])]
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    mask = numpy_helper.from_array(np.array([0, np.finfo(np.float32).min], np.float32), "mask")
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [info("x")], [info("y")], [mask]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    done = cameo("-v", "convert", tmp_path / "m.onnx", tmp_path / "h.onnx", "--float", "f16")
    assert done.returncode == 0 and "convert.range" in done.stderr
    weight = numpy_helper.to_array(onnx.load(tmp_path / "h.onnx").graph.initializer[0])
    assert weight.tolist() == [0, -65504]


def test_wrong_use(cameo, tmp_path):
    network(tmp_path / "net.onnx")
    for flags in (["--float", "f8"], ["--keep-io"], ["--max-error", "1"], ["--float", "f16", "--keep", "NoSuchOperator"], ["--float", "f16", "--max-error", "0"],
                  ["--float", "f16", "--target", "ncnn"]):
        assert cameo("convert", tmp_path / "net.onnx", tmp_path / "out.onnx", *flags).returncode == 2
    assert not (tmp_path / "out.onnx").exists()
