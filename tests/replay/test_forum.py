"""Programs of the kind that people post with the question how they are exported: each with the arguments that they write."""
import warnings

import pytest

torch = pytest.importorskip("torch")
ort = pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

import cameo  # noqa: E402


def codes(result):
    return [d.code for d in result.findings]


def shapes(result):
    return [i.shape for i in result.model.inputs]


def agrees(result, model, *inputs):
    session = ort.InferenceSession(result.model.to_bytes(), providers=["CPUExecutionProvider"])
    got = session.run(None, {i.name: t.numpy() for i, t in zip(session.get_inputs(), inputs)})
    with torch.no_grad():
        want = model(*inputs)
    for g, w in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
        torch.testing.assert_close(torch.from_numpy(g), w, rtol=1e-4, atol=1e-5)


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(1, 3)

    def forward(self, x):
        h, out = x.new_zeros(x.size(0), 3), []
        for t in range(x.size(1)):
            h = self.cell(x[:, t:t + 1], h)
            out.append(h)
        return torch.stack(out, 1)


def test_an_axis_that_torch_export_fixes():
    """Asked for torch.export alone, its answer is given and told; with a fallback, another way keeps the axis."""
    model, x, axes = Steps().eval(), torch.randn(2, 4), {"x": {0: "batch", 1: "time"}}
    fixed = cameo.export(model, (x,), dynamo=True, dynamic_axes=axes)
    assert shapes(fixed) == [["batch", 4]] and "export.fixed-axis" in codes(fixed) and fixed.verification.ok and fixed.verification.sizes
    kept = cameo.export(model, (x,), dynamo=True, fallback=True, dynamic_axes=axes)
    assert shapes(kept) == [["batch", "time"]] and kept.captured == "script"
    agrees(kept, model, torch.randn(3, 7))


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 8, 2, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, (h, _) = self.lstm(packed)
        return pad_packed_sequence(out, batch_first=True)[0], torch.cat([h[-2], h[-1]], -1)


@pytest.mark.parametrize("ways", [{}, {"dynamo": False}, {"dynamo": True, "fallback": True}])
def test_packed_sequences(ways):
    model, x, lengths = Packed().eval(), torch.randn(3, 6, 4), torch.tensor([6, 4, 2])
    result = cameo.export(model, (x, lengths), dynamic_axes={"x": {0: "b", 1: "t"}, "lengths": {0: "b"}}, **ways)
    agrees(result, model, torch.randn(2, 8, 4), torch.tensor([3, 8]))


def test_torch_export_alone_says_what_else_there_is():
    with pytest.raises(cameo.Error, match="fallback=True"):
        cameo.export(Packed().eval(), (torch.randn(3, 6, 4), torch.tensor([6, 4, 2])), dynamo=True)


def test_an_encoder_with_padding():
    """PyTorch's fused encoder gives zeros in padded places; the plain one, which is exported, does not."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 1).eval()
    x, pad = torch.randn(2, 6, 16), torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
    result = cameo.export(model, (x,), kwargs={"src_key_padding_mask": pad})
    assert "verify.fused" in codes(result)
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        agrees(result, lambda x, pad: model(x, src_key_padding_mask=pad), x, pad)
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    assert "verify.fused" not in codes(cameo.export(model, (x,))) and torch.backends.mha.get_fastpath_enabled()


class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x):
        self.count += 1
        self.mean = self.mean * 0.9 + x.mean(0) * 0.1
        return x - self.mean


def test_buffers_that_are_replaced():
    model, x = Running().eval(), torch.randn(2, 4)
    told = [d.what for d in cameo.export(model, (x,)).findings if d.code == "export.dropped-state"]
    assert len(told) == 2 and any("mean" in t for t in told) and any("count" in t for t in told)
    kept = cameo.export(model, (x,), state="outputs")
    assert {"mean_out", "count_out"} <= {o.name for o in kept.model.outputs} and torch.equal(model.mean, torch.zeros(4))
    with pytest.raises(cameo.Error, match="which a trace does not see"):
        cameo.export(model, (x,), state="outputs", capture="trace")


def test_messages_of_a_graph():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.project, self.weigh = nn.Linear(5, 8), nn.Parameter(torch.randn(16))

        def forward(self, x, edge_index):
            source, target = edge_index[0], edge_index[1]
            h = self.project(x)
            score = nn.functional.leaky_relu((torch.cat([h[source], h[target]], 1) * self.weigh).sum(1), 0.2)
            e = (score - torch.zeros(x.shape[0]).scatter_reduce(0, target, score, "amax", include_self=False)[target]).exp()
            w = e / torch.zeros(x.shape[0]).scatter_add(0, target, e)[target]
            return torch.zeros(x.shape[0], 8).index_add(0, target, h[source] * w[:, None])
    model, edges = Attention().eval(), torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
    for dynamo in (False, True):
        result = cameo.export(model, (torch.randn(6, 5), edges), dynamo=dynamo, dynamic_axes={"x": {0: "nodes"}, "edge_index": {1: "edges"}})
        agrees(result, model, torch.randn(4, 5), torch.tensor([[0, 1, 2, 3, 0, 1, 3], [1, 2, 3, 0, 3, 3, 3]]))


def test_adapters_beside_frozen_layers():
    class Adapted(nn.Module):
        def __init__(self, base, rank=4):
            super().__init__()
            self.base, self.drop = base.requires_grad_(False), nn.Dropout(0.1)
            self.a, self.b = nn.Parameter(torch.randn(rank, base.in_features)), nn.Parameter(torch.randn(base.out_features, rank))

        def forward(self, x):
            return self.base(x) + self.drop(x) @ self.a.T @ self.b.T * 2
    model = nn.Sequential(Adapted(nn.Linear(8, 16)), nn.ReLU(), Adapted(nn.Linear(16, 4))).train()
    result = cameo.export(model, torch.randn(2, 8), input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "b"}, "y": {0: "b"}}, opset_version=17)
    assert model.training and result.model.opset == 17
    agrees(result, model.eval(), torch.randn(5, 8))


def test_detections_above_a_threshold():
    class Detector(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Conv2d(3, 6, 3, 2, 1)

        def forward(self, image):
            rows = self.head(image)[0].flatten(1).t()
            scores = rows[:, 4].sigmoid()
            keep = scores > 0.5
            boxes = rows[keep][:, :4]
            boxes[:, 2:] = boxes[:, 2:].abs() + boxes[:, :2]
            boxes[:, 0::2].clamp_(0, image.shape[3])
            return boxes, scores[keep], torch.where(keep)[0]
    model = Detector().eval()
    for dynamo in (False, True):
        result = cameo.export(model, (torch.randn(1, 3, 32, 32),), dynamo=dynamo, dynamic_axes={"image": {2: "h", 3: "w"}})
        agrees(result, model, torch.randn(1, 3, 24, 40))


@pytest.mark.parametrize("name", ["past_key_values", "past_key_values.*", "past_key_values.*.1"])
def test_axes_of_a_whole_cache(name):
    class Decoder(nn.Module):
        def forward(self, input_ids, past_key_values):
            return [(k + input_ids.float().sum(), v * 2) for k, v in past_key_values]
    cache = [(torch.randn(2, 4, 3, 8), torch.randn(2, 4, 3, 8)) for _ in range(2)]
    result = cameo.export(Decoder(), (torch.ones(2, 5).long(), cache), dynamic_axes={"input_ids": {1: "s"}, name: {2: "past"}})
    keys, values = shapes(result)[1:3]
    assert shapes(result)[0] == [2, "s"] and values == [2, 4, "past", 8] and keys == ([2, 4, 3, 8] if name.endswith("1") else values)
    assert not [d for d in result.findings if d.severity == "warning"]


def test_warnings_of_the_model_come_once():
    class Talks(nn.Module):
        @property
        def old_name(self):
            warnings.warn("old_name is deprecated", FutureWarning, stacklevel=2)

        def forward(self, x):
            warnings.warn("the model says something", stacklevel=1)
            return x * 2
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        cameo.export(Talks().eval(), (torch.randn(2, 3),), dynamic_axes={"x": {0: "b"}}, verify=False)
    assert [str(w.message) for w in told if "says" in str(w.message) or "old_name" in str(w.message)] == ["the model says something"]


class Bytes(torch.Tensor):
    """A weight as torchao quantizes it: bytes and scales in a tensor of its own kind."""

    @staticmethod
    def __new__(cls, data, scale):
        return torch.Tensor._make_wrapper_subclass(cls, data.shape, dtype=scale.dtype, requires_grad=False)

    def __init__(self, data, scale):
        self.data_, self.scale_ = data, scale

    def __tensor_flatten__(self):
        return ["data_", "scale_"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, _context, _size, _stride):
        return cls(inner["data_"], inner["scale_"])

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is nn.functional.linear:
            x, w, bias = args
            return x @ w.data_.to(x.dtype).t() * w.scale_.flatten() + bias
        return super().__torch_function__(function, types, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.detach.default:
            return cls(args[0].data_, args[0].scale_)
        raise NotImplementedError(function)


@pytest.mark.parametrize("capture", ["auto", "trace", "export"])
def test_weights_of_a_kind_of_their_own(capture):
    """torchao's quantize_ leaves such weights: their bytes are in the model, and the module is as it was afterwards."""
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 64)).eval()
    for layer in (model[0], model[2]):
        scale = layer.weight.detach().abs().amax(1, keepdim=True) / 127
        layer.weight = nn.Parameter(Bytes((layer.weight.detach() / scale).round().to(torch.int8), scale), requires_grad=False)
    before = model[0].weight
    result = cameo.export(model, (torch.randn(3, 64),), capture=capture, dynamic_axes={"input": {0: "b"}})
    assert result.verification.ok and result.model.statistics["bytes_by_dtype"]["i8"] == 2 * 64 * 32
    assert model[0].weight is before and type(model[0]) is nn.Linear and list(model[0]._parameters) == ["weight", "bias"] and not model[0]._buffers
    agrees(result, model, torch.randn(5, 64))
