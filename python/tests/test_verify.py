"""What export's own verification looks at: sizes of 1, other numbers, quantised tensors."""
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import cameo  # noqa: E402


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def exported(function, shape, axes, **options):
    torch.manual_seed(0)
    return cameo.export(Calls(function).eval(), (torch.rand(shape),), input_names=["x"], dynamic_axes={"x": axes} if axes else None, **options)


def assumed(findings):
    return [d.what for d in findings if d.code == "stage.assumed"]


SQUEEZES = {
    "one axis": (lambda x: x.squeeze(2), (2, 3, 4), {0: "b", 2: "t"}, "t"),
    "all axes": (lambda x: x.squeeze(), (2, 3, 4), {0: "b"}, "b"),
    "the batch": (lambda x: x.squeeze(0).sum(-1), (2, 3, 4), {0: "b"}, "b"),
    "several axes": (lambda x: torch.squeeze(x, (0, 1)), (2, 3, 4), {0: "b"}, "b"),
    "in place": (lambda x: (x * 2).squeeze_(0), (2, 3, 4), {0: "b"}, "b"),
}


@pytest.mark.parametrize("how", ["trace", "export"])
@pytest.mark.parametrize("name", SQUEEZES)
def test_a_squeeze_of_a_dynamic_axis_is_told_and_refused_at_1(name, how):
    function, shape, axes, size = SQUEEZES[name]
    result = exported(function, shape, axes, dynamo=how == "export")
    assert result.verification.ok and any(f"{size} != 1" in w and "squeeze" in w for w in assumed(result.findings))
    one = [1 if axes.get(i) == size else n for i, n in enumerate(shape)]
    with pytest.raises(cameo.Error) as e:
        cameo.Session(result.model)(torch.rand(one).numpy())
    assert e.value.code == "run.assumption"


@pytest.mark.parametrize("how", ["trace", "export"])
@pytest.mark.parametrize("shape, axes", [((1, 3, 4), {0: "b"}), ((2, 3, 1), {2: "t"})])
def test_an_example_of_size_1_is_refused_by_name(shape, axes, how):
    with pytest.raises(cameo.Error) as e:
        exported(lambda x: x.squeeze(next(iter(axes))) + 1, shape, axes, dynamo=how == "export")
    assert "squeeze drops an axis" in str(e.value)


RIGHT_AT_ONE = {
    "expand of the batch": lambda x: x.mean(0, keepdim=True).expand(x.shape[0], 3, 4) + x,
    "expand_as": lambda x: x[:1].expand_as(x) * x,
    "broadcasting against a batch of 1": lambda x: x + torch.ones(1, 3, 4),
    "zeros_like, ones_like, full_like": lambda x: torch.zeros_like(x) + torch.ones_like(x) * torch.full_like(x, 2) + x,
    "pools": lambda x: torch.nn.functional.adaptive_avg_pool1d(x, 1).squeeze(2),
    "squeeze of what is always 1": lambda x: x.mean(1, keepdim=True).squeeze(1),
    "select and stack": lambda x: torch.stack([x[0], x[-1]]),
    "matmul with itself": lambda x: x @ x.transpose(1, 2),
    "reshape to the batch": lambda x: x.reshape(x.shape[0], -1),
}


@pytest.mark.parametrize("how", ["trace", "export"])
@pytest.mark.parametrize("example", [1, 2])
@pytest.mark.parametrize("name", RIGHT_AT_ONE)
def test_right_at_every_size(name, example, how):
    result = exported(RIGHT_AT_ONE[name], (example, 3, 4), {0: "b"}, dynamo=how == "export")
    assert result.verification.ok and not assumed(result.findings)
    session = cameo.Session(result.model)
    for batch in (1, 2, 5):
        x = torch.rand(batch, 3, 4)
        torch.testing.assert_close(torch.from_numpy(session(x.numpy())), RIGHT_AT_ONE[name](x))


@pytest.mark.parametrize("function", [lambda x: x * 2 if x.sum() > 0 else x - 1, lambda x: x * 2 if x.abs().max() < 2 else x - 1], ids=["by sign", "by magnitude"])
def test_the_other_branch_is_met(function):
    with pytest.raises(cameo.Error) as e:
        exported(function, (2, 3), None, dynamo=False)
    assert e.value.code == "verify.mismatch" and "with the inputs" in str(e.value)


class Branches(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


def test_a_capture_that_keeps_the_branch_is_found():
    result = cameo.export(Branches().eval(), (torch.full((2, 3), 0.5),))
    assert result.captured == "script" and result.verification.ok and [how for how, _ in result.verification.values] == ["negated", "8 times as large", "made up"]


class Tied(torch.nn.Module):
    """Weights of zero, as classifiers begin: every row is as good as another, and engines choose as they like."""
    def __init__(self):
        super().__init__()
        self.score = torch.nn.Linear(4, 1)
        torch.nn.init.zeros_(self.score.weight)

    def forward(self, x):
        return x[self.score(x)[:, 0].topk(5).indices]


def test_ties_are_inconclusive():
    torch.manual_seed(0)
    result = cameo.export(Tied(), (torch.rand(64, 4),))
    assert "verify.mismatch" not in [d.code for d in result.findings]
    assert "verify.unstable" not in [d.code for d in result.findings] or "NOT verified: the comparison is inconclusive" in str(result)


class PaddedToFour(torch.nn.Module):
    """A branch that sizes decide, but neither 1 nor the sizes next to the example."""
    def forward(self, x):
        if x.shape[1] % 4 != 0:
            x = torch.nn.functional.pad(x, (0, 4 - x.shape[1] % 4))
        return x * 2


class LongOnes(torch.nn.Module):
    def forward(self, x):
        if x.shape[1] > 100:
            return x[:, :100]
        return x + 1


@pytest.mark.parametrize("how", ["trace", "export"])
@pytest.mark.parametrize("model, n", [(PaddedToFour, 5), (LongOnes, 5), (LongOnes, 120)])
def test_sizes_that_a_condition_compares_with_are_tried(model, n, how):
    with pytest.raises(cameo.Error) as e:
        cameo.export(model(), (torch.rand(2, n),), input_names=["x"], dynamic_axes={"x": {1: "t"}}, capture=how)
    assert e.value.code in ("verify.mismatch", "export.frozen-dim"), str(e.value)


@pytest.mark.parametrize("model", [PaddedToFour, LongOnes])
def test_auto_keeps_such_a_branch(model):
    result = cameo.export(model(), (torch.rand(2, 5),), input_names=["x"], dynamic_axes={"x": {1: "t"}})
    assert result.captured == "script" and result.verification.ok
    session = cameo.Session(result.model)
    for n in (1, 3, 4, 8, 99, 100, 101, 203):
        x = torch.rand(2, n)
        torch.testing.assert_close(torch.from_numpy(session(x.numpy())), model()(x))


def test_the_verdict_says_where_it_holds():
    def line(function, shape, axes, **options):
        return str(exported(function, shape, axes, **options)).splitlines()[1]
    assert line(lambda x: x.squeeze(1) * 2, (2, 3, 4), {1: "t"}).startswith("verified where t != 1: ")
    assert line(lambda x: x.view(2, 12) + 1, (2, 3, 4), {0: "b"}, dynamo=True).startswith("verified at the example's sizes only: ")
    assert line(lambda x: x * 2, (2, 3, 4), {0: "b"}).startswith("verified: ")


DIVISIONS = {
    "of whole numbers": lambda x: x + torch.arange(x.shape[1]) / x.shape[1],
    "of sizes": lambda x: x * (torch.tensor(x.shape[0]) / torch.tensor(x.shape[1])),
    "by a number": lambda x: x[:, 0] + torch.ones(x.shape[0], dtype=torch.int64).div(3),
    "rounded": lambda x: x + torch.arange(x.shape[1]) // 2,
    "of a filled tensor": lambda x: x[:, 0] * torch.full((x.shape[0],), 3) / 2,
}


@pytest.mark.parametrize("how", ["trace", "export"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_division_means_what_it_means_today(name, how):
    """The archive that is handed over says which PyTorch's operators it calls: before 1.6, div of whole numbers rounded."""
    result = exported(DIVISIONS[name], (2, 5), {0: "b", 1: "t"}, capture=how)
    assert result.verification.ok
    x = torch.rand(3, 7)
    torch.testing.assert_close(torch.from_numpy(cameo.Session(result.model)(x.numpy())), DIVISIONS[name](x))


@pytest.mark.parametrize("align", [True, False])
def test_a_grid_of_one_place(align):
    def grid(x):
        return torch.nn.functional.affine_grid(torch.eye(2, 3)[None].repeat(x.shape[0], 1, 1), x.shape, align_corners=align)
    result = exported(grid, (2, 3, 4, 5), {2: "h", 3: "w"}, dynamo=False)
    assert result.verification.ok and len(result.verification.sizes) == 4


@pytest.mark.parametrize("function", [torch.cov, torch.corrcoef])
def test_the_covariance_of_one_variable_is_told(function):
    result = exported(function, (3, 4), {0: "b"}, dynamo=False)
    assert result.verification.ok and "b != 1" in assumed(result.findings)[0]


def test_a_frozen_kernel_is_named():
    with pytest.raises(cameo.Error) as e:
        exported(lambda x: torch.nn.functional.avg_pool1d(x, x.shape[2]).squeeze(2), (2, 3, 5), {2: "t"}, dynamo=False)
    assert any(d.code == "export.frozen-value" and "5" in d.what for d in e.value.diagnostics), str(e.value)


def quantised(dequantised, backend="x86"):
    from torch import nn
    from torch.ao import quantization as tq

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.dequant, self.add = tq.QuantStub(), tq.DeQuantStub(), nn.quantized.FloatFunctional()
            self.c1, self.c2, self.fc = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2), nn.Linear(16, 10)
            self.relu, self.pool = nn.ReLU(), nn.AdaptiveAvgPool2d(1)

        def forward(self, x):
            x = self.relu(self.c1(self.quant(x)))
            x = self.pool(self.relu(self.c2(self.add.add(x, x)))).flatten(1)
            return self.dequant(self.fc(x)) if dequantised else self.fc(x)
    torch.manual_seed(0)
    torch.backends.quantized.engine = backend
    m = Net().eval()
    m.qconfig = tq.get_default_qconfig(backend)
    tq.prepare(m, inplace=True)
    for _ in range(4):
        m(torch.randn(4, 3, 16, 16))
    return tq.convert(m)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["x86", "qnnpack"])
@pytest.mark.parametrize("dequantised", [True, False])
def test_an_int8_model_is_verified_to_a_step(dequantised, backend):
    if backend not in torch.backends.quantized.supported_engines:
        pytest.skip(f"this PyTorch has no {backend}")
    result = cameo.export(quantised(dequantised, backend), (torch.randn(2, 3, 16, 16),), dynamic_axes={"x": {0: "b"}})
    assert result.verification.ok


@pytest.mark.filterwarnings("ignore")
def test_a_quantised_model_that_differs_names_its_module():
    m = quantised(True)
    original = m.c2.forward
    calls = []

    def once(x):  # what is recorded is the second scale
        calls.append(x)
        y = original(x)
        return torch.quantize_per_tensor(y.dequantize(), y.q_scale() * (1 if len(calls) > 1 else 30), y.q_zero_point(), y.dtype)
    m.c2.forward = once
    with pytest.raises(cameo.Error) as e:
        cameo.export(m, (torch.randn(2, 3, 16, 16),), dynamo=False)
    assert e.value.code == "verify.mismatch"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("channels", [2, 8, 24])
def test_trained_scales_stay(channels):
    from torch import nn
    from torch.ao import quantization as tq
    torch.manual_seed(0)
    m = nn.Sequential(nn.Conv2d(3, channels, 3), nn.ReLU(), nn.Conv2d(channels, 8, 3)).train()
    m.qconfig = tq.get_default_qat_qconfig("x86")
    tq.prepare_qat(m, inplace=True)
    for _ in range(4):
        m(torch.randn(2, 3, 12, 12))
    m.apply(tq.disable_observer)
    result = cameo.export(m.eval(), (torch.randn(2, 3, 12, 12),))
    count = [n.op for n in result.model.nodes].count("QuantizeLinear")
    assert count == 4 and [n.op for n in cameo.simplify(result.model)[0].nodes].count("QuantizeLinear") == 4  # two weights, two results


class Checked(torch.nn.Module):
    def forward(self, x):
        torch._check_tensor_all(x.sum() * 0 == 0, lambda: "a number is missing")
        return x * 2


def test_a_check_of_data_is_no_part_of_the_model():
    result = cameo.export(Checked().eval(), (torch.rand(2, 3),), dynamo=True)
    assert result.captured == "export" and result.verification.ok


@pytest.mark.parametrize("name", ["batch.size", "批", "b-1", "N x M", "1st"])
def test_names_of_sizes_come_back_as_given(name):
    for options in ({"dynamo": False}, {"dynamo": True}):
        result = cameo.export(Calls(lambda x: x * 2).eval(), (torch.rand(2, 3),), input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: name}, "y": {0: name}}, **options)
        assert result.model.inputs[0].shape[0] == name and result.model.outputs[0].shape[0] == name
        import onnx
        model = onnx.load_from_string(result.model.to_bytes())
        assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == name and model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == name


def verdict(result):
    return next(line for line in str(result).splitlines() if "erified" in line)


class FewRows(torch.nn.Module):
    def forward(self, x):
        rows = torch.where(x[0] < 0)[0]
        return x[:, rows[0]] if len(rows) else x[:, 0]


class Doublings(torch.nn.Module):
    def forward(self, x):
        return x * (int(math.log2(x.shape[0])) // 4 + 1)


class Shared(torch.nn.Module):
    def forward(self, x):
        return x + float(np.from_dlpack(x.detach()).max())


def test_how_many_elements_data_leave_is_of_data():
    x = torch.tensor([[1.0, -1.0], [2.0, 3.0]])
    result = cameo.export(FewRows(), (x,), capture="trace", verify="warn")
    assert verdict(result).startswith("NOT verified") and "frozen" in verdict(result)
    assert cameo.export(FewRows(), (x,)).captured == "script"


def test_what_grows_slowly_with_a_size_is_found():
    result = cameo.export(Doublings(), (torch.randn(4, 3),), dynamic_axes={"x": {0: "b"}}, capture="trace")
    assert verdict(result).startswith("NOT verified")


def test_what_leaves_torch_is_seen():
    result = cameo.export(Shared(), (torch.zeros(2, 3),), capture="trace", verify="warn")
    assert "export.frozen-value" in [d.code for d in result.findings] and verdict(result).startswith("NOT verified")


class Rough(torch.nn.Module):
    """The largest of each row, and no less than 0 where it is exported, as a library has it for exporters that know no better."""

    def forward(self, x):
        return x.amax(1).clamp(min=0) if torch.onnx.is_in_onnx_export() else x.amax(1)


class Roughest(torch.nn.Module):
    def forward(self, x):
        if not torch.onnx.is_in_onnx_export() and (torch.jit.is_tracing() or torch.compiler.is_compiling() or torch.jit.is_scripting()):
            raise RuntimeError("only for exporters")
        return Rough()(x)


def test_a_rough_way_for_exporters_is_not_taken():
    x = -torch.rand(2, 3) - 1
    result = cameo.export(Rough(), (x,))
    assert verdict(result).startswith("verified: ") and "export.untold" in [d.code for d in result.findings]
    assert np.allclose(result(x)[0], x.amax(1).numpy())


def test_a_rough_way_that_has_to_be_taken_is_told():
    result = cameo.export(Roughest(), (-torch.rand(2, 3) - 1,), capture="trace")
    assert verdict(result).startswith("NOT verified: the model computes something else while it is exported")


def test_offsets_are_tried_as_they_are():
    from cameo._tries import other_values
    offsets, ids = torch.tensor([0, 2, 6]), torch.tensor([0, 5, 2, 3, 1, 4])
    (_, (same, lowered)), = other_values([offsets, ids], exported(lambda x: x + 1, (2, 3), None).model)
    assert same is offsets and not torch.equal(lowered, ids)


def test_a_little_randomness_is_randomness():
    result = exported(lambda x: x + torch.rand_like(x) * 1e-6, (2, 3), None)
    assert result.verification is None and "verify.random" in [d.code for d in result.findings]


class Running(torch.nn.Module):
    """Writes to its buffers, in place and anew."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
        self.count = self.count + 1
        return x - self.mean, self.count


@pytest.mark.parametrize("how", ["trace", "export"])
def test_a_model_with_state_is_verified_and_left_as_it_was(how):
    model = Running().eval()
    count = model.count
    result = cameo.export(model, (torch.randn(2, 3),), dynamic_axes={"x": {0: "b"}}, capture=how)
    assert result.verification.ok and "verify.unstable" not in [d.code for d in result.findings]
    assert model.count is count and int(count) == 0 and torch.equal(model.mean, torch.zeros(3))
    if how == "trace":  # it does not see what is written anew
        with pytest.raises(cameo.Error, match="in the place of count"):
            cameo.export(model, (torch.randn(2, 3),), capture=how, state="outputs")
    with_state = cameo.export(model, (torch.randn(2, 3),), capture="auto" if how == "trace" else how, state="outputs")
    assert {"mean_out", "count_out"} <= {o.name for o in with_state.model.outputs}


class Window(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(1, 4, 6))

    def forward(self, x):
        self.seen = torch.cat([self.seen[:, :, x.shape[2]:], x], 2)
        return self.seen.mean(2)


def test_a_window_that_moves_on_is_verified():
    result = cameo.export(Window(), (torch.randn(1, 4, 2),), dynamic_axes={"x": {2: "t"}})
    assert verdict(result).startswith("verified: ")


@pytest.mark.parametrize("how", ["trace", "export"])
def test_sizes_of_what_stars_take(how):
    class Sums(torch.nn.Module):
        def forward(self, x, *rest, scale=1.0):
            return x + rest[0] * scale + rest[1]["k"]
    tensors = [torch.randn(2, 3) for _ in range(3)]
    axes = {name: {0: "n"} for name in ("x", "rest_1", "rest_2.k")}
    result = cameo.export(Sums(), (tensors[0], tensors[1], {"k": tensors[2]}), kwargs={"scale": 2.0}, dynamic_axes=axes, capture=how)
    assert [i.shape for i in result.model.inputs] == [["n", 3]] * 3 and result.verification.ok
