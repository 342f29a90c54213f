"""cameo convert --float: half precision, judged by onnxruntime."""
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


def test_bf16_is_read_back_and_runs(cameo, tmp_path):
    network(tmp_path / "net.onnx")
    assert cameo("convert", tmp_path / "net.onnx", tmp_path / "half.onnx", "--float", "bf16", "--keep-io").returncode == 0
    np.savez(tmp_path / "in.npz", x=np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32))
    for model in ("net", "half"):
        done = cameo("run", tmp_path / f"{model}.onnx", "--inputs", tmp_path / "in.npz", "-o", tmp_path / f"{model}.npz")
        assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "half.npz")["y"], np.load(tmp_path / "net.npz")["y"], rtol=5e-2, atol=1e-2)


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
    for flags in (["--float", "f8"], ["--keep-io"], ["--float", "f16", "--keep", "NoSuchOperator"]):
        assert cameo("convert", tmp_path / "net.onnx", tmp_path / "out.onnx", *flags).returncode == 2
    assert not (tmp_path / "out.onnx").exists()
