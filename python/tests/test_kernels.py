"""Kernels written in Python: in sessions, verify, and the verification of exports."""
import gc
import threading

import numpy as np
import pytest

import cameo

HEAD = '<ir_version: 8, opset_import: ["" : 18, "my.domain" : 1]>\n'
CHAIN = HEAD + ("g (float[n,k] x) => (float[n,k] y) { a = Relu(x) b = my.domain.Scale<by=2.0>(a) c = Sigmoid(b) "
                "d = my.domain.Scale<by=3.0>(c) y = Add(d, b) }")


def model(text, tmp_path):
    path = tmp_path / "m.onnxtxt"
    path.write_text(text)
    return cameo.load(path)


def scale(x, by=1.0):
    return x * np.float32(by)


def wanted(x):
    b = np.maximum(x, 0) * 2
    return 3 / (1 + np.exp(-b)) + b


@pytest.mark.parametrize("kernel", [scale, cameo.Kernel(scale, types=lambda x, by: x), cameo.Kernel(scale, types=lambda x, **_: [(x.dtype, x.shape)])])
@pytest.mark.parametrize("reference", [False, True])
def test_runs_at_every_size(tmp_path, kernel, reference):
    session = cameo.Session(model(CHAIN, tmp_path), kernels={"my.domain::Scale": kernel}, reference=reference)
    for n in (1, 4, 0, 4):
        x = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
        np.testing.assert_allclose(session(x), wanted(x), rtol=1e-5)


def test_the_check_of_simplify_runs_them(tmp_path):
    m = model(CHAIN, tmp_path)
    assert not cameo.simplify(m, check_n=2)[1]
    small, checked = cameo.simplify(m, check_n=2, kernels={"my.domain::Scale": scale})
    assert checked
    x = np.random.default_rng(5).standard_normal((4, 3)).astype(np.float32)
    np.testing.assert_allclose(cameo.Session(small, kernels={"my.domain::Scale": scale})(x), wanted(x), rtol=1e-5)


def test_quantization_runs_them(tmp_path):
    rng = np.random.default_rng(3)
    weights = ", ".join(f"{w:.4f}" for w in rng.standard_normal(32 * 32) / 8)
    text = HEAD + (f"g (float[n,32] x) => (float[n,32] y) <float[32,32] v = {{{weights}}}> {{ "
                   "a = MatMul(x, v) b = my.domain.Scale<by=2.0>(a) y = MatMul(b, v) }")
    m, kernels = model(text, tmp_path), {"my.domain::Scale": cameo.Kernel(scale, types=lambda x, by: x)}
    samples = [rng.random((2, 32), np.float32) for _ in range(4)]
    with pytest.raises(cameo.Error) as missing:
        cameo.quantize(m, samples)
    assert missing.value.code == "eval.no-kernel"
    assert cameo.quantize(m, samples, kernels=kernels).db > 20
    assert cameo.quantize_weights(m, method="gptq", samples=samples, kernels=kernels).report["weights"][0]["quantized"]
    assert cameo.to_half(m, kernels=kernels).error <= 0.01


def test_several_outputs_strings_and_left_out_inputs(tmp_path):
    m = model(HEAD + 'g (float[n] x) => (float[m] low, int64[1] count, string[2] names) '
                     '{ low, count, names = my.domain.Below<limit=2, names=["a", "b"], sizes=[1, 2]>(x, , x) }', tmp_path)

    def below(x, nothing, again, limit, names, sizes):
        assert nothing is None and sizes == [1, 2] and limit == 2
        return x[x < limit], np.array([int((x < limit).sum())]), np.array(names, dtype=object)

    low, count, names = cameo.Session(m, kernels={"my.domain::Below": below})(np.array([1, 5, 0], np.float32))
    assert low.tolist() == [1, 0] and count.tolist() == [2] and names.tolist() == ["a", "b"]


def test_in_branches_and_loops(tmp_path):
    m = model(HEAD + "g (float[n] x, bool c, int64 turns) => (float[n] y, float[n] z) {\n"
                     "y = If (c) <then_branch = t () => (float[n] a) { a = my.domain.Scale<by=2.0>(x) }, else_branch = e () => (float[n] b) { b = Neg(x) }>\n"
                     "z = Loop (turns, , x) <body = l (int64 i, bool go, float[n] v) => (bool go2, float[n] w) "
                     "{ go2 = Identity(go) w = my.domain.Scale<by=3.0>(v) }> }", tmp_path)
    y, z = cameo.Session(m, kernels={"my.domain::Scale": scale})(np.array([1, -2], np.float32), np.array(True), np.array(3))
    assert y.tolist() == [2, -4] and z.tolist() == [27, -54]


def test_replaces_onnxs_own(tmp_path):
    m = model('<ir_version: 8, opset_import: ["" : 20]> g (float[n] x) => (float[n] y) { y = Gelu(x) }', tmp_path)
    assert cameo.Session(m, kernels={"Gelu": lambda x, approximate: x + (approximate == "none")})(np.zeros(2, np.float32)).tolist() == [1, 1]


def test_arrays_outlive_the_call(tmp_path):
    kept = []

    def keeps(x, by):
        kept.append(x)
        x += 1  # its own copy
        return x

    session = cameo.Session(model(CHAIN, tmp_path), kernels={"my.domain::Scale": keeps})
    for _ in range(3):
        session(np.zeros((2, 2), np.float32))
    del session
    gc.collect()
    assert all(np.isfinite(k).all() and k.shape == (2, 2) for k in kept) and len(kept) == 6


def code_of(call):
    with pytest.raises(cameo.Error) as caught:
        call()
    return caught.value


def test_what_it_raises_names_the_node_and_keeps_the_cause(tmp_path):
    def broken(x, by):
        raise ValueError("not today")

    m = model(CHAIN, tmp_path)
    e = code_of(lambda: cameo.Session(m, kernels={"my.domain::Scale": broken})(np.zeros((1, 1), np.float32)))
    assert e.code == "kernel.failed" and "ValueError: not today" in str(e) and isinstance(e.__cause__, ValueError)
    assert "'b'" in str(e) or "Scale" in str(e)

    def interrupted(x, by):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cameo.Session(m, kernels={"my.domain::Scale": interrupted})(np.zeros((1, 1), np.float32))


@pytest.mark.parametrize("kernel, code", [
    (lambda x, by: None, "kernel.result"),
    (lambda x, by: (), "kernel.result"),
    (lambda x, by: x.astype("datetime64[s]"), "run.dtype"),
    (lambda x: x, "kernel.failed"),
    (cameo.Kernel(lambda x, by: x[:0], types=lambda x, by: x), "kernel.result"),
    (cameo.Kernel(scale, types=lambda x, by: []), "kernel.types"),
    (cameo.Kernel(scale, types=lambda x, by: "f3[2"), "build.type"),
    (cameo.Kernel(scale, types=lambda x, by: 1 / 0), "kernel.failed"),
])
def test_wrong_results(tmp_path, kernel, code):
    m = model(CHAIN, tmp_path)
    assert code_of(lambda: cameo.Session(m, kernels={"my.domain::Scale": kernel})(np.zeros((1, 1), np.float32))).code == code


@pytest.mark.parametrize("kernels", [[scale], {"my.domain::Scale": 3}, {"": scale}, {"Loop": scale}, {"NoSuchOperator": scale}])
def test_refused_at_once(tmp_path, kernels):
    assert code_of(lambda: cameo.Session(model(CHAIN, tmp_path), kernels=kernels)).code == "use.kernel"


def test_no_kernel_says_how_to_give_one(tmp_path):
    e = code_of(lambda: cameo.Session(model(CHAIN, tmp_path))(np.zeros((1, 1), np.float32)))
    assert e.code == "eval.no-kernel" and "my.domain::Scale" in str(e) and "kernel" in e.diagnostics[0].hint


def test_verify(tmp_path):
    m = model(CHAIN, tmp_path)
    plain = (tmp_path / "p.onnxtxt")
    plain.write_text(CHAIN.replace("b = my.domain.Scale<by=2.0>(a)", "two = Constant<value_float=2.0>() b = Mul(a, two)"))
    assert cameo.verify(m, cameo.load(plain), kernels={"my.domain::Scale": scale}).agree
    assert not cameo.verify(m, cameo.load(plain), kernels={"my.domain::Scale": lambda x, by: x + np.float32(by)}).agree


def test_threads(tmp_path):
    rule = cameo.Kernel(scale, types=lambda x, by: x)
    session = cameo.Session(model(CHAIN, tmp_path), kernels={"my.domain::Scale": rule})
    wrong = []

    def work(n):
        for i in range(20):
            x = np.full((n, i % 3 + 1), 0.5, np.float32)
            if not np.allclose(session(x), wanted(x)):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_exports_are_verified_with_them():
    torch = pytest.importorskip("torch")

    @torch.library.custom_op("kernels_test::scale_shift", mutates_args=())
    def scale_shift(x: torch.Tensor, scale: float) -> torch.Tensor:
        return x * scale + 1.0

    @scale_shift.register_fake
    def _(x, scale):
        return torch.empty_like(x)

    @cameo.lowering("kernels_test::scale_shift")
    def lower(g, x, scale):
        return g.op("my.domain::ScaleShift", x, scale_f=scale)

    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.relu(torch.ops.kernels_test.scale_shift(x, 2.0))

    args = (torch.ones(2, 3),)
    result = cameo.export(Net(), args, dynamic_axes={"x": {0: "batch"}}, kernels={"my.domain::ScaleShift": lambda x, scale: x * np.float32(scale) + 1})
    assert result.verification is not None and result.verification.ok and result.verification.sizes
    np.testing.assert_allclose(result(*args)[0], 3)
    assert cameo.export(Net(), args).verification is None
    with pytest.raises(cameo.Error, match="differs"):
        cameo.export(Net(), args, kernels={"my.domain::ScaleShift": lambda x, scale: x * np.float32(scale)})
