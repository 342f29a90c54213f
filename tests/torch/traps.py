"""The 84 semantic traps between PyTorch and ONNX, each a small function: traced, exported, run by onnxruntime and by
`cameo run`, compared with PyTorch.

usage: traps.py [--cameo PATH] [--only 7[,12]]
A trap that another part of the project answers for says so instead.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INF, NAN = float("inf"), float("nan")


@dataclass
class Trap:
    number: int
    name: str
    call: Any = None  # a function or module of the inputs
    inputs: tuple = ()
    scripted: bool = False
    flags: tuple = ()  # of cameo export
    more: tuple = ()  # further inputs that the same file must take
    rtol: float = 1e-4
    atol: float = 1e-5
    shapes_only: bool = False  # random numbers
    refused: str = ""  # the export must fail, with this in its message
    elsewhere: str = ""  # not a matter of lowering: who answers for it
    nan_only_cameo: str = ""  # onnxruntime's operator loses NaN: why only the reference engine is held to it
    opset: int = 20


def f32(*v): return torch.tensor(v, dtype=torch.float32)
def i64(*v): return torch.tensor(v, dtype=torch.int64)


def grid(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def in_place(x):
    x = x.clone()
    x[:, 1:3] += 1
    x[0].mul_(2)
    return x


def assign(x, mask, v):
    x = x.clone()
    x[mask] = v
    return x


def put_apart(x, i, j, v):
    x = x.clone()
    x[i, :, j] = v
    return x


def put_pair(x, i, j, v):
    x = x.clone()
    x[i, j] = v
    return x


class Branches(torch.nn.Module):
    def forward(self, x):
        if bool(x.sum() > 0):
            y = x + 1
        else:
            y = x * 2
        i = 0
        while bool(y.sum() < 50) and i < 20:
            y = y + 3
            i += 1
        return y


class Squeezes(torch.nn.Module):
    def forward(self, x):
        return x.squeeze(1) if x.size(1) == 1 else x.squeeze(0)


def norm_module(m, seed=3):
    g = torch.Generator().manual_seed(seed)
    for p in list(m.parameters()) + list(m.buffers()):
        if p.dtype == torch.float32: p.data = torch.rand(p.shape, generator=g) + 0.5
    return m.eval()


class Recurrent(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        torch.manual_seed(1)
        self.net = kind(4, 5, **options)

    def forward(self, x):
        out, state = self.net(x)
        return (out, *state) if isinstance(state, tuple) else (out, state)


class SamePad(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.a, self.b = torch.nn.Conv2d(2, 3, 4, padding="same"), torch.nn.Conv2d(3, 2, 3, padding="same", dilation=2)

    def forward(self, x): return self.b(self.a(x))


class Deconvolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.a = torch.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x): return self.a(x), self.a(x, output_size=(7, 8))


X = grid(2, 3, 4)
IMAGE = grid(1, 2, 7, 6)
MASKED = torch.tensor([[True, False, True, True], [False, False, False, False], [True, True, True, False]])
TRAPS = [
    Trap(1, "floor_divide of ints", lambda a, b: a // b, (i64(-7, 7, -7, 7, -6), i64(2, -2, -2, 2, 3))),
    Trap(2, "floor_divide of floats", lambda a, b: a // b, (f32(-7, 7, -7.5, 1, 6), f32(2, -2, 2, 0.25, -4))),
    Trap(3, "remainder and fmod", lambda a, b, x, y: (a % b, torch.fmod(a, b), x % y, torch.fmod(x, y)), (i64(-7, 7, -7, 7), i64(2, -2, -2, 2), f32(-7.5, 7.5, -7.5), f32(2, -2, -2))),
    Trap(4, "int / int", lambda a, b: a / b, (i64(7, -7), i64(2, 2))),
    Trap(5, "type promotion", lambda i, f, h: (i * 1.5, i + f[0], i * f, h + f[0], i + True, h * 2), (torch.tensor([1, 2], dtype=torch.int32), f32(1.5, 2), torch.tensor([1, 2], dtype=torch.float16)), rtol=1e-3),
    Trap(6, "sum, prod, cumsum of small types", lambda b, i: (b.sum(), b.sum(0), b.cumsum(0), i.sum(), i.prod(), i.cumsum(0)), (torch.tensor([True, True, False]), torch.tensor([100, 100, 100], dtype=torch.int8))),
    Trap(7, "variance with corrections", lambda x: (x.std(), x.var(1), x.var(1, correction=0), torch.var(x, 2, correction=2), x.std((0, 2))), (X,)),
    Trap(8, "argmax: first of ties", lambda x: (x.argmax(1), x.argmin(1), x.argmax()), (f32([1, 3, 3], [2, 2, 0]),)),
    Trap(9, "amax keeps NaN", lambda x: (x.amax(1), x.max()), (f32([1, NAN, 2], [0, 1, 2]),), nan_only_cameo="onnxruntime's ReduceMax drops NaN (deploy.md O09)"),
    Trap(10, "max(dim) gives the first of ties", lambda x: torch.max(x, 1), (f32([3, 3, 1], [0, 2, 2]),)),
    Trap(11, "topk values", lambda x: torch.topk(x, 2)[0], (f32([1, 2, 2, 0], [5, 5, 5, 1]),)),
    Trap(12, "stable sort", lambda x: (*torch.sort(x, stable=True), *torch.sort(x, stable=True, descending=True), torch.argsort(x, stable=True)), (f32([2, 1, 2, 1]),)),
    Trap(13, "topk with k from a size", lambda x: torch.topk(x, min(3, x.shape[1]), dim=1)[0], (grid(2, 6),), flags=("--input", "x=f32[n,6]"), more=((grid(5, 6, seed=1),),)),
    Trap(14, "max_pool1d whose kernel is a size", lambda x: F.max_pool1d(x, x.size(2)), (grid(2, 3, 5),)),
    Trap(15, "max_pool indices within a plane", lambda x: F.max_pool2d(x, 2, return_indices=True), (grid(2, 3, 4, 6),)),
    Trap(16, "pooling with ceil_mode", lambda x: (F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.max_pool2d(x, 2, 2, ceil_mode=True), F.avg_pool2d(x, 2, 3, ceil_mode=True)), (IMAGE,)),
    Trap(17, "avg_pool counting padding, with ceil_mode", lambda x: (F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)), (IMAGE,), opset=18),
    Trap(18, "avg_pool with divisor_override", lambda x: F.avg_pool2d(x, 2, divisor_override=3), (IMAGE,)),
    Trap(19, "adaptive pools to sizes that do not divide", lambda x: (F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_max_pool2d(x, (3, 4)), F.adaptive_avg_pool2d(x, 1)), (IMAGE,)),
    Trap(19, "adaptive pool of an image whose size is not known", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), (IMAGE,),
         flags=("--input", "x=f32[n,c,h,w]"), more=((grid(1, 2, 5, 9),), (grid(1, 2, 2, 17),))),
    Trap(20, "nearest", lambda x: (F.interpolate(x, scale_factor=2.0), F.interpolate(x, size=(5, 9))), (IMAGE,)),
    Trap(21, "nearest-exact", lambda x: F.interpolate(x, size=(3, 4), mode="nearest-exact"), (IMAGE,)),
    Trap(22, "bilinear, and to size 1", lambda x: (F.interpolate(x, size=(5, 9), mode="bilinear"), F.interpolate(x, size=(1, 1), mode="bilinear"), F.interpolate(x, size=(4, 3), mode="bilinear", align_corners=True)), (IMAGE,)),
    Trap(23, "a scale factor that is kept", lambda x: (F.interpolate(x, scale_factor=1.7, mode="bilinear"), F.interpolate(x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True)), (IMAGE,)),
    Trap(24, "bicubic, and antialiased", lambda x: (F.interpolate(x, size=(5, 9), mode="bicubic"), F.interpolate(x, size=(3, 4), mode="bicubic", antialias=True), F.interpolate(x, size=(3, 4), mode="bilinear", antialias=True)), (IMAGE,), rtol=1e-3, atol=1e-4),
    Trap(25, "index_put with several index tensors", lambda x, i, j, v, w: (put_pair(x, i, j, v), put_apart(x, i, j[0], w)), (grid(4, 5, 3), i64([0, 1], [2, 3]), i64([1, 2], [0, 4]) % 3, f32(1, 2, 3), grid(2, 2, 5))),
    Trap(26, "index_put that accumulates duplicates", lambda x, i, v: x.index_put((i,), v, accumulate=True), (f32(0, 0, 0), i64(1, 1, 2), f32(1, 2, 3))),
    Trap(27, "negative indices", lambda x, i: (x[i], x[-1], x[:, -2:], x[..., -1], x[i, i]), (grid(3, 4), i64(-1, 0, -2))),
    Trap(28, "masks: reading, writing, masked_scatter", lambda x, m, v: (x[m], assign(x, m, 5.0), x.masked_fill(m, 1.0), x.masked_scatter(m, v)), (grid(3, 4), MASKED, grid(12, seed=2))),
    Trap(29, "in-place on views", in_place, (grid(3, 4),)),
    Trap(30, "select at an index", lambda x: (x[1], x.select(2, -1)), (X,)),
    Trap(31, "scatter_reduce: mean, without self", lambda x, i, s: (x.scatter_reduce(1, i, s, "mean", include_self=False), x.scatter_reduce(1, i, s, "amax", include_self=False), x.scatter_reduce(1, i, s, "prod"), x.scatter_reduce(1, i, s, "mean")), (grid(2, 4), i64([0, 0, 1], [2, 2, 2]), grid(2, 3, seed=1))),
    Trap(32, "scatter", lambda x, i, s: (x.scatter(1, i, s), x.scatter(1, i, 7.0)), (grid(2, 4), i64([0, 2, 1], [3, 2, 0]), grid(2, 3, seed=1))),
    Trap(33, "repeat_interleave", lambda x, r: (x.repeat_interleave(2), x.repeat_interleave(3, dim=1), x.repeat_interleave(r, dim=0)), (grid(3, 2), i64(2, 0, 3))),
    Trap(34, "unfold", lambda x: (F.unfold(x, (2, 3), padding=1, stride=2), x.unfold(2, 3, 2)), (IMAGE,)),
    Trap(35, "fold", lambda x: F.fold(x, (4, 5), (2, 3), padding=1, stride=2), (grid(1, 12, 9),)),
    Trap(36, "roll", lambda x: (x.roll(1), x.roll((1, -2), (0, 2)), x.roll(7, 1)), (X,)),
    Trap(37, "tril and triu", lambda x: (x.tril(), x.triu(1), x.tril(-1), (x > 0).tril(), x.to(torch.int32).triu(-1)), (grid(3, 4),)),
    Trap(38, "cumsum, cumprod, flip", lambda x: (x.cumsum(1), x.cumprod(1), x.flip(1).cumsum(1).flip(1)), (f32([1, -2, 0, 3], [2, 2, -1, 4]),)),
    Trap(39, "unique with its inverse", lambda x: torch.unique(x, return_inverse=True, return_counts=True), (i64([3, 1], [3, 2]),)),
    Trap(40, "nonzero", lambda x: (x.nonzero(), *x.nonzero(as_tuple=True)), (f32([0, 1], [2, 0]),)),
    Trap(41, "einsum", lambda a, b, m: (torch.einsum("...ij,...jk->...ik", a, b), torch.einsum("ii->i", m), torch.einsum("bij->bj", a), torch.einsum("ij,kl->ikjl", m, m)), (X, grid(2, 4, 5), grid(3, 3))),
    Trap(42, "grid_sample", lambda x, g: tuple(F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=a) for m, p, a in (("bilinear", "zeros", False), ("nearest", "border", True), ("bilinear", "reflection", False), ("bicubic", "zeros", True))), (IMAGE, grid(1, 4, 5, 2) * 0.8), rtol=1e-3, atol=1e-4),
    Trap(43, "affine_grid", lambda t: (F.affine_grid(t, [2, 3, 4, 5], align_corners=False), F.affine_grid(t, [2, 3, 4, 5], align_corners=True)), (grid(2, 2, 3),)),
    Trap(44, "multinomial without replacement", lambda p: torch.multinomial(p, 3), (torch.rand(2, 6, generator=torch.Generator().manual_seed(0)),), shapes_only=True),
    Trap(45, "random numbers", lambda x: (torch.rand_like(x), torch.randn(2, 3) + x[0, 0], torch.bernoulli(x.sigmoid())), (grid(2, 3),), shapes_only=True),
    Trap(46, "batch norm in eval", norm_module(torch.nn.BatchNorm2d(2)), (IMAGE,)),
    Trap(47, "batch norm without running statistics", norm_module(torch.nn.BatchNorm2d(2, track_running_stats=False)), (IMAGE,)),
    Trap(48, "gelu", lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), (X,)),
    Trap(48, "gelu below opset 20", lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), (X,), opset=13),
    Trap(49, "layer norm over two axes", norm_module(torch.nn.LayerNorm((3, 4))), (X,)),
    Trap(49, "layer norm below opset 17", norm_module(torch.nn.LayerNorm((3, 4))), (X,), opset=13),
    Trap(50, "group norm, affine per channel", norm_module(torch.nn.GroupNorm(2, 6)), (grid(2, 6, 3, 3),)),
    Trap(50, "group norm at opset 21", norm_module(torch.nn.GroupNorm(2, 6)), (grid(2, 6, 3, 3),), opset=21),
    Trap(51, "instance norm with running statistics", norm_module(torch.nn.InstanceNorm2d(2, affine=True, track_running_stats=True)), (IMAGE,)),
    Trap(52, "attention: masks, and rows masked whole", lambda q, k, v, m, b: (F.scaled_dot_product_attention(q, k, v, m), F.scaled_dot_product_attention(q, k, v, b)), (grid(1, 2, 3, 4), grid(1, 2, 4, 4, seed=1), grid(1, 2, 4, 4, seed=2), MASKED, grid(3, 4, seed=3))),
    Trap(53, "attention: causal, scale, grouped", lambda q, k, v, kg: (F.scaled_dot_product_attention(q, k, v, is_causal=True), F.scaled_dot_product_attention(q, k, v, scale=0.3), F.scaled_dot_product_attention(q, kg, kg, enable_gqa=True)), (grid(1, 4, 3, 4), grid(1, 4, 5, 4, seed=1), grid(1, 4, 5, 4, seed=2), grid(1, 2, 5, 4, seed=3))),
    Trap(54, "masks of finfo.min", lambda x, m: (x.masked_fill(m, torch.finfo(x.dtype).min).softmax(-1), (x + torch.zeros_like(x).masked_fill(m, torch.finfo(x.dtype).min)).softmax(-1)), (grid(3, 4), MASKED)),
    Trap(55, "logsumexp of nothing but -inf", lambda x: (torch.logsumexp(x, 1), torch.logsumexp(x, (0, 1))), (f32([-INF, -INF], [1, 2]),)),
    Trap(56, "softmax of an inner axis below opset 13", lambda x: (x.softmax(1), x.log_softmax(0)), (X,), opset=11),
    Trap(57, "clamp with min above max, with tensors", lambda x, lo, hi: (x.clamp(1, -1), x.clamp(lo, hi), x.clamp(min=lo), x.clamp(max=0.5)), (f32(-2, 0, 2), f32(-1, 1, 1), f32(0, 0, 3))),
    Trap(58, "pow", lambda i, x: (i ** 2, i ** 0.5, 2 ** i, x ** i, i ** x), (i64(1, 2, 3), f32(0.5, 1.5, 2))),
    Trap(59, "float to int", lambda x: (x.to(torch.int32), x.to(torch.int64), x.int()), (f32(1.9, -1.9, 2.5, -0.5),)),
    Trap(60, "round half to even, with decimals", lambda x: (x.round(), torch.round(x, decimals=1), torch.round(x * 10, decimals=-1)), (f32(0.5, 1.5, 2.5, -0.5, 0.125, 12.34),)),
    Trap(61, "squeeze of a size that is not 1", lambda x: (x.squeeze(1), x.squeeze(0), x.squeeze(), x.squeeze((0, 1))), (grid(1, 3, 1, 2),)),
    Trap(61, "squeeze decided by the program", Squeezes(), (grid(1, 3, 2),), scripted=True, flags=("--input", "x=f32[1,3,2]")),
    Trap(62, "view with empty axes", lambda x: (x.view(0, 6), x.reshape(3, 0), x.flatten(1)), (torch.zeros(2, 0, 3),)),
    Trap(63, "expand with -1", lambda x: (x.expand(-1, 4), x.expand(2, -1, 4), x.expand_as(torch.zeros(3, 4))), (grid(3, 1),)),
    Trap(64, "cat with an empty 1-D tensor", lambda x: torch.cat([torch.zeros(0), x, x], 1), (grid(2, 3),)),
    Trap(65, "empty tensors: sums", lambda x: (x.sum(), x.sum(0), x.prod(0), x.mean(1)), (torch.zeros(0, 3),)),
    Trap(66, "0-d and 1-D", lambda x: (x[0], x[0:1], x.sum(), x.sum(0, keepdim=True), x[0] * x, x.max()), (f32(1, 2, 3),)),
    Trap(67, "split and chunk, uneven", lambda x: (*x.split(3), *x.chunk(3), *x.split([1, 4, 2]), *x.tensor_split(3)), (grid(7, 2),)),
    Trap(68, "flip", lambda x: (x.flip(1), x.flip(0, 2), torch.fliplr(x)), (X,)),
    Trap(69, "pads: reflect, replicate, circular, negative", lambda x: tuple(F.pad(x, p, mode=m) for p, m in (((1, 2, 0, 3), "reflect"), ((1, 2, 0, 3), "replicate"), ((1, 2, 3, 0), "circular"), ((-1, 2, 0, -2), "constant"), ((-1, 2, 0, -2), "replicate"))), (IMAGE,)),
    Trap(69, "circular padding below opset 19", lambda x: F.pad(x, (1, 2, 3, 0), mode="circular"), (IMAGE,), opset=17),
    Trap(70, "convolution with padding='same'", SamePad(), (IMAGE,)),
    Trap(71, "transposed convolution: output padding, output size", Deconvolution(), (grid(1, 2, 4, 4),)),
    Trap(72, "LSTM, GRU, RNN: gates, layers, directions", Recurrent(torch.nn.LSTM, num_layers=2, bidirectional=True), (grid(6, 2, 4),)),
    Trap(72, "GRU, batch first", Recurrent(torch.nn.GRU, num_layers=2, batch_first=True), (grid(2, 6, 4),)),
    Trap(72, "LSTM with a projection", Recurrent(torch.nn.LSTM, proj_size=3), (grid(6, 2, 4),)),
    Trap(72, "RNN, relu, one sequence, no bias", Recurrent(torch.nn.RNN, nonlinearity="relu", bias=False), (grid(6, 4),)),
    Trap(73, "hardsigmoid and hardswish", lambda x: (F.hardsigmoid(x), F.hardswish(x)), (X * 4,)),
    Trap(74, "pixel shuffle and unshuffle", lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2)), (grid(1, 8, 4, 6),)),
    Trap(75, "median, kthvalue, mode, bucketize, searchsorted", lambda x, e: (x.median(), x.median(1)[0], x.kthvalue(2, 1)[0], x.mode(1)[0], torch.bucketize(x, e), torch.bucketize(x, e, right=True), torch.searchsorted(e, x)), (f32([3, 1, 2, 2], [5, 0, 0, 7]), f32(0, 1, 2, 3))),
    Trap(76, "arange and linspace", lambda x: (torch.arange(0, 1, 0.1) + x, torch.arange(1, 2.05, 0.15) + x, torch.linspace(0, 1, 7) + x, torch.arange(5) + x), (f32(1),)),
    Trap(77, "bits and shifts of signed ints", lambda a, b: (a & b, a | b, a ^ b, ~a, a << 2, a >> 1, torch.bitwise_left_shift(a, b.abs() % 4)), (i64(-5, 6, 7), i64(3, -2, 1))),
    Trap(78, "Python floats stay weak", lambda x: (x * 0.1, x + 1.5, (x * 2.0).softmax(-1) / 3.0), (torch.tensor([1.0, 2.0], dtype=torch.float16),), rtol=1e-2, atol=1e-2),
    Trap(79, "detach, alias, lifted constants", lambda x: (x.detach() + torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.ops.aten.alias(x) * 1.0, x.clone()), (X,)),
    Trap(80, "ends of INT64_MAX", lambda x: (x[1:], x[:, ::2], x[..., 1:100]), (X,)),
    Trap(81, "fft, stft, istft, complex products", lambda x: (torch.fft.fft(x).abs(), torch.fft.irfft(torch.fft.rfft(x) * (1 + 2j)), torch.stft(x, 8, window=torch.hann_window(8), return_complex=True),
                                                              torch.istft(torch.stft(x, 8, window=torch.hann_window(8), return_complex=True), 8, window=torch.hann_window(8))), (grid(2, 32),), rtol=1e-3, atol=1e-4),
    Trap(82, "embedding with padding_idx, embedding_bag", lambda i, w: (F.embedding(i, w, padding_idx=0), F.embedding_bag(i, w, mode="mean"), F.embedding_bag(i.flatten(), w, i64(0, 2, 3), mode="sum"), F.embedding_bag(i, w, mode="max"),
                                                                               F.embedding_bag(i, w, mode="mean", padding_idx=0), F.embedding_bag(i, w, mode="max", padding_idx=-2), torch.embedding_bag(w, i.flatten(), i64(0, 2, 2), False, 2)[3]), (i64([0, 2, 1], [3, 3, 0]), grid(5, 4))),
    Trap(83, "norms", lambda x: (x.norm(), x.norm(p=INF), x.norm(p=1, dim=1), torch.linalg.vector_norm(x, 3, dim=2), torch.linalg.norm(x[0], INF), F.normalize(x, dim=1)), (X,)),
    Trap(84, "branches and loops on data", Branches(), (f32(1, 2, 3),), scripted=True, flags=("--input", "x=f32[n]"), more=((f32(-1, -2, -3),), (f32(100),))),
]


def flatten(v):
    return [v] if isinstance(v, torch.Tensor) else [t for part in v for t in flatten(part)]


def as_numpy(t):
    t = t.detach()
    return (torch.view_as_real(t) if t.is_complex() else t).contiguous().numpy()


def archive_of(trap, path):
    module = trap.call
    if not isinstance(module, torch.nn.Module):
        class Module(torch.nn.Module):
            def forward(self, *x): return trap.call(*x)
        module = Module()
    module.eval()
    with torch.no_grad():
        if trap.scripted: archive = torch.jit.script(module)
        elif trap.flags and not isinstance(trap.call, torch.nn.Module):  # a parameter's name is needed
            class Named(torch.nn.Module):
                def forward(self, x): return trap.call(x)
            archive = torch.jit.trace(Named(), trap.inputs, check_trace=False)
        else: archive = torch.jit.trace(module, trap.inputs, check_trace=False)
    archive.save(path)
    return module


def differs(trap, got, expected):
    if len(got) != len(expected): return f"{len(got)} outputs instead of {len(expected)}"
    for i, (a, t) in enumerate(zip(got, expected)):
        b = as_numpy(t)
        if list(a.shape) != list(b.shape): return f"output {i}: shape {a.shape} instead of {b.shape}"
        if a.dtype != b.dtype: return f"output {i}: {a.dtype} instead of {b.dtype}"
        if not trap.shapes_only and not np.allclose(a, b, rtol=trap.rtol, atol=trap.atol, equal_nan=True): return f"output {i}: {a.flatten()[:6]} instead of {b.flatten()[:6]}"
    return ""


def run_onnxruntime(model, feeds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, {spec.name: feeds[spec.name] for spec in session.get_inputs()})


def run_cameo(cameo, model, feeds, folder):
    import onnx
    np.savez(folder / "in.npz", **feeds)
    done = subprocess.run([cameo, "-q", "run", model, "--inputs", folder / "in.npz", "-o", folder / "out.npz"], capture_output=True, text=True)
    if done.returncode != 0: raise RuntimeError(done.stderr.strip())
    out = np.load(folder / "out.npz")
    return [out[o.name] for o in onnx.load(model).graph.output]


def judge(trap, cameo, folder):
    """Nothing when all is right, else what is wrong."""
    import onnx
    folder = pathlib.Path(folder)
    module = archive_of(trap, folder / "trap.pt")
    model = str(folder / "trap.onnx")
    done = subprocess.run([cameo, "-q", "export", folder / "trap.pt", "-o", model, "--opset", str(trap.opset), *trap.flags], capture_output=True, text=True)
    if trap.refused: return "" if done.returncode == 1 and trap.refused in done.stderr else f"is not refused: {done.stderr}"
    if done.returncode != 0: return "export: " + (done.stderr.splitlines() or ["?"])[0]
    graph = onnx.load(model).graph
    for inputs in (trap.inputs, *trap.more):
        with torch.no_grad(): expected = flatten(module(*[t.clone() for t in inputs]))
        names = [v.name for v in graph.input]
        given = {n: as_numpy(inputs[int(n.rsplit("_", 1)[-1]) - 1 if n.startswith("argument") else i]) for i, n in enumerate(names)}
        for engine, run in (("onnxruntime", lambda given=given: run_onnxruntime(model, given)), ("cameo run", lambda given=given: run_cameo(cameo, model, given, folder))):
            if engine == "onnxruntime" and trap.nan_only_cameo: continue
            try: problem = differs(trap, run(), expected)
            except Exception as e: problem = str(e).splitlines()[0][:300]
            if problem: return f"{engine}: {problem}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    wanted = {int(n) for n in args.only.split(",") if n}
    right = wrong = other = 0
    for trap in TRAPS:
        if wanted and trap.number not in wanted: continue
        if trap.elsewhere:
            print(f"{trap.number:3} {trap.name}: {trap.elsewhere}")
            other += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            try: problem = judge(trap, args.cameo, folder)
            except Exception as e: problem = f"{type(e).__name__}: {str(e).splitlines()[0][:200]}"
        right, wrong = right + (not problem), wrong + bool(problem)
        if problem: print(f"{trap.number:3} {trap.name}: {problem}")
    print(f"{right} right, {wrong} wrong, {other} elsewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
