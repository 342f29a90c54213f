"""cameo.quantize, with onnxruntime as the referee."""
import numpy as np
import onnxruntime as ort
import pytest
import torch

import cameo


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        c = torch.nn
        self.body = c.Sequential(c.Conv2d(3, 16, 3, padding=1), c.BatchNorm2d(16), c.ReLU(), c.Conv2d(16, 16, 3, padding=1, groups=16), c.ReLU(),
                                 c.Conv2d(16, 24, 1), c.SiLU(), c.MaxPool2d(2), c.Conv2d(24, 24, 3, padding=1), c.Hardswish(),
                                 c.AdaptiveAvgPool2d(1), c.Flatten(), c.Linear(24, 5))

    def forward(self, x):
        return self.body(x)


@pytest.fixture(scope="module")
def trained():
    """A small classifier that tells apart which corner is bright, and pictures for it."""
    torch.manual_seed(0)

    def batch(n):
        x, y = torch.rand(n, 3, 16, 16) * 0.4, torch.randint(0, 5, (n,))
        for i, k in enumerate(y):
            if k < 4:
                x[i, :, 8 * (k // 2):8 * (k // 2) + 8, 8 * (k % 2):8 * (k % 2) + 8] += 0.5 * torch.rand(3, 1, 1)
        return x, y
    net = Net()
    steps = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(60):
        x, y = batch(64)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        steps.zero_grad()
        loss.backward()
        steps.step()
    net.eval()
    x, _ = batch(64)
    model = cameo.export(net, (x[:1],), input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "batch"}}).model
    return model, x.numpy()


def referee(model, x):
    return ort.InferenceSession(model.to_bytes(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def db(wanted, got):
    return 10 * np.log10((wanted.astype(float) ** 2).sum() / ((wanted - got).astype(float) ** 2).sum())


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt", "openvino", "qnn", "generic"])
def test_targets_in_onnxruntime(trained, target):
    model, x = trained
    made = cameo.quantize(model, ({"x": row[None]} for row in x[:32]), target=target)
    assert made.report["samples"] == 32 and made.db > 20 and made.report["int8_macs"] > 0.9
    assert db(referee(model, x), referee(made.model, x)) > 20
    ops = {n.op for n in made.model.nodes}
    assert "QuantizeLinear" in ops and "DequantizeLinear" in ops


@pytest.mark.parametrize("method", ["minmax", "percentile", "entropy", "mse", "margin"])
def test_methods(trained, method):
    model, x = trained
    made = cameo.quantize(model, [row[None] for row in x[:16]], method=method, min_db=0)
    assert made.report["method"] == method and db(referee(model, x), referee(made.model, x)) > 12


def test_a_metric_decides(trained, tmp_path):
    model, x = trained
    labels = referee(model, x).argmax(1)
    seen = []

    def accuracy(candidate):
        seen.append(candidate)
        return float((referee(candidate, x).argmax(1) == labels).mean())
    made = cameo.quantize(model, [x[:16]], tmp_path / "small.onnx", metric=accuracy, max_drop=0.05)
    assert made.report["float_metric"] == 1 and made.report["metric"] >= 0.95 and len(seen) >= 2
    assert (tmp_path / "small.onnx").exists() and "<h2>Nodes</h2>" in made.html


def test_errors_of_samples_and_metrics_come_through(trained):
    model, x = trained

    def broken():
        yield x[:1]
        raise KeyError("no more")
    with pytest.raises(KeyError):
        cameo.quantize(model, broken())
    with pytest.raises(cameo.Error, match="quantize.samples"):
        cameo.quantize(model, [])
    with pytest.raises(cameo.Error, match="use.target"):
        cameo.quantize(model, [x[:1]], target="toaster")
    with pytest.raises(ZeroDivisionError):
        cameo.quantize(model, [x[:1]], metric=lambda m: 1 / 0)
