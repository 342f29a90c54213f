"""Small networks of the sixth held-out set of lint_models.py, written before the rules had learnt from the fifth: other kinds, other sizes, batches of two, pictures that are not square."""
import torch
import torch.nn.functional as F
from torch import nn

from lint_layers import Fn
from lint_layers_fourth import Parts
from lint_layers_third import TwoWay, block

S = nn.Sequential
TALL, PAIR, GREY, WORDS, WAVE, TABLE, CUBE = (1, 3, 20, 28), (2, 3, 16, 16), (1, 1, 24, 24), (1, 10, 24), (1, 2, 48), (2, 18), (1, 3, 6, 8, 10)


def tucker(m, x):
    return m.c(m.b(m.a(x))) + F.avg_pool2d(F.pad(x, (0, 1, 0, 1)), 2, 1)[:, :1]


def dynamic_conv(m, x):
    w = m.route(x.mean((2, 3))).softmax(1)
    outs = [c(x) for c in m.convs]
    return sum(w[:, i, None, None, None] * o for i, o in enumerate(outs))


def res2(m, x):
    a, b, c, d = torch.split(m.i(x), 4, 1)
    b = m.k1(b)
    c = m.k2(c + b)
    return m.o(torch.cat((a, b, c, F.avg_pool2d(d, 3, 1, 1)), 1)) + x.mean(1, keepdim=True)


def cross_scale(m, x):
    small = m.s(F.interpolate(x, scale_factor=0.5, mode="bilinear", align_corners=False))
    return m.c(x) * torch.sigmoid(F.interpolate(small, size=x.shape[-2:], mode="bilinear", align_corners=True))


def axial_pool(m, x):
    y = m.a(x)
    rows, cols = F.adaptive_avg_pool2d(y, (None, 1)), F.adaptive_avg_pool2d(y, (1, None))
    return m.o(y * torch.sigmoid(m.r(rows)) + y * torch.sigmoid(m.c(cols)))


def heat_to_points(m, x):
    h = m.a(x)
    b, k, hh, ww = h.shape
    p = h.flatten(2).softmax(-1).view(b, k, hh, ww)
    ys = (p.sum(3) * torch.arange(hh).float()).sum(-1)
    xs = (p.sum(2) * torch.arange(ww).float()).sum(-1)
    best = h.flatten(2).max(-1)
    return torch.stack([xs, ys, best[0]], -1)


def anchors(m, x):
    y = m.a(x)
    b, _, h, w = y.shape
    y = y.view(b, 3, 7, h, w).permute(0, 1, 3, 4, 2)
    gy, gx = torch.meshgrid(torch.arange(h).float(), torch.arange(w).float(), indexing="ij")
    xy = (torch.sigmoid(y[..., :2]) + torch.stack([gx, gy], -1)) * 8
    wh = torch.exp(y[..., 2:4].clamp(max=4)) * m.sizes.view(1, 3, 1, 1, 2)
    return torch.cat([xy - wh / 2, xy + wh / 2, torch.sigmoid(y[..., 4:])], -1).reshape(b, -1, 7)


def panoptic(m, x):
    f = m.e(x)
    q = m.q(m.query.weight)
    masks = torch.einsum("qc,bchw->bqhw", q, f)
    return F.interpolate(masks, scale_factor=2.0, mode="nearest"), m.cls(m.query.weight).unsqueeze(0).expand(x.shape[0], -1, -1) + f.mean((2, 3)).unsqueeze(1)[..., :5]


def ctc(m, x):
    y = m.conv(x)
    y = y.permute(3, 0, 1, 2).flatten(2)
    y, _ = m.rnn(y)
    return F.log_softmax(m.fc(y), 2)


def text_pool(m, x):
    e = F.normalize(m.e(x), dim=-1)
    w = torch.softmax(m.s(torch.tanh(e)).squeeze(-1), -1)
    mean = (w.unsqueeze(-1) * e).sum(1)
    dev = ((w.unsqueeze(-1) * (e - mean.unsqueeze(1)) ** 2).sum(1) + 1e-4).sqrt()
    return torch.cat([mean, dev], 1)


def xpos(m, x):
    b, n, c = x.shape
    q, k, v = m.qkv(x).view(b, n, 3, 3, 8).permute(2, 0, 3, 1, 4)
    t = torch.outer(torch.arange(n).float(), 1 / (100 ** (torch.arange(0, 8, 2).float() / 8)))
    cos, sin = torch.cat([t, t], -1).cos(), torch.cat([t, t], -1).sin()
    rot = lambda u: u * cos + torch.cat([-u[..., 4:], u[..., :4]], -1) * sin
    y = F.scaled_dot_product_attention(rot(q), rot(k), v, is_causal=True)
    return m.o(y.transpose(1, 2).reshape(b, n, c))


def sliding(m, x):
    n = x.shape[1]
    i = torch.arange(n)
    near = (i[:, None] - i[None]).abs() <= 2
    s = (m.q(x) @ m.k(x).transpose(1, 2)) / 24**0.5
    return m.v(x) + s.masked_fill(~near, float("-inf")).softmax(-1) @ m.v(x)


def multi_query(m, x):
    b, n, c = x.shape
    q = m.q(x).reshape(b, n, 4, 6).transpose(1, 2)
    k, v = m.kv(x).chunk(2, -1)
    return m.o((torch.matmul(q, k.unsqueeze(1).transpose(-1, -2)).mul(6**-0.5).softmax(-1) @ v.unsqueeze(1)).permute(0, 2, 1, 3).reshape(b, n, c))


def state_space(m, x):
    u = m.i(x)
    a = -F.softplus(m.a)
    n = u.shape[1]
    power = torch.exp(a * torch.arange(n - 1, -1, -1).float()[:, None])
    return m.o((u * power).cumsum(1) / power * F.silu(m.g(x)))


def hyena(m, x):
    v, g1, g2 = m.p(x).transpose(1, 2).chunk(3, 1)
    y = g1 * v
    y = m.long(F.pad(y, (9, 0)))
    return m.o((g2 * y).transpose(1, 2))


def gated_unit(m, x):
    y = m.n(x)
    gate = F.silu(m.u(y))
    base = F.silu(m.b(y))
    q, k = base * m.g[0] + m.s[0], base * m.g[1] + m.s[1]
    a = F.relu(q @ k.transpose(-2, -1) / x.shape[1]) ** 2
    return x + m.o(gate * (a @ F.silu(m.v(y))))


def perceiver(m, x):
    z = m.l.unsqueeze(0).repeat(x.shape[0], 1, 1)
    for att, mlp in zip(m.att, m.mlp):
        z = z + att(m.n(z), x, x, need_weights=False)[0]
        z = z + mlp(z)
    return z.mean(dim=1)


def wave_unet(m, x):
    a = F.leaky_relu(m.d1(x), 0.2)
    b = F.leaky_relu(m.d2(a[:, :, ::2]), 0.2)
    up = F.interpolate(b, scale_factor=2, mode="linear", align_corners=True)
    return torch.tanh(m.o(torch.cat([up[:, :, : a.shape[2]], a], 1)))


def spectrogram(m, x):
    frames = x[:, 0].unfold(1, 16, 8) * torch.hann_window(16)
    z = frames.unsqueeze(1)
    power = F.conv2d(z, m.cos.view(9, 1, 1, 16)).squeeze(3) ** 2 + F.conv2d(z, m.sin.view(9, 1, 1, 16)).squeeze(3) ** 2
    return m.o(torch.log(power + 1e-3).transpose(1, 2))


def quantile_heads(m, x):
    h = m.b(x)
    first = m.q(h)
    return torch.cat([first[:, :1], first[:, :1] + torch.cumsum(F.softplus(first[:, 1:]), -1)], -1)


def field_attention(m, x):
    e = x[:, :, None] * m.e
    q, k = e @ m.q, e @ m.k
    y = torch.softmax(q.bmm(k.transpose(1, 2)), dim=2).bmm(e)
    return m.o(F.relu(y + e).flatten(1))


def tabular(m, x):
    prior, total = torch.ones_like(x), 0
    y = m.n(x)
    for att, ft in zip(m.att, m.ft):
        mask = torch.softmax(att(y) * prior, -1)
        prior = prior * (1.3 - mask)
        a, b = ft(y * mask).chunk(2, -1)
        total = total + F.relu(a * torch.sigmoid(b))
    return m.o(total)


def spline(m, x):
    knots = torch.linspace(-2, 2, 6)
    basis = torch.exp(-((x.unsqueeze(-1) - knots) * 1.5) ** 2)
    return torch.einsum("bik,oik->bo", basis, m.w) + F.linear(F.silu(x), m.base)


def hyperbolic(m, x):
    u = m.a(x) * 0.3
    n = u.norm(dim=-1, keepdim=True).clamp(min=1e-5)
    p = torch.tanh(n) * u / n
    d = ((p.unsqueeze(1) - m.c) ** 2).sum(-1)
    return torch.log1p(2 * d / ((1 - (p**2).sum(-1, keepdim=True)) * (1 - (m.c.tanh() ** 2).sum(-1) * 0.1)).abs().clamp_min(1e-3))


def message(m, x):
    src, dst = m.edges
    msg = F.relu(m.msg(torch.cat([x[:, src], x[:, dst]], -1)))
    got = torch.zeros(x.shape[0], x.shape[1], 8).index_add(1, dst, msg)
    return m.up(torch.cat([x, got], -1))


def set_transformer(m, x):
    h = F.relu(m.a(x))
    return m.o(torch.cat([h.max(1)[0], h.mean(1), h.std(1)], 1))


def occupancy(m, x):
    y = m.a(x)
    return torch.sigmoid(m.o(torch.cat([y.amax(2), y.mean(2)], 1)))


def cost_volume(m, x):
    left = m.c(x)
    shifts = [F.pad(left, (i, 0))[..., : left.shape[-1]] for i in range(4)]
    cost = torch.stack([(left * s).sum(1) for s in shifts], 1)
    return (cost.softmax(1) * torch.arange(4).float().view(1, 4, 1, 1)).sum(1, keepdim=True)


def polar(m, x):
    y = m.a(x)
    re, im = y[:, ::2], y[:, 1::2]
    return torch.cat([(re * re + im * im + 1e-6).sqrt(), torch.atan2(im, re + 2.5)], 1)


def fourier_layer(m, x):
    c, s = m.cos, m.sin
    re, im = x @ c, x @ s
    gate = m.w
    return F.gelu(((re * gate) @ c.t() + (im * gate) @ s.t()) / 48 + m.skip(x))


def recurrent_refine(m, x):
    h = F.relu(m.i(x))
    for _ in range(3):
        h = m.n(h + m.b(F.relu(m.a(h))))
    return m.o(h)[:, :, 2:-2, 2:-2]


def haar(m, x):
    a, b, c, d = x[:, :, ::2, ::2], x[:, :, 1::2, ::2], x[:, :, ::2, 1::2], x[:, :, 1::2, 1::2]
    y = m.a(torch.cat([a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d], 1) / 2)
    return F.pixel_shuffle(y, 2)


def noise_levels(m, x):
    sigma = torch.full((x.shape[0], 1), 0.7).log() / 4
    e = m.t(torch.cat([torch.cos(sigma * m.freq), torch.sin(sigma * m.freq)], 1))
    scale, shift = e.unsqueeze(-1).unsqueeze(-1).chunk(2, 1)
    return m.o(F.silu(m.g(m.i(x)) * (scale + 1) + shift)) + x


def rezero(m, x):
    for r, layer in zip(m.r, m.layers):
        x = x + r * layer(x)
    return x.flatten(1).sigmoid()


def decay_rnn(m, x):
    h = torch.zeros(x.shape[0], 6)
    for t in range(4):
        z = torch.sigmoid(m.z(torch.cat([x[:, t], h], 1)))
        h = torch.lerp(h, torch.tanh(m.c(x[:, t])), z)
    return h


def boxes_decode(m, x):
    d, s = m.a(x), m.b(x)
    box = d.flatten(2).permute(0, 2, 1)
    cx, cy = box[..., 0] * 0.1 + 5, box[..., 1] * 0.1 + 5
    w, h = torch.exp(box[..., 2] * 0.2) * 4, torch.exp(box[..., 3] * 0.2) * 4
    scores, labels = s.flatten(2).transpose(1, 2).softmax(-1)[..., 1:].max(-1)
    return torch.stack((cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h), -1), scores, labels


def mixup_channels(m, x):
    y = m.a(x)
    b, c, h, w = y.shape
    y = y.reshape(b, c // 4, 4, h, w).flip(2).transpose(1, 2).reshape(b, c, h, w)
    return F.hardswish(m.n(y)) * F.hardsigmoid(m.g(y))


NETS = {
    "tucker": (lambda: Parts(tucker, a=nn.Conv2d(3, 2, 1, bias=False), b=nn.Conv2d(2, 2, 3, padding=1, bias=False), c=nn.Conv2d(2, 6, 1)), TALL),
    "dynamic-conv": (lambda: Parts(dynamic_conv, route=nn.Linear(3, 2), convs=nn.ModuleList([nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 5, padding=2)])), TALL),
    "res2": (lambda: Parts(res2, i=block(3, 16, 1), k1=block(4, 4), k2=block(4, 4), o=nn.Conv2d(16, 8, 1)), PAIR),
    "cross-scale": (lambda: Parts(cross_scale, s=block(3, 4), c=nn.Conv2d(3, 4, 3, padding=1)), TALL),
    "axial-pool": (lambda: Parts(axial_pool, a=block(3, 8), r=nn.Conv2d(8, 8, 1), c=nn.Conv2d(8, 8, 1), o=nn.Conv2d(8, 4, 1)), TALL),
    "heat-to-points": (lambda: Parts(heat_to_points, a=S(block(3, 8, s=2), nn.Conv2d(8, 5, 1))), PAIR),
    "anchor-boxes": (lambda: Parts(anchors, a=S(block(3, 8, s=2), nn.Conv2d(8, 21, 1)), sizes=torch.rand(3, 2) * 10 + 2), TALL),
    "panoptic": (lambda: Parts(panoptic, e=nn.Conv2d(3, 8, 3, 2, 1), query=nn.Embedding(6, 8), q=nn.Linear(8, 8), cls=nn.Linear(8, 5)), TALL),
    "ctc": (lambda: Parts(ctc, conv=S(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.MaxPool2d((2, 1))), rnn=nn.LSTM(24, 8, num_layers=2, bidirectional=True), fc=nn.Linear(16, 7)), GREY),
    "text-pool": (lambda: Parts(text_pool, e=nn.Linear(24, 12), s=nn.Linear(12, 1)), WORDS),
    "halves-rotary": (lambda: Parts(xpos, qkv=nn.Linear(24, 72), o=nn.Linear(24, 24)), WORDS),
    "sliding-window": (lambda: Parts(sliding, q=nn.Linear(24, 24), k=nn.Linear(24, 24), v=nn.Linear(24, 24)), WORDS),
    "multi-query": (lambda: Parts(multi_query, q=nn.Linear(24, 24), kv=nn.Linear(24, 12), o=nn.Linear(24, 24)), WORDS),
    "state-space": (lambda: Parts(state_space, i=nn.Linear(24, 8), g=nn.Linear(24, 8), o=nn.Linear(8, 24), a=(8,)), WORDS),
    "long-filter": (lambda: Parts(hyena, p=nn.Linear(24, 36), long=nn.Conv1d(12, 12, 10, groups=12), o=nn.Linear(12, 24)), WORDS),
    "gated-unit": (lambda: Parts(gated_unit, n=nn.LayerNorm(24), u=nn.Linear(24, 32), v=nn.Linear(24, 32), b=nn.Linear(24, 8), g=(2, 8), s=(2, 8), o=nn.Linear(32, 24)), WORDS),
    "perceiver": (lambda: Parts(perceiver, l=(5, 24), n=nn.LayerNorm(24), att=nn.ModuleList([nn.MultiheadAttention(24, 3, batch_first=True) for _ in range(2)]), mlp=nn.ModuleList(
                  [S(nn.LayerNorm(24), nn.Linear(24, 24), nn.GELU()) for _ in range(2)])), WORDS),
    "decoder-layer": (lambda: Parts(lambda m, x: m.d(x, x * 0.5, tgt_mask=torch.full((10, 10), float("-inf")).triu(1)), d=nn.TransformerDecoderLayer(24, 2, 32, batch_first=True)), WORDS),
    "wave-unet": (lambda: Parts(wave_unet, d1=nn.Conv1d(2, 8, 5, padding=2), d2=nn.Conv1d(8, 12, 5, padding=2), o=nn.Conv1d(20, 2, 1)), WAVE),
    "spectrogram": (lambda: Parts(spectrogram, cos=torch.randn(9, 16), sin=torch.randn(9, 16), o=nn.Linear(9, 4)), WAVE),
    "fourier-layer": (lambda: Parts(fourier_layer, cos=torch.randn(48, 6), sin=torch.randn(48, 6), w=(2, 6), skip=nn.Conv1d(2, 2, 1)), WAVE),
    "gru-signal": (lambda: S(nn.Conv1d(2, 6, 4, 4), nn.Hardtanh(), Fn(lambda x: x.transpose(1, 2)), Fn(lambda y: y[0][:, -1], nn.GRU(6, 5, 2, batch_first=True)), nn.Linear(5, 2)), WAVE),
    "strided-signal": (lambda: S(nn.Conv1d(2, 8, 7, 2, 3, bias=False), nn.BatchNorm1d(8), nn.ReLU6(), nn.AvgPool1d(3, 2, 1, count_include_pad=False), nn.Conv1d(8, 8, 3, padding=4,
                       dilation=4, groups=2), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(8, 3), nn.Sigmoid()), WAVE),
    "quantile-heads": (lambda: Parts(quantile_heads, b=S(nn.Linear(18, 12), nn.ELU()), q=nn.Linear(12, 5)), TABLE),
    "field-attention": (lambda: Parts(field_attention, e=(18, 6), q=(6, 6), k=(6, 6), o=nn.Linear(108, 2)), TABLE),
    "tabular-masks": (lambda: Parts(tabular, n=nn.BatchNorm1d(18), att=nn.ModuleList([nn.Linear(18, 18) for _ in range(2)]), ft=nn.ModuleList([nn.Linear(18, 16) for _ in range(2)]),
                      o=nn.Linear(8, 3)), TABLE),
    "spline": (lambda: Parts(spline, w=(4, 18, 6), base=(4, 18)), TABLE),
    "hyperbolic": (lambda: Parts(hyperbolic, a=nn.Linear(18, 4), c=torch.randn(5, 4) * 0.3), TABLE),
    "message-passing": (lambda: Parts(message, edges=torch.randint(0, 10, (2, 14)), msg=nn.Linear(48, 8), up=nn.Linear(32, 6)), WORDS),
    "set-pool": (lambda: Parts(set_transformer, a=nn.Linear(24, 8), o=nn.Linear(24, 3)), WORDS),
    "occupancy": (lambda: Parts(occupancy, a=S(nn.Conv3d(3, 4, (1, 3, 3), padding=(0, 1, 1)), nn.BatchNorm3d(4), nn.LeakyReLU(0.1)), o=nn.Conv2d(8, 2, 1)), CUBE),
    "cube-pool": (lambda: S(nn.Conv3d(3, 6, 3, 2, 1), nn.PReLU(6), nn.AvgPool3d((1, 2, 2)), nn.Flatten(), nn.Linear(72, 4)), CUBE),
    "cost-volume": (lambda: Parts(cost_volume, c=S(block(3, 6), nn.Conv2d(6, 4, 1))), TALL),
    "polar": (lambda: Parts(polar, a=nn.Conv2d(3, 8, 3, padding=1)), TALL),
    "refine": (lambda: Parts(recurrent_refine, i=nn.Conv2d(3, 6, 3, padding=1), a=nn.Conv2d(6, 6, 3, padding=1), b=nn.Conv2d(6, 6, 1), n=nn.GroupNorm(2, 6), o=nn.Conv2d(6, 3, 1)), TALL),
    "haar": (lambda: Parts(haar, a=nn.Conv2d(12, 12, 3, padding=1)), TALL),
    "noise-levels": (lambda: Parts(noise_levels, t=nn.Linear(12, 16), freq=torch.randn(1, 6), i=nn.Conv2d(3, 8, 3, padding=1), g=nn.GroupNorm(2, 8), o=nn.Conv2d(8, 3, 3, padding=1)), PAIR),
    "rezero": (lambda: Parts(rezero, r=(3,), layers=nn.ModuleList([S(nn.Conv2d(3, 3, 3, padding=1), nn.Tanh()) for _ in range(3)])), PAIR),
    "decay-rnn": (lambda: Parts(decay_rnn, z=nn.Linear(30, 6), c=nn.Linear(24, 6)), WORDS),
    "boxes-decoded": (lambda: Parts(boxes_decode, a=nn.Conv2d(3, 4, 3, 2, 1), b=nn.Conv2d(3, 5, 3, 2, 1)), TALL),
    "mixed-channels": (lambda: Parts(mixup_channels, a=nn.Conv2d(3, 8, 1), n=nn.BatchNorm2d(8), g=nn.Conv2d(8, 8, 1)), PAIR),
    "batch-rows": (lambda: S(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(294, 10), nn.Softmax(1)), PAIR),
    "grey-net": (lambda: S(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2, ceil_mode=True), nn.Conv2d(6, 8, 5), nn.Softsign(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                 nn.Linear(32, 10), nn.LogSoftmax(1)), GREY),
    "up-and-crop": (lambda: S(nn.Conv2d(1, 4, 3), nn.CELU(0.8), nn.ConvTranspose2d(4, 4, 3, 2, 1, output_padding=1, bias=False), nn.InstanceNorm2d(4, affine=True), nn.Hardswish(),
                    Fn(lambda x: x[..., 1:-1, 2:-2])), GREY),
    "reflected-blur": (lambda: Parts(lambda m, x: F.conv2d(F.pad(m.a(x), (2, 2, 2, 2), mode="reflect"), m.k.expand(4, 1, 5, 5), stride=2, groups=4), a=nn.Conv2d(1, 4, 1), k=(1, 1, 5, 5)), GREY),
    "two-heads": (lambda: TwoWay(lambda a, b: (a.argmax(1), b * a.amax(1)), S(nn.Linear(18, 6)), S(nn.Linear(18, 1), Fn(lambda x: x.squeeze(1)))), TABLE),
}


def build(name):
    make, shape = NETS[name]
    return make(), lambda b: torch.randn(b * shape[0], *shape[1:])
