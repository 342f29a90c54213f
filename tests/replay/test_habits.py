"""Models, arguments and files as people have them: compiled parts, plugins, trained quantizers, dicts, checkpoints, names of sizes."""
import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

import cameo  # noqa: E402

X = torch.randn(2, 4)


def said(call, *args, **kwargs):
    with pytest.raises(cameo.Error) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def sizes_in_file(result):
    return [d.dim_param or d.dim_value for d in result.model.to_proto().graph.input[0].type.tensor_type.shape.dim]


# "The backbone is compiled."

class Compiled(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.compile(nn.Linear(4, 3), backend="eager")
        self.second = nn.Linear(3, 2)
        self.second.compile(backend="eager")

    @torch.compile(backend="eager")
    def last(self, x):
        return x * 2

    def forward(self, x):
        return self.last(self.second(self.first(x)))


def test_parts_that_torch_compile_made():
    model = Compiled().eval()
    before = model(X)
    result = cameo.export(model, (X,), dynamic_axes={"x": {0: "batch"}}, optimize=False)
    assert result.captured == "trace" and "export.unwrapped" in [d.code for d in result.findings] and not [d for d in result.findings if d.severity == "warning"]
    assert {"first.bias", "first.weight", "second.bias", "second.weight"} <= set(result.model.initializers)
    assert type(model.first).__name__ == "OptimizedModule" and model.second._compiled_call_impl is not None and "last" not in vars(model)
    assert torch.equal(model(X), before)


# "TensorRT has a plugin for it."

class Plugin(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        return x * alpha

    @staticmethod
    def symbolic(g, x, alpha):
        return g.op("TRT_PluginV2", x, name_s="Scale", version_s="1", alpha_f=alpha)


class UsesPlugin(nn.Module):
    def forward(self, x):
        return Plugin.apply(x.relu(), 2.0) + 1


def test_a_plugin_without_a_domain():
    told = said(cameo.export, UsesPlugin(), X, opset_version=13)  # not the way through torch.export, which would leave the plugin out
    assert "TRT_PluginV2" in told and 'g.op("my.domain::Op", ...)' in told


def test_a_symbolic_that_fails_is_not_left_out():
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def symbolic(g, x):
            raise KeyError("no such thing")

    class Uses(nn.Module):
        def forward(self, x):
            return Broken.apply(x)
    assert "no such thing" in said(cameo.export, Uses(), X)


class Sorts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, count):
        return x.topk(count, dim=1)

    @staticmethod
    def symbolic(g, x, count):
        return g.op("my.domain::Best", x, count_i=count, outputs=2)


class Scales(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x

    @staticmethod
    def symbolic(g, x, k):
        return g.op("Mul", x, g.op("Mul", k, g.op("Constant", value_t=torch.tensor(2.0))))


@pytest.mark.parametrize("capture", ["trace", "export"])
@pytest.mark.parametrize("axes", [None, {"x": {0: "b"}, "k": {0: "b"}}])
def test_a_symbolic_in_every_capture(capture, axes):
    class Uses(nn.Module):
        def forward(self, x, k):
            values, places = Sorts.apply(Scales.apply(x + 1, k), 2)
            return values.relu(), places + 1
    result = cameo.export(Uses(), (X, X), capture=capture, dynamic_axes=axes, verify=False)
    assert [n.op for n in result.model.nodes if n.op in ("Best", "Mul", "Relu")] == ["Mul", "Mul", "Best", "Relu"] and result.captured == capture
    assert result.model.outputs[1].dtype == "i64" and len(result.model.outputs[1].shape) == 2
    assert axes or [o.shape for o in result.model.outputs] == [[2, 2]] * 2
    best = {"my.domain::Best": lambda x, count: tuple(t.numpy() for t in torch.from_numpy(x).topk(count, dim=1))}
    got = cameo.Session(result.model, kernels=best)(X, X)
    wanted = (2 * (X + 1) * X).topk(2, dim=1)
    np.testing.assert_allclose(got[0], wanted[0].relu(), rtol=1e-6)


# "I trained it with fake quantizers."

def test_one_step_of_a_fake_quantizer():
    class Rounded(nn.Module):  # a product near a tie: the order of additions decides the step
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 3)

        def forward(self, x):
            return torch.fake_quantize_per_tensor_affine(self.linear(x), 0.25, 0, -128, 127)
    from cameo._rounding import within_a_step
    from cameo._verify import OutputCheck
    model = Rounded().eval()
    for off, ok in ((0.25, True), (0.75, False)):
        check, told = OutputCheck("y", off, off, False, "another number"), []
        within_a_step([check], lambda: model(X), told)
        assert check.ok is ok and [d.code for d in told] == ["verify.rounding"] * ok


# "inputs = tokenizer(...); export(model, (dict(inputs),))"

@pytest.mark.parametrize("wrap", [lambda d: (d,), lambda d: d, lambda d: (d["input_ids"], {"attention_mask": d["attention_mask"]})])
def test_a_dict_for_a_model_with_open_keywords(wrap):
    class Bert(nn.Module):
        def forward(self, input_ids=None, attention_mask=None, **kwargs):
            return input_ids.float() * attention_mask
    given = {"input_ids": torch.ones(1, 4).long(), "attention_mask": torch.ones(1, 4).long()}
    result = cameo.export(Bert(), wrap(given), dynamic_axes={"input_ids": {0: "b"}, "attention_mask": {0: "b"}})
    assert [(i.name, i.shape) for i in result.model.inputs] == [("input_ids", ["b", 4]), ("attention_mask", ["b", 4])]


def test_one_dict_whose_names_are_its_own():
    class Batch(nn.Module):
        def forward(self, batch, **kwargs):
            return batch["x"] + 1
    assert [i.name for i in cameo.export(Batch(), ({"x": X},)).model.inputs] == ["batch.x"]
    told = said(cameo.export, nn.Linear(4, 2), {"x": X})
    assert "its keys are x" in told and "forward takes input" in told


def test_numbers_of_numpy_are_numbers():
    class Scale(nn.Module):
        def forward(self, x, by):
            return x * by
    result = cameo.export(Scale(), (X, np.float32(2)))
    np.testing.assert_allclose(np.asarray(result(X, 2.0)[0]), (X * 2).numpy())


def test_what_has_no_numbers_and_what_has_no_forward():
    assert "args is on meta" in said(cameo.export, nn.Linear(4, 2), X.to("meta"))
    assert "ModuleList only holds modules" in said(cameo.export, nn.ModuleList([nn.Linear(4, 2)]), X)


# "It returns a dataclass, and a few numbers."

@dataclasses.dataclass
class Found:
    boxes: torch.Tensor
    masks: "torch.Tensor | None" = None
    levels: "list | None" = None


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_fields_are_names(capture):
    class Finds(nn.Module):
        def forward(self, x):
            return Found(x * 2, None, [x, x + 1])
    assert [o.name for o in cameo.export(Finds(), (X,), capture=capture).model.outputs] == ["boxes", "levels.0", "levels.1"]


def test_numbers_among_the_outputs():
    class Gives(nn.Module):
        def forward(self, x):
            return x * 2, 3, 2.5, True
    for capture in ("trace", "export"):
        assert cameo.export(Gives(), (X,), capture=capture).verification.ok


# "I gave the axis a name."

@pytest.mark.parametrize("name", ["x*y", "2*b", "h/2", "batch size", "批"])
def test_names_that_look_like_more(name):
    result = cameo.export(nn.Linear(4, 2), (X,), input_names=["x"], dynamic_axes={"x": {0: name}})
    assert sizes_in_file(result) == [name, 4] and result.model.inputs[0].shape == [name, 4]
    session = cameo.InferenceSession(result.model.to_bytes())  # read again, it is still one free size
    assert session.get_inputs()[0].shape == [name, 4] and session.run(None, {"x": np.ones((5, 4), "f")})[0].shape == (5, 2)


def test_a_name_that_is_an_expression_over_another_axis():
    result = cameo.export(nn.Conv2d(3, 4, 3, padding=1), (torch.randn(1, 3, 8, 4),), input_names=["x"], dynamic_axes={"x": {2: "2*w", 3: "w"}}, verify="warn")
    assert sizes_in_file(result) == [1, 3, "'2*w'", "w"]  # not twice the other: it was only called so


@pytest.mark.parametrize("dim,name", [(Dim("h", min=4), "h"), (Dim("h", min=2, max=64), "h"), (2 * Dim("h", min=2), "2*h"), (Dim("h", min=4, max=64) * 2, "2*h")])
def test_ranges_of_sizes(dim, name):
    result = cameo.export(nn.Conv2d(3, 4, 3, padding=1), (torch.randn(1, 3, 8, 8),), input_names=["x"], dynamic_shapes=({2: dim},))
    assert sizes_in_file(result) == [1, 3, name, 8]


def test_large_pictures_are_not_made_larger_to_look_for_frozen_values(monkeypatch):
    from cameo import _arguments
    made, resized = [], _arguments.resized
    monkeypatch.setattr(_arguments, "resized", lambda t, sizes: made.append(resized(t, sizes)) or made[-1])
    cameo.export(nn.Conv2d(3, 1, 3), (torch.zeros(1, 3, 96, 96),), dynamic_axes={"input": {0: "n", 2: "h", 3: "w"}})
    assert max(t.numel() for t in made) <= 8 * 3 * 96 * 96


# "I have this file."

def test_checkpoints_are_answered_in_python(tmp_path):
    torch.save(nn.Linear(4, 2).state_dict(), tmp_path / "w.pth")
    torch.save({"epoch": 3, "state_dict": nn.Linear(4, 2).state_dict()}, tmp_path / "c.pth.tar")
    torch.save(nn.Linear(4, 2), tmp_path / "m.pt")
    torch.save(nn.Linear(4, 2), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    for name in ("w.pth", "c.pth.tar", "m.pt", "old.pt"):
        told = said(cameo.export, tmp_path / name, (X,))
        assert 'cameo.export(model.eval(), (example,), "net.onnx")' in told and "torch.jit.trace" not in told


def test_what_was_optimised_for_this_cpu():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    frozen = torch.jit.freeze(torch.jit.script(net))
    assert cameo.export(frozen, torch.randn(1, 3, 8, 8)).verification.ok
    optimised = torch.jit.optimize_for_inference(torch.jit.script(net))
    if "mkldnn" in str(optimised.graph):
        assert "before optimize_for_inference" in said(cameo.export, optimised, torch.randn(1, 3, 8, 8))
