"""The deploy articles that people follow, with Cameo in the place of torch.onnx.export, onnxsim, onnx.checker and onnxruntime.

Each test is a passage: what is typed, and what a reader expects to happen. python/tests/test_seed_calls.py has the calls of the tutorials.
"""
import io
import pathlib
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402

import cameo  # noqa: E402

COMMAND = pathlib.Path(sys.executable).with_name("cameo")


def command(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True)


def runs_as(result, model, *inputs):
    """onnxruntime gives what PyTorch gives."""
    session = ort.InferenceSession(result.model.to_bytes(), providers=["CPUExecutionProvider"])
    got = session.run(None, {i.name: t.numpy() for i, t in zip(session.get_inputs(), inputs)})[0]
    want = model.eval()(*inputs).detach().numpy()
    assert got.shape == want.shape, (got.shape, want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def codes(result):
    return [d.code for d in result.findings]


def said(call, *args, **kwargs):
    with pytest.raises(cameo.Error) as caught:
        call(*args, **kwargs)
    return str(caught.value)


# "My model has an if in it."

class Sign(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


class BestThree(nn.Module):
    def forward(self, x):
        return x.topk(min(3, x.shape[1]), dim=1)[0]


class FirstFew(nn.Module):
    def forward(self, x):
        return x[:, :int(x[0, 0].item())]


def test_a_branch_on_data_is_kept():
    result = cameo.export(Sign(), (torch.ones(2, 3),), input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    assert result.captured == "script" and "export.frozen-value" not in codes(result)
    for x in (torch.ones(2, 3), -torch.ones(4, 3)):
        runs_as(result, Sign(), x)


def test_a_number_from_a_size_is_kept():
    result = cameo.export(BestThree(), (torch.randn(2, 5),), input_names=["x"], dynamic_axes={"x": {1: "n"}})
    for n in (1, 2, 3, 7):
        runs_as(result, BestThree(), torch.randn(2, n))


def test_a_number_from_data_is_kept():
    result = cameo.export(FirstFew(), (torch.full((1, 3), 2.0),), input_names=["x"])
    for k in (1.0, 2.0, 3.0):
        runs_as(result, FirstFew(), torch.full((1, 3), k))


def test_a_frozen_trace_is_not_called_verified():
    result = cameo.export(Sign(), (torch.ones(2, 3),), capture="trace", verify="warn")
    frozen = [d for d in result.findings if d.code == "export.frozen-value"]
    assert len(frozen) == 1 and "test_articles.py" in frozen[0].what
    assert "NOT verified" in str(result)


def test_what_was_tried_is_summed_up():
    result = cameo.export(Sign(), (torch.ones(2, 3),))
    summary = [d for d in result.findings if d.code == "export.capture"]
    assert len(summary) == 1 and len(str(summary[0]).strip().splitlines()) == 3
    assert "trace" in summary[0].what and "froze" in summary[0].because


def test_literals_are_no_frozen_values():
    class Scaled(nn.Module):
        def forward(self, x):
            return x * torch.tensor(2.0) + torch.tensor([1, 2, 3])
    result = cameo.export(Scaled(), (torch.zeros(1, 3),), input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    assert result.captured == "trace" and not [c for c in codes(result) if c.startswith("export.frozen")]


def test_a_failed_capture_is_quiet(capfd):
    cameo.export(Sign(), (torch.ones(2, 3),))
    out, err = capfd.readouterr()
    assert len((out + err).splitlines()) < 8


# "I gave the axis a name."

@pytest.mark.parametrize("capture", ["trace", "script", "export", "auto"])
@pytest.mark.parametrize("name", ["batch", "N", "batch_size"])
def test_names_survive(capture, name):
    class Doubled(nn.Module):
        def forward(self, inp):
            return inp * 2
    result = cameo.export(Doubled(), (torch.randn(2, 5),), input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: name}, "y": {0: name}}, capture=capture)
    assert result.model.inputs[0].name == "x" and result.model.inputs[0].shape == [name, 5] and result.model.outputs[0].shape == [name, 5]


@pytest.mark.parametrize("opset", [11, 15, 21])
def test_a_printed_model_has_the_files_opset(opset):
    model = cameo.export(nn.Linear(3, 2), (torch.randn(2, 3),), opset_version=opset).model
    for shown in (str(model), str(cameo.load(model.to_bytes()))):
        assert shown.startswith(f"opset {opset},") and "opset_import" not in shown and "Gemm" in shown


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_an_axis_that_ends_up_fixed_is_told(capture):
    class Viewed(nn.Module):
        def forward(self, x):
            return x.view(2, 3) + 1
    result = cameo.export(Viewed(), (torch.ones(2, 3),), input_names=["x"], dynamic_axes={"x": {0: "batch"}}, capture=capture, verify="warn")
    told = [d for d in result.findings if d.code == "export.fixed-axis"]
    assert len(told) == 1 and "axis 0 of 'x'" in told[0].what and "batch" in told[0].what


def test_one_axis_by_number():
    result = cameo.export(nn.Linear(3, 2), (torch.randn(2, 3),), input_names=["x"], dynamic_axes={"x": 0})
    assert isinstance(result.model.inputs[0].shape[0], str)


def test_axes_of_a_cache_by_path():
    class Step(nn.Module):
        def forward(self, ids, past):
            return torch.cat([past[0][0], past[0][1]], 2).sum() + ids.sum()
    past = [(torch.zeros(1, 2, 5, 4), torch.zeros(1, 2, 5, 4))]
    result = cameo.export(Step(), (torch.ones(1, 3).long(), past), dynamic_axes={"past.*.*": {2: "past"}})
    assert [i.shape for i in result.model.inputs][1:] == [[1, 2, "past", 4]] * 2
    assert "past.0.0" in said(cameo.export, Step(), (torch.ones(1, 3).long(), past), dynamic_axes={"cache.*": {2: "past"}})


def test_an_axis_that_another_pins_is_named_with_it():
    class Attend(nn.Module):
        def forward(self, ids, past):
            return torch.cat([past[0], ids[:, None, :].float()], 1)
    result = cameo.export(Attend(), (torch.ones(2, 3).long(), [torch.zeros(2, 5, 3)]), dynamic_axes={"ids": {0: "batch"}}, verify="warn")
    told = [d.what for d in result.findings if d.code == "verify.pinned-axis"]
    assert len(told) == 1 and "axis 0 of 'ids'" in told[0] and "axis 0 of 'past.0'" in told[0], [str(d) for d in result.findings]


# "It says error, and I do not know what I did wrong."

CONV = nn.Conv2d(3, 4, 3)


def test_each_mistake_has_its_sentence():
    assert "state dict" in said(cameo.export, CONV.state_dict(), (torch.zeros(1, 3, 8, 8),))
    assert "changed places" in said(cameo.export, CONV, "net.onnx", torch.zeros(1, 3, 8, 8))
    assert "torch.from_numpy" in said(cameo.export, CONV, (np.zeros((1, 3, 8, 8), "f"),))
    told = said(cameo.export, CONV, (torch.zeros(1, 8, 8, 3),))
    assert "the model itself fails" in told and "permute(0, 3, 1, 2)" in told
    assert "the model comes first" in said(cameo.export, "net.onnx", CONV, (torch.zeros(1, 3, 8, 8),))
    assert "smaller numbers" in said(cameo.export, nn.Embedding(5, 3), (torch.tensor([7]),))
    assert "x.long()" in said(cameo.export, nn.Embedding(5, 3), (torch.randn(2, 3),))
    assert 'dynamic_axes={' in said(cameo.export, CONV, (torch.zeros(1, 3, 8, 8),), dynamic_axes={"input": "batch"})


def test_what_cannot_be_captured_is_told_apart():
    class Shy(nn.Module):
        def forward(self, x):
            if torch.jit.is_tracing() or torch.jit.is_scripting() or torch.compiler.is_compiling():
                raise RuntimeError("not while I am looked at")
            return eval("x * 2")
    assert "runs, but cannot be captured" in said(cameo.export, Shy(), (torch.zeros(1, 3),))


@pytest.mark.parametrize("wrong", [{"training": "banana"}, {"loops": "maybe"}, {"opset_version": "eleven"}, {"capture": "guess"}, {"verify": "yes"},
                                   {"operator_export_type": "NOPE"}, {"asserts": 1}, {"opset_version": 999}])
def test_nonsense_is_refused(wrong):
    assert "use.value" in said(cameo.export, nn.Linear(3, 2), (torch.randn(2, 3),), **wrong)


def test_training_as_it_was_once():
    dropout = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    assert "Dropout" in [n.op for n in cameo.export(dropout, (torch.randn(2, 3),), training=True).model.nodes]
    assert "Dropout" not in [n.op for n in cameo.export(dropout, (torch.randn(2, 3),), training=False).model.nodes]


def test_weights_as_inputs_have_the_names_given():
    result = cameo.export(nn.Linear(3, 2), (torch.randn(2, 3),), input_names=["x", "w", "b"], export_params=False)
    assert [i.name for i in result.model.inputs] == ["x", "w", "b"] and result.verification.ok


def test_one_inner_output_by_name():
    net = nn.Sequential()
    net.add_module("layer1", nn.Linear(3, 2))
    net.add_module("layer2", nn.ReLU())
    assert len(cameo.export(net, (torch.randn(2, 3),), keep_outputs="layer1").model.outputs) == 2


# "Then I run it."

def test_sessions_take_both_orders_of_arguments():
    result = cameo.export(nn.Linear(3, 2), (torch.randn(2, 3),), input_names=["x"], output_names=["y"])
    session, x = cameo.Session(result.model), np.ones((2, 3), "f")
    named = session.run({"x": x})["y"]
    assert np.array_equal(session.run(None, {"x": x})[0], named) and np.array_equal(session.run(["y"], {"x": x})[0], named)
    assert np.array_equal(result(x)[0], named)


def test_check_says_the_same_of_a_path_and_a_proto(tmp_path):
    cameo.export(CONV, (torch.zeros(1, 3, 8, 8),), tmp_path / "net.onnx")
    proto = onnx.load(tmp_path / "net.onnx")
    proto.graph.node[0].op_type, proto.graph.output[0].name = "Nope", "lost"
    onnx.save(proto, tmp_path / "bad.onnx")
    by_path = [(d.severity, d.code) for d in cameo.check(tmp_path / "bad.onnx")]
    assert by_path and by_path == [(d.severity, d.code) for d in cameo.check(proto)]


# "onnxsim, as in every article."

@pytest.fixture
def batchnorm(tmp_path):
    path = tmp_path / "net.onnx"
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Identity(), nn.ReLU()).eval()
    cameo.export(net, (torch.zeros(1, 3, 8, 8),), path, optimize=False, input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    return path


def operators(model):
    return [n.op_type for n in model.graph.node]


def test_onnxsim_in_python(batchnorm):
    model, ok = cameo.simplify(batchnorm)
    assert ok and "BatchNormalization" not in operators(model)
    assert "BatchNormalization" in operators(cameo.simplify(batchnorm, skip_fuse_bn=True)[0])
    assert "BatchNormalization" in operators(cameo.simplify(batchnorm, skipped_optimizers=["fuse_bn_into_conv"])[0])
    assert "BatchNormalization" in operators(cameo.simplify(batchnorm, perform_optimization=False)[0])
    assert "fuse_bn_into_conv" in said(cameo.simplify, batchnorm, skipped_optimizers=["fuse_bn_into_con"])


def test_custom_operator_of_a_library():
    library = torch.library.Library("replayed", "DEF")  # noqa: TOR901
    library.define("twice(Tensor x, float by) -> Tensor")
    library.impl("twice", lambda x, by: x * by * 2, "CompositeExplicitAutograd")

    class Net(nn.Module):
        def forward(self, x):
            return torch.ops.replayed.twice(x, 1.5)

    @cameo.lowering("replayed::twice")
    def twice(g, x, by):
        return g.op("my.domain::Twice", x, by_f=by)
    buffer = io.BytesIO()
    cameo.export(Net(), (torch.ones(2, 3),), buffer, custom_opsets={"my.domain": 1})
    node = onnx.load_from_string(buffer.getvalue()).graph.node[0]
    assert (node.domain, node.op_type, node.attribute[0].name) == ("my.domain", "Twice", "by")


def test_a_comparison_that_is_inconclusive_is_not_called_verified():
    class Tie(nn.Module):  # the sign of a rounding error: the order of the additions decides it
        def forward(self, x):
            return (x.sum(1, keepdim=True) - x.flip(1).sum(1, keepdim=True)).sign() * 1e3
    result = cameo.export(Tie(), (torch.rand(64, 1023),), verify="warn")
    if "verify.unstable" in codes(result):
        assert "NOT verified: the comparison is inconclusive" in str(result)
    assert "NOT verified" not in str(cameo.export(nn.Linear(3, 2), (torch.randn(2, 3),)))
