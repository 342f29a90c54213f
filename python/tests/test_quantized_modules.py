"""Models that torch.ao quantised, as people have them: embeddings, recurrent layers, training that goes on; the scales that were learned are in the model."""
import warnings

import numpy as np
import onnxruntime as ort
import pytest
import torch
from torch import nn

import cameo

warnings.simplefilter("ignore")
Q = torch.ao.quantization
pytestmark = pytest.mark.filterwarnings("ignore")


def agrees(result, model, *inputs, steps=0.0):
    session = ort.InferenceSession(result.model.to_bytes(), providers=["CPUExecutionProvider"])
    got = session.run(None, {i.name: t.numpy() for i, t in zip(session.get_inputs(), inputs)})[0]
    with torch.no_grad():
        want = model(*inputs)
    want = want.numpy()
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 + steps)


def operators(result):
    return [n.op for n in result.model.nodes]


class Table(nn.Module):
    def __init__(self, layer):
        super().__init__()
        layer.qconfig = Q.float_qparams_weight_only_qconfig
        self.table = layer

    def forward(self, *args):
        return self.table(*args)


def quantised(layer):
    return Q.convert(Q.prepare(Table(layer).eval()))


IDS = torch.tensor([3, 1, 4, 1, 5, 9])


@pytest.mark.parametrize("capture", ["trace", "auto"])
def test_an_embedding(capture):
    model = quantised(nn.Embedding(20, 8))
    result = cameo.export(model, (IDS.reshape(2, 3),), capture=capture, input_names=["ids"], dynamic_axes={"ids": {0: "batch"}})
    assert result.verification.ok and result.model.statistics["bytes_by_dtype"]["u8"] == 20 * 8
    agrees(result, model, IDS.reshape(3, 2)[:, [0, 1, 0]])


@pytest.mark.parametrize("offsets", [None, torch.tensor([0, 2, 6]), torch.tensor([0, 3, 3, 6])])
def test_an_embedding_bag(offsets):
    model = quantised(nn.EmbeddingBag(20, 8, mode="sum", include_last_offset=offsets is not None))
    args = (IDS.reshape(2, 3),) if offsets is None else (IDS, offsets)
    result = cameo.export(model, args)
    assert result.model.statistics["bytes_by_dtype"]["u8"] == 20 * 8
    agrees(result, model, *args)


class First(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


LAYERS = {"lstm": lambda: nn.LSTM(8, 16, num_layers=2, bidirectional=True), "gru": lambda: nn.GRU(8, 16), "batch first": lambda: nn.GRU(8, 5, batch_first=True)}


def recurrent(layer, scripted=False):
    model = Q.quantize_dynamic(First(LAYERS[layer]()).eval(), {nn.LSTM, nn.GRU}, dtype=torch.qint8)
    return torch.jit.script(model) if scripted else model


def with_floats(layer, model):
    """The same weights in PyTorch's float layer."""
    twin, held = First(LAYERS[layer]()).eval(), model.layer
    with torch.no_grad():
        for name, values in {**held.get_weight(), **held.get_bias()}.items():
            getattr(twin.layer, name).copy_(values.dequantize() if values.is_quantized else values)
    return twin


@pytest.mark.parametrize("layer", LAYERS)
def test_recurrent_layers_quantised_dynamically(layer):
    """Their states are rounded to 8 bits in every step by PyTorch only: told, with how much it is; everything else is exact."""
    for seed in range(3):
        torch.manual_seed(seed)
        model, x = recurrent(layer), torch.randn(5, 2, 8)
        result = cameo.export(model, (x,), dynamic_axes={"x": {0: "n"}})
        assert result.verification.ok and result.verification.max_abs < 1e-5 and result.verification.sizes and result.verification.values
        told = {d.code: d.what for d in result.findings}
        assert "lower.float-activations" in told and "PyTorch's own numbers are up to 0.0" in told["verify.rounding"]
        agrees(result, with_floats(layer, model), x)


def test_recurrent_layers_in_scripts_and_archives(tmp_path):
    model = recurrent("lstm", scripted=True)
    x = torch.randn(5, 2, 8)
    assert cameo.export(model, (x,)).verification.max_abs < 1e-5
    model.save(tmp_path / "m.pt")
    result = cameo.export(tmp_path / "m.pt", (x,))
    assert result.verification.ok and result.verification.max_abs < 1e-5


def test_a_wrong_recurrent_layer_is_refused(monkeypatch):
    """Off by less than PyTorch's own rounding, and still found."""
    from cameo import _verify
    runner = _verify._runner
    monkeypatch.setattr(_verify, "_runner", lambda *args: (lambda run: lambda feeds: [np.asarray(y) + 2e-3 for y in run(feeds)])(runner(*args)))
    with pytest.raises(cameo.Error, match="verify.mismatch"):
        cameo.export(recurrent("gru"), (torch.randn(5, 2, 8),))


def trained():
    net = nn.Sequential(Q.QuantStub(), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3), Q.DeQuantStub()).train()
    net.qconfig = Q.get_default_qat_qconfig("x86")
    Q.prepare_qat(net, inplace=True)
    for _ in range(3):
        net(torch.randn(4, 3, 8, 8))
    return net


@pytest.mark.parametrize("capture", ["auto", "export"])
def test_training_that_goes_on(capture):
    """Observers that are on rest during the export; afterwards they are as they were, and so are the scales."""
    net = trained()
    before = {name: t.clone() for name, t in net.state_dict().items()}
    result = cameo.export(net, (torch.randn(1, 3, 8, 8),), capture=capture)
    assert "export.observers" in [d.code for d in result.findings] and result.verification.ok
    assert "QuantizeLinear" in operators(result) and "DequantizeLinear" in operators(result)
    assert all(torch.equal(t, before[name]) for name, t in net.state_dict().items()) and net.training
    scale = float(net[0].activation_post_process.scale)
    assert any(np.isclose(scale, float(np.ravel(result.model.weight(name))[0])) for name, (_, shape) in result.model.initializers.items() if shape in ((), (1,)))
    agrees(result, net.eval().apply(Q.disable_observer), torch.randn(1, 3, 8, 8), steps=2 * float(net[4].activation_post_process.scale))


class Learned(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(channels) * 0.1 + 0.05)
        self.zero = nn.Parameter(torch.linspace(-3.4, 2.6, channels))

    def forward(self, x):
        if self.scale.numel() == 1:
            return torch._fake_quantize_learnable_per_tensor_affine(x, self.scale, self.zero, -128, 127, 1.0)
        return torch._fake_quantize_learnable_per_channel_affine(x, self.scale, self.zero, 1, -128, 127, 1.0)


@pytest.mark.parametrize("channels", [1, 3])
def test_scales_that_are_learned(channels):
    model, x = Learned(channels), torch.randn(2, 3, 4)
    result = cameo.export(model, (x,))
    assert result.verification.ok and "QuantizeLinear" in operators(result)
    agrees(result, model, x)
