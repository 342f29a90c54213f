"""Files that break a rule and run everywhere all the same: they are reported, and used."""
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper


def saved(path, nodes, inputs, outputs, opset=16, constants=()):
    def infos(values):
        return [helper.make_tensor_value_info(n, t, s) for n, t, s in values]
    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs), [onnx.numpy_helper.from_array(v, n) for n, v in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def same(cameo, tmp_path, one, other, feeds):
    np.savez(tmp_path / "in.npz", **feeds)
    wanted = onnxruntime.InferenceSession(one, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    np.testing.assert_allclose(onnxruntime.InferenceSession(other, providers=["CPUExecutionProvider"]).run(None, feeds)[0], wanted, rtol=1e-5)
    done = cameo("run", other, "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.npz")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out.npz") as out:
        np.testing.assert_allclose(out["y"], wanted, rtol=1e-5)


def test_nodes_out_of_order_are_sorted(cameo, tmp_path):
    node = helper.make_node
    path = saved(tmp_path / "m.onnx", [node("Relu", ["c"], ["y"]), node("Sin", ["b"], ["c"]), node("Neg", ["x"], ["b"])], [("x", 1, [2, 3])], [("y", 1, [2, 3])])
    for verb in ("infer", "simplify", "convert"):
        done = cameo(verb, path, tmp_path / "out.onnx", *(("--opset", "18") if verb == "convert" else ()))
        assert done.returncode == 0 and "model.not-sorted" in done.stderr
        onnx.checker.check_model(tmp_path / "out.onnx")
        same(cameo, tmp_path, path, tmp_path / "out.onnx", {"x": np.random.default_rng(0).random((2, 3), np.float32)})


def test_check_warns_of_what_engines_take(cameo, tmp_path):
    node = helper.make_node
    body = helper.make_graph([node("Identity", ["more"], ["again"]), node("Add", ["w", "x"], ["next"])], "body",
                             [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("more", TensorProto.BOOL, []), helper.make_tensor_value_info("w", 1, [3])],
                             [helper.make_tensor_value_info("again", TensorProto.BOOL, []), helper.make_tensor_value_info("next", 1, [3])])
    path = saved(tmp_path / "m.onnx", [node("Loop", ["n", "", "w"], ["y"], body=body)], [("x", 1, [-1])], [("y", 1, [3])], constants=[("n", np.array(2)), ("w", np.ones(3, np.float32))])
    onnx.checker.check_model(path)
    done = cameo("check", path)
    assert done.returncode == 0 and "negative size" in done.stderr and "names an input of" in done.stderr


def test_simplify_raises_the_opset_where_the_file_uses_more_than_it_says(cameo, tmp_path):
    node = helper.make_node
    path = saved(tmp_path / "m.onnx", [node("Identity", ["x"], ["a"]), node("ScatterElements", ["a", "i", "u"], ["y"], axis=0, reduction="max")],
                 [("x", 1, ["n", 3]), ("i", TensorProto.INT64, ["m", 3]), ("u", 1, ["m", 3])], [("y", 1, ["n", 3])])
    done = cameo("simplify", path, tmp_path / "out.onnx")
    assert done.returncode == 0 and "simplify.opset" in done.stderr
    assert onnx.load(tmp_path / "out.onnx").opset_import[0].version == 18
    onnx.checker.check_model(tmp_path / "out.onnx")


@pytest.mark.parametrize("shape, kernel", [([1, 3, "h", "w"], 5), (["b", "c", "h", "w"], 3), (["n", 3, "size", "size"], 32)])
def test_made_up_inputs_have_sizes_that_work(cameo, tmp_path, shape, kernel):
    node = helper.make_node
    path = saved(tmp_path / "m.onnx", [node("Conv", ["x", "w"], ["a"]), node("MaxPool", ["a"], ["y"], kernel_shape=[2, 2])], [("x", 1, shape)], [("y", 1, None)],
                 constants=[("w", np.ones((4, 3, kernel, kernel), np.float32))])
    done = cameo("run", path, "--random", "0")
    assert done.returncode == 0, done.stderr


def test_verify_meets_the_other_branch(cameo, tmp_path):
    node = helper.make_node
    one = saved(tmp_path / "a.onnx", [node("Relu", ["x"], ["y"])], [("x", 1, [2, 3])], [("y", 1, [2, 3])])
    other = saved(tmp_path / "b.onnx", [node("Identity", ["x"], ["y"])], [("x", 1, [2, 3])], [("y", 1, [2, 3])])
    done = cameo("verify", one, other, "--random", "0")
    assert done.returncode == 1 and "with the inputs negated" in done.stderr


def test_verify_tries_a_size_of_1(cameo, tmp_path):
    node = helper.make_node
    shape = [node("Shape", ["x"], ["s"]), node("ReduceSum", ["x", "one"], ["t"], keepdims=1), node("Expand", ["t", "s"], ["y"])]
    constants = [("one", np.array([0]))]
    one = saved(tmp_path / "a.onnx", shape, [("x", 1, ["b", 3])], [("y", 1, ["b", 3])], constants=constants)
    other = saved(tmp_path / "b.onnx", [node("Identity", ["x"], ["y"])], [("x", 1, ["b", 3])], [("y", 1, ["b", 3])])
    done = cameo("verify", one, other, "--random", "0")  # a batch of 1 is its own sum
    assert done.returncode == 1 and "b = 2" in done.stderr


class Inner(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)
        self.factor = factor

    def forward(self, x):
        return self.fc(x) * self.factor


@pytest.mark.filterwarnings("ignore")
def test_programs_of_a_torch_package(cameo, tmp_path, monkeypatch):
    from torch.package import PackageExporter, package_exporter
    monkeypatch.setattr(package_exporter, "_gate_torchscript_serialization", False)
    torch.manual_seed(0)
    programs = [torch.jit.script(Inner(f).eval()) for f in (1.0, 3.0)]
    with PackageExporter(tmp_path / "p.pt") as package:
        package.extern("**")
        package.save_pickle("models", "all.pkl", programs)
    x = torch.rand(2, 3)
    for flags, program in (((), 0), (("--method", "1"), 1), (("--method", "1.forward"), 1)):
        done = cameo("export", tmp_path / "p.pt", "-o", tmp_path / "m.onnx", "--input", "x=f32[b,3]", *flags)
        assert done.returncode == 0, done.stderr
        got = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x.numpy()})[0]
        np.testing.assert_allclose(got, programs[program](x).detach().numpy(), rtol=1e-5)
    refused = cameo("export", tmp_path / "p.pt", "-o", tmp_path / "m.onnx", "--input", "x=f32[b,3]", "--method", "7")
    assert refused.returncode == 3 and "file.torch-package" in refused.stderr
