"""cameo quantize --bits: bytes beside onnxruntime's quantizer, results in onnxruntime."""
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer


def floats(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def saved(path, nodes, inputs, outputs, weights, opset=21):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(v, k) for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)


def product(path, depth, outputs, dtype=np.float32, seed=0):
    w = np.random.default_rng(seed).normal(size=(depth, outputs)).astype(dtype)
    w[: min(8, depth), 0] = 0  # a block of zeros
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    info = lambda name, *shape: helper.make_tensor_value_info(name, kind, shape)
    saved(path, [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], [info("x", "n", depth)], [info("y", "n", outputs)], {"w": w})
    return w


def quantized(cameo, folder, *flags):
    done = cameo("quantize", folder / "m.onnx", folder / "q.onnx", *flags)
    assert done.returncode == 0, done.stderr
    return onnx.load(folder / "q.onnx")


def initializers(model):
    return {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}


def run(path, feeds):
    """As the file says: with its optimisations onnxruntime makes MatMulNBits of DequantizeLinear, which rounds the data to 8 bits, too."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rounding_equals_onnxruntimes_byte_for_byte(cameo, tmp_path, bits, symmetric, dtype):
    for block in (16, 32, 128, 256):
        for depth in (256, 100, 77, 33, 16):
            product(tmp_path / "m.onnx", depth, 24, dtype)
            ours = initializers(quantized(cameo, tmp_path, "--bits", str(bits), "--block", str(block), "--symmetric" if symmetric else "--asymmetric"))
            config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=symmetric, bits=bits)
            quantizer = MatMulNBitsQuantizer(onnx.load(tmp_path / "m.onnx"), bits=bits, block_size=block, is_symmetric=symmetric, algo_config=config)
            quantizer.process()
            theirs = initializers(quantizer.model.model)
            assert set(theirs) == set(ours)
            for name, value in theirs.items():
                assert value.dtype == ours[name].dtype and value.size == ours[name].size
                np.testing.assert_array_equal(value.reshape(ours[name].shape), ours[name], err_msg=f"{name}, block {block}, depth {depth}")


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("asymmetric", [[], ["--asymmetric"]])
def test_both_forms_give_the_same_results(cameo, tmp_path, bits, asymmetric):
    product(tmp_path / "m.onnx", 100, 24)
    x = np.random.default_rng(1).normal(size=(5, 100)).astype(np.float32)
    wanted = run(tmp_path / "m.onnx", {"x": x})[0]
    theirs, ours = {}, {}
    np.savez(tmp_path / "x.npz", x=x)
    for form in ("nbits", "qdq"):
        model = quantized(cameo, tmp_path, "--bits", str(bits), "--form", form, *asymmetric)
        if form == "qdq":
            onnx.checker.check_model(model, full_check=True)
        theirs[form] = run(tmp_path / "q.onnx", {"x": x})[0]
        assert cameo("run", tmp_path / "q.onnx", "--inputs", tmp_path / "x.npz", "-o", tmp_path / "y.npz").returncode == 0
        ours[form] = np.load(tmp_path / "y.npz")["y"]
    for form in ours:
        np.testing.assert_allclose(ours[form], theirs["qdq"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(theirs["nbits"], theirs["qdq"], atol=0.02 * np.abs(wanted).max())
    noise = np.square(theirs["qdq"] - wanted).sum() / np.square(wanted).sum()
    assert noise < (0.02 if bits == 4 else 1e-3)


def test_tied_embeddings_stay_tied(cameo, tmp_path):
    w = np.random.default_rng(0).normal(size=(96, 64)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["w", "ids"], ["e"], name="embedding"), helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]),
             helper.make_node("MatMul", ["e", "t"], ["y"], name="head")]
    saved(tmp_path / "m.onnx", nodes, [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])], [floats("y", "n", 96)], {"w": w})
    ids = np.array([3, 95, 0, 17])
    wanted = run(tmp_path / "m.onnx", {"ids": ids})[0]
    for form in ("nbits", "qdq"):
        model = quantized(cameo, tmp_path, "--bits", "8", "--form", form)
        large = [i for i in model.graph.initializer if np.prod(i.dims) >= 96 * 32]
        assert len(large) == 1  # the levels, once
        assert np.abs(run(tmp_path / "q.onnx", {"ids": ids})[0] - wanted).max() < 0.03 * np.abs(wanted).max()


def test_gemm_with_bias_and_what_stays(cameo, tmp_path):
    rng = np.random.default_rng(0)
    weights = {"a": rng.normal(size=(24, 64)), "b": rng.normal(size=24), "both": rng.normal(size=(24, 24)), "kept": rng.normal(size=(24, 24))}
    nodes = [helper.make_node("Gemm", ["x", "a", "b"], ["h"], transB=1, name="linear"), helper.make_node("MatMul", ["h", "both"], ["i"]),
             helper.make_node("Gemm", ["i", "both"], ["j"], transB=1), helper.make_node("MatMul", ["j", "kept"], ["y"], name="last")]
    saved(tmp_path / "m.onnx", nodes, [floats("x", "n", 64)], [floats("y", "n", 24)], {k: v.astype(np.float32) for k, v in weights.items()})
    quantized(cameo, tmp_path, "--bits", "8", "--keep", "last", "--report", tmp_path / "r.json")
    rows = {w["name"]: w for w in json.loads((tmp_path / "r.json").read_text())["weights"]}
    assert rows["a"]["quantized"] and "both axes" in rows["both"]["why"] and "asked" in rows["kept"]["why"]
    x = rng.normal(size=(5, 64)).astype(np.float32)
    wanted = run(tmp_path / "m.onnx", {"x": x})[0]
    assert np.abs(run(tmp_path / "q.onnx", {"x": x})[0] - wanted).max() < 0.03 * np.abs(wanted).max()


SCALED = {
    "alpha and beta": ([helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="linear", alpha=0.5, beta=2.0, transB=1)], (5, 64), (24, 64), (5, 24)),
    "the data transposed": ([helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="linear", transA=1)], (64, 5), (64, 24), (5, 24)),
    "beta without a bias": ([helper.make_node("Gemm", ["x", "w"], ["y"], name="linear", beta=0.0)], (5, 64), (64, 24), (5, 24)),
    "the weight to the left": ([helper.make_node("MatMul", ["w", "x"], ["y"], name="linear")], (2, 64, 5), (24, 64), (2, 24, 5)),
}


@pytest.mark.parametrize("form", ["nbits", "qdq"])
@pytest.mark.parametrize("name", SCALED)
def test_products_with_something_beside_them(cameo, tmp_path, name, form):
    nodes, data, weight, result = SCALED[name]
    rng = np.random.default_rng(0)
    saved(tmp_path / "m.onnx", nodes, [floats("x", *data)], [floats("y", *result)],
          {"w": rng.normal(size=weight).astype(np.float32), "b": rng.normal(size=24).astype(np.float32)})
    model = quantized(cameo, tmp_path, "--bits", "8", "--form", form)
    assert any(n.op_type == ("MatMulNBits" if form == "nbits" else "DequantizeLinear") for n in model.graph.node)
    feeds = {"x": rng.normal(size=data).astype(np.float32)}
    wanted = run(tmp_path / "m.onnx", feeds)[0]
    np.testing.assert_allclose(run(tmp_path / "q.onnx", feeds)[0], wanted, atol=0.03 * np.abs(wanted).max())
    assert cameo("quantize", tmp_path / "m.onnx", tmp_path / "q.onnx", "--bits", "8", "--keep", "linear").returncode == 1


@pytest.mark.parametrize("asymmetric", [[], ["--asymmetric"]])
@pytest.mark.parametrize("bits", [8, 4])
def test_forms_become_each_other(cameo, tmp_path, bits, asymmetric):
    """A product and tied embeddings, there and back: the same levels, scales and results."""
    rng = np.random.default_rng(0)
    nodes = [helper.make_node("Gather", ["w", "ids"], ["e"], name="embedding"), helper.make_node("MatMul", ["e", "a"], ["h"], name="product"),
             helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["h", "t"], ["y"], name="head")]
    weights = {"w": rng.normal(size=(96, 64)).astype(np.float32), "a": rng.normal(size=(64, 64)).astype(np.float32)}
    saved(tmp_path / "m.onnx", nodes, [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])], [floats("y", "n", 96)], weights)
    feeds = {"ids": np.array([3, 95, 0, 17])}
    first = initializers(quantized(cameo, tmp_path, "--bits", str(bits), *asymmetric))
    steps = [("q.onnx", "qdq", "second.onnx"), ("second.onnx", "nbits", "third.onnx")]
    for source, form, target in steps:
        done = cameo("quantize", tmp_path / source, tmp_path / target, "--form", form)
        assert done.returncode == 0, done.stderr
    second = onnx.load(tmp_path / "second.onnx")
    onnx.checker.check_model(second, full_check=True)
    assert not any(n.domain for n in second.graph.node)
    assert sum(n.op_type == "DequantizeLinear" for n in second.graph.node) == 2
    third = initializers(onnx.load(tmp_path / "third.onnx"))
    key = lambda arrays: sorted((a.dtype.str, a.tobytes()) for a in arrays.values())
    assert key(third) == key(first)
    wanted = run(tmp_path / "m.onnx", feeds)[0]
    np.testing.assert_allclose(run(tmp_path / "second.onnx", feeds)[0], wanted, atol=(0.3 if bits == 4 else 0.03) * np.abs(wanted).max())
    assert cameo("quantize", tmp_path / "m.onnx", tmp_path / "x.onnx", "--form", "qdq").returncode == 1


def test_levels_that_two_products_read_with_other_scales(cameo, tmp_path):
    """Each product has its own weight, although the bytes are shared."""
    rng = np.random.default_rng(1)
    weights = {"levels": rng.integers(0, 256, (6, 2, 16)).astype(np.uint8), "a": rng.uniform(0.5, 1, (6, 2)).astype(np.float32), "b": rng.uniform(2, 3, (6, 2)).astype(np.float32)}
    node = lambda scales, y: helper.make_node("MatMulNBits", ["x", "levels", scales], [y], domain="com.microsoft", K=64, N=6, bits=4, block_size=32)
    graph = helper.make_graph([node("a", "y"), node("b", "z")], "g", [floats("x", 3, 64)], [floats("y", 3, 6), floats("z", 3, 6)],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), tmp_path / "m.onnx")
    done = cameo("quantize", tmp_path / "m.onnx", tmp_path / "q.onnx", "--form", "qdq")
    assert done.returncode == 0, done.stderr
    feeds = {"x": rng.normal(size=(3, 64)).astype(np.float32)}
    for got, wanted in zip(run(tmp_path / "q.onnx", feeds), run(tmp_path / "m.onnx", feeds)):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())


def noise(cameo, folder, x, *flags):
    quantized(cameo, folder, "--bits", "4", "--form", "qdq", "--report", folder / "r.json", *flags)
    wanted = run(folder / "m.onnx", {"x": x})[0]
    return np.square(run(folder / "q.onnx", {"x": x})[0] - wanted).sum() / np.square(wanted).sum()


def test_methods_with_data_are_no_worse_than_rounding(cameo, tmp_path):
    """Inputs whose channels differ in size and go together, as those of real layers."""
    rng = np.random.default_rng(0)
    product(tmp_path / "m.onnx", 128, 64)
    mixing = rng.normal(size=(128, 128)) * np.exp(rng.normal(size=128))
    sample = lambda n: (rng.normal(size=(n, 128)) @ mixing).astype(np.float32)
    np.savez(tmp_path / "samples.npz", x=sample(512))
    x = sample(256)
    rounding, search = noise(cameo, tmp_path, x), noise(cameo, tmp_path, x, "--method", "search")
    found = {method: noise(cameo, tmp_path, x, "--method", method, "--calibrate", tmp_path / "samples.npz") for method in ("gptq", "awq")}
    row = json.loads((tmp_path / "r.json").read_text())["weights"][0]
    assert row["db"] >= row["rtn_db"]
    assert search < rounding and found["gptq"] < 0.7 * rounding and found["awq"] < rounding


@pytest.mark.parametrize("method", ["gptq", "awq"])
@pytest.mark.parametrize("bits", ["8", "4"])
def test_channels_that_few_samples_leave_silent_are_not_given_up(cameo, tmp_path, method, bits):
    """Sixteen samples in which three of four channels are 0, which others are not: steps must not be spent on the rest alone."""
    rng = np.random.default_rng(0)
    product(tmp_path / "m.onnx", 256, 16)
    known = np.maximum(rng.normal(size=(16, 256)), 0).astype(np.float32)
    known[:, rng.permutation(256)[:192]] = 0
    np.savez(tmp_path / "samples.npz", x=known)
    x = np.maximum(rng.normal(size=(64, 256)), 0).astype(np.float32)
    wanted = run(tmp_path / "m.onnx", {"x": x})[0]
    noises = {}
    for flags in ([], ["--method", method, "--calibrate", tmp_path / "samples.npz"]):
        quantized(cameo, tmp_path, "--bits", bits, "--form", "qdq", *flags)
        noises[len(flags)] = np.square(run(tmp_path / "q.onnx", {"x": x})[0] - wanted).sum()
    assert noises[4] < 3 * noises[0]


def test_wrong_use(cameo, tmp_path):
    product(tmp_path / "m.onnx", 64, 8)
    for flags in (["--bits", "3"], ["--bits", "4", "--block", "48"], ["--bits", "4", "--method", "best"], ["--bits", "4", "--form", "x"],
                  ["--bits", "4", "--min-db", "3"], ["--bits", "4", "--symmetric", "--asymmetric"], ["--bits", "4", "--method", "gptq"],
                  ["--bits", "4", "--keep", "nothing"], ["--weights", "elsewhere"]):
        assert cameo("quantize", tmp_path / "m.onnx", tmp_path / "q.onnx", *flags).returncode in (1, 2), flags
    assert not (tmp_path / "q.onnx").exists()
    asked = cameo("quantize", tmp_path / "m.onnx", tmp_path / "q.onnx", "--weights", "int4")
    assert asked.returncode == 2 and "--bits 4" in asked.stderr
