"""What export does beyond the calls that people know: captures, verification, frozen values, custom operators, the patch."""
import collections
import io
import pathlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import cameo  # noqa: E402


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 8, 3), nn.Linear(8, 400)

    def forward(self, x):
        return self.fc(self.conv(x).relu().mean((2, 3)))


IMAGE = torch.randn(2, 3, 9, 9)


@pytest.mark.parametrize("capture", ["trace", "script", "export"])
def test_captures(judged, capture):
    result = judged(Net().eval(), IMAGE, capture=capture, dynamic_axes={"x": {0: "batch"}}, others=[torch.randn(5, 3, 9, 9)])
    assert result.captured == capture and result.model.inputs[0].shape == ["batch", 3, 9, 9] and result.verification.sizes


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_a_result_called_like_an_input(capture):
    class Same(nn.Module):
        def forward(self, x):
            return {"x": x * 2, "y": x + 1}

    result = cameo.export(Same(), (torch.ones(2, 3),), capture=capture)
    written = cameo.load(result.model.to_bytes())
    assert {i.name for i in written.inputs}.isdisjoint(o.name for o in written.outputs) and len(written.outputs) == 2
    with pytest.raises(cameo.Error) as e:
        cameo.export(Same(), (torch.ones(2, 3),), capture=capture, output_names=["x", "z"])
    assert e.value.code == "use.output-names"


def test_dynamic_shapes(judged):
    batch = torch.export.Dim("batch", min=1, max=64)
    for shapes in ({"x": {0: batch}}, ({0: batch},), {"x": (batch, None, None, None)}):
        result = judged(Net().eval(), (IMAGE,), dynamic_shapes=shapes, others=[torch.randn(5, 3, 9, 9)])
        assert result.model.inputs[0].shape[0] == "batch"


def test_exported_program(judged):
    program = torch.export.export(Net().eval(), (IMAGE,))
    result = cameo.export(program, (IMAGE,), io.BytesIO())
    assert result.captured == "export" and result.verification.ok
    assert cameo.export(program, f=io.BytesIO()).verification.ok


def test_path(tmp_path):
    torch.jit.trace(Net().eval(), IMAGE).save(tmp_path / "net.pt")
    result = cameo.export(tmp_path / "net.pt", f=tmp_path / "net.onnx", output_names=["y"])
    assert result.captured == "archive" and cameo.load(tmp_path / "net.onnx").outputs[0].name == "y"
    torch.jit.script(Net().eval()).save(tmp_path / "scripted.pt")
    result = cameo.export(str(tmp_path / "scripted.pt"), (IMAGE,), None, dynamic_axes={"x": {0: "batch"}})
    assert result.model.inputs[0].name == "x" and result.model.inputs[0].shape == ["batch", 3, 9, 9]
    assert result.verification.ok and result.verification.outputs and result.verification.sizes
    result = cameo.export(tmp_path / "scripted.pt", ("x=f32[n,3,8,8]",))
    assert result.model.inputs[0].shape == ["n", 3, 8, 8] and result.verification.ok
    torch.export.save(torch.export.export(Net().eval(), (IMAGE,)), tmp_path / "net.pt2")
    assert cameo.export(tmp_path / "net.pt2").verification.outputs
    assert cameo.export(tmp_path / "net.pt2", verify=False).verification is None


def test_a_wrong_path_is_found(tmp_path):
    torch.jit.trace(nn.Sequential(Net(), nn.Softmax(1)).eval(), IMAGE).save(tmp_path / "net.pt")
    (tmp_path / "rules.onnxtxt").write_text('<domain: "aten", opset_import: ["" : 18]> softmax (self, dim, dtype) => (y) { y = Relu(self) }')
    with pytest.raises(cameo.Error, match="differs from what PyTorch makes of"):
        cameo.export(tmp_path / "net.pt", rules=tmp_path / "rules.onnxtxt")


def test_auto_goes_on_where_a_trace_freezes(judged):
    class Length(nn.Module):
        def forward(self, x):
            return x * len(x)
    result = judged(Length(), torch.randn(2, 3), dynamic_axes={"x": {0: "n"}}, others=[torch.randn(5, 3)])
    assert result.captured != "trace" and any(d.code == "export.capture" for d in result.findings)


def test_what_froze_silently_is_told_by_line():
    class Numbers(nn.Module):
        def forward(self, x):
            return x * torch.tensor([float(np.prod(x.detach().shape))])
    with pytest.raises(cameo.Error) as caught:
        cameo.export(Numbers(), torch.randn(2, 3), None, capture="trace", dynamic_axes={"x": {0: "n"}})
    assert any(d.code.startswith("export.frozen") and "test_export.py" in d.what for d in caught.value.diagnostics)


def test_archives_are_ours():
    """PyTorch's own writers take as long as capture itself."""
    for capture in ("trace", "export"):
        result = cameo.export(Net().eval(), IMAGE, None, capture=capture)
        assert result.captured_from._complete is not None, capture


def test_control_flow_is_found(judged):
    class Branch(nn.Module):
        def forward(self, x):
            return x + 1 if x.sum() > 0 else x - 1
    with pytest.raises(cameo.Error, match="with the inputs negated"):
        cameo.export(Branch(), torch.ones(3), None, capture="trace")
    result = cameo.export(Branch(), torch.ones(3), None, capture="trace", verify="warn")
    assert any(d.code == "export.frozen-value" and "test_export.py" in d.what for d in result.findings)
    with pytest.raises(cameo.Error, match="froze"):
        cameo.export(Branch(), torch.ones(3), None, capture="trace", strict=True)
    scripted = judged(Branch(), torch.ones(3), strict=True, others=[-torch.ones(3)])
    assert scripted.captured == "script"


def test_mismatch_names_the_module():
    class Odd(nn.Module):
        def forward(self, x):
            return x * 2

    @cameo.lowering("aten::sinh")
    def wrong(g, x):
        return g.Cosh(x)

    class Wrong(nn.Module):
        def forward(self, x):
            return torch.sinh(x)
    from cameo import _lowering
    try:
        model = nn.Sequential(nn.Linear(3, 3), Wrong(), Odd())
        with pytest.raises(cameo.Error, match="differs from PyTorch's") as caught:
            cameo.export(model, torch.randn(2, 3), None, capture="trace")
        assert "1 (Wrong)" in caught.value.diagnostics[0].because
        with pytest.raises(cameo.Error, match="1 .Wrong.") as caught:
            cameo.export(model, torch.randn(2, 3), None, capture="export")
        assert not cameo.export(model, torch.randn(2, 3), None, verify="warn").verification.ok
        assert cameo.export(model, torch.randn(2, 3), None, verify=False).verification is None
    finally:
        del _lowering._registered["aten::sinh"]


def test_weights_are_lent_not_copied(judged):
    model = Net().eval()
    result = cameo.export(model, IMAGE, None, capture="trace")
    assert result.captured_from.lent and len(result.captured_from.archive) < 20000
    tied = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32))
    tied[1].weight = tied[0].weight
    assert len(judged(tied.eval(), torch.randn(2, 32)).captured_from.lent) == 3  # one weight for both, two biases
    judged(nn.Linear(64, 64).to(torch.float64), torch.randn(2, 64, dtype=torch.float64))

    class Strided(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("w", torch.randn(40, 60).t()[::2])

        def forward(self, x):
            return x @ self.w
    judged(Strided(), torch.randn(3, 30))


def test_keyword_arguments(judged):
    class Keywords(nn.Module):
        def forward(self, x, *, scale=None, flag=False):
            return x * scale if flag else x
    result = cameo.export(Keywords(), (torch.randn(3),), io.BytesIO(), kwargs={"scale": torch.randn(3), "flag": True})
    assert [i.name for i in result.model.inputs] == ["x", "scale"] and result.verification.ok
    result = cameo.export(Keywords(), (torch.randn(3), {"scale": torch.randn(3), "flag": True}), io.BytesIO())
    assert [i.name for i in result.model.inputs] == ["x", "scale"]


def test_result(tmp_path):
    model = Net().eval()
    result = cameo.export(model, IMAGE)
    np.testing.assert_allclose(result(IMAGE)[0], model(IMAGE).detach().numpy(), rtol=1e-4, atol=1e-5)
    result.optimize().save(tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").exists() and "captured by trace" in str(result) and "verified" in result._repr_html_() and "<svg" in result._repr_html_()
    pytest.importorskip("onnx")
    assert result.model_proto.graph.node


def test_patch(tmp_path):
    plain = torch.onnx.export
    with cameo.torch_onnx_export():
        torch.onnx.export(Net().eval(), IMAGE, tmp_path / "net.onnx", dynamo=False)
    assert torch.onnx.export is plain and cameo.load(tmp_path / "net.onnx").producer.startswith("cameo")


def test_newer_arguments(tmp_path):
    cameo.export(Net().eval(), (IMAGE,), tmp_path / "net.onnx", dynamo=True, report=True, profile=True, optimize=True, verify=True,
                 dump_exported_program=True, artifacts_dir=tmp_path, autograd_inlining=True)
    assert (tmp_path / "cameo_export_report.json").exists() and (tmp_path / "exported_program.txt").exists()


def test_input_names_reach_the_weights(judged):
    result = judged(nn.Linear(4, 3), torch.randn(2, 4), input_names=["actual_input", "learned_0", "learned_1"], do_constant_folding=False)
    assert "learned_1" in result.model.initializers


library = torch.library.Library("cameo_test", "DEF")
library.define("scale(Tensor x, float k, int[] axes=[0]) -> Tensor")
library.impl("scale", lambda x, k, axes=(0,): x * k + 1, "CompositeExplicitAutograd")
library.impl("scale", lambda x, k, axes=(0,): torch.empty_like(x), "Meta")


class Scale(nn.Module):
    def forward(self, x):
        return torch.ops.cameo_test.scale(x, 2.0) * x


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_lowering(judged, capture):
    with pytest.raises(cameo.Error, match="cameo_test::scale"):
        cameo.export(Scale(), torch.randn(2, 3), None, capture=capture)

    @cameo.lowering("cameo_test::scale")
    def scale(g, x, k, axes):
        assert axes == [0] and x.shape == [2, 3] and x.dtype == "f32"
        return g.Add(g.Mul(x, k), 1.0)
    from cameo import _lowering
    try:
        judged(Scale(), torch.randn(2, 3), capture=capture)
    finally:
        del _lowering._registered["cameo_test::scale"]


@pytest.mark.parametrize("function, told", [(lambda g, x: x, "raised TypeError"), (lambda g, x, k, axes: 1 / 0, "raised ZeroDivisionError"),
                                             (lambda g, x, k, axes: (x, x), "gives 2 values, and the operator has 1 results")])
def test_a_mistake_in_a_lowering_is_named(function, told):
    from cameo import _lowering
    cameo.lowering("cameo_test::scale")(function)
    try:
        with pytest.raises(cameo.Error) as e:
            cameo.export(Scale(), torch.randn(2, 3))
        assert e.value.code == "use.lowering" and "cameo_test::scale" in str(e.value) and told in str(e.value)
    finally:
        del _lowering._registered["cameo_test::scale"]


def test_translation_table(judged):
    onnxscript = pytest.importorskip("onnxscript")
    op = onnxscript.opset18

    def scale(x, k, axes=None):
        return op.Mul(x, op.CastLike(op.Constant(value_float=k), x)) + 1.0
    judged(Scale(), torch.randn(2, 3), custom_translation_table={torch.ops.cameo_test.scale.default: scale}, dynamo=True)


def test_autograd_function_without_symbolic(judged):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g

    class Model(nn.Module):
        def forward(self, x):
            return Square.apply(x) + 1
    judged(Model(), torch.randn(3))


def test_old_encodings_in_symbolics(judged):
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.unsqueeze(0).sum(1)

        @staticmethod
        def symbolic(g, x):
            return g.op("ReduceSum", g.op("Unsqueeze", x, axes_i=[0]), axes_i=[1], keepdims_i=0)

    class Model(nn.Module):
        def forward(self, x):
            return Old.apply(x)
    judged(Model(), torch.randn(3, 4), opset_version=11)


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_caches_of_transformers(capture):
    try:
        from transformers.cache_utils import DynamicCache, EncoderDecoderCache
    except Exception:
        pytest.skip("transformers is not installed, or does not load")
    cache = DynamicCache()
    cache.update(torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4), 0)

    class Step(nn.Module):
        def forward(self, x, past):
            past.update(x, x * 2, 0)
            other = DynamicCache()
            other.update(x, x.neg(), 0)
            return {"y": x.sum() + past.layers[0].keys.sum() * past.layers[0].values, "past": EncoderDecoderCache(past, other)}
    result = cameo.export(Step(), (torch.randn(1, 2, 1, 4), cache), io.BytesIO(), capture=capture)
    assert len(result.model.inputs) == 3 and len(result.model.outputs) == 5 and result.verification.ok
    assert cache.layers[0].keys.shape[2] == 3  # the caller's is as it was
    assert [o.name for o in result.model.outputs][1] == "past.self_attention_cache.0.keys"
    if capture == "trace":
        assert [i.name for i in result.model.inputs] == ["x", "past.0.keys", "past.0.values"]


Pair = collections.namedtuple("Pair", "first second")


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_outputs_are_named_by_their_paths(capture):
    class Several(nn.Module):
        def forward(self, x):
            return Pair(x + 1, {"a": [x * 2, None], "b": Pair(x * 3, x * 4)})
    result = cameo.export(Several(), (torch.randn(3),), None, capture=capture)
    assert [o.name for o in result.model.outputs] == ["first", "second.a.0", "second.b.first", "second.b.second"]


def test_another_referee():
    assert cameo.export(Net().eval(), IMAGE, None, referee="onnxruntime").verification.referee == "onnxruntime"


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("low,high", [(-128, 127), (0, 255), (-127, 127), (0, 127), (-32768, 32767)])
def test_fake_quantizers(judged, low, high, by_channel):
    class Aware(nn.Module):
        def forward(self, x):
            if by_channel:
                return torch.fake_quantize_per_channel_affine(x, torch.tensor([0.1, 0.2, 0.05, 0.4]), torch.zeros(4, dtype=torch.int32), 1, low, high)
            return torch.fake_quantize_per_tensor_affine(x, torch.tensor([0.07]), torch.zeros(1, dtype=torch.int32), low, high)
    result = judged(Aware(), torch.randn(3, 4) * 8, capture="trace")
    assert ("QuantizeLinear" in [n.op for n in result.model.nodes]) == (high < 256)


class Halved(nn.Module):
    """Down and up again. Odd sizes go another way."""

    def forward(self, x):
        small = F.max_pool2d(x, 2)
        large = F.interpolate(small, size=x.shape[2:]) if x.shape[2] % 2 else F.interpolate(small, scale_factor=2.0)
        return x + large


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_sizes_where_the_model_goes_another_way_are_told(capture):
    result = cameo.export(Halved(), (torch.randn(1, 2, 8, 8),), None, input_names=["x"], dynamic_axes={"x": {2: "h", 3: "w"}}, capture=capture)
    assert result.verification.ok and "verify.some-sizes" in [d.code for d in result.findings]


def test_auto_looks_for_a_way_that_does_at_all_sizes():
    result = cameo.export(Halved(), (torch.randn(1, 2, 8, 8),), None, input_names=["x"], dynamic_axes={"x": {2: "h", 3: "w"}})
    assert result.captured == "script" and "verify.some-sizes" not in [d.code for d in result.findings]


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_a_dynamic_batch_whose_example_is_one(judged, capture):
    judged(Net().eval(), IMAGE[:1], input_names=["x"], dynamic_axes={"x": {0: "batch"}}, capture=capture, others=[IMAGE.repeat(2, 1, 1, 1)])


def test_rounding_is_told_from_error():
    class Wild(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2048, 8)

        def forward(self, x):
            return torch.sin(self.fc(x).square().sum(-1) * 3e4)
    torch.manual_seed(0)
    result = cameo.export(Wild(), (torch.randn(16, 2048),), None)
    assert result.verification.ok and {d.code for d in result.findings} & {"verify.rounding", "verify.unstable"}


class Squeezed(nn.Module):
    def forward(self, x):
        assert x.size(0) < 9, "nine rows or more"
        return x.squeeze(1) * 2


def test_what_is_assumed_of_sizes_is_told_and_checked():
    example, axes = torch.randn(2, 4, 3), {"x": {0: "b", 1: "t"}}
    result = cameo.export(torch.jit.script(Squeezed()), (example,), dynamic_axes=axes)
    assert "stage.assumed" in [d.code for d in result.findings] and result.verification.ok
    session = cameo.Session(result.model)
    assert session.run({"x": np.ones((1, 5, 3), np.float32)})
    with pytest.raises(cameo.Error, match="t != 1"):
        session.run({"x": np.ones((2, 1, 3), np.float32)})
    with pytest.raises(cameo.Error, match="stage.guess|squeeze"):
        cameo.export(torch.jit.script(Squeezed()), (example,), dynamic_axes=axes, assume=False)
    said = cameo.export(torch.jit.script(Squeezed()), (example,), dynamic_axes=axes, assume="t != 1")
    assert not [d for d in said.findings if d.code == "stage.assumed" and d.severity == "warning"]
    kept = cameo.export(torch.jit.script(Squeezed()), (example,), dynamic_axes=axes, assume=["t != 1"], asserts="keep", verify=False)
    with pytest.raises(cameo.Error, match="nine rows"):
        cameo.Session(kept.model).run({"x": np.ones((9, 2, 3), np.float32)})


def test_a_lowering_that_keeps_its_graph():
    from cameo import _lowering
    kept, wrong = [], []

    def relu(g, x):
        for graph, value in kept:
            with pytest.raises(cameo.Error) as e:
                graph.op("Relu", value)
            assert e.value.code == "use.lowering"
            with pytest.raises(cameo.Error):
                value.dtype  # noqa: B018
        kept.append((g, x))
        if wrong:
            raise ZeroDivisionError
        return g.Max(x, 0.0)

    class Net(nn.Module):
        def forward(self, x):
            return F.relu(F.relu(x) + 1)

    cameo.lowering("aten::relu")(relu)
    try:
        cameo.export(Net(), (torch.zeros(2),), capture="trace")
        assert len(kept) >= 2
        wrong.append(True)
        with pytest.raises(cameo.Error, match="ZeroDivisionError"):
            cameo.export(Net(), (torch.zeros(2),), capture="trace")
        with pytest.raises(cameo.Error):
            kept[-1][0].op("Relu", kept[-1][1])
    finally:
        del _lowering._registered["aten::relu"]


def test_what_breaks_the_rules_of_onnx_is_not_written(tmp_path):
    """An archive whose sizes contradict each other: the campaign of tests/attack found it."""
    archive = pathlib.Path(__file__).parents[2] / "tests/attack/regressions/files-export-check/files/model.pt2"
    target, stream = tmp_path / "out.onnx", io.BytesIO()
    for f in (target, stream):
        with pytest.raises(cameo.Error, match="breaks ONNX's rules") as e:
            cameo.export(str(archive), (), f, verify=False)
        assert e.value.code == "export.check" and "infer.mismatch" in [d.code for d in e.value.diagnostics]
        assert "--no-check" not in str(e.value)
    assert not list(tmp_path.iterdir()) and not stream.getvalue()
    cameo.export(str(archive), (), target, verify=False, enable_onnx_checker=False)
    assert target.exists()
