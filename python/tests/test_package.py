"""The library's everyday calls on models that are made here."""
import io
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import cameo

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
net (float[batch,4] x) => (float[batch,3] y)
<float[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>
{ [first] h = MatMul(x, w)  h2 = Identity(h)  [last] y = Relu(h2) }
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "net.onnxtxt"
    path.write_text(TEXT)
    return cameo.load(path)


W = np.arange(1, 13, dtype="f").reshape(4, 3)


def test_asking(model):
    assert model.inputs[0].name == "x" and model.inputs[0].shape == ["batch", 4] and model.inputs[0].type == "tensor(float)"
    assert model.opset == 17 and [n.op for n in model.nodes] == ["MatMul", "Identity", "Relu"]
    assert model.statistics["parameters"] == 12 and "MatMul" in model.text() and model.initializers == {"w": ("f32", (4, 3))}
    np.testing.assert_array_equal(model.weight("w"), W)


def test_bytes_and_files(model, tmp_path):
    buffer = io.BytesIO()
    model.save(buffer)
    assert cameo.load(buffer.getvalue()).node_count == 3 and cameo.diff(model, buffer.getvalue()) == []
    cameo.save(model, tmp_path / "a.onnx", opset=9)
    assert cameo.load(str(tmp_path / "a.onnx")).opset == 9 and cameo.check(tmp_path / "a.onnx") == []


def test_proto(model):
    onnx = pytest.importorskip("onnx")
    proto = model.to_proto()
    onnx.checker.check_model(proto)
    small, ok = cameo.simplify(proto, check_n=2)
    assert ok and isinstance(small, onnx.ModelProto) and len(small.graph.node) == 2


def test_simplify_keywords(model):
    small, ok = cameo.simplify(model, overwrite_input_shapes={"x": [2, 4]}, check_n=1)
    assert ok and small.inputs[0].shape == [2, 4] and small.node_count == 2
    assert model.simplify(skip=["identity"]).node_count >= 2 and len(cameo.rules()) > 50


def test_progress(model):
    seen = []
    assert model.simplify(progress=lambda what, done, left: seen.append(what)).node_count == 2 and "simplifying" in seen
    with pytest.raises(cameo.Error) as e:
        model.simplify(progress=lambda *_: False)
    assert e.value.code == "budget.interrupted"
    with pytest.raises(ZeroDivisionError):
        model.simplify(progress=lambda *_: 1 / 0)


def test_verbs(model):
    assert cameo.infer(model, strict=True).findings == [] and cameo.convert(model, 13).opset == 13
    half = cameo.convert(model, float_type="f16", keep_io=True)
    assert half.opset == 17 and half.initializers["w"][0] == "f16" and half.inputs[0].dtype == "f32"
    assert model.statistics["bytes_by_dtype"] == {"f32": 48} and cameo.check(model, types=False) == []
    assert cameo.extract(model, outputs="h").node_count == 1
    edited = cameo.edit(model, rename={"x": "image"}, add_output="h", set_metadata={"author": "me"})
    assert edited.inputs[0].name == "image" and [o.name for o in edited.outputs] == ["y", "h"] and edited.metadata["author"] == "me"
    assert cameo.diff(model, cameo.edit(model, set_initializer={"w": W + 1}))


def test_running(model):
    session = cameo.Session(model, threads=1)
    x = np.array([[1, -1, 0, 2], [-5, 0, 0, 0]], "f")
    np.testing.assert_allclose(session.run({"x": x})["y"], np.maximum(x @ W, 0))
    np.testing.assert_allclose(session(x.tolist()), np.maximum(x @ W, 0))
    np.testing.assert_allclose(session(np.asfortranarray(x)), np.maximum(x @ W, 0))
    inner = cameo.Session(model, keep_outputs="h").run([x])
    assert set(inner) == {"y", "h"}
    assert session.profile({"x": x})[1]


def test_inputs_are_not_copied_and_outputs_live(model):
    session = cameo.Session(cameo.extract(model, outputs=["h"]))
    y = session(np.ones((1, 4), "f"))
    kept = y.copy()
    for _ in range(5):
        session(np.zeros((1, 4), "f"))
    np.testing.assert_array_equal(y, kept)


def test_dlpack(model):
    torch = pytest.importorskip("torch")
    x = torch.randn(3, 4, requires_grad=True)
    np.testing.assert_allclose(cameo.Session(model)(x), np.maximum(x.detach().numpy() @ W, 0), rtol=1e-5)
    np.testing.assert_allclose(cameo.Session(model)(x.detach().t().contiguous().t()), np.maximum(x.detach().numpy() @ W, 0), rtol=1e-5)


def test_threads(model):
    session, wrong = cameo.Session(model), []

    def work(seed):
        x = np.random.default_rng(seed).standard_normal((8, 4)).astype("f")
        for _ in range(20):
            if not np.allclose(session(x), np.maximum(x @ W, 0), atol=1e-4):
                wrong.append(seed)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_errors(model, tmp_path):
    with pytest.raises(cameo.Error) as caught:
        cameo.Session(model).run({"x": np.zeros((1, 3), "f")})
    assert caught.value.code == "run.size" and caught.value.diagnostics[0].what in str(caught.value)
    with pytest.raises(cameo.Error, match="no input 'z'"):
        cameo.Session(model).run({"z": np.zeros((1, 3), "f")})
    with pytest.raises(cameo.Error):
        cameo.load(tmp_path / "absent.onnx")
    with pytest.raises(cameo.Error):
        cameo.load(b"not a model")


def test_inference_session(model):
    session = cameo.InferenceSession(model.to_bytes(), providers=["CPUExecutionProvider"])
    assert [i.name for i in session.get_inputs()] == ["x"] and session.get_outputs()[0].shape == ["batch", 3]
    assert session.run(["y"], {"x": np.ones((2, 4), "f")})[0].shape == (2, 3) and session.get_modelmeta().graph_name == "net"


def test_display(model):
    assert "<table>" in model._repr_html_() and model.svg().startswith("<svg") and "MatMul" in model.svg()


def test_print_has_the_files_opset_and_the_names_of_sizes(model, tmp_path):
    assert str(model).splitlines()[0] == "opset 17"
    (tmp_path / "sizes.onnxtxt").write_text(TEXT.replace("batch", '"b-1"').replace("4] x", "2*h] x"))
    sizes = cameo.load(tmp_path / "sizes.onnxtxt")
    assert sizes.inputs[0].shape == ["b-1", "2*h"] and 'float["b-1",2*h] x' in str(sizes)


def test_import_is_light():
    code = "import time; t = time.perf_counter(); import cameo, sys; print(time.perf_counter() - t); assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    best = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3))
    assert best < 0.1


def test_command_comes_along():
    import pathlib
    command = pathlib.Path(sys.executable).parent / "cameo"
    if not command.exists():
        pytest.skip("run from a build folder")
    assert cameo.__version__ in subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout


LOOP = """<ir_version: 8, opset_import: ["" : 17]>
endless () => (int64 y)
<int64 m = {1000000000000}, bool t = {1}, int64 z = {0}, int64 one = {1}>
{ y = Loop(m, t, z) <body = b (int64 i, bool go, int64 s) => (bool still, int64 s2) { still = Identity(go)  s2 = Add(s, one) }> }
"""


@pytest.fixture
def endless(tmp_path):
    path = tmp_path / "endless.onnxtxt"
    path.write_text(LOOP)
    return path


def test_limits(endless):
    with pytest.raises(cameo.Error, match="budget.turns"):
        cameo.run(endless, {})
    started = time.monotonic()
    with pytest.raises(cameo.Error, match="budget.time"), cameo.limits(seconds=0.2, turns=10**13):
        cameo.run(endless, {})
    assert time.monotonic() - started < 5
    with pytest.raises(cameo.Error, match="use.value"):
        cameo.limits(seconds=-1)


def test_ctrl_c_raises_keyboard_interrupt(endless):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background has it ignored
    try:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt), cameo.limits(seconds=60, turns=10**13):
            cameo.run(endless, {})
        assert time.monotonic() - started < 5
    finally:
        signal.signal(signal.SIGINT, before)


def test_builder(tmp_path):
    g = cameo.Builder("line")
    x = g.input("x", "f32[batch,2]")
    h = g.Relu(2.0 * x + g.weight("b", np.float32([1, -9])))
    positive = g.Greater(g.ReduceSum(h, keepdims=0), 0.0)
    y, = g.if_else(positive, lambda: [h + 1.0], lambda: [h])
    last, turns = g.loop(3, None, [y], lambda counter, carried: (None, [carried[0] + carried[0]], [carried[0]]))
    g.output("y", last)
    g.output("turns", turns)
    assert h.dtype == "f32" and h.shape == ["batch", 2] and turns.shape == [3, "batch", 2] and x.constant is None
    g.save(tmp_path / "line.onnx", 17)
    got = cameo.run(tmp_path / "line.onnx", {"x": np.float32([[1, 1]])})
    np.testing.assert_array_equal(got["y"], [[32, 8]])
    np.testing.assert_array_equal(got["turns"][:, 0, 0], [4, 8, 16])
    odd = g.op("my.domain::Odd", x, names=["a"])
    g.set_type(odd, "i64[batch,?]")
    assert (odd.dtype, odd.shape) == ("i64", ["batch", None])
    with pytest.raises(cameo.Error) as e:
        g.Rleu(x)
    assert e.value.code == "build.operator"


def test_verify_explain_operators(model, tmp_path):
    same = cameo.verify(model, model.simplify(), sizes={"batch": 3})
    assert same.agree and same.outputs[0].name == "y"
    other = cameo.verify(model, model.edit(set_initializer={"w": W + 1}))
    assert not other.agree and other.outputs[0].worst > 0 and other.outputs[0].why and "'h'" in other.first_difference
    np.savez(tmp_path / "in.npz", x=np.ones((1, 4), "f"))
    np.savez(tmp_path / "out.npz", y=np.ones((1, 4), "f") @ W)
    assert cameo.verify(model, tmp_path / "out.npz", inputs=tmp_path / "in.npz").agree
    assert any(p.rule == "identity" or "identity" in p.rule for p in cameo.explain(model).applied)
    assert {o.name: o for o in cameo.operators()}["aten::relu"].onnx == ["Relu"]
    assert all(o.support == "missing" and o.why and "--" not in o.why for o in cameo.operators(missing=True))


def test_findings_speak_python(model, tmp_path):
    fixed = model.edit(fix_shape={"x": [1, 4]})
    with pytest.raises(cameo.Error) as e:
        cameo.Session(fixed).run({"x": np.ones((2, 4), "f")})
    assert 'dynamic_axes={"x": {0: "batch"}}' in str(e.value) and "--input" not in str(e.value)
    assert e.value.diagnostics[0].hint.endswith('dynamic_axes={"x": {0: "batch"}}')
    with pytest.raises(cameo.Error) as e:
        model.simplify(skip="no-such-rule")
    assert "cameo.rules()" in str(e.value)
    (tmp_path / "a.npz").write_bytes(b"PK\5\6" + bytes(18))
    for call in (lambda: cameo.load(tmp_path / "a.npz"), lambda: cameo.export(str(tmp_path / "a.npz"))):
        with pytest.raises(cameo.Error) as e:
            call()
        assert " --" not in str(e.value).replace(" -->", "")
