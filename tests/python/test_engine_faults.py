"""What onnxruntime computes otherwise than ONNX says, or does not compute: the one list. Each row names the form that we do not write because of it. A row
fails when the engine has been fixed: then the form may be written again, and the row goes.
"""
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

SEEN_IN = "1.31.1"  # the release in which the rows were last seen to hold


def model(node, feeds, output, opset=18):
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(output), None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


C = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
# name, node, inputs, what ONNX's words give, who writes another form
FAULTS = [
    ("Gemm over nothing loses beta", helper.make_node("Gemm", ["a", "b", "c"], ["y"], beta=2.0),
     {"a": np.zeros((2, 0), np.float32), "b": np.zeros((0, 3), np.float32), "c": C}, 2 * C, "src/lowering/aten/torch/blas.cpp, scaled_product"),
    ("Where of bools has no kernel", helper.make_node("Where", ["c", "a", "b"], ["y"]),
     {"c": np.array([True, False]), "a": np.array([True, True]), "b": np.array([False, False])}, np.array([True, False]), "src/lowering/lower.cpp, Lower::Where"),
]


def padded_pool():
    """A Pad of zeros, then a MaxPool without padding, over negative numbers."""
    nodes = [helper.make_node("Pad", ["x", "pads"], ["p"]), helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[2, 2])]
    inputs, outputs = [helper.make_tensor_value_info(n, 1, [1, 1, s, s]) for n, s in (("x", 3), ("y", 4))]
    pads = onnx.numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1]), "pads")
    graph = helper.make_graph(nodes, "g", [inputs], [outputs], [pads])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def pooled(m):
    x = -np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
    return onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def test_a_pad_of_zeros_before_a_pool(cameo, tmp_path):
    """onnxruntime 1.31 takes the Pad into the pool; what simplify writes pads with a negative zero (src/backends/onnx/engine_forms.cpp)."""
    right = np.array([[0, 0, 0, 0], [0, -1, -2, 0], [0, -4, -5, 0], [0, 0, 0, 0]], np.float32)
    assert not np.allclose(pooled(padded_pool())[0, 0], right), f"onnxruntime {onnxruntime.__version__} is fixed: the form may be written again"
    onnx.save(padded_pool(), tmp_path / "m.onnx")
    assert cameo("simplify", tmp_path / "m.onnx", tmp_path / "s.onnx").returncode == 0
    assert cameo("simplify", tmp_path / "s.onnx", tmp_path / "t.onnx").returncode == 0
    for name in ("s.onnx", "t.onnx"):
        np.testing.assert_allclose(pooled(onnx.load(tmp_path / name))[0, 0], right)


@pytest.mark.parametrize("name, node, feeds, right, where", FAULTS, ids=[f[0] for f in FAULTS])
def test_the_engine_still_has_it(name, node, feeds, right, where):
    try:
        got = onnxruntime.InferenceSession(model(node, feeds, right.dtype).SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    except Exception:  # it refuses the form
        return
    assert not np.allclose(got, right), f"onnxruntime {onnxruntime.__version__} (rows seen in {SEEN_IN}) is fixed: {where} may write the plain form again"


@pytest.mark.parametrize("name, node, feeds, right, where", FAULTS, ids=[f[0] for f in FAULTS])
def test_ours_is_right(cameo, tmp_path, name, node, feeds, right, where):
    onnx.save(model(node, feeds, right.dtype), tmp_path / "m.onnx")
    np.savez(tmp_path / "in.npz", **feeds)
    for flags in ((), ("--reference",)):
        done = cameo("run", tmp_path / "m.onnx", "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.npz", *flags)
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "out.npz") as out:
            np.testing.assert_allclose(out["y"], right)
