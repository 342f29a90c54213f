"""Calls that name an ONNX operator themselves: torch.onnx.ops, from Python and from archives."""
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
if not hasattr(torch.onnx, "ops"):
    pytest.skip("this PyTorch has no torch.onnx.ops", allow_module_level=True)

import cameo  # noqa: E402

COMMAND = Path(sys.executable).with_name("cameo")
X = torch.randn(2, 3)
ATTRIBUTES = {"k": 3, "alpha": 1.5, "mode": "a", "dims": [1, 2], "scales": [1.0, 2.0], "names": ["p", "q"]}


class Twist(torch.nn.Module):
    def forward(self, x):
        return torch.onnx.ops.symbolic("my.domain::Twist", (x,), ATTRIBUTES, dtype=torch.float32, shape=(x.shape[0], 7), version=2) + 1


class Halves(torch.nn.Module):
    def forward(self, x):
        a, b = torch.onnx.ops.symbolic_multi_out("my.domain::Halves", (x, None, x), {"k": 3}, dtypes=(torch.float32, torch.int64), shapes=((2, 7), (2,)), version=1)
        return a * 2, b + 1


class Known(torch.nn.Module):
    def forward(self, x):
        return torch.onnx.ops.symbolic("Selu", (x,), {"alpha": 1.5}, dtype=torch.float32, shape=x.shape) + 1


def nodes(proto):
    return [(n.domain, n.op_type, {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}) for n in proto.graph.node]


def test_a_node_of_another_domain():
    result = cameo.export(Twist(), (X,), dynamic_axes={"x": {0: "batch"}}, output_names=["y"])  # PyTorch traces none of these
    domain, op, attributes = nodes(result.model_proto)[0]
    assert (domain, op) == ("my.domain", "Twist") and list(attributes) == list(ATTRIBUTES)
    assert attributes["k"] == 3 and attributes["mode"] == b"a" and list(attributes["dims"]) == [1, 2] and list(attributes["names"]) == [b"p", b"q"]
    assert {o.domain: o.version for o in result.model_proto.opset_import}["my.domain"] == 2
    onnx.checker.check_model(result.model_proto)
    assert result.captured == "export" and result.model.outputs[0].shape == ["batch", 7]
    assert result.verification is None and any("gives zeros" in d.what for d in result.findings)


def test_several_results_and_an_operand_left_out():
    result = cameo.export(Halves(), (X,), capture="export")
    first = result.model_proto.graph.node[0]
    assert list(first.input)[1] == "" and len(first.output) == 2
    assert [(o.dtype, o.shape) for o in result.model.outputs] == [("f32", [2, 7]), ("i64", [2])]


def test_an_operator_of_onnx_itself():
    result = cameo.export(Known(), (X,), capture="export")
    (got,) = result(X)
    assert abs(got - (1 + torch.where(X > 0, 1.0507009873554805 * X, 1.0507009873554805 * 1.5 * (X.exp() - 1))).numpy()).max() < 1e-5


class Attend(torch.nn.Module):
    def forward(self, q, k, v, past_key, past_value):
        q = torch.onnx.ops.rotary_embedding(q, torch.ones(10, 4), torch.zeros(10, 4), torch.arange(5)[None])
        return torch.onnx.ops.attention(q, k, v, None, past_key, past_value, scale=0.5)[:3]


TENSORS = tuple(torch.randn(1, 2, n, 8) for n in (5, 5, 5, 3, 3))


def test_operators_that_compute_in_pytorch_are_verified():
    result = cameo.export(Attend(), TENSORS, capture="export", opset_version=23)
    assert result.verification.ok and "Attention" in [n.op for n in result.model.nodes]


def test_from_an_archive(tmp_path):
    torch.export.save(torch.export.export(Attend(), TENSORS), tmp_path / "net.pt2")
    done = subprocess.run([COMMAND, "export", tmp_path / "net.pt2", "-o", tmp_path / "net.onnx", "--opset", "23"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Attention" in [n.op_type for n in onnx.load(tmp_path / "net.onnx").graph.node]
