"""linger's models from live modules (examples/linger/layers.py writes its nodes as linger does), and its operators in an archive."""
import importlib.util
import pathlib
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
from torch import nn  # noqa: E402

import cameo  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "linger"


@pytest.fixture(scope="module")
def layers():
    spec = importlib.util.spec_from_file_location("layers", FOLDER / "layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def learned(net, *inputs):
    """Scales are learned while training."""
    net.train()
    for _ in range(3):
        net(*inputs)
    return net.eval()


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def of_domain(proto):
    return [n.op_type for n in proto.graph.node if n.domain == "linger"]


@pytest.fixture
def small(layers):
    class Small(nn.Module):
        """conv, bn, relu, linear: the network of linger's documents."""

        def __init__(self):
            super().__init__()
            self.conv = layers.QConv2d(3, 8, 3, padding=1)
            self.bn = layers.QBatchNorm2d(8, source=self.conv)
            self.fc = layers.QLinear(8 * 4 * 4, 10, source=self.bn)

        def forward(self, x):
            return self.fc(torch.relu(self.bn(self.conv(x))).flatten(1))
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 4)
    return learned(Small(), x), x


def test_the_file_that_linger_writes(small, tmp_path):
    net, x = small
    cameo.export(net, x, tmp_path / "m.onnx", input_names=["input"], output_names=["output"])
    proto = onnx.load(tmp_path / "m.onnx")
    assert of_domain(proto) == ["Quant", "QConv2d", "QBatchNorm2d", "QLinear", "Dequant"]
    assert {(o.domain, o.version) for o in proto.opset_import} >= {("linger", 1)}
    weights = {w.name: onnx.numpy_helper.to_array(w) for w in proto.graph.initializer}
    nodes = {n.op_type: n for n in proto.graph.node}
    assert [weights[i].dtype for i in nodes["QConv2d"].input[1:]] == [np.int8, np.int32]
    assert [weights[i].dtype for i in nodes["QBatchNorm2d"].input[1:]] == [np.int8, np.int32]
    assert [weights[i].dtype for i in nodes["QLinear"].input[1:]] == [np.int8, np.int32]
    assert np.array_equal(weights["fc.weight"], torch.round(net.fc.weight.detach() * net.fc.quant_w.scale).clamp(-128, 127).numpy().astype(np.int8))
    assert attributes(nodes["Dequant"]) == {"scale_o": net.fc.quant_o.scale}
    assert attributes(nodes["QConv2d"]) == {"platform": b"venusA", "quant_mode": b"floor_add", "x_bits": 8, "scale_x": net.conv.scale_x, "o_bits": 8, "scale_o": net.conv.quant_o.scale,
                                            "w_bits": 8, "scale_w": net.conv.quant_w.scale, "kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1], "dilations": [1, 1], "group": 1}
    onnx.checker.check_model(proto)


@pytest.mark.parametrize("opset", [12, 13, 18])
def test_it_computes_what_the_module_does(small, tmp_path, opset):
    net, x = small
    result = cameo.export(net, x, tmp_path / "m.onnx", opset_version=opset, input_names=["input"], output_names=["output"], dynamic_axes={"input": {0: "batch"}})
    assert not [d for d in result.findings if d.severity == "error"]
    assert not [d for d in cameo.check(tmp_path / "m.onnx") if d.severity == "error"]
    more = torch.randn(5, 3, 4, 4)
    with torch.no_grad():
        want = net(more).numpy()
    got = cameo.run(tmp_path / "m.onnx", {"input": more.numpy()})["output"]
    assert np.array_equal(got, want)


def test_standard_operators_run_anywhere(small, tmp_path):
    net, x = small
    result = cameo.export(net, x, input_names=["input"], output_names=["output"])
    with torch.no_grad():
        want = net(x).numpy()
    for exact, most in ((False, 1), (True, 0)):
        cameo.convert(result, to_qdq=True, exact_rounding=exact).save(tmp_path / "q.onnx")
        (got,) = onnxruntime.InferenceSession(tmp_path / "q.onnx", providers=["CPUExecutionProvider"]).run(None, {"input": x.numpy()})
        assert np.abs(got - want).max() * net.fc.quant_o.scale <= most
    assert {n.op_type for n in onnx.load(tmp_path / "q.onnx").graph.node} >= {"DequantizeLinear", "Conv", "Floor"}


def test_a_residual_block(layers):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = layers.QConv2d(4, 4, 1)
            self.second = layers.QConv2d(4, 4, 3, padding=1, bias=False, source=self.first)
            self.add = layers.QAdd(self.first, self.second)

        def forward(self, x):
            x = self.first(x)
            return torch.sigmoid(self.add(x, self.second(torch.nn.functional.relu6(x))))  # sigmoid of floats
    torch.manual_seed(1)
    x = torch.randn(2, 4, 5, 5)
    net = learned(Block(), x)
    result = cameo.export(net, x)
    assert of_domain(result.model_proto) == ["Quant", "QConv2d", "QConv2d", "QAdd", "Dequant"]
    with torch.no_grad():
        np.testing.assert_allclose(result(x)[0], net(x), rtol=1e-6, atol=1e-6)


def test_a_float_in_between_is_quantised_again(layers):
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = layers.QLinear(6, 8), layers.QLinear(8, 4)  # b quantises its own input

        def forward(self, x):
            return self.b(torch.exp(self.a(x)))
    torch.manual_seed(2)
    x = torch.randn(3, 6)
    net = learned(Mixed(), x)
    result = cameo.export(net, x)
    assert of_domain(result.model_proto) == ["Quant", "QLinear", "Dequant", "Quant", "QLinear", "Dequant"]
    with torch.no_grad():
        assert np.array_equal(result(x)[0], net(x).numpy())


def test_left_to_linger(small, tmp_path):
    """linger.onnx.export calls torch.onnx.export, and finishes the nodes itself."""
    net, x = small
    with cameo.torch_onnx_export():
        torch.onnx.export(net, x, str(tmp_path / "m.onnx"), opset_version=12)
    proto = onnx.load(tmp_path / "m.onnx")
    assert of_domain(proto) == ["Quant", "QConv2d", "QBatchNorm2d", "QLinear"]
    assert {w.data_type for w in proto.graph.initializer} <= {onnx.TensorProto.FLOAT, onnx.TensorProto.INT64}


LIBRARY = """
import sys, torch
lib = torch.library.Library("linger", "DEF")
lib.define("QLinear(Tensor x, Tensor w, Tensor? b=None, *, int x_bits, float scale_x, int w_bits, float scale_w, int o_bits, float scale_o, str platform, str quant_mode) -> Tensor")
lib.define("Quant(Tensor x, *, int data_bits, float scale_x, str platform) -> Tensor")
lib.impl("QLinear", lambda x, w, b=None, **a: torch.clamp(torch.floor(torch.nn.functional.linear(x, w, b) * a["scale_o"] + 0.5), -128, 127) / a["scale_o"], "CompositeExplicitAutograd")
lib.impl("Quant", lambda x, **a: torch.clamp(torch.floor(x * a["scale_x"] + 0.5), -128, 127) / a["scale_x"], "CompositeExplicitAutograd")

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.round(torch.randn(4, 6) * 64).clamp(-128, 127) / 64)

    def forward(self, x):
        q = torch.ops.linger.Quant(x, data_bits=8, scale_x=32.0, platform="venusA")
        return torch.relu(torch.ops.linger.QLinear(q, self.weight, None, x_bits=8, scale_x=32.0, w_bits=8, scale_w=64.0, o_bits=8, scale_o=16.0, platform="venusA", quant_mode="floor_add"))

torch.manual_seed(0)
net, x = Net().eval(), torch.randn(3, 6)
how, path = sys.argv[1:]
(torch.jit.trace(net, x) if how == "trace" else torch.jit.script(net)).save(path)
import numpy
numpy.savez(path + ".npz", x=x.numpy(), y=net(x).detach().numpy())
"""


@pytest.mark.parametrize("how", ["trace", "script"])
def test_operators_of_the_domain_in_an_archive(tmp_path, how):
    """Defined with torch.library under their names in the file, attributes by keyword."""
    archive = tmp_path / "net.pt"
    (tmp_path / "library.py").write_text(LIBRARY)  # torch.jit.script reads the source
    subprocess.run([sys.executable, tmp_path / "library.py", how, archive], check=True)
    example = np.load(f"{archive}.npz")
    result = cameo.export(archive, input_names=["x"], output_names=["y"], args=(torch.from_numpy(example["x"]),))
    assert of_domain(result.model_proto) == ["Quant", "QLinear", "Dequant"]
    assert np.array_equal(cameo.run(result.model, {"x": example["x"]})["y"], example["y"])


def test_the_example(tmp_path):
    done = subprocess.run([sys.executable, FOLDER / "digits.py", tmp_path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "PyTorch 16, linger's nodes 16, standard nodes 16 of 16" in done.stdout and "linger's nodes 0," in done.stdout, done.stdout
