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
