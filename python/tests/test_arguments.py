"""Arguments of export that are wrong in ways of their own: each is honoured, or refused with a sentence that says what to write."""
import io

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import cameo  # noqa: E402

LINEAR, X = nn.Linear(3, 2).eval(), torch.randn(2, 3)
CONV = nn.Conv2d(3, 4, 3).eval()


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2


def said(*args, **kwargs):
    with pytest.raises(cameo.Error) as caught:
        cameo.export(*args, **kwargs)
    assert len(str(caught.value).splitlines()) < 5, str(caught.value)
    return str(caught.value)


NO_MODELS = {
    "a class": (nn.Linear, "make one first"), "None": (None, "no model"), "an optimizer": (torch.optim.SGD(LINEAR.parameters(), 0.1), "no model"),
    "a checkpoint": ({"model": LINEAR.state_dict(), "epoch": 3}, "checkpoint"), "a state dict": (LINEAR.state_dict(), "state dict"),
}


@pytest.mark.parametrize("name", NO_MODELS)
def test_what_is_no_model(name):
    model, sentence = NO_MODELS[name]
    told = said(model, (X,))
    assert "use.model" in told and sentence in told


EXAMPLES = {
    "nothing": (LINEAR, (), "an example of the input"), "a shape": (LINEAR, (2, 3), "torch.randn(2, 3)"), "a torch.Size": (LINEAR, X.shape, "torch.randn(2, 3)"),
    "lists": (LINEAR, [[1.0, 2.0, 3.0]], "'input.0' is float"), "whole numbers": (LINEAR, torch.ones(2, 3, dtype=torch.int64), "input.to(torch.float32)"),
    "a picture of bytes": (CONV, torch.zeros(1, 3, 8, 8, dtype=torch.uint8), "input.to(torch.float32)"), "doubles": (LINEAR, X.double(), "input.to(torch.float32)"),
    "a picture, channels last": (CONV, torch.randn(8, 8, 3), "permute(2, 0, 1)[None]"), "too many": (LINEAR, (X, X), "forward takes input"),
    "too few": (nn.Bilinear(3, 3, 2), (X,), "input1: torch.Tensor, input2"), "another device": (LINEAR, torch.empty(2, 3, device="meta"), "is on meta"),
    "no weights": (nn.Linear(3, 2, device="meta"), X, "have no numbers"), "sparse": (LINEAR, X.to_sparse(), "to_dense()"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_that_do_not_fit(name):
    model, args, sentence = EXAMPLES[name]
    told = said(model, args)
    assert "use.arguments" in told and sentence in told


@pytest.mark.parametrize("wrong", [
    {"do_constant_folding": "no"}, {"export_params": "False"}, {"dynamo": "yes"}, {"strict": "maybe"}, {"custom_opsets": ["my"]}, {"custom_opsets": {"my": "1"}},
    {"rtol": "1e-3"}, {"atol": -1}, {"assume": 3}, {"keep_outputs": 7}, {"input_names": [None]}, {"input_names": [""]}, {"output_names": [0]}, {"opset_version": 17.0},
    {"opset_version": True}, {"opset_version": 0}, {"opset_version": 5}, {"f": 3}, {"f": ""}, {"f": io.StringIO()}, {"training": 7},
], ids=str)
def test_nonsense_is_refused(wrong):
    assert "use.value" in said(LINEAR, (X,), **wrong)


def test_values_that_mean_something():
    assert cameo.export(LINEAR, (X,), opset_version=np.int64(17), training=None, export_params=np.bool_(True), verbose=0).model.opset == 17
    result = cameo.export(LINEAR, (X,), input_names="image", output_names="scores")
    assert (result.model.inputs[0].name, result.model.outputs[0].name) == ("image", "scores")
    functions = cameo.export(nn.Sequential(nn.Linear(3, 2)), (X,), export_modules_as_functions="Linear")
    assert [n.op for n in functions.model.nodes] != ["Gemm"]


def test_a_path_of_bytes(tmp_path):
    cameo.export(LINEAR, (X,), bytes(tmp_path / "net.onnx"), report=True, artifacts_dir=tmp_path / "new" / "folder")
    assert (tmp_path / "net.onnx").exists() and (tmp_path / "new" / "folder" / "cameo_export_report.json").exists()


@pytest.mark.parametrize("axes", [[0], True, {0: {0: "batch"}}, {"input": {"0": "batch"}}, {"input": {0: 4}}, {"input": {0: None}}, {"input": {0: ""}}, {"input": {0: "-1"}},
                                  {"input": {0: "12"}}, {"input": "batch"}, {"input": {2: "batch"}}, {"input": {0: "n", 1: "n"}}], ids=str)
def test_dynamic_axes_that_say_nothing(axes):
    assert "use.dynamic-axes" in said(LINEAR, (X,), input_names=["input"], dynamic_axes=axes)


@pytest.mark.parametrize("axes", [{np.int64(0): "batch"}, {-2: "batch"}, {0: torch.export.Dim("batch", min=1, max=64)}], ids=str)
def test_other_ways_to_name_an_axis(axes):
    assert cameo.export(LINEAR, (X,), input_names=["input"], dynamic_axes={"input": axes}).model.inputs[0].shape == ["batch", 3]


def test_dynamic_shapes_of_an_argument_that_is_not_there():
    told = said(LINEAR, (X,), dynamic_shapes={"x": {0: "batch"}})
    assert "use.dynamic-shapes" in told and "called with input" in told
    assert "dynamic_shapes and 'c' in dynamic_axes" in said(LINEAR, (X,), dynamic_shapes=({0: "b"},), dynamic_axes={"input": {0: "c"}})


def test_dynamic_shapes_of_starred_arguments():
    class Sum(nn.Module):
        def forward(self, *tensors, **named):
            return tensors[0] + tensors[1] + named["bias"]
    batch = torch.export.Dim("batch")
    shapes = {"tensors": ({0: batch}, {0: batch}), "named": {"bias": {0: batch}}}
    result = cameo.export(Sum(), (X, X), kwargs={"bias": X}, dynamic_shapes=shapes)
    assert [i.shape[0] for i in result.model.inputs] == ["batch"] * 3


@pytest.mark.parametrize("how", ["trace", "export"])
@pytest.mark.parametrize("name", ["batch:0", "a,b", "x'y", "max(a,b)", "a]", "a\\b", "n*2", "None", "x.shape[0]", " padded "])
def test_any_name_of_a_size(name, how):
    onnx = pytest.importorskip("onnx")
    result = cameo.export(Doubled(), (X,), input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: name}, "y": {0: name}}, capture=how)
    written = onnx.load_from_string(result.model.to_bytes()).graph
    assert [v.type.tensor_type.shape.dim[0].dim_param for v in (written.input[0], written.output[0])] == [name, name] and result.verification.sizes


def test_two_inputs_of_one_name():
    assert "two inputs are called 'a'" in said(nn.Bilinear(3, 3, 2), (X, X), input_names=["a", "a"])
