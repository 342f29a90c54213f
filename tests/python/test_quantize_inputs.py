"""`cameo quantize` on models and samples as people have them: recurrent, half precision, bodies, shared weights, odd samples. onnxruntime judges."""
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

F, H, INT = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
made = np.random.default_rng(0)


def weight(*shape):
    return (made.normal(size=shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)


def data(*shape):
    return made.normal(size=shape).astype(np.float32)


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def graph(name, nodes, inputs, outputs, weights):
    return helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(v, k) for k, v in weights.items()])


def saved(path, nodes, inputs, outputs, weights, opset=17):
    model = helper.make_model(graph("g", nodes, inputs, outputs, weights), opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def run(path, sample):
    return ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, sample)


def quantized(cameo, folder, samples, *flags):
    for i, s in enumerate(samples):
        (folder / "samples").mkdir(exist_ok=True)
        np.savez(folder / "samples" / f"{i:03}.npz", **s)
    done = cameo("quantize", folder / "net.onnx", folder / "small.onnx", "--calibrate", folder / "samples", *flags)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(str(folder / "small.onnx"))
    signal = noise = 0
    for s in samples:
        for a, b in zip(run(folder / "net.onnx", s), run(folder / "small.onnx", s)):
            assert a.dtype == b.dtype and a.shape == b.shape
            signal, noise = signal + (a.astype(float) ** 2).sum(), noise + ((a.astype(float) - b) ** 2).sum()
    assert 10 * np.log10(signal / noise) > 20
    return onnx.load(folder / "small.onnx"), done.stderr


def operators(model):
    return {n.op_type for n in model.graph.node}


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


def test_lstm(cameo, tmp_path):
    saved(tmp_path / "net.onnx", [node("MatMul", ["x", "w"], ["a"]), node("LSTM", ["a", "W", "R", "B"], ["y"], hidden_size=16), node("Squeeze", ["y", "axis"], ["z"]),
                                  node("MatMul", ["z", "v"], ["o"])],
          [value("x", F, ["t", 1, 24])], [value("o", F, ["t", 1, 5])],
          dict(w=weight(24, 24), W=weight(1, 64, 24), R=weight(1, 64, 16), B=weight(1, 128), v=weight(16, 5), axis=np.array([1])))
    model, out = quantized(cameo, tmp_path, [{"x": data(10 + i, 1, 24)} for i in range(8)])
    assert "DynamicQuantizeLSTM" in operators(model) and "QuantizeLinear" in operators(model) and "100 % of the multiplications" in out
    done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "plain.onnx", "--calibrate", tmp_path / "samples", "--keep", "LSTM")
    assert "LSTM" in operators(onnx.load(tmp_path / "plain.onnx")) and "kept float as asked" in done.stderr


def test_a_model_of_an_lstm_only(cameo, tmp_path):
    saved(tmp_path / "net.onnx", [node("LSTM", ["x", "W", "R"], ["y"], hidden_size=16)], [value("x", F, ["t", 1, 24])], [value("y", F, ["t", 1, 1, 16])],
          dict(W=weight(1, 64, 24), R=weight(1, 64, 16)))
    model, _ = quantized(cameo, tmp_path, [{"x": data(9, 1, 24)} for _ in range(3)])
    assert operators(model) == {"DynamicQuantizeLSTM"}
    done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "other.onnx", "--calibrate", tmp_path / "samples", "--target", "tensorrt")
    assert done.returncode == 1 and "quantize.nothing" in done.stderr


@pytest.mark.parametrize("kind", [np.float16, "bf16 weights"])
def test_half_precision_becomes_f32_inside(cameo, tmp_path, kind):
    weights = {k: v.astype(np.float16) for k, v in dict(w=weight(16, 3, 3, 3), b=weight(16), w2=weight(32, 16, 3, 3), g=weight(10, 32)).items()}
    saved(tmp_path / "net.onnx", [node("Conv", ["x", "w", "b"], ["a"], pads=[1] * 4), node("Relu", ["a"], ["r"]), node("Conv", ["r", "w2"], ["c"]),
                                  node("GlobalAveragePool", ["c"], ["p"]), node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "g"], ["y"], transB=1)],
          [value("x", H, ["n", 3, 16, 16])], [value("y", H, ["n", 10])], weights)
    if kind != np.float16:  # the same in bf16 between casts
        done = cameo("convert", tmp_path / "net.onnx", tmp_path / "net.onnx", "--float", "bf16", "--keep-io")
        if done.returncode != 0:
            pytest.skip("no conversion from f16 to bf16")
    model, out = quantized(cameo, tmp_path, [{"x": data(1, 3, 16, 16).astype(np.float16)} for _ in range(8)])
    assert "100 % of the multiplications" in out
    assert not any(t.data_type in (TensorProto.FLOAT16, TensorProto.BFLOAT16) for t in model.graph.initializer)


def body(name, out, w):
    inner = [node("MatMul", ["x", w], [out + "a"]), node("Relu", [out + "a"], [out + "r"]), node("MatMul", [out + "r", w + "2"], [out])]
    return graph(name, inner, [], [value(out, F, ["n", 16])], {w: weight(16, 16), w + "2": weight(16, 16)})


def test_branches(cameo, tmp_path):
    saved(tmp_path / "net.onnx", [node("ReduceSum", ["x"], ["s"], keepdims=0), node("Greater", ["s", "z"], ["c"]),
                                  node("If", ["c"], ["y"], then_branch=body("t", "to", "wt"), else_branch=body("e", "eo", "we"))],
          [value("x", F, ["n", 16])], [value("y", F, ["n", 16])], dict(z=np.zeros((), np.float32)))
    model, _ = quantized(cameo, tmp_path, [{"x": data(4, 16)} for _ in range(8)])
    branch = next(n for n in model.graph.node if n.op_type == "If")
    assert all("MatMul" not in {n.op_type for n in a.g.node} for a in branch.attribute)


def test_loops(cameo, tmp_path):
    inner = graph("b", [node("MatMul", ["s", "w"], ["m"]), node("Relu", ["m"], ["r"]), node("Gemm", ["r", "w2", "b2"], ["k"]), node("Add", ["k", "s"], ["so"]),
                        node("Identity", ["ci"], ["co"])],
                  [value("i", INT, []), value("ci", TensorProto.BOOL, []), value("s", F, [4, 32])], [value("co", TensorProto.BOOL, []), value("so", F, [4, 32])],
                  dict(w=weight(32, 32), w2=weight(32, 32), b2=weight(32)))
    saved(tmp_path / "net.onnx", [node("Loop", ["n", "c", "x"], ["y"], body=inner)], [value("x", F, [4, 32]), value("n", INT, [])], [value("y", F, [4, 32])],
          dict(c=np.array(True)))
    model, _ = quantized(cameo, tmp_path, [{"x": data(4, 32), "n": np.array(2 + i % 3)} for i in range(8)])
    loop = model.graph.node[-1].attribute[0].g
    assert {"MatMulIntegerToFloat", "DynamicQuantizeLinear"} <= {n.op_type for n in loop.node}


def test_shared_tied_and_constant_weights(cameo, tmp_path):
    table = weight(50, 16)
    saved(tmp_path / "net.onnx", [node("Gather", ["e", "ids"], ["a"]), node("Constant", [], ["w"], value=numpy_helper.from_array(weight(16, 16))), node("MatMul", ["a", "w"], ["b"]),
                                  node("Relu", ["b"], ["c"]), node("Transpose", ["e"], ["et"], perm=[1, 0]), node("MatMul", ["c", "et"], ["d"]),
                                  node("MatMul", ["c", "w"], ["f"])],
          [value("ids", INT, ["n", "t"])], [value("d", F, ["n", "t", 50]), value("f", F, ["n", "t", 16])], dict(e=table))
    model, out = quantized(cameo, tmp_path, [{"ids": made.integers(0, 50, (2, 9 + i))} for i in range(8)])
    assert "100 % of the multiplications" in out
    whole = [t for t in model.graph.initializer if t.data_type == TensorProto.INT8 and list(t.dims) == [16, 16]]
    assert len(whole) == 1  # made once


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
def test_gemm_and_convolutions_of_all_kinds(cameo, tmp_path, target):
    saved(tmp_path / "net.onnx", [node("Conv", ["x", "w"], ["a"], pads=[1] * 4, group=8), node("Clip", ["a", "l", "h"], ["r"]), node("Conv", ["r", "w2", "b2"], ["b"], group=2),
                                  node("ConvTranspose", ["b", "w3"], ["c"], strides=[2, 2]), node("ReduceMean", ["c"], ["m"], axes=[3], keepdims=0),
                                  node("Gemm", ["k", "w4", "b4"], ["y"], transA=1, transB=1, alpha=0.5, beta=2.0)],
          [value("x", F, ["n", 8, 12, 12]), value("k", F, [24, 8])], [value("m", F, ["n", 6, 24]), value("y", F, [8, 5])],
          dict(w=weight(8, 1, 3, 3), l=np.float32(0), h=np.float32(6), w2=weight(12, 4, 1, 1), b2=weight(12), w3=weight(12, 6, 2, 2), w4=weight(5, 24), b4=weight(5)))
    quantized(cameo, tmp_path, [{"x": data(1 + i % 2, 8, 12, 12), "k": data(24, 8)} for i in range(8)], "--target", target)


def test_sizes_that_are_called_question_mark(cameo, tmp_path):
    saved(tmp_path / "net.onnx", [node("Conv", ["x", "w"], ["y"])], [value("x", F, ["?", 3, "?", "?"])], [value("y", F, ["?", 4, "?", "?"])], dict(w=weight(4, 3, 1, 1)))
    quantized(cameo, tmp_path, [{"x": data(1, 3, 5, 9)} for _ in range(4)])


def plain(path):
    saved(path, [node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["r"]), node("MatMul", ["r", "v"], ["y"])], [value("x", F, ["n", 8])], [value("y", F, ["n", 3])],
          dict(w=weight(8, 16), v=weight(16, 3)))


@pytest.mark.parametrize("name, array, words", [("empty", np.zeros((0, 8), np.float32), "quantize.samples"), ("kind", np.array(["a"]), "x"), ("shape", data(4, 9), "axis 1")])
def test_samples_that_cannot_be(cameo, tmp_path, name, array, words):
    plain(tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", array)
    done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "small.onnx", "--calibrate", tmp_path / "x.npy")
    assert done.returncode in (1, 3) and words in done.stderr and not (tmp_path / "small.onnx").exists(), done.stderr


def test_one_sample_and_numbers_that_are_none(cameo, tmp_path):
    plain(tmp_path / "net.onnx")
    np.save(tmp_path / "one.npy", data(1, 8))
    assert cameo("quantize", tmp_path / "net.onnx", tmp_path / "small.onnx", "--calibrate", tmp_path / "one.npy").returncode == 0
    x = data(8, 8)
    x[3, 2] = np.nan
    np.save(tmp_path / "nan.npy", x)
    done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "small.onnx", "--calibrate", tmp_path / "nan.npy")
    assert done.returncode == 0 and "quantize.nan" in done.stderr, done.stderr
    np.save(tmp_path / "nan.npy", np.full((8, 8), np.nan, np.float32))
    done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "none.onnx", "--calibrate", tmp_path / "nan.npy")
    assert done.returncode in (1, 3) and "quantize.nan" in done.stderr and not (tmp_path / "none.onnx").exists(), done.stderr


def test_a_stream(cameo, tmp_path):
    plain(tmp_path / "net.onnx")
    with open(tmp_path / "stream", "wb") as stream:
        for _ in range(5):
            np.save(stream, data(2, 8))
    with open(tmp_path / "stream", "rb") as stream:
        done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "small.onnx", "--calibrate", "-", stdin=stream)
    assert done.returncode == 0 and "from 10 samples" in done.stderr, done.stderr


def test_weights_that_are_also_inputs(cameo, tmp_path):
    weights = dict(w=weight(8, 3, 3, 3), b=weight(8))
    inner = graph("g", [node("Conv", ["x", "w", "b"], ["y"])], [value("x", F, ["n", 3, 8, 8]), *(value(k, F, v.shape) for k, v in weights.items())],
                  [value("y", F, ["n", 8, 6, 6])], weights)  # as files before IR version 4 have it
    onnx.save(helper.make_model(inner, opset_imports=[helper.make_opsetid("", 8)], ir_version=3), tmp_path / "net.onnx")
    model, out = quantized(cameo, tmp_path, [{"x": data(1, 3, 8, 8)} for _ in range(6)])
    assert [i.name for i in model.graph.input] == ["x"] and "100 % of the multiplications" in out


def test_quantized_already(cameo, tmp_path):
    saved(tmp_path / "net.onnx", [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("QLinearMatMul", ["q", "s", "z", "w", "s", "i", "s", "z"], ["p"]),
                                  node("DequantizeLinear", ["p", "s", "z"], ["y"])],
          [value("x", F, ["n", 8])], [value("y", F, ["n", 4])], dict(s=np.float32(0.1), z=np.uint8(128), i=np.int8(0), w=np.arange(-16, 16, dtype=np.int8).reshape(8, 4)))
    np.save(tmp_path / "x.npy", data(8, 8))
    done = cameo("quantize", tmp_path / "net.onnx", tmp_path / "again.onnx", "--calibrate", tmp_path / "x.npy")
    assert done.returncode == 1 and "quantized already" in done.stderr and not (tmp_path / "again.onnx").exists(), done.stderr
