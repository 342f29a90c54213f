"""Layers in the manner of linger: trained with rounded numbers, written to ONNX as nodes of linger's domain.

linger's own package needs an older PyTorch, or a GPU's compiler. These layers stand in for it in the example and in the tests: they
round as linger does, keep a power of two as scale, and write the same nodes. Replace them by linger's, and the rest stays as it is.
"""
import torch
import torch.nn.functional as F
from torch import nn

PLATFORM = "venusA"


class Node(torch.autograd.Function):
    """One node of linger's domain. Tracing runs `compute`; the exporter asks `symbolic` for the node."""

    @staticmethod
    def forward(ctx, op, outputs, compute, attributes, *operands):
        return compute(*operands)

    @staticmethod
    def symbolic(g, op, outputs, compute, attributes, *operands):
        return g.op(f"linger::{op}", *operands, outputs=outputs, **attributes)


def node(op, compute, attributes, *operands, outputs=1):
    return Node.apply(op, outputs, compute, attributes, *operands)


def rounded(v, mode):
    """floor(v + 0.5), or half to even; gradients pass as if nothing was rounded."""
    return v + ((v + 0.5).floor() - v if mode == "floor_add" else v.round() - v).detach()


def quantised(v, scale, bits=8, mode="floor_add"):
    top = 2.0 ** (bits - 1)
    return rounded(v * scale, mode).clamp(-top, top - 1) / scale


class Quantizer(nn.Module):
    """Follows the largest number while training, and rounds to a power of two that makes it fit."""

    def __init__(self, bits=8, mode="floor_add"):
        super().__init__()
        self.bits, self.mode = bits, mode
        self.register_buffer("largest", torch.tensor(0.0))

    @property
    def scale(self):
        exponent = torch.round(self.bits - 1 - torch.log2(self.largest.clamp(min=1e-6)))
        return float(2.0 ** exponent.clamp(0, 23))

    def forward(self, v):
        if torch.onnx.is_in_onnx_export():
            return v
        if self.training:
            now = v.detach().abs().max()
            self.largest = now if self.largest == 0 else 0.9 * self.largest + 0.1 * now
        return quantised(v, self.scale, self.bits, self.mode)


class Quantised:
    """A layer with quantisers around it. `scale_x` is that of the layer before, or of an own quantiser at the model's input."""

    def prepare(self, source=None, weighted=True):
        self.source = [source]  # no child: the layer before owns its quantiser
        self.quant_x = None if source is not None else Quantizer()
        self.quant_o = Quantizer()
        self.quant_w = Quantizer(mode="round") if weighted else None

    @property
    def scale_x(self):
        return self.quant_x.scale if self.quant_x is not None else self.source[0].quant_o.scale

    def attributes(self, **more):
        out = {"platform_s": PLATFORM, "quant_mode_s": "floor_add", "x_bits_i": 8, "scale_x_f": self.scale_x, "o_bits_i": 8, "scale_o_f": self.quant_o.scale}
        if self.quant_w is not None:
            out |= {"w_bits_i": 8, "scale_w_f": self.quant_w.scale}
        return out | more

    def entered(self, x):
        """The input on its grid. At the model's input the file gets a Quant."""
        if self.quant_x is None:
            return x
        if torch.onnx.is_in_onnx_export():
            return node("Quant", lambda v: v, {"data_bits_i": 8, "scale_x_f": self.scale_x, "platform_s": PLATFORM, "zero_point_i": 0}, x)
        return self.quant_x(x)

    def rounded_bias(self):
        return None if self.bias is None else quantised(self.bias, self.scale_x * self.quant_w.scale, 32, "round")


class QConv2d(Quantised, nn.Conv2d):
    def __init__(self, *args, source=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.prepare(source)

    def forward(self, x):
        x = self.entered(x)
        if not torch.onnx.is_in_onnx_export():
            return self.quant_o(self._conv_forward(x, self.quant_w(self.weight), self.rounded_bias()))
        window = {"kernel_shape_i": list(self.kernel_size), "strides_i": list(self.stride), "pads_i": list(self.padding) * 2, "dilations_i": list(self.dilation), "group_i": self.groups}
        operands = [x, self.weight] + ([] if self.bias is None else [self.bias])
        return node("QConv2d", lambda x, w, b=None: F.conv2d(x, w, b, self.stride, self.padding, self.dilation, self.groups), self.attributes(**window), *operands)


class QBatchNorm2d(Quantised, nn.BatchNorm2d):
    """Folded to one factor and one summand for each channel."""

    def __init__(self, *args, source=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.prepare(source)

    def folded(self, x):
        if self.training:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(var, self.momentum)
        else:
            mean, var = self.running_mean, self.running_var
        alpha = self.weight / torch.sqrt(var + self.eps)
        return alpha, self.bias - mean * alpha

    def forward(self, x):
        x = self.entered(x)
        alpha, beta = self.folded(x)
        apply = lambda x, a, b: x * a[:, None, None] + b[:, None, None]  # noqa: E731
        if torch.onnx.is_in_onnx_export():
            return node("QBatchNorm2d", apply, self.attributes(), x, alpha, beta)
        alpha = self.quant_w(alpha)
        return self.quant_o(apply(x, alpha, quantised(beta, self.scale_x * self.quant_w.scale, 32, "round")))


class QLinear(Quantised, nn.Linear):
    def __init__(self, *args, source=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.prepare(source)

    def forward(self, x):
        x = self.entered(x)
        if not torch.onnx.is_in_onnx_export():
            return self.quant_o(F.linear(x, self.quant_w(self.weight), self.rounded_bias()))
        operands = [x, self.weight] + ([] if self.bias is None else [self.bias])
        return node("QLinear", F.linear, self.attributes(), *operands)


class QAdd(Quantised, nn.Module):
    """Each side is brought to the result's scale first."""

    def __init__(self, left, right):
        super().__init__()
        self.prepare(left, weighted=False)
        self.right = [right]

    def forward(self, x, y):
        if torch.onnx.is_in_onnx_export():
            return node("QAdd", torch.add, self.attributes(y_bits_i=8, scale_y_f=self.right[0].quant_o.scale), x, y)
        if self.training:
            return self.quant_o(x + y)
        scale = self.quant_o.scale
        return self.quant_o(rounded(x * scale, "floor_add") / scale + rounded(y * scale, "floor_add") / scale)
