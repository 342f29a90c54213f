"""Small random networks: two to five steps of a table, after one of several beginnings, as PyTorch modules. Where an engine and `cameo lint` differ, the network is small enough to be read.

A network is made from a seed and a number, so that it need not be kept. Each step knows the shape that it is given, and says what it became.
"""
import random

import torch
import torch.nn.functional as F
from torch import nn


class Step(nn.Module):
    """A function, with the module that it uses, if any."""

    def __init__(self, name, f, module=None):
        super().__init__()
        self.name, self.f, self.module = name, f, module

    def forward(self, x):
        return self.f(x) if self.module is None else self.f(x, self.module)


class Weights(nn.Module):
    def __init__(self, *shapes):
        super().__init__()
        self.p = nn.ParameterList([nn.Parameter(torch.randn(s) * 0.5) for s in shapes])


def layer(name, module):
    return Step(name, lambda x, m: m(x), module)


POINTWISE = {
    "relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "gelu": F.gelu, "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid, "elu": F.elu, "leaky": lambda x: F.leaky_relu(x, 0.1), "mish": F.mish, "softplus": F.softplus, "exp": torch.exp, "abs": torch.abs, "neg": torch.neg,
    "sqrt": lambda x: (x.abs() + 0.1).sqrt(), "rsqrt": lambda x: (x * x + 0.1).rsqrt(), "square": lambda x: x * x, "pow": lambda x: x.abs().pow(1.5), "clamp": lambda x: x.clamp(-0.5, 0.7),
    "relu6": F.relu6, "sin": torch.sin, "cos": torch.cos, "erf": torch.erf, "floor": lambda x: (x * 3.3).floor(), "sign": torch.sign, "log": lambda x: (x.abs() + 0.5).log(),
    "half": lambda x: x / 2, "one-minus": lambda x: 1 - x, "plus": lambda x: x + 0.5, "quick-gelu": lambda x: x * torch.sigmoid(1.702 * x), "logsigmoid": F.logsigmoid, "selu": F.selu,
    "softsign": F.softsign, "minimum": lambda x: torch.minimum(x, x * 0.5), "where": lambda x: torch.where(x > 0, x, x * 0.1), "mask": lambda x: x * (x > 0.1).float(),
    "masked-fill": lambda x: x.masked_fill(x < -0.3, -2.0), "residual": lambda x: x + torch.tanh(x), "gate": lambda x: x * torch.sigmoid(x + 1), "reciprocal": lambda x: 1 / (1 + x.abs()),
}


def pointwise(r, s):
    name = r.choice(list(POINTWISE))
    return Step(name, POINTWISE[name])


def scaled(r, s):
    keep = [d if r.random() < 0.5 else 1 for d in s[1:]]
    if r.random() < 0.4:
        while keep and keep[0] == 1 and len(keep) > 1:
            keep = keep[1:]
    else:
        keep = [1, *keep]
    f = r.choice([lambda x, m: x * m.p[0], lambda x, m: x + m.p[0], lambda x, m: m.p[0] - x, lambda x, m: x * m.p[0] + m.p[1], lambda x, m: x / (m.p[0].abs() + 1),
                  lambda x, m: torch.maximum(x, m.p[0])])
    return Step(f"scale{keep}", f, Weights(keep, keep))


def axes_of(r, s, most=2):
    n = r.randint(1, min(most, len(s) - 1))
    return tuple(sorted(r.sample(range(1, len(s)), n)))


def reduce(r, s):
    dims, keep = axes_of(r, s), r.random() < 0.5
    if not keep and len(s) - len(dims) < 2:
        keep = True
    name = r.choice(("mean", "mean", "sum", "amax", "amin", "norm", "var", "logsumexp"))
    f = {"mean": lambda x: x.mean(dims, keepdim=keep), "sum": lambda x: x.sum(dims, keepdim=keep), "amax": lambda x: x.amax(dims, keepdim=keep), "amin": lambda x: x.amin(dims, keepdim=keep),
         "norm": lambda x: x.norm(dim=dims, keepdim=keep), "var": lambda x: x.var(dims, keepdim=keep, unbiased=False), "logsumexp": lambda x: x.logsumexp(dims, keepdim=keep)}[name]
    return Step(f"{name}{dims}{'k' if keep else ''}", f)


def centred(r, s):
    dims = axes_of(r, s)
    return r.choice((Step(f"centre{dims}", lambda x: x - x.mean(dims, keepdim=True)), Step(f"attend{dims}", lambda x: x * torch.sigmoid(x.mean(dims, keepdim=True))),
                     Step(f"standard{dims}", lambda x: (x - x.mean(dims, keepdim=True)) / (x.var(dims, keepdim=True, unbiased=False) + 1e-5).sqrt()),
                     Step(f"rms{dims}", lambda x: x * (x.pow(2).mean(dims, keepdim=True) + 1e-6).rsqrt()), Step(f"unit{dims[:1]}", lambda x: F.normalize(x, dim=dims[0]))))


def soft(r, s):
    dim = r.randint(1, len(s) - 1)
    dim = dim - len(s) if r.random() < 0.5 else dim
    return r.choice((Step(f"softmax{dim}", lambda x: x.softmax(dim)), Step(f"softmax{dim}", lambda x: x.softmax(dim)), Step(f"logsoftmax{dim}", lambda x: x.log_softmax(dim)),
                     Step(f"weigh{dim}", lambda x: x * x.softmax(dim))))


def join(r, s):
    dim = r.randint(1, len(s) - 1)
    other = r.choice((torch.relu, torch.neg, lambda x: x, lambda x: x * 2))
    if r.random() < 0.2 and len(s) < 5:
        return Step(f"stack{dim}", lambda x: torch.stack([x, other(x)], dim))
    if r.random() < 0.2:
        return Step(f"cat-const{dim}", lambda x, m: torch.cat([m.p[0], x], dim), Weights((1, *[2 if i == dim else d for i, d in enumerate(s[1:], 1)])))
    return Step(f"cat{dim}", lambda x: torch.cat([x, other(x)], dim))


def part(r, s):
    dim = r.randint(1, len(s) - 1)
    d = s[dim]
    if d < 2:
        return None
    a = r.randint(1, d - 1)
    forms = [Step(f"chunk{dim}", lambda x: x.chunk(2, dim)[0] * x.chunk(2, dim)[1].sigmoid()) if d % 2 == 0 else None,
             Step(f"split{dim}", lambda x: torch.cat(list(reversed(x.split([a, d - a], dim))), dim)), Step(f"narrow{dim}", lambda x: x.narrow(dim, a, d - a)),
             Step(f"select{dim}", lambda x: x.select(dim, a)) if len(s) > 2 else None, Step(f"select-last{dim}", lambda x: x.select(dim, -1)) if len(s) > 2 else None,
             Step(f"flip{dim}", lambda x: x.flip(dim)), Step(f"roll{dim}", lambda x: x.roll(a, dim)), Step(f"every-second{dim}", lambda x: x[(slice(None),) * dim + (slice(None, None, 2),)]),
             Step(f"pick{dim}", lambda x, m: x.index_select(dim, m.i), _index(r, d)), Step(f"two-halves{dim}", lambda x: x.narrow(dim, 0, d // 2) - x.narrow(dim, d - d // 2, d // 2)),
             Step(f"unbind{dim}", lambda x: sum(x.unbind(dim))) if len(s) > 2 and d < 9 else None]
    return r.choice([f for f in forms if f])


def _index(r, d):
    m = nn.Module()
    m.register_buffer("i", torch.tensor([r.randrange(d) for _ in range(3)]))
    return m


def turn(r, s):
    dims = list(range(1, len(s)))
    r.shuffle(dims)
    if r.random() < 0.15 and len(s) > 2:
        dims.insert(r.randint(1, len(dims)), 0)
        return Step(f"permute{dims}", lambda x: x.permute(dims).contiguous())
    dims = [0, *dims]
    if dims == sorted(dims):
        return None
    return Step(f"permute{dims}", lambda x: x.permute(dims))


def shaped(r, s):
    rank = len(s)
    kind = r.choice(("merge", "merge", "divide", "flatten", "flatten", "add-axis", "add-axis", "drop-axis", "batch", "turned-merge"))
    if kind == "merge" and rank > 2:
        i = r.randint(1, rank - 2)
        to = [*s[:i], s[i] * s[i + 1], *s[i + 2:]]
        return Step(f"view{to}", lambda x: x.reshape(to))
    if kind == "divide" and rank < 5:
        i = r.randint(1, rank - 1)
        if s[i] % 2 or s[i] < 4:
            return None
        n = r.choice((2, s[i] // 2))
        to = [*s[:i], n, s[i] // n, *s[i + 1:]]
        return Step(f"view{to}", lambda x: x.reshape(to))
    if kind == "flatten" and rank > 2:
        i = r.randint(1, rank - 2)
        return Step(f"flatten{i}", lambda x: x.flatten(i))
    if kind == "add-axis" and rank < 5:
        i = r.choice((*range(1, rank + 1), -1))
        return Step(f"unsqueeze{i}", lambda x: x.unsqueeze(i))
    if kind == "drop-axis":
        ones = [i for i in range(1, rank) if s[i] == 1]
        if not ones or rank < 3:
            return None
        i = r.choice(ones)
        return Step(f"squeeze{i}", lambda x: x.squeeze(i))
    if kind == "batch" and rank > 2:
        to = r.choice(([s[1], 1, *s[2:]], [s[0] * s[1], *s[2:]]))
        return Step(f"view{to}", lambda x: x.reshape(to))
    if kind == "turned-merge" and rank > 3:
        dims = [0, *r.sample(range(1, rank), rank - 1)]
        to = [s[0], s[dims[1]], -1]
        return Step(f"permute{dims}view{to}", lambda x: x.permute(dims).reshape(to))
    return None


def norm_last(r, s):
    n = 2 if len(s) > 3 and r.random() < 0.2 else 1
    shape = list(s[-n:])
    kind = r.choice(("layer", "layer", "layer", "rms"))
    return layer(f"{kind}norm{n}", nn.LayerNorm(shape) if kind == "layer" else nn.RMSNorm(shape))


def linear(r, s):
    out = r.choice((4, 6, 8, s[-1]))
    return layer(f"linear{out}", nn.Linear(s[-1], out, bias=r.random() < 0.7))


def product(r, s):
    if len(s) < 3:
        return Step("matmul", lambda x, m: x @ m.p[0], Weights((s[-1], 5)))
    return r.choice((Step("self-product", lambda x: x @ x.transpose(-1, -2) / 4), Step("matmul", lambda x, m: x @ m.p[0], Weights((s[-1], 5))),
                     Step("matmul-left", lambda x, m: m.p[0] @ x, Weights((5, s[-2]))), Step("gram", lambda x: (x.transpose(-1, -2) @ x).softmax(-1)),
                     Step("self-attend", lambda x: (x @ x.transpose(-1, -2)).softmax(-1) @ x),
                     Step("einsum", lambda x, m: torch.einsum("...ij,jk->...ik", x, m.p[0]), Weights((s[-1], 3)))))


def padded(r, s):
    n = r.randint(1, min(2, len(s) - 1))
    amounts = [r.choice((0, 1, 2)) for _ in range(2 * n)]
    if not any(amounts):
        return None
    modes = ["constant", "value"] + (["reflect", "replicate"] if len(s) == n + 2 and min(s[-n:]) > 2 else [])
    mode = r.choice(modes)
    return Step(f"pad-{mode}{amounts}", lambda x: F.pad(x, amounts, value=0.3) if mode == "value" else F.pad(x, amounts, mode))


def repeated(r, s):
    n = [1, *[r.choice((1, 1, 2)) for _ in s[1:]]]
    ones = [i for i in range(1, len(s)) if s[i] == 1]
    if ones and r.random() < 0.6:
        to = [3 if i in ones else -1 for i in range(len(s))]
        return Step(f"expand{to}", lambda x: x.expand(to))
    return Step(f"repeat{n}", lambda x: x.repeat(n)) if max(n) > 1 else None


def ordered(r, s):
    dim = r.randint(1, len(s) - 1)
    d = s[dim]
    return r.choice((Step(f"cumsum{dim}", lambda x: x.cumsum(dim)), Step(f"topk{dim}", lambda x: x.topk(min(3, d), dim)[0]), Step(f"argmax{dim}", lambda x: x.argmax(dim, keepdim=True).float()),
                     Step(f"max{dim}", lambda x: x.max(dim, keepdim=True)[0]), Step("compare", lambda x: (x > x.mean()).float())))


class Heads(nn.Module):
    """Attention as libraries write it, in several of their forms."""

    def __init__(self, c, heads, form, bias):
        super().__init__()
        self.h, self.form = heads, form
        self.qkv, self.out = nn.Linear(c, 3 * c, bias=bias), nn.Linear(c, c)

    def forward(self, x):
        b, n, c = x.shape
        h, d = self.h, c // self.h
        if self.form == "packed":
            q, k, v = self.qkv(x).reshape(b, n, 3, h, d).permute(2, 0, 3, 1, 4).unbind(0)
        elif self.form == "chunks":
            q, k, v = (t.view(b, n, h, d).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        else:
            q, k, v = (t.reshape(b, n, h, d).permute(0, 2, 1, 3) for t in self.qkv(x).split(c, -1))
        y = F.scaled_dot_product_attention(q, k, v) if self.form == "split" else ((q @ k.transpose(-2, -1)) * d**-0.5).softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, n, c))


def block(r, s):
    """What networks of rows are made of."""
    c = s[2]
    kind = r.choice(("attention", "attention", "mlp", "glu", "conv1d", "norm-conv", "lstm", "gru", "mixer", "pool1d", "deconv1d", "multihead"))
    if kind == "attention" and c % 2 == 0 and c >= 4:
        form, bias = r.choice(("packed", "chunks", "split")), r.random() < 0.5
        inner = Heads(c, r.choice((1, 2)) if c < 8 else r.choice((2, 4)) if c % 4 == 0 else 2, form, bias)
        return r.choice((layer(f"attention-{form}", inner), Step(f"attention-{form}+", lambda x, m: x + m[1](m[0](x)), nn.Sequential(nn.LayerNorm(c), inner))))
    if kind == "mlp":
        return Step("mlp", lambda x, m: x + m(x), nn.Sequential(nn.LayerNorm(c), nn.Linear(c, 2 * c), r.choice((nn.GELU, nn.ReLU, nn.SiLU))(), nn.Linear(2 * c, c)))
    if kind == "glu":
        return Step("glu", lambda x, m: F.glu(m(x), -1), nn.Linear(c, 8))
    if kind == "conv1d":
        return layer("conv1d", nn.Sequential(nn.Conv1d(s[1], r.choice((4, 8)), 3, padding=1), nn.ReLU()))
    if kind == "norm-conv":
        return Step("transposed-conv1d", lambda x, m: m(x.transpose(1, 2)).transpose(1, 2), nn.Conv1d(c, 8, 3, padding=1, groups=1))
    if kind in ("lstm", "gru"):
        return Step(kind, lambda x, m: m(x)[0], (nn.LSTM if kind == "lstm" else nn.GRU)(c, 6, batch_first=True, bidirectional=r.random() < 0.4))
    if kind == "mixer":
        return Step("mixer", lambda x, m: m(x.transpose(1, 2)).transpose(1, 2), nn.Linear(s[1], s[1]))
    if kind == "pool1d" and c >= 4:
        return layer("pool1d", r.choice((nn.MaxPool1d(2), nn.AvgPool1d(2), nn.AdaptiveAvgPool1d(1), nn.AdaptiveMaxPool1d(2) if c % 2 == 0 else nn.AvgPool1d(3, 1, 1))))
    if kind == "deconv1d":
        return layer("deconv1d", nn.ConvTranspose1d(s[1], 4, 4, 2, 1))
    if kind == "multihead" and c % 2 == 0:
        return Step("multihead", lambda x, m: m(x, x, x, need_weights=False)[0], nn.MultiheadAttention(c, 2, batch_first=True))
    return None


class Excite(nn.Module):
    def __init__(self, c, form):
        super().__init__()
        self.form, self.a, self.b = form, nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1)
        self.fc = nn.Sequential(nn.Linear(c, 4), nn.ReLU(), nn.Linear(4, c), nn.Sigmoid())

    def forward(self, x):
        if self.form == "conv":
            return x * torch.sigmoid(self.b(F.relu(self.a(x.mean((2, 3), keepdim=True)))))
        y = F.adaptive_avg_pool2d(x, 1).flatten(1) if self.form == "pool" else x.mean((2, 3))
        return x * self.fc(y)[:, :, None, None]


def picture(r, s):
    _, c, h, w = s
    if min(h, w) < 3:
        return None
    kind = r.choice(("conv", "conv", "conv", "depthwise", "deconv", "bn", "pool", "pool", "adaptive", "resize", "resize", "shuffle", "group", "instance", "prelu", "excite", "convnext", "patch",
                     "window", "channel-shuffle", "unfold", "grid", "space-depth", "spp", "spatial", "pixels"))
    if kind == "conv":
        return layer("conv", nn.Conv2d(c, r.choice((4, 6, 8, 12)), r.choice((1, 3)), stride=r.choice((1, 1, 2)), padding=1, bias=r.random() < 0.7))
    if kind == "depthwise":
        return layer("depthwise", nn.Conv2d(c, c, 3, padding=2, dilation=2, groups=c))
    if kind == "deconv":
        return layer("deconv", r.choice((nn.ConvTranspose2d(c, 4, 2, 2), nn.ConvTranspose2d(c, 4, 3, 2, 1, 1), nn.ConvTranspose2d(c, c, 4, 2, 1, groups=c))))
    if kind == "bn":
        return layer("bn", nn.Sequential(nn.BatchNorm2d(c), nn.ReLU()))
    if kind == "pool":
        return layer("pool", r.choice((nn.MaxPool2d(2), nn.AvgPool2d(2), nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(3, 2, 1), nn.MaxPool2d(3, 2, ceil_mode=True),
                                       nn.AvgPool2d(3, 2, 1, count_include_pad=False),
                                       nn.AvgPool2d((h, 1)), nn.MaxPool2d((2, 1)))))
    if kind == "adaptive":
        n = r.choice((1, 1, 2, (1, None)))
        return layer(f"adaptive{n}", r.choice((nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d))(n)) if n != 2 or h % 2 == w % 2 == 0 else None
    if kind == "resize":
        mode = r.choice(("nearest", "bilinear", "bilinear", "bicubic"))
        corners = {} if mode == "nearest" else {"align_corners": r.random() < 0.4}
        how = r.choice(({"scale_factor": 2}, {"scale_factor": 2}, {"size": (h + 3, w * 2)}, {"scale_factor": 0.5}))
        return Step(f"{mode}{how}{corners}", lambda x: F.interpolate(x, mode=mode, **how, **corners))
    if kind == "shuffle" and c % 4 == 0:
        return layer("pixelshuffle", nn.PixelShuffle(2))
    if kind == "space-depth" and h % 2 == w % 2 == 0:
        return layer("pixelunshuffle", nn.PixelUnshuffle(2))
    if kind == "group" and c % 2 == 0:
        return layer("groupnorm", nn.GroupNorm(r.choice((1, 2)), c))
    if kind == "instance":
        return layer("instancenorm", nn.InstanceNorm2d(c, affine=r.random() < 0.6))
    if kind == "prelu":
        return layer("prelu", nn.PReLU(r.choice((1, c))))
    if kind == "excite":
        form = r.choice(("conv", "pool", "mean"))
        return layer(f"excite-{form}", Excite(c, form))
    if kind == "convnext":
        inner = nn.Sequential(nn.LayerNorm(c), nn.Linear(c, 2 * c), nn.GELU(), nn.Linear(2 * c, c))
        return Step("convnext", lambda x, m: x + m(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), inner)
    if kind == "patch":
        return Step("patch", lambda x, m: m(x).flatten(2).transpose(1, 2), nn.Conv2d(c, 8, 2, 2))
    if kind == "window" and h % 4 == w % 4 == 0:
        def windows(x):
            x = x.permute(0, 2, 3, 1).view(1, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
            x = x + x.softmax(1)
            return x.view(1, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(1, h, w, c)
        return Step("windows", windows)
    if kind == "channel-shuffle" and c % 2 == 0:
        return layer("channel-shuffle", nn.ChannelShuffle(2))
    if kind == "unfold" and h % 2 == w % 2 == 0:
        return layer("unfold", nn.Unfold(2, stride=2))
    if kind == "grid":
        return Step("grid", lambda x, m: F.grid_sample(x, torch.tanh(m.p[0]), align_corners=False), Weights((1, 5, 5, 2)))
    if kind == "spp":
        return Step("spp", lambda x: torch.cat([x, F.max_pool2d(x, 3, 1, 1), F.max_pool2d(x, 5, 1, 2)], 1))
    if kind == "spatial":
        return Step("spatial", lambda x, m: x * torch.sigmoid(m(torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1))), nn.Conv2d(2, 1, 3, padding=1))
    if kind == "pixels" and h % 2 == w % 2 == 0:
        return Step("pixels", lambda x: torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1))
    return None


def volume(r, s):
    _, c, *_ = s
    if min(s[2:]) < 2:
        return None
    return r.choice((layer("conv3d", nn.Conv3d(c, 4, 3, padding=1)), layer("bn3d", nn.BatchNorm3d(c)), layer("pool3d", nn.MaxPool3d(2)), layer("avg3d", nn.AvgPool3d(2)),
                     layer("adaptive3d", nn.AdaptiveAvgPool3d(1)), layer("up3d", nn.Upsample(scale_factor=2))))


ANY = ((pointwise, 6), (scaled, 3), (reduce, 3), (centred, 2), (soft, 2), (join, 2), (part, 4), (turn, 3), (shaped, 5),
       (norm_last, 2), (linear, 2), (product, 2), (padded, 1), (repeated, 1), (ordered, 1))
OF_RANK = {3: ((block, 14),), 4: ((picture, 26),), 5: ((volume, 6),)}


def step(r, s):
    """One step for this shape."""
    rows = [*ANY, *OF_RANK.get(len(s), ())]
    for _ in range(20):
        made = r.choices([f for f, _ in rows], [w for _, w in rows])[0](r, s)
        if made is not None:
            return made
    return pointwise(r, s)


BEGINNINGS = {
    "picture": ((1, 3, 16, 16), lambda: [layer("conv", nn.Conv2d(3, 8, 3, padding=1))]), "picture-bare": ((1, 4, 12, 16), list), "rows": ((1, 12, 32), lambda: [layer("linear", nn.Linear(32, 16))]),
    "rows-bare": ((1, 6, 16), list), "signal": ((1, 8, 40), lambda: [layer("conv1d", nn.Conv1d(8, 6, 3, padding=1))]), "vector": ((1, 24), lambda: [layer("linear", nn.Linear(24, 16))]),
    "vector-bare": ((1, 24), list), "tokens": ((1, 9), lambda: [layer("embedding", nn.Embedding(50, 16))]), "volume": ((1, 2, 8, 8, 8), lambda: [layer("conv3d", nn.Conv3d(2, 4, 3, padding=1))])}
LIKELY = (6, 2, 5, 2, 3, 2, 1, 2, 1)


class Chain(nn.Module):
    def __init__(self, start, steps):
        super().__init__()
        self.start, self.steps = start, nn.ModuleList(steps)

    def forward(self, x):
        for s in self.steps:
            x = s(x)
        return x

    def text(self):
        return f"{self.start}: " + " > ".join(s.name for s in self.steps)


def network(seed, number):
    """The module and its input."""
    r = random.Random(f"{seed}/{number}")
    torch.manual_seed(r.randrange(1 << 30))
    start = r.choices(list(BEGINNINGS), LIKELY)[0]
    shape, first = BEGINNINGS[start]
    x = torch.randint(0, 50, shape) if start == "tokens" else torch.randn(shape)
    steps, y = first(), x
    with torch.no_grad():
        for s in steps:
            y = s.eval()(y)
        wanted = len(steps) + r.randint(1, 4)
        for _ in range(12):
            if len(steps) == wanted:
                break
            made = step(r, tuple(y.shape)).eval()
            try:
                z = made(y)
            except (RuntimeError, ValueError, IndexError):
                continue
            if z.dim() < 2 or z.dim() > 5 or z.numel() > 40000 or not z.isfinite().all():
                continue
            steps.append(made)
            y = z
    return Chain(start, steps).eval(), x
