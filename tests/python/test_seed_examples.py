"""The examples that every exporter's manual begins with, traced and scripted where that makes sense, at several sizes."""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "torch"))
onnxruntime.set_default_logger_severity(4)
HOW = pytest.mark.parametrize("how", ["traced", "scripted"])


@pytest.fixture
def export(cameo, tmp_path):
    """export(module, example inputs, how, *flags) -> (process, path of the model)"""
    def call(module, example, how, *flags):
        torch.manual_seed(0)
        module = module.eval()
        program = torch.jit.script(module) if how == "scripted" else torch.jit.trace(module, example, strict=False, check_trace=False)
        program.save(tmp_path / "m.pt")
        return cameo("export", tmp_path / "m.pt", "-o", tmp_path / "m.onnx", *flags), tmp_path / "m.onnx"
    return call


def session(path):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def same(path, module, *calls, atol=1e-4):
    s = session(path)
    for inputs in calls:
        with torch.no_grad():
            want = module(*[x.clone() for x in inputs])
        want = want if isinstance(want, (list, tuple)) else [want]
        got = s.run(None, {i.name: x.numpy() for i, x in zip(s.get_inputs(), inputs)})
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert a.shape == tuple(b.shape)
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=atol)


def ops(path):
    found = []
    def walk(graph):
        for n in graph.node:
            found.append(n.op_type)
            for a in n.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    walk(a.g)
    walk(onnx.load(path).graph)
    return found


@HOW
def test_linear(export, how):
    net = nn.Linear(10, 2)
    done, path = export(net, torch.randn(3, 10), how, "--input", "input=f32[batch,10]")
    assert done.returncode == 0, done.stderr
    same(path, net, [torch.randn(1, 10)], [torch.randn(7, 10)])
    done, path = export(net, torch.randn(3, 10), how, "--input", "input=f32[3,10]")
    assert done.returncode == 0, done.stderr
    same(path, net, [torch.randn(3, 10)])
    with pytest.raises(Exception, match="[Ii]nvalid dimensions|Got: 4"):
        session(path).run(None, {"input": np.zeros((4, 10), np.float32)})


def test_wrong_size_is_refused_by_our_engine(export, cameo, tmp_path):
    done, path = export(nn.Linear(10, 2), torch.randn(3, 10), "traced")
    assert done.returncode == 0, done.stderr
    np.savez(tmp_path / "in.npz", input=np.zeros((4, 10), np.float32))
    done = cameo("run", path, "--inputs", tmp_path / "in.npz")
    assert done.returncode != 0 and "input" in done.stderr


@HOW
def test_two_convolutions(export, how):
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3, padding=1))
    done, path = export(net, torch.randn(1, 3, 12, 12), how, "--input", "x=f32[1,3,h,w]")
    assert done.returncode == 0, done.stderr
    same(path, net, [torch.randn(1, 3, 9, 17)], [torch.randn(1, 3, 20, 8)])
    assert [d.dim_param for d in onnx.load(path).graph.output[0].type.tensor_type.shape.dim][2:] == ["h - 2", "w - 2"]


class Looped(nn.Module):
    def forward(self, x, n: int):
        for i in range(n):
            x = x + i
        return x


def test_loop_traced_is_unrolled(export, cameo, tmp_path):
    counts = []
    for n in (2, 3):
        class Fixed(nn.Module):
            def forward(self, x):
                for i in range(n):  # noqa: B023
                    x = x * 2 + i
                return x
        done, path = export(Fixed(), torch.ones(2, 3), "traced", "--input", "x=f32[b,3]")
        assert done.returncode == 0, done.stderr
        same(path, Fixed(), [torch.ones(4, 3)])
        assert "Loop" not in ops(path)
        counts.append(len(ops(path)))
    assert counts[0] < counts[1]


def test_loop_scripted_is_kept(export):
    kinds = []
    for n in (2, 3):
        done, path = export(Looped(), None, "scripted", "--input", "x=f32[b,3]", "--input", f"n={n}")
        assert done.returncode == 0, done.stderr
        same(path, lambda x, n=n: Looped()(x, n), [torch.ones(4, 3)])
        kinds.append(ops(path))
    assert kinds[0] == kinds[1] and kinds[0].count("Loop") == 1
    done, path = export(Looped(), None, "scripted", "--input", "x=f32[b,3]", "--input", "n=3", "--loops", "unroll")
    assert "Loop" not in ops(path)


class PoolAll(nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool1d(x, x.size(2))


@HOW
def test_pool_over_everything(export, how):
    done, path = export(PoolAll(), torch.randn(2, 3, 8), how, "--input", "x=f32[b,3,8]")
    assert done.returncode == 0, done.stderr
    same(path, PoolAll(), [torch.randn(1, 3, 8)], [torch.randn(5, 3, 8)])


class NegativeIndices(nn.Module):
    def forward(self, x):
        return x[-1], x[:, -2], x[torch.tensor([-1, 0])], x[:, torch.tensor([-1, -3])]


class PutIndices(nn.Module):
    def forward(self, x, v):
        y = x.clone()
        y[torch.tensor([[0, 1], [1, 0]]), torch.tensor([[2, 0], [1, 1]])] = v
        z = x.clone()
        z[torch.tensor([0, 1]), :, torch.tensor([1, 0])] = -1.0
        return y, z


@HOW
def test_negative_indices(export, how):
    done, path = export(NegativeIndices(), torch.randn(4, 5, 2), how, "--input", "x=f32[b,5,2]")
    assert done.returncode == 0, done.stderr
    same(path, NegativeIndices(), [torch.randn(4, 5, 2)], [torch.randn(2, 5, 2)])


@HOW
def test_index_assignment(export, how):
    x, v = torch.randn(3, 4, 5), torch.randn(2, 2, 5)
    done, path = export(PutIndices(), (x, v), how, "--input", "x=f32[b,4,5]", "--input", "v=f32[2,2,5]")
    assert done.returncode == 0, done.stderr
    same(path, PutIndices(), [torch.randn(3, 4, 5), v], [torch.randn(2, 4, 5), v])


class Structures(nn.Module):
    def forward(self, x):
        return {"sum": x.sum(), "parts": [x[0], [x[1], x * 2]], "label": "text", "none": None}


def test_structured_outputs(export):
    class Scripted(nn.Module):
        def forward(self, x):
            return {"sum": x.sum(), "twice": x * 2}, [x[0], x[1]], "text"
    done, path = export(Scripted(), None, "scripted", "--input", "x=f32[b,3]")
    assert done.returncode == 0, done.stderr
    assert "str" in done.stderr  # dropped, with a note
    s = session(path)
    assert [o.name for o in s.get_outputs()] == ["output.0.sum", "output.0.twice", "output.1.0", "output.1.1"]
    x = torch.randn(2, 3)
    for got, want in zip(s.run(None, {"x": x.numpy()}), [x.sum(), x * 2, x[0], x[1]]):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-5, atol=1e-5)

    class Traced(nn.Module):
        def forward(self, x):
            return {"sum": x.sum(), "twice": x * 2}
    done, path = export(Traced(), x, "traced")
    assert done.returncode == 0, done.stderr
    assert [o.name for o in session(path).get_outputs()] == ["sum", "twice"]


class SuperResolution(nn.Module):
    def __init__(self, factor=3):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.Conv2d(8, factor ** 2, 3, padding=1))
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, x):
        return self.shuffle(self.body(x))


@HOW
def test_super_resolution(export, how):
    net = SuperResolution()
    done, path = export(net, torch.randn(1, 1, 16, 16), how, "--input", "x=f32[batch,1,h,w]")
    assert done.returncode == 0, done.stderr
    same(path, net, [torch.randn(1, 1, 24, 10)], [torch.randn(3, 1, 7, 7)])
    assert [d.dim_param for d in onnx.load(path).graph.output[0].type.tensor_type.shape.dim][2:] == ["3*h", "3*w"]


class FrozenByTracing(nn.Module):
    def forward(self, x):
        n = int(np.sqrt(x.shape[1]))  # numpy: tracing sees only the number
        return x.reshape(x.shape[0], n, -1) * float(np.pi)


def test_constants_frozen_by_tracing(export):
    done, path = export(FrozenByTracing(), torch.randn(2, 16), "traced", "--input", "x=f32[b,16]")
    assert done.returncode == 0, done.stderr
    same(path, FrozenByTracing(), [torch.randn(5, 16)])


class ShapeInPlace(nn.Module):
    def forward(self, x):
        size = torch.tensor(x.shape[2:])
        size += 2
        return nn.functional.interpolate(x, [int(size[0]), int(size[1])])


@HOW
def test_shape_computed_in_place(export, how):
    class Scripted(nn.Module):
        def forward(self, x):
            size = torch.tensor([x.size(2), x.size(3)])
            size += 2
            return nn.functional.interpolate(x, [int(size[0]), int(size[1])])
    net = Scripted() if how == "scripted" else ShapeInPlace()
    flags = ("--input", "x=f32[b,3,h,w]") if how == "scripted" else ()
    done, path = export(net, torch.randn(1, 3, 4, 6), how, *flags)
    assert done.returncode == 0, done.stderr
    same(path, net, [torch.randn(1, 3, 4, 6)], *([[torch.randn(2, 3, 5, 3)]] if how == "scripted" else []))


def test_resnet18(export):
    models = pytest.importorskip("models")
    try:
        net = models.import_torchvision().models.resnet18(weights=None).eval()
    except Exception as e:
        pytest.skip(f"torchvision is not available: {e}")
    done, path = export(net, torch.randn(1, 3, 64, 64), "traced", "--input", "x=f32[batch,3,64,64]", "--opset", "19")
    assert done.returncode == 0, done.stderr
    assert onnx.load(path).opset_import[0].version == 19
    same(path, net, [torch.randn(2, 3, 64, 64)], atol=1e-3)
