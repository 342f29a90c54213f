"""One call in the many ways that people write it: arguments by place, by name and in dicts, models in wrappers, sizes in every form that PyTorch takes."""
import collections
import dataclasses
import io

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

import cameo  # noqa: E402


class Two(nn.Module):
    def forward(self, x, y, *, scale: float = 1.0, mask=None):
        z = (x * y).sum(-1) * scale
        return z if mask is None else z * mask


A, B = torch.randn(2, 3), torch.randn(2, 3)


def shapes(result):
    return [i.shape for i in result.model.inputs]


def said(call, *args, **kwargs):
    with pytest.raises(cameo.Error) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def codes(result):
    return [d.code for d in result.findings]


# Sizes.

def collection():
    sizes, n = torch.export.ShapesCollection(), Dim("n")
    sizes[A] = sizes[B] = {0: n}
    return sizes


def additional():
    more = torch.export.AdditionalInputs()
    more.add((A, B))
    more.add((torch.randn(5, 3), torch.randn(5, 3)))
    return more


@pytest.mark.parametrize("capture", ["auto", "export"])
@pytest.mark.parametrize("sizes", [({0: "n"}, {0: "n"}), {"x": {0: "n"}, "y": {0: "n"}}, [["n", None], ["n", None]], {"x": {np.int64(0): Dim("n")}, "y": {-2: Dim("n")}}, collection])
def test_sizes_in_every_form(sizes, capture):
    result = cameo.export(Two(), (A, B), dynamic_shapes=sizes() if callable(sizes) else sizes, capture=capture)
    if sizes == {"x": {np.int64(0): Dim("n")}, "y": {-2: Dim("n")}}:
        assert all(isinstance(s[0], str) for s in shapes(result))
    else:
        assert shapes(result) == [["n", 3], ["n", 3]]
    assert not [d for d in result.findings if d.severity == "warning"], result


@pytest.mark.parametrize("sizes", [({0: Dim.AUTO}, {0: Dim.AUTO}), ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC}), additional])
def test_sizes_without_names(sizes):
    result = cameo.export(Two(), (A, B), dynamic_shapes=sizes() if callable(sizes) else sizes, dynamo=True)
    (first, _), (second, _) = shapes(result)
    assert first == second and isinstance(first, str) and not [d for d in result.findings if d.severity == "warning"], result


def test_two_names_for_what_has_to_be_equal():
    result = cameo.export(Two(), (A, B), dynamic_shapes={"x": {0: "n"}, "y": {0: "m"}}, dynamo=True)
    told = [d.what for d in result.findings if d.code == "export.equal-axes"]
    assert len(told) == 1 and "axis 0 of 'y' ('m')" in told[0] and "axis 0 of 'x'" in told[0]
    assert "verify.some-sizes" not in codes(result)


@pytest.mark.parametrize("sizes,told", [("auto", "dynamic_shapes is 'auto'"), (3, "dynamic_shapes is 3"), (({0: "n"},), "has 1 entries"), ({"x": {5: "n"}, "y": None}, "2 axes"),
                                        ({"x": ["n"], "y": None}, "2 axes"), ({"image": {0: "n"}}, "x, y")])
def test_sizes_that_cannot_be_meant(sizes, told):
    assert told in said(cameo.export, Two(), (A, B), dynamic_shapes=sizes)


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_sizes_inside_containers(capture):
    class Nested(nn.Module):
        def forward(self, d, rest):
            return d["a"] + rest[0] + rest[1][0]
    n = Dim("n")
    result = cameo.export(Nested(), ({"a": A}, [B, (B.clone(),)]), dynamic_shapes={"d": {"a": {0: n}}, "rest": [{0: n}, ({0: n},)]}, capture=capture)
    assert [i.name for i in result.model.inputs] == ["d.a", "rest.0", "rest.1.0"] and shapes(result) == [["n", 3]] * 3
    assert not [d for d in result.findings if d.severity == "warning"], result


# Arguments.

class Encoding(collections.UserDict):
    """As tokenizers give it."""


IDS = torch.ones(1, 4, dtype=torch.long)


class Tokens(nn.Module):
    def forward(self, input_ids=None, attention_mask=None, labels=None, return_dict=True):
        return {"logits": input_ids.float() * attention_mask}


BOTH = {"input_ids": IDS, "attention_mask": IDS}


@pytest.mark.parametrize("args,kwargs", [((BOTH,), None), (BOTH, None), (Encoding(BOTH), None), ((Encoding(BOTH),), None), ((), Encoding(BOTH)), ((IDS, {"attention_mask": IDS}), None),
                                         ((IDS, IDS), None)])
def test_a_tokenizers_dict(args, kwargs):
    result = cameo.export(Tokens(), args, kwargs=kwargs, dynamic_axes={"input_ids": {0: "b", 1: "s"}, "attention_mask": {0: "b", 1: "s"}})
    assert [i.name for i in result.model.inputs] == ["input_ids", "attention_mask"] and result.model.outputs[0].name == "logits" and shapes(result) == [["b", "s"]] * 2


def test_a_dict_that_is_one_argument():
    class Batch(nn.Module):
        def forward(self, batch):
            return batch["x"] + batch["y"]
    assert [i.name for i in cameo.export(Batch(), ({"x": A, "y": B},)).model.inputs] == ["batch.x", "batch.y"]


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_names_follow_the_order_of_keywords(capture):
    class Sub(nn.Module):
        def forward(self, x, y, mask):
            return x - y * 2 + mask * 3
    result = cameo.export(Sub(), (), kwargs={"mask": A * 2, "y": B, "x": A}, input_names=["m", "second", "first"], capture=capture)
    got = ort.InferenceSession(result.model.to_bytes()).run(None, {"m": (A * 2).numpy(), "second": B.numpy(), "first": A.numpy()})[0]
    np.testing.assert_allclose(got, (A - B * 2 + A * 6).numpy(), rtol=1e-5)


def test_none_means_the_default():
    result = cameo.export(nn.Linear(3, 2), (A,), None, None, None, do_constant_folding=None, optimize=None)  # the fourth by place is export_params
    assert [i.name for i in result.model.inputs] == ["input"]


def test_a_name_that_export_does_not_have():
    for wrong, meant in (("opset", "opset_version"), ("input_name", "input_names"), ("dynamic_axis", "dynamic_axes"), ("target_opset", "opset_version")):
        with pytest.raises(TypeError, match=f"'{wrong}'. Did you mean '{meant}'"):
            cameo.export(nn.Linear(3, 2), (A,), **{wrong: 13})


def test_whole_numbers_of_numpy():
    result = cameo.export(nn.Linear(3, 2), (A,), opset_version=np.int64(13), custom_opsets={"my": np.int32(3)})
    assert result.model.opset == 13


# Models.

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 2)

    def forward(self, x):
        return self.inner(x)

    def encode(self, x):
        return self.inner(x).relu()


def test_wrapped_models():
    linear = nn.Linear(3, 2)
    for model in (nn.DataParallel(linear), torch.compile(linear), torch.compile(nn.DataParallel(linear)), linear.forward):
        result = cameo.export(model, (A,), dynamic_axes={"input": {0: "batch"}})
        assert shapes(result) == [["batch", 3]] and sorted(result.model.initializers) == ["bias", "weight"] and result.captured == "trace"
    assert "export.unwrapped" in codes(cameo.export(nn.DataParallel(linear), (A,)))


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_another_method(capture):
    model = Encoder()
    result = cameo.export(model.encode, (A,), input_names=["x"], dynamic_axes={"x": {0: "batch"}}, capture=capture)
    assert [n.op for n in result.model.nodes] == ["Gemm", "Relu"] and sorted(result.model.initializers) == ["inner.bias", "inner.weight"]
    assert "forward" not in vars(model)


def test_a_model_without_numbers():
    assert "device meta" in said(cameo.export, nn.Linear(3, 2).to("meta"), (A.to("meta"),))


@dataclasses.dataclass
class Answer:
    last: torch.Tensor
    pooled: "torch.Tensor | None" = None


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_a_dataclass_of_the_users(capture):
    class Answers(nn.Module):
        def forward(self, x):
            return Answer(x * 2)
    result = cameo.export(Answers(), (A,), capture=capture)
    assert len(result.model.outputs) == 1 and result.verification.ok


def test_what_is_returned_is_said():
    class Holder:
        pass

    class Gives(nn.Module):
        def __init__(self, what):
            super().__init__()
            self.what = what

        def forward(self, x):
            return self.what
    assert "returns None" in said(cameo.export, Gives(None), (A,))
    assert "an object of Holder" in said(cameo.export, Gives(Holder()), (A,))


def test_a_number_is_verified_too():
    class Total(nn.Module):
        def forward(self, x):
            return x.sum().item()
    result = cameo.export(Total(), (A,))
    assert len(result.verification.outputs) == 1 and result.verification.ok


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_a_model_that_writes_to_its_input(capture):
    class Writes(nn.Module):
        def forward(self, x, count):
            count += 1
            return x.add_(1.0) * count
    x, count = torch.ones(2, 3), torch.zeros(())
    result = cameo.export(Writes(), (x, count), capture=capture)
    assert result.verification.ok and torch.equal(x, torch.ones(2, 3)) and count == 0


def test_arguments_that_only_kwargs_take():
    class Open(nn.Module):
        def forward(self, x, **rest):
            return x * 2 + rest.get("bias", 0) if rest.get("flag", True) else x
    axes = {"x": {0: "batch"}}
    for kwargs in ({"flag": True}, {"flag": True, "bias": B}):
        result = cameo.export(Open(), (A,), kwargs=kwargs, dynamic_axes=axes | ({"bias": {0: "batch"}} if "bias" in kwargs else {}), capture="export")
        assert shapes(result)[0] == ["batch", 3]


@pytest.mark.parametrize("capture", ["trace", "export", "script"])
def test_an_output_called_like_an_input(capture):
    class Same(nn.Module):
        def forward(self, x):
            return {"x": x * 2}
    result = cameo.export(Same(), (A,), capture=capture)
    buffer = io.BytesIO()
    result.save(buffer)
    proto = onnx.load_from_string(buffer.getvalue())
    onnx.checker.check_model(proto)
    assert [o.name for o in result.model.outputs] == [o.name for o in proto.graph.output] != ["x"]


# Everything else that takes a model.

@pytest.fixture
def path(tmp_path):
    cameo.export(nn.Conv2d(3, 4, 3), (torch.zeros(1, 3, 8, 8),), tmp_path / "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    return tmp_path / "net.onnx"


@pytest.mark.parametrize("verb", [cameo.load, cameo.simplify, cameo.check, cameo.infer, cameo.convert, cameo.InferenceSession])
def test_what_is_no_model(verb, path):
    for wrong, told in ((None, "this is None"), (3, "this is int"), (nn.Linear(3, 2), "cameo.export"), (onnx.load(path).graph, "make_model")):
        if verb is cameo.convert:
            assert told in said(verb, wrong, 13)
        else:
            assert told in said(verb, wrong)


def test_values_of_the_wrong_kind(path):
    assert "a whole number, not '13'" in said(cameo.convert, path, "13")
    assert "a whole number, not '3'" in said(cameo.simplify, path, check_n="3")
    assert "[1, 3, 224, 224]" in said(cameo.simplify, path, overwrite_input_shapes="x:1,3,8,8")
    assert "[1, 3, 224, 224]" in said(cameo.simplify, path, overwrite_input_shapes=[1, 3, 8, 8])
    assert "first argument of save" in said(cameo.save, "net.onnx", cameo.load(path))
    session = cameo.InferenceSession(path)
    for wrong in (None, np.zeros((1, 3, 8, 8), "f")):
        assert "{'x': array}" in said(session.run, None, wrong)


@pytest.mark.parametrize("name", ["f16", "fp16", "float16", torch.float16, np.float16])
def test_half_by_every_name(name, path):
    assert "f16" in str(cameo.convert(path, float_type=name).inputs[0])
