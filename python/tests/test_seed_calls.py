"""The ways people call PyTorch's exporter, from tutorials and notes, by their numbers; the result is judged by onnxruntime.

Not run as they stand: 24 and 27 where torchvision does not load (its operators are declared here), 25 (linger's own package needs PyTorch 1.9
or a GPU's compiler: a model written in its manner stands for it)."""
import ctypes
import dataclasses
import io
import shutil
import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import cameo  # noqa: E402


class SuperResolution(nn.Module):
    def __init__(self, factor=3):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 5, padding=2), nn.Conv2d(8, factor**2, 3, padding=1)
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, x):
        return self.shuffle(self.conv2(F.relu(self.conv1(x))))


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, a, b):
        return self.conv(a).flatten(1).mean(1, keepdim=True) * b


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop, self.fc = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Dropout(), nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(self.drop(self.norm(self.conv(x)).relu().mean((2, 3))))


def image(n=1, c=3, h=16, w=16):
    return torch.randn(n, c, h, w, generator=torch.Generator().manual_seed(n + h + w))


def names(result):
    return [i.name for i in result.model.inputs], [o.name for o in result.model.outputs]


def ops(result):
    return [n.op for n in result.model.nodes]


def codes(result):
    return [d.code for d in result.findings]


def test_01_plain(judged):
    result = judged(Classifier().eval(), image())
    assert result.model.inputs[0].shape == [1, 3, 16, 16] and result.verification.ok


def test_02_super_resolution(judged):
    axes = {"input": {0: "batch_size"}, "output": {0: "batch_size"}}
    result = judged(SuperResolution().eval(), image(1, 1), export_params=True, opset_version=12, do_constant_folding=True,
                    input_names=["input"], output_names=["output"], dynamic_axes=axes, others=[image(3, 1), image(7, 1)])
    assert result.model.inputs[0].shape[0] == "batch_size" and result.model.outputs[0].shape[0] == "batch_size"
    assert onnx.load_from_string(result.data).opset_import[0].version == 12


TWO = {"input_names": ["input_1", "input_2"], "output_names": ["output"]}


def test_03_lists_of_axes(judged):
    result = judged(TwoInputs().eval(), (image(2), torch.randn(2, 1)), **TWO, dynamic_axes={"input_1": [0, 2, 3], "input_2": [0], "output": [0, 1]},
                    others=[(image(3, 3, 9, 11), torch.randn(3, 1))])
    text = " ".join(d.what for d in result.findings)
    assert "input_1_dynamic_axes_1" in text and result.model.inputs[0].shape[2] == "input_1_dynamic_axes_2"


def test_04_named_axes(judged):
    axes = {"input_1": {0: "batch", 1: "width", 2: "height"}, "input_2": {0: "batch"}, "output": {0: "batch", 1: "detections"}}

    class Net(nn.Module):
        def forward(self, a, b):
            return a.sum((1, 2)) * b
    result = judged(Net(), (torch.randn(2, 5, 6), torch.randn(2)), **TWO, dynamic_axes={**axes, "output": {0: "batch"}}, others=[(torch.randn(3, 4, 9), torch.randn(3))])
    assert result.model.inputs[0].shape == ["batch", "width", "height"] and result.model.inputs[1].shape == ["batch"]


def test_05_mixed_axes(judged):
    result = judged(TwoInputs().eval(), (image(2), torch.randn(2, 1)), **TWO, dynamic_axes={"input_1": {0: "batch"}, "input_2": [0], "output": [0]})
    assert result.model.inputs[0].shape[0] == "batch" and result.model.inputs[1].shape[0] in ("batch", "input_2_dynamic_axes_1")


@pytest.mark.parametrize("kind", [getattr(torch.onnx, "OperatorExportTypes", cameo.OperatorExportTypes).ONNX_ATEN_FALLBACK,
                                  cameo.OperatorExportTypes.ONNX_ATEN_FALLBACK, "ONNX_ATEN_FALLBACK"])
def test_06_aten_fallback(judged, kind):
    judged(Classifier().eval(), image(), operator_export_type=kind, opset_version=11)

    class Unknown(nn.Module):
        def forward(self, x):
            return torch.linalg.ldl_factor(x.relu())[0]
    result = cameo.export(Unknown(), torch.eye(3) + 1, io.BytesIO(), operator_export_type=kind, opset_version=11)
    assert ops(result) == ["Relu", "ATen"]


def test_07_training_mode_without_no_grad(judged):
    model = Classifier()
    result = judged(model, image().requires_grad_())
    assert model.training and model.drop.training and "export.mode" in codes(result)


def test_08_file_object():
    buffer = io.BytesIO()
    cameo.export(Classifier().eval(), image(), buffer)
    onnx.checker.check_model(onnx.load_from_string(buffer.getvalue()))


class Repeat(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, n: int):
        for _ in range(n):
            x = torch.relu(self.fc(x))
        return x


def test_09_script_modules(judged):
    x = torch.randn(2, 4)
    model = Classifier().eval()
    judged(torch.jit.trace(model, image()), image(), example_outputs=model(image()))
    judged(torch.jit.script(model), image(), example_outputs=model(image()))
    result = cameo.export(torch.jit.script(Repeat().eval()), (x, 3), None)
    assert "Loop" in ops(result)


def test_10_script_function(judged):
    @torch.jit.script
    def f(x, y):
        return torch.cat([x, y], 1) * 2
    judged(f, (torch.randn(2, 3), torch.randn(2, 4)))


def test_11_opset_19(judged):
    result = judged(Classifier().eval(), (image()), opset_version=19, input_names=["input0"], output_names=["output0"])
    assert onnx.load_from_string(result.data).opset_import[0].version == 19 and names(result) == (["input0"], ["output0"])


def test_12_keywords_and_provable_sizes(tmp_path, judged):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)).eval()
    path = tmp_path / "net.onnx"
    result = cameo.export(model=model, args=image(), f=path, input_names=["in"], output_names=["out"],
                          dynamic_axes={"in": {2: "h", 3: "w"}, "out": {2: "h", 3: "w"}})
    judged.judge(path.read_bytes(), model, image(1, 3, 21, 30))
    assert result.model.outputs[0].shape[2:] == ["h - 4", "w - 4"]
    assert any("h - 4" in str(d) for d in result.findings)


def test_13_fixed_batch_is_refused(judged):
    model = nn.Linear(10, 2)
    fixed = cameo.Session(cameo.export(model, torch.randn(32, 10), None, input_names=["input"]).model)
    with pytest.raises(cameo.Error, match="axis 0 of the input 'input' has size 1, and the model wants 32"):
        fixed.run({"input": np.zeros((1, 10), "f")})
    judged(model, torch.randn(32, 10), input_names=["input"], dynamic_axes={"input": [0]}, others=[torch.randn(1, 10)])


def test_14_without_weights():
    model = Classifier().eval()
    result = cameo.export(model, image(), io.BytesIO(), export_params=False)
    inputs = names(result)[0]
    assert inputs[0] == "x" and [n for n in model.state_dict() if n in inputs] == inputs[1:] and "fc.weight" in inputs
    assert result.verification.ok


def test_15_initializers_as_inputs(judged):
    result = judged(Classifier().eval(), image(), keep_initializers_as_inputs=True)
    proto = onnx.load_from_string(result.data)
    assert {i.name for i in proto.graph.initializer} <= {i.name for i in proto.graph.input}


def test_16_verbose(capsys, judged):
    judged(Classifier().eval(), image(), verbose=True)
    assert "test_seed_calls.py" in capsys.readouterr().out


def test_17_custom_opset():
    result = cameo.export(_Custom(), torch.randn(3), io.BytesIO(), custom_opsets={"my": 2})
    assert result.model.opsets["my"] == 2 and ("my", "Twice") in [(n.domain, n.op) for n in result.model.nodes]


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def symbolic(g, x):
        return g.op("my::Twice", x, alpha_f=0.5, times_i=2, name_s="twice")


class _Custom(nn.Module):
    def forward(self, x):
        return _Twice.apply(x) + 1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.fc(x)) + x


@pytest.mark.parametrize("capture", ["trace", "export"])
@pytest.mark.parametrize("which", [True, {Block}])
def test_18_modules_as_functions(judged, which, capture):
    result = judged(nn.Sequential(Block(), Block()).eval(), torch.randn(2, 4), export_modules_as_functions=which, capture=capture)
    assert any("Block" in f.name for f in onnx.load_from_string(result.data).functions)


@pytest.mark.parametrize("option", ["use_external_data_format", "external_data"])
def test_19_external_data(tmp_path, option):
    model = nn.Linear(64, 64)
    path = tmp_path / "net.onnx"
    cameo.export(model, torch.randn(1, 64), path, **{option: True})
    assert [p.name for p in tmp_path.iterdir() if p.stat().st_size > 16000 and p.name != "net.onnx"] and path.stat().st_size < 4000


def test_20_training_modes():
    model = Classifier().train()
    training = cameo.export(model, image(2), None, training=torch.onnx.TrainingMode.TRAINING)
    assert "Dropout" in ops(training)
    kept = cameo.export(model.eval(), image(2), None, training=torch.onnx.TrainingMode.PRESERVE)
    assert "Dropout" not in ops(kept)


def test_21_old_arguments(tmp_path, judged):
    model = Classifier().eval()
    judged(model, image(), enable_onnx_checker=False)
    with_lines = judged(model, image(), strip_doc_string=False)
    assert all("test_seed_calls.py" in n.doc_string for n in onnx.load_from_string(with_lines.data).graph.node)
    bare = cameo.export(torch.nn.Softplus(beta=2), (torch.ones(2, 3),), strip_doc_string=False)  # its forward is PyTorch's own: the line that exports it
    assert all("test_seed_calls.py" in n.doc_string for n in bare.model.to_proto().graph.node)
    numbered = judged(model, image(), _retain_param_name=False)
    assert {i.name for i in onnx.load_from_string(numbered.data).graph.initializer} <= {str(i) for i in range(99)}
    assert set(ops(cameo.export(model, image(), None, aten=True))) == {"ATen"}
    cameo.export(model, image(), tmp_path / "text", export_raw_ir=True)
    assert "aten::" in (tmp_path / "text").read_text()


def test_21_positions_of_torch_1_8(judged):
    model, buffer = Classifier().eval(), io.BytesIO()
    result = cameo.export(model, image(), buffer, True, False, torch.onnx.TrainingMode.EVAL, ["a"], ["b"], False, False, None, 13)
    judged.judge(buffer.getvalue(), model, image())
    assert names(result) == (["a"], ["b"]) and result.model.opset == 13


@dataclasses.dataclass
class Answer:
    logits: torch.Tensor
    hidden: list


def test_22_structured_outputs(judged):
    class Net(nn.Module):
        def forward(self, x):
            return {"a": x + 1, "nested": [x * 2, (x * 3,)], "kind": "text"}
    result = judged(Net(), torch.randn(3))
    assert names(result)[1] == ["a", "nested.0", "nested.1.0"] and "export.output" in codes(result)

    class Data(nn.Module):
        def forward(self, x):
            return Answer(x + 1, [x * 2])
    assert names(judged(Data(), torch.randn(3)))[1] == ["logits", "hidden.0"]


class TextCnn(nn.Module):
    def __init__(self, cast):
        super().__init__()
        self.embed, self.conv, self.fc, self.cast = nn.Embedding(50, 8), nn.Conv1d(8, 6, 3), nn.Linear(6, 2), cast

    def forward(self, x):
        x4 = F.relu(self.conv(self.embed(x).transpose(1, 2)))
        x5 = F.max_pool1d(x4, int(x4.size(2)) if self.cast else x4.size(2)).squeeze()
        return self.fc(x5)


@pytest.mark.parametrize("cast", [False, True])
def test_23_text_cnn(judged, cast):
    def words(n, length):
        return torch.randint(0, 50, (n, length))
    model = TextCnn(cast).eval()
    sizes = [(2, 7), (5, 10), (5, 23), (2, 23)]
    result = judged(model, words(2, 10), input_names=["x"], dynamic_axes={"x": {0: "batch", 1: "length"}}, others=[words(*s) for s in sizes])
    assert any("batch" in str(d) and "1" in str(d) for d in result.findings)  # squeeze() takes a batch of 1 away: the model's rank changes
    for length in (7, 10, 23):
        x = words(1, length)
        got = result.session.run(None, {"x": x.numpy()})[0]
        np.testing.assert_allclose(got.ravel(), model(x).detach().numpy().ravel(), rtol=1e-3, atol=1e-4)


def plain_nms(boxes, scores, limit):
    """torchvision's operator, where torchvision itself is not installed or does not load."""
    kept = []
    for i in scores.argsort(descending=True).tolist():
        a = boxes[i]

        def overlap(j, a=a):
            b = boxes[j]
            inner = (torch.minimum(a[2:], b[2:]) - torch.maximum(a[:2], b[:2])).clamp(min=0).prod()
            return inner / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - inner)
        if all(overlap(j) <= limit for j in kept):
            kept.append(i)
    return torch.tensor(kept)


def test_24_nms_last(judged):
    try:
        torch.ops.torchvision.nms  # noqa: B018
    except AttributeError:
        test_24_nms_last.library = torch.library.Library("torchvision", "FRAGMENT")
        test_24_nms_last.library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        test_24_nms_last.library.impl("nms", plain_nms, "CPU")

    class Detector(nn.Module):
        def forward(self, boxes, scores):
            return boxes[torch.ops.torchvision.nms(boxes, scores, 0.5)]
    boxes = torch.rand(9, 4)
    boxes[:, 2:] += boxes[:, :2]
    boxes[1] = boxes[0] * 1.01  # one that is dropped
    result = judged(Detector(), (boxes, torch.rand(9)), dynamic_axes={"boxes": {0: "n"}, "scores": {0: "n"}}, others=[(boxes[:5], torch.rand(5))])
    assert "NonMaxSuppression" in ops(result) and not isinstance(result.model.outputs[0].shape[0], int)


def quantized(x, scale):
    return torch.clamp(torch.floor(x * scale + 0.5), -128, 127) / scale


class Quant(torch.autograd.Function):
    """As linger writes its nodes: the numbers of the integer kernel, and a node that names it."""

    @staticmethod
    def forward(ctx, x, scale):
        return quantized(x, scale)

    @staticmethod
    def symbolic(g, x, scale):
        return g.op("linger::Quant", x, data_bits_i=8, scale_x_f=scale, platform_s="venusA", zero_point_i=0)


class QLinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b, scales):
        return quantized(F.linear(x, quantized(w, scales[1]), b), scales[2])

    @staticmethod
    def symbolic(g, x, w, b, scales):
        return g.op("linger::QLinear", x, w, b, x_bits_i=8, w_bits_i=8, o_bits_i=8, scale_x_f=scales[0], scale_w_f=scales[1], scale_o_f=scales[2], quant_mode_s="floor_add")


class LingerLinear(nn.Linear):
    def forward(self, x):
        if torch.onnx.is_in_onnx_export():
            return QLinearFunction.apply(Quant.apply(x, 32.0), self.weight, self.bias, (32.0, 256.0, 64.0))
        return quantized(F.linear(quantized(x, 32.0), quantized(self.weight, 256.0), self.bias), 64.0)


def linger_export(model, args, f, **options):
    """linger.onnx.export: torch.onnx.export into memory, the nodes looked over, then a file."""
    buffer = io.BytesIO()
    torch.onnx.export(model, args, buffer, keep_initializers_as_inputs=False, **options)
    proto = onnx.load_from_string(buffer.getvalue())
    assert {n.op_type for n in proto.graph.node if n.domain == "linger"} == {"Quant", "QLinear"}
    onnx.save(proto, f)
    return proto


def test_25_linger(tmp_path):
    model = nn.Sequential(LingerLinear(6, 8), nn.ReLU(), LingerLinear(8, 3)).eval()
    with cameo.torch_onnx_export():
        proto = linger_export(model, torch.randn(2, 6), str(tmp_path / "q.onnx"), opset_version=12, input_names=["input"], output_names=["output"],
                              dynamic_axes={"input": {0: "batch"}}, operator_export_type="ONNX_ATEN_FALLBACK")
    assert {(i.domain, i.version) for i in proto.opset_import} == {("", 12), ("linger", 1)} and not torch.onnx.is_in_onnx_export()
    node = next(n for n in proto.graph.node if n.op_type == "QLinear")
    assert {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}["scale_w"] == 256.0


def test_25_quantisation_aware(judged):
    class Aware(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 4)

        def forward(self, x):
            x = torch.fake_quantize_per_tensor_affine(x, 1 / 32, 0, -128, 127)
            w = torch.fake_quantize_per_channel_affine(self.fc.weight, torch.full((4,), 1 / 256), torch.zeros(4, dtype=torch.int32), 0, -128, 127)
            return F.linear(x, w, self.fc.bias)
    result = judged(Aware().eval(), torch.randn(2, 6), opset_version=13)
    assert {"QuantizeLinear", "DequantizeLinear"} <= set(ops(result))


class NewInterpolate(torch.autograd.Function):
    @staticmethod
    def symbolic(g, input, scales):
        return g.op("Resize", input, g.op("Constant", value_t=torch.tensor([], dtype=torch.float32)), scales,
                    coordinate_transformation_mode_s="pytorch_half_pixel", cubic_coeff_a_f=-0.75, mode_s="cubic", nearest_mode_s="floor")

    @staticmethod
    def forward(ctx, input, scales):
        return F.interpolate(input, scale_factor=scales.tolist()[-2:], mode="bicubic", align_corners=False)


class Srcnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 9, padding=4)

    def forward(self, x, factor):
        return self.conv(NewInterpolate.apply(x, factor))


def test_26_scale_as_input(judged):
    result = judged(Srcnn().eval(), (image(1, 3, 8, 8), torch.tensor([1.0, 1, 3, 3])), opset_version=11, input_names=["input", "factor"],
                    output_names=["output"], others=[(image(1, 3, 8, 8), torch.tensor([1.0, 1, 4, 4]))])
    resize = [n for n in result.model.nodes if n.op == "Resize"][0]
    assert "factor" in resize.inputs


def test_27_registered_symbolics(judged):
    from torch.onnx import register_custom_op_symbolic, unregister_custom_op_symbolic

    class Asinh(nn.Module):
        def forward(self, x):
            return torch.asinh(x)

    class Erf(nn.Module):
        def forward(self, x):
            return torch.erf(x).reshape(-1) * 2
    register_custom_op_symbolic("aten::asinh", lambda g, x, *, out=None: g.op("Asinh", x), 9)
    register_custom_op_symbolic("aten::erf", lambda g, x: g.op("my::Erf", x, a_f=0.5), 9)
    try:
        assert ops(judged(Asinh(), torch.randn(3), opset_version=9)) == ["Asinh"]
        result = cameo.export(Erf(), torch.randn(2, 3), io.BytesIO())
        assert result.model.outputs[0].shape == [6] and "Erf" in ops(result)
    finally:
        unregister_custom_op_symbolic("aten::asinh", 9)
        unregister_custom_op_symbolic("aten::erf", 9)


def test_27_deform_conv2d():
    """Registered for an operator that torchvision has in C++."""
    from torch.onnx import register_custom_op_symbolic, unregister_custom_op_symbolic
    try:
        torch.ops.torchvision.deform_conv2d  # noqa: B018
    except AttributeError:
        library = test_27_deform_conv2d.library = torch.library.Library("torchvision", "FRAGMENT")
        library.define("deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, int stride_w, int pad_h, int pad_w, "
                       "int dilation_h, int dilation_w, int groups, int offset_groups, bool use_mask) -> Tensor")
        library.impl("deform_conv2d", lambda x, w, offset, mask, bias, *a: F.conv2d(x, w, bias), "CPU")

    def symbolic(g, x, w, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups, use_mask):
        return g.op("custom::DeformConv2d", x, w, offset, bias, strides_i=[stride_h, stride_w], groups_i=groups).setType(x.type().with_sizes([1, 4, 6, 6]))

    class Deform(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)

        def forward(self, x, offset):
            mask = torch.zeros(1, 1)
            return torch.ops.torchvision.deform_conv2d(x, self.conv.weight, offset, mask, self.conv.bias, 1, 1, 0, 0, 1, 1, 1, 1, False).relu()
    register_custom_op_symbolic("torchvision::deform_conv2d", symbolic, 11)
    try:
        result = cameo.export(Deform().eval(), (image(1, 3, 8, 8), torch.zeros(1, 18, 6, 6)), io.BytesIO(), opset_version=11)
    finally:
        unregister_custom_op_symbolic("torchvision::deform_conv2d", 11)
    assert ops(result) == ["DeformConv2d", "Relu"] and result.model.outputs[0].shape == [1, 4, 6, 6]


def test_27_cpp_extension(tmp_path):
    """A function in C++ behind an autograd Function: the tracer sees nothing of it, the symbolic says what it is."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("there is no C++ compiler")
    source, built = tmp_path / "add.cpp", tmp_path / "add.so"
    source.write_text('extern "C" void add_scaled(const float* a, const float* b, float* out, long n) { for (long i = 0; i < n; ++i) out[i] = 2 * a[i] + b[i]; }')
    subprocess.run([compiler, "-shared", "-fPIC", "-o", built, source], check=True)
    extension = ctypes.CDLL(str(built))

    class AddScaled(torch.autograd.Function):
        @staticmethod
        def symbolic(g, a, b):
            return g.op("Add", g.op("Mul", g.op("Constant", value_t=torch.tensor(2.0)), a), b)

        @staticmethod
        def forward(ctx, a, b):
            out = torch.empty_like(a)
            extension.add_scaled(*(ctypes.c_void_p(t.data_ptr()) for t in (a.contiguous(), b.contiguous(), out)), ctypes.c_long(out.numel()))
            return out

    class Model(nn.Module):
        def forward(self, a, b):
            return AddScaled.apply(a, b).relu()
    a, b, buffer = torch.randn(3, 4), torch.randn(3, 4), io.BytesIO()
    result = cameo.export(Model(), (a, b), buffer)
    assert sorted(ops(result)) == ["Add", "Mul", "Relu"] and result.model.outputs[0].shape == [3, 4] and result.verification.ok
    session = pytest.importorskip("onnxruntime").InferenceSession(buffer.getvalue())
    np.testing.assert_allclose(session.run(None, {"a": a.numpy(), "b": b.numpy()})[0], (2 * a + b).relu().numpy(), rtol=1e-5)


def test_28_what_tracing_freezes(judged):
    class Numpy(nn.Module):
        def forward(self, x):
            return x + torch.from_numpy(x.detach().numpy() * 0 + 1)

    class Length(nn.Module):
        def forward(self, x):
            return x * len(x)

    class Data(nn.Module):
        def forward(self, x):
            return x.data * 2

    class Shapes(nn.Module):
        def forward(self, x):
            n = x.shape[0]
            n += 2
            return x.view(n - 2, -1)
    axes = {"x": {0: "n"}}
    judged(Data(), torch.randn(2, 3), dynamic_axes=axes, others=[torch.randn(5, 3)])
    judged(Shapes(), torch.randn(2, 3, 2), dynamic_axes=axes, others=[torch.randn(5, 3, 2)])
    judged(Numpy(), torch.randn(2, 3))
    judged(Length(), torch.randn(2, 3), dynamic_axes=axes, others=[torch.randn(5, 3)])
    frozen = cameo.export(Length(), torch.randn(2, 3), io.BytesIO(), dynamic_axes=axes, verify="warn", capture="trace")
    assert any(d.code.startswith("export.frozen") and "test_seed_calls.py" in d.what for d in frozen.findings), [str(d) for d in frozen.findings]
    with pytest.raises(cameo.Error):
        cameo.export(Length(), torch.randn(2, 3), None, dynamic_axes=axes, strict=True, capture="trace")


def test_29_nested_inputs(judged):
    class Net(nn.Module):
        def forward(self, options, rest):
            y = options["image"] * options["k"] if options["mode"] == "fast" else options["image"]
            return y + rest[0] + rest[1][0]
    x, y, z = torch.randn(3), torch.randn(3), torch.randn(3)
    result = judged(Net(), ({"image": x, "mode": "fast", "k": 3}, [y, (z,)]))
    assert names(result)[0] == ["options.image", "rest.0", "rest.1.0"]
    assert sum(d.code == "export.fixed-input" for d in result.findings) == 2


class ReadPairs(nn.Module):
    def forward(self, data):
        return data[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])]


class WritePairs(nn.Module):
    def forward(self, data, new):
        data = data.clone()
        data[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])] = new
        return data


class WriteTwo(nn.Module):
    def forward(self, data, new):
        data = data.clone()
        data[torch.tensor([[1, 2], [2, 3]]), torch.tensor([2, 3])] = new
        return data


class WriteAround(nn.Module):
    def forward(self, data, new):
        data = data.clone()
        data[torch.tensor([2, 3]), :, torch.tensor([1, 2])] = new
        return data


@pytest.mark.parametrize("opset", [11, 16, "newest"])
@pytest.mark.parametrize("capture", ["trace", "script", "export"])
def test_30_31_32_indices(judged, capture, opset):
    if opset == "newest":  # of both: onnxruntime lags behind
        opset = min(cameo.newest_opset, onnx.defs.onnx_opset_version(), 26)
    data = torch.arange(7 * 5 * 4, dtype=torch.float32).reshape(7, 5, 4)
    judged(ReadPairs(), data, capture=capture, opset_version=opset)
    judged(WritePairs(), (data, torch.randn(2, 2, 4)), capture=capture, opset_version=opset)
    judged(WriteTwo(), (data, torch.randn(2, 2, 4)), capture=capture, opset_version=opset)
    judged(WriteAround(), (data, torch.randn(2, 5)), capture=capture, opset_version=opset)


def test_33_inference_session(tmp_path):
    path = tmp_path / "linear.onnx"
    model = nn.Linear(10, 2)
    cameo.export(model, torch.randn(32, 10), path, input_names=["input"])
    sess = cameo.InferenceSession(str(path))
    x = np.random.rand(32, 10).astype("f")
    assert sess.get_inputs()[0].name == "input" and sess.get_inputs()[0].shape == [32, 10] and sess.get_inputs()[0].type == "tensor(float)"
    np.testing.assert_allclose(sess.run(None, {"input": x})[0], model(torch.from_numpy(x)).detach().numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(cameo.Error, match="axis 0 of the input 'input' has size 1, and the model wants 32"):
        sess.run(None, {"input": x[:1]})


def test_34_merge(judged):
    ort = pytest.importorskip("onnxruntime")

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 8)

        def forward(self, x):
            return self.fc(x)

    class Post(nn.Module):
        def forward(self, raw):
            return raw.topk(3)[0]
    head, post = Head().eval(), Post()
    a = cameo.export(head, torch.randn(2, 6), None, output_names=["raw"]).model
    b = cameo.export(post, torch.randn(2, 8), None, input_names=["boxes"], output_names=["best"]).model
    merged = cameo.merge(a, b, connect={"raw": "boxes"})
    x = torch.randn(2, 6)
    got = ort.InferenceSession(merged.to_bytes()).run(None, {"x": x.numpy()})[0]
    np.testing.assert_allclose(got, post(head(x)).detach().numpy(), rtol=1e-4, atol=1e-5)
