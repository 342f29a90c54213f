"""What the flags of `cameo export` promise, with PyTorch's state_dict and numbers and ONNX Runtime as the judge."""
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        nn.init.uniform_(self.norm.running_var, 0.5, 1.5)
        nn.init.uniform_(self.norm.running_mean, -1, 1)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    torch.manual_seed(0)
    module, folder = Net().eval(), tmp_path_factory.mktemp("net")
    x = torch.randn(2, 3, 8, 8)
    torch.jit.trace(module, x).save(folder / "traced.pt")
    torch.jit.script(module).save(folder / "scripted.pt")
    return module, folder, x


def export(cameo, archive, model, *flags):
    done = cameo("export", archive, "-o", model, *flags)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(str(model), full_check=True)
    return onnx.load(model)


def run(model, **feeds):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)


def close(a, b):
    np.testing.assert_allclose(a, b.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("archive", ["traced.pt", "scripted.pt"])
@pytest.mark.parametrize("flags", [[], ["--no-fold"], ["--no-simplify"], ["--weights", "external"], ["--weights", "in-place"], ["--number-params"],
                                   ["--keep-initializers-as-inputs"], ["--doc-strings"], ["--modules-as-functions"], ["--modules-as-functions=Block"],
                                   ["--keep-outputs", "blocks.0"], ["--opset", "9"], ["--opset", "22"]])
def test_same_numbers(cameo, net, archive, flags):
    module, folder, _ = net
    export(cameo, folder / archive, folder / "net.onnx", "--input", "x=f32[batch,3,h,w]", *flags)
    for size in ((2, 8, 8), (1, 5, 9), (3, 16, 4)):
        x = torch.randn(size[0], 3, *size[1:])
        close(run(folder / "net.onnx", x=x.numpy())[0], module(x))


def test_weights_are_those_of_the_state_dict(cameo, net):
    module, folder, x = net
    model = export(cameo, folder / "traced.pt", folder / "plain.onnx", "--no-simplify")
    weights = {w.name: onnx.numpy_helper.to_array(w) for w in model.graph.initializer}
    for name, value in module.state_dict().items():
        if "num_batches" not in name:
            np.testing.assert_array_equal(weights[name], value.numpy())


def test_weights_as_inputs(cameo, net):
    module, folder, x = net
    model = export(cameo, folder / "traced.pt", folder / "free.onnx", "--no-params")
    state = {k: v.numpy() for k, v in module.state_dict().items() if "num_batches" not in k}
    assert [i.name for i in model.graph.input] == ["x", *state]
    close(run(folder / "free.onnx", x=x.numpy(), **state)[0], module(x))
    doubled = {k: v * 2 if k.startswith("head") else v for k, v in state.items()}
    close(run(folder / "free.onnx", x=x.numpy(), **doubled)[0], module(x) * 2)


def test_initializers_as_inputs_have_defaults(cameo, net):
    module, folder, x = net
    export(cameo, folder / "traced.pt", folder / "both.onnx", "--keep-initializers-as-inputs")
    close(run(folder / "both.onnx", x=x.numpy())[0], module(x))


@pytest.mark.parametrize("axes, names", [
    ({"x": [0, 2, 3]}, ["x_dynamic_axes_1", 3, "x_dynamic_axes_2", "x_dynamic_axes_3"]),
    ({"x": {"0": "batch", "2": "h"}}, ["batch", 3, "h", 8]),
    ({"x": {"0": "batch"}, "y": [0]}, ["batch", 3, 8, 8])])
def test_dynamic_axes(cameo, net, axes, names):
    import json
    module, folder, _ = net
    model = export(cameo, folder / "traced.pt", folder / "axes.onnx", "--dynamic-axes", json.dumps(axes), "--output-names", "y")
    assert [d.dim_param or d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim] == names
    x = torch.randn(5, 3, 8, 8)
    close(run(folder / "axes.onnx", x=x.numpy())[0], module(x))


def test_wrong_size_is_refused_at_run_time(cameo, net):
    _, folder, _ = net
    export(cameo, folder / "traced.pt", folder / "fixed.onnx")
    with pytest.raises(Exception, match="(?i)dimension|invalid"):
        run(folder / "fixed.onnx", x=np.zeros((5, 3, 8, 8), np.float32))


def test_training_literals(cameo, tmp_path):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5)).train()
    nn.init.uniform_(module[1].running_mean, -1, 1)
    archive, x = tmp_path / "train.pt", torch.randn(6, 4)
    torch.jit.trace(module, x, check_trace=False).save(archive)
    module = torch.jit.load(archive)  # tracing moved the statistics
    export(cameo, archive, tmp_path / "eval.onnx", "--training", "eval")
    wanted = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).eval()
    wanted.load_state_dict(module.state_dict())
    close(run(tmp_path / "eval.onnx", input=x.numpy())[0], wanted(x))
    model = export(cameo, archive, tmp_path / "train.onnx")
    assert "Dropout" in {n.op_type for n in model.graph.node}


def test_state_outputs(cameo, tmp_path):
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.ones(3))

        def forward(self, x):
            self.seen += x.sum(0)
            return x * self.seen

    module, x = Counter(), torch.randn(2, 3)
    torch.jit.script(module).save(tmp_path / "c.pt")
    export(cameo, tmp_path / "c.pt", tmp_path / "c.onnx", "--input", "x=f32[b,3]", "--state", "outputs")
    y, seen = run(tmp_path / "c.onnx", x=x.numpy())
    close(y, module(x))
    close(seen, module.seen)


def test_numbers_as_inputs(cameo, tmp_path):
    class Scaled(nn.Module):
        def forward(self, x, n: int, scale: float, twice: bool):
            for _ in range(n):
                x = x * scale
            if twice:
                x = x * 2
            return x

    torch.jit.script(Scaled()).save(tmp_path / "s.pt")
    export(cameo, tmp_path / "s.pt", tmp_path / "s.onnx", "--input", "x=f32[b]", "--input", "n=i64[]", "--input", "scale=f64[]", "--input", "twice=bool[]")
    x = torch.randn(4)
    for n, scale, twice in ((0, 1.5, False), (3, 0.5, True)):
        got = run(tmp_path / "s.onnx", x=x.numpy(), n=np.array(n), scale=np.array(scale), twice=np.array(twice))[0]
        close(got, Scaled()(x, n, scale, twice))
