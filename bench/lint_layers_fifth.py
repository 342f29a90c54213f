"""Small networks of the fifth held-out set of lint_models.py, written after the rules had learnt from the fourth."""
import torch
import torch.nn.functional as F
from torch import nn

from lint_layers import PICTURE, ROWS, SIGNAL, VOLUME, Fn, conv
from lint_layers_fourth import Parts
from lint_layers_third import TwoWay, block

S = nn.Sequential


def cross_stage(m, x):
    a, b = m.stem(x).chunk(2, 1)
    return m.out(torch.cat([a, b + m.inner(b)], 1))


def ghost(m, x):
    y = F.relu(m.a(x))
    return torch.cat([y, F.relu(m.b(y))], 1)


def large_kernel(m, x):
    a = m.e(x)
    return a * m.p(m.d(m.l(a)))


def style(m, x):
    y, w = m.a(x), m.w(F.adaptive_avg_pool2d(x, 1).flatten(1))
    mean, deviation = y.mean((2, 3), keepdim=True), y.std((2, 3), keepdim=True) + 1e-5
    scale, shift = w.chunk(2, 1)
    return (y - mean) / deviation * (1 + scale[..., None, None]) + shift[..., None, None]


def distances(m, x):
    p = m.e(x)
    away = (p.unsqueeze(2) - p.unsqueeze(1)).abs().sum(-1)
    return (-away).exp()


def pointer(m, x):
    e = m.e(x)
    scores = (e @ m.q) / 4
    return scores.softmax(1), e[:, 0] + (scores.softmax(1).unsqueeze(1) @ e).squeeze(1)


def wide_deep(m, x):
    return torch.sigmoid(m.w(x) + m.d(torch.cat([x, x[:, :4] * x[:, 4:8]], 1)))


def causal_mean(m, x):
    y = m.a(F.pad(x, (4, 0)))
    return y[:, :, :-1] * torch.sigmoid(y[:, :, 1:])


def tokens_and_picture(m, x):
    y = m.e(x).flatten(2).transpose(1, 2)
    y = torch.cat([m.cls.expand(y.shape[0], -1, -1), y], 1)
    y = y + m.mlp(m.n(y))
    return y[:, 0], y[:, 1:].transpose(1, 2).reshape(x.shape[0], 16, 4, 4)


def upscaled(m, x):
    base = F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
    return base + F.pixel_shuffle(m.b(F.relu(m.a(x))), 2)


def selective(m, x):
    a, b = m.a(x), m.b(x)
    w = m.mix(F.adaptive_avg_pool2d(a + b, 1)).view(x.shape[0], 2, 8, 1, 1).softmax(1)
    return (torch.stack([a, b], 1) * w).sum(1)


def boundary(m, x):
    p = torch.sigmoid(m.a(x))
    return 1 / (1 + torch.exp(-50 * (p - torch.sigmoid(m.b(x)))))


def angles(m, x):
    y = m.a(x)
    return torch.cat([F.normalize(y[..., :2], dim=-1), torch.tanh(y[..., 2:4]) * 3.1416, F.softplus(y[..., 4:])], -1)


def grouped_rows(m, x):
    b, n, c = x.shape
    y = x.view(b, n // 3, 3, c)
    return m.o(torch.cat([y.mean(2), y.amax(2), y[:, :, 0]], -1))


def frames(m, x):
    y = x.unfold(2, 8, 4)
    y = m.a(y - y.mean(-1, keepdim=True))
    return y.abs().clamp(min=1e-3).log().mean(1)


def bins(m, x):
    y = m.a(x).view(x.shape[0], -1, 3, 5).softmax(-1)
    return (y * torch.linspace(-1, 1, 5)).sum(-1)


def skip_twice(m, x):
    a = m.a(x)
    b = m.b(a) + a
    return F.hardtanh(m.c(b) + a - b, -1.0, 1.0)


def slices(m, x):
    y = m.e(x)
    return torch.cat([y[:, :, :-1] - y[:, :, 1:], y[:, :, -1:]], 2), y[:, :, ::2].sum(2)


def keys(m, x):
    q = m.q(x).view(x.shape[0], x.shape[1], 4, 4).transpose(1, 2)
    k, v = m.kv(x).view(x.shape[0], x.shape[1], 2, 4).unbind(2)
    a = (q @ k.unsqueeze(1).transpose(2, 3) * 0.5 + torch.full((x.shape[1], x.shape[1]), -1e4).triu(1)).softmax(-1)
    return m.o((a @ v.unsqueeze(1)).transpose(1, 2).flatten(2))


NETS = {
    "cross-stage": (lambda: Parts(cross_stage, stem=block(3, 16, act=nn.Mish), inner=S(block(8, 4, 1), block(4, 8)), out=nn.Conv2d(16, 8, 1)), PICTURE),
    "ghost": (lambda: Parts(ghost, a=nn.Conv2d(3, 8, 1), b=nn.Conv2d(8, 8, 3, padding=1, groups=8)), PICTURE),
    "large-kernel": (lambda: Parts(large_kernel, e=nn.Conv2d(3, 8, 1), l=nn.Conv2d(8, 8, 5, padding=2, groups=8), d=nn.Conv2d(8, 8, 7, padding=9, groups=8, dilation=3), p=nn.Conv2d(8, 8,
                        1)), PICTURE),
    "style-norm": (lambda: Parts(style, a=nn.Conv2d(3, 8, 3, padding=1), w=nn.Linear(3, 16)), PICTURE),
    "distances": (lambda: Parts(distances, e=nn.Linear(32, 6)), ROWS),
    "pointer": (lambda: Parts(pointer, e=nn.Linear(32, 16), q=(16,)), ROWS),
    "wide-deep": (lambda: Parts(wide_deep, w=nn.Linear(32, 1), d=S(nn.Linear(36, 12), nn.ReLU(), nn.BatchNorm1d(12), nn.Linear(12, 1))), (1, 32)),
    "causal-gate": (lambda: Parts(causal_mean, a=nn.Conv1d(8, 6, 5)), SIGNAL),
    "tokens-and-picture": (lambda: Parts(tokens_and_picture, e=nn.Conv2d(3, 16, 4, 4), cls=(1, 1, 16), n=nn.LayerNorm(16), mlp=S(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))), PICTURE),
    "upscaled": (lambda: Parts(upscaled, a=nn.Conv2d(3, 8, 3, padding=1), b=nn.Conv2d(8, 12, 3, padding=1)), PICTURE),
    "selective": (lambda: Parts(selective, a=block(3, 8), b=block(3, 8, 5), mix=nn.Conv2d(8, 16, 1)), PICTURE),
    "boundary": (lambda: Parts(boundary, a=S(conv(), nn.ConvTranspose2d(8, 1, 2, 2)), b=S(conv(), nn.ConvTranspose2d(8, 1, 2, 2))), PICTURE),
    "angles": (lambda: Parts(angles, a=nn.Linear(32, 6)), ROWS),
    "grouped-rows": (lambda: Parts(grouped_rows, o=nn.Linear(96, 8)), ROWS),
    "frames": (lambda: Parts(frames, a=nn.Linear(8, 5)), SIGNAL),
    "bins": (lambda: Parts(bins, a=nn.Linear(32, 15)), ROWS),
    "skip-twice": (lambda: Parts(skip_twice, a=block(3, 8), b=block(8, 8), c=nn.Conv2d(8, 8, 1)), PICTURE),
    "slices": (lambda: Parts(slices, e=nn.Conv1d(8, 6, 1)), SIGNAL),
    "one-key": (lambda: Parts(keys, q=nn.Linear(32, 16), kv=nn.Linear(32, 8), o=nn.Linear(16, 8)), ROWS),
    "pool-concat": (lambda: TwoWay(lambda a, b, c: torch.cat([a, b, c], 1), block(3, 4, s=2), nn.AvgPool2d(2), S(nn.MaxPool2d(2), nn.Conv2d(3, 2, 1))), PICTURE),
    "dense-block": (lambda: S(conv(), TwoWay(lambda a, b: torch.cat([a, b], 1), nn.Identity(), block(8, 4)), TwoWay(lambda a, b: torch.cat([a, b], 1), nn.Identity(), block(12, 4)),
                        nn.AvgPool2d(2)), PICTURE),
    "signal-pyramid": (lambda: TwoWay(lambda a, b: torch.cat([a, F.interpolate(b, scale_factor=2, mode="linear")], 1), nn.Conv1d(8, 4, 3, padding=1), S(nn.AvgPool1d(2), nn.Conv1d(8, 4, 3,
                        padding=1))), SIGNAL),
    "layer-norm-signal": (lambda: S(nn.Conv1d(8, 12, 3, padding=1), Fn(lambda x: x.transpose(1, 2)), nn.LayerNorm(12), nn.SiLU(), nn.Linear(12, 4)), SIGNAL),
    "gru-picture": (lambda: S(block(3, 4, s=2), Fn(lambda x: x.permute(0, 3, 1, 2).flatten(2)), Fn(lambda y: y[0], nn.GRU(32, 8, batch_first=True)), nn.Linear(8, 3)), PICTURE),
    "volume-head": (lambda: S(nn.Conv3d(2, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3d((1, 4, 4)), Fn(lambda x: x.squeeze(2)), nn.Conv2d(4, 3, 1)), VOLUME),
    "group-scaled": (lambda: S(nn.Conv2d(3, 8, 3, 2, 1), nn.GroupNorm(8, 8), nn.Hardtanh(-2, 2), nn.Conv2d(8, 8, 3, padding=1, padding_mode="replicate"), nn.Softplus()), PICTURE),
    "flat-classes": (lambda: S(nn.Conv2d(3, 4, 3, 2), nn.LeakyReLU(0.05), nn.Flatten(2), nn.AdaptiveMaxPool1d(5), nn.Flatten(), nn.Linear(20, 6), nn.LogSoftmax(-1)), PICTURE),
}


def build(name):
    make, shape = NETS[name]
    return make(), lambda b: torch.randn(b, *shape[1:])
