"""Small networks of the fourth held-out set of lint_models.py: kinds that the first three sets do not have, from vision, language, tables, sound, points and control."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from lint_layers import PICTURE, ROWS, SIGNAL, VOLUME, Fn, conv
from lint_layers_third import TwoWay, block

S = nn.Sequential


class Parts(nn.Module):
    """A function of the input and of named layers: what is too small for a class of its own."""

    def __init__(self, f, **parts):
        super().__init__()
        self.f = f
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part)
            elif isinstance(part, nn.Module):
                self.add_module(name, part)
            else:
                self.register_parameter(name, nn.Parameter(torch.randn(part) * 0.3))

    def forward(self, x):
        return self.f(self, x)


def attention_gate(m, x):
    a = F.relu(m.a(x))
    g = F.relu(m.b(a))
    weights = torch.sigmoid(m.psi(F.relu(m.wa(a) + F.interpolate(m.wg(g), size=a.shape[2:], mode="bilinear"))))
    return torch.cat([a * weights, F.interpolate(g, scale_factor=2)], 1)


def hourglass(m, x):
    a = m.a(x)
    b = m.b(F.max_pool2d(a, 2))
    c = m.c(F.max_pool2d(b, 2))
    return m.out(F.interpolate(F.interpolate(c, scale_factor=2, mode="nearest") + b, scale_factor=2, mode="nearest") + a)


def involution(m, x):
    b, c, h, w = x.shape
    kernel = m.span(F.relu(m.reduce(x))).view(b, 2, 9, h, w).unsqueeze(2)
    patches = F.unfold(x, 3, padding=1).view(b, 2, c // 2, 9, h, w)
    return (kernel * patches).sum(3).view(b, c, h, w)


def retention(m, x):
    q, k, v = m.q(x), m.k(x), m.v(x)
    n = x.shape[1]
    away = torch.arange(n)[:, None] - torch.arange(n)[None, :]
    decay = torch.where(away >= 0, 0.9 ** away.clamp(min=0).float(), torch.zeros(()))
    return m.o(F.group_norm(((q @ k.transpose(1, 2)) * decay @ v).transpose(1, 2), 4).transpose(1, 2) * F.silu(m.g(x)))


def time_mix(m, x):
    before = F.pad(x, (0, 0, 1, -1))
    mix = torch.sigmoid(m.mix)
    k = torch.relu(m.k(x * mix + before * (1 - mix))) ** 2
    return torch.sigmoid(m.r(x * mix + before * (1 - mix))) * m.v(k)


def performer(m, x):
    q, k, v = m.q(x), m.k(x), m.v(x)
    phi = lambda t: torch.exp(t @ m.w - (t * t).sum(-1, keepdim=True) / 2) + 1e-4
    a, b = phi(q * 0.3), phi(k * 0.3)
    top = a @ (b.transpose(1, 2) @ v)
    return top / (a @ b.sum(1).unsqueeze(-1))


def linformer(m, x):
    q, k, v = m.qkv(x).chunk(3, -1)
    k, v = m.e(k.transpose(1, 2)).transpose(1, 2), m.f2(v.transpose(1, 2)).transpose(1, 2)
    return (q @ k.transpose(1, 2) * 32**-0.5).softmax(-1) @ v


def spatial_gate(m, x):
    u, v = F.gelu(m.i(x)).chunk(2, -1)
    return m.o(u * (m.s(m.n(v).transpose(1, 2)).transpose(1, 2) + 1))


def latents(m, x):
    z = m.z.expand(x.shape[0], -1, -1)
    q, k, v = m.q(z), m.k(x), m.v(x)
    split = lambda t: t.view(t.shape[0], t.shape[1], 4, 8).transpose(1, 2)
    y = F.scaled_dot_product_attention(split(q), split(k), split(v))
    return m.o(z + y.transpose(1, 2).flatten(2))


def slots(m, x):
    k, v, s = m.k(x), m.v(x), m.s.expand(x.shape[0], -1, -1)
    for _ in range(2):
        a = (k @ m.q(s).transpose(1, 2) * 0.2).softmax(-1) + 1e-6
        a = a / a.sum(1, keepdim=True)
        s = m.r((a.transpose(1, 2) @ v).reshape(-1, 32), s.reshape(-1, 32)).view(s.shape)
    return s


def capsule(m, x):
    u = m.a(x).view(x.shape[0], -1, 4)
    u = u * (u.norm(dim=-1, keepdim=True) / (1 + (u * u).sum(-1, keepdim=True)))
    y = torch.einsum("bni,nijk->bnjk", u[:, :16], m.w).sum(1)
    return y.norm(dim=-1)


def ode(m, x):
    for t in range(3):
        x = x + 0.1 * m.f1(torch.cat([x, torch.full_like(x[..., :1], t / 3)], -1))
    return x


def factors(m, x):
    e = m.v.unsqueeze(0) * x.unsqueeze(-1)
    return m.first(x).squeeze(-1) + 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(-1)


def crossed(m, x):
    y = x
    for w in (m.a, m.b):
        y = x * w(y) + y
    return torch.sigmoid(m.o(torch.cat([y, F.relu(m.d(x))], 1)))


def routed(m, x):
    p, i = m.route(x).softmax(-1).topk(2, -1)
    gate = torch.zeros(*x.shape[:-1], 4).scatter(-1, i, p)
    return sum(gate[..., k : k + 1] * m.experts[k](x) for k in range(4))


def shifted(m, x):
    b, n, _ = x.shape
    q, k = m.q(x).view(b, n, 4, 8).transpose(1, 2), m.k(x).view(b, n, 4, 8).transpose(1, 2)
    r = torch.einsum("bhid,jhd->bhij", q, m.r.view(n, 4, 8))
    r = F.pad(r, (1, 0)).view(b, 4, n + 1, n)[:, :, 1:].view(b, 4, n, n)
    return ((q @ k.transpose(2, 3) + r) / 8**0.5).softmax(-1).mean(1) @ m.v(x)


def interleaved(m, x):
    q = m.q(x)
    a, b = q[..., ::2], q[..., 1::2]
    angle = torch.arange(x.shape[1]).float()[:, None] * (10000 ** (-torch.arange(16).float() / 16))
    return m.o(torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2))


def windows(m, x):
    b, c, h, w = x.shape
    y = m.e(x).roll((-2, -2), (2, 3)).permute(0, 2, 3, 1)
    y = y.view(b, h // 4, 4, w // 4, 4, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, 8)
    q, k, v = m.qkv(m.n(y)).view(-1, 16, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
    y = ((q * 0.5) @ k.transpose(-2, -1) + m.bias).softmax(-1) @ v
    y = y.transpose(1, 2).reshape(-1, 4, 4, 8).view(b, h // 4, w // 4, 4, 4, 8).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, 8)
    return y.roll((2, 2), (1, 2)).permute(0, 3, 1, 2)


def focal(m, x):
    q, ctx, gates = torch.split(m.f1(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), (8, 8, 3), 1)
    total = 0
    for i, k in enumerate((m.k0, m.k1)):
        ctx = F.gelu(k(ctx))
        total = total + ctx * gates[:, i : i + 1]
    total = total + F.gelu(ctx.mean(2, keepdim=True).mean(3, keepdim=True)) * gates[:, 2:]
    return q * m.h(total)


def coordinates(m, x):
    b, _, h, w = x.shape
    ys, xs = torch.linspace(-1, 1, h), torch.linspace(-1, 1, w)
    grid = torch.stack([ys[:, None].expand(h, w), xs[None].expand(h, w)])[None].expand(b, -1, -1, -1)
    return m.c(torch.cat([x, grid, grid.pow(2).sum(1, keepdim=True).sqrt()], 1))


def spade(m, x):
    y = m.a(x)
    norm = F.instance_norm(y)
    s = F.relu(m.s(F.interpolate(x, size=y.shape[2:], mode="nearest")))
    return norm * (1 + m.g(s)) + m.b(s)


def correlation(m, x):
    a, b = m.f1(x).split(4, 1)
    b = F.pad(b, (1, 1, 1, 1))
    h, w = a.shape[2:]
    return torch.cat([(a * b[:, :, i : i + h, j : j + w]).mean(1, keepdim=True) for i in range(3) for j in range(3)], 1)


def conv_gru(m, x):
    h = torch.tanh(m.i(x))
    for _ in range(2):
        hx = torch.cat([h, x], 1)
        z, r = torch.sigmoid(m.z(hx)), torch.sigmoid(m.r(hx))
        h = (1 - z) * h + z * torch.tanh(m.q(torch.cat([r * h, x], 1)))
    return h


def neighbours(m, x):
    p = x.transpose(1, 2)
    away = p.pow(2).sum(-1, keepdim=True) - 2 * p @ x + x.pow(2).sum(1, keepdim=True)
    i = away.topk(4, largest=False)[1]
    near = torch.gather(p.unsqueeze(1).expand(-1, p.shape[1], -1, -1), 2, i.unsqueeze(-1).expand(-1, -1, -1, p.shape[2]))
    y = torch.cat([near - p.unsqueeze(2), p.unsqueeze(2).expand_as(near)], -1)
    return m.c(y.permute(0, 3, 1, 2)).max(-1)[0]


def graph_attention(m, x):
    h = m.w(x)
    e = F.leaky_relu(m.a(h) + m.b(h).transpose(1, 2), 0.2)
    return F.elu(torch.where(m.adjacent > 0.5, e, torch.full((), -1e9)).softmax(-1) @ h)


def chebyshev(m, x):
    t = [x, m.lap @ x]
    t.append(2 * (m.lap @ t[-1]) - t[-2])
    return F.relu(sum(w(y) for w, y in zip((m.a, m.b, m.c), t)))


def beats(m, x):
    back, total = x, 0
    for a, b, c in ((m.a0, m.b0, m.c0), (m.a1, m.b1, m.c1)):
        h = F.relu(a(back))
        back, total = back - b(h), total + c(h)
    return total


def moving(m, x):
    trend = F.avg_pool1d(torch.cat([x[:, :, :1].repeat(1, 1, 2), x, x[:, :, -1:].repeat(1, 1, 2)], 2), 5, 1)
    return m.s(x - trend) + m.t(trend)


def patches(m, x):
    mean, deviation = x.mean(2, keepdim=True), (x.var(2, keepdim=True, unbiased=False) + 1e-5).sqrt()
    y = ((x - mean) / deviation).unfold(2, 4, 2)
    return m.o(F.gelu(m.i(y)).flatten(2)) * deviation + mean


def bahdanau(m, x):
    y, h = m.r(x)
    e = m.v(torch.tanh(m.a(y) + m.b(h[-1]).unsqueeze(1))).squeeze(-1)
    return torch.bmm(e.softmax(1).unsqueeze(1), y).squeeze(1)


def speech(m, x):
    y = F.relu(m.a(x)).transpose(1, 2)
    y, (h, _) = m.l(y)
    return torch.sigmoid(m.o(F.relu(h[-1]))), y[:, -1]


def sinc(m, x):
    n = torch.arange(-8, 9).float()
    low = m.low.abs() + 0.1
    w = torch.sin(2 * math.pi * low[:, None] * n) / (math.pi * n + 1e-3) * (0.54 - 0.46 * torch.cos(2 * math.pi * (n + 8) / 16))
    return F.max_pool1d(F.conv1d(x[:, :1], w.unsqueeze(1), stride=1, padding=8).abs(), 2)


def mel(m, x):
    frames = x.mean(1).unfold(1, 8, 4) * m.window
    re, im = frames @ m.cos, frames @ m.sin
    power = re.pow(2) + im.pow(2)
    energy = torch.log10(torch.clamp(power @ m.bank, min=1e-5))
    return torch.maximum(energy, energy.amax((1, 2), keepdim=True) - 2.0) / 4 + 1


def demucs(m, x):
    y = F.glu(m.b(F.relu(m.a(x))), 1)
    z = m.l(y.permute(2, 0, 1))[0].permute(1, 2, 0)
    return m.d(F.glu(m.c(z + y), 1))


def highway(m, x):
    for h, t in ((m.h0, m.t0), (m.h1, m.t1)):
        gate = torch.sigmoid(t(x))
        x = F.relu(h(x)) * gate + x * (1.0 - gate)
    return x


def cells(m, x):
    h, out = torch.zeros(x.shape[0], 12), []
    for t in range(3):
        h = m.cell(x[:, t], h)
        out.append(m.o(h))
    return torch.stack(out, 1)


def codebook(m, x):
    z = m.a(x)
    flat = z.permute(0, 2, 3, 1).reshape(-1, 8)
    away = (flat**2).sum(1, keepdim=True) + (m.code**2).sum(1) - 2 * flat @ m.code.t()
    return m.b(F.embedding(away.argmin(1), m.code).view(x.shape[0], *z.shape[2:], 8).permute(0, 3, 1, 2))


def diffusion(m, x):
    t = torch.full((x.shape[0],), 7.0)
    f = t[:, None] * torch.exp(-math.log(10000.0) * torch.arange(8).float() / 8)
    e = m.t(F.silu(m.e(torch.cat([f.sin(), f.cos()], -1))))[:, :, None, None]
    y = m.a(F.silu(m.n0(m.i(x)))) + e
    b, c, h, w = y.shape
    q, k, v = m.qkv(m.n1(y)).reshape(b, 3, c, h * w).unbind(1)
    a = torch.einsum("bcn,bcm->bnm", q * c**-0.5, k).softmax(-1)
    return m.o(y + torch.einsum("bnm,bcm->bcn", a, v).reshape(b, c, h, w))


def unpartitioned(m, x):
    y = m.e(x)
    b, c, h, w = y.shape
    y = F.pad(y, (0, 2, 0, 2)).permute(0, 2, 3, 1)
    y = y.reshape(b, 3, (h + 2) // 3, 3, (w + 2) // 3, c).transpose(2, 3).reshape(-1, ((h + 2) // 3) * ((w + 2) // 3), c)
    y = m.f1(y)
    y = y.reshape(b, 3, 3, (h + 2) // 3, (w + 2) // 3, c).transpose(2, 3).reshape(b, h + 2, w + 2, c)
    return y[:, :h, :w].permute(0, 3, 1, 2)


def queries(m, x):
    y = m.e(x).flatten(2).permute(2, 0, 1)
    q = m.q.unsqueeze(1).repeat(1, x.shape[0], 1)
    z = m.n(q + m.att(q, y + m.pos, y)[0])
    return m.cls(z).transpose(0, 1), m.box(z).sigmoid().transpose(0, 1)


def pyramid(m, x):
    y = m.e(x)
    return m.o(torch.cat([y, *[F.interpolate(c(F.adaptive_avg_pool2d(y, n)), size=y.shape[2:], mode="bilinear", align_corners=False) for n, c in ((1, m.a), (2, m.b), (4, m.c))]], 1))


def unpooled(m, x):
    y = F.relu(m.a(x))
    z, i = F.max_pool2d(y, 2, return_indices=True)
    return m.b(F.max_unpool2d(z, i, 2, output_size=y.shape[2:]))


def octave(m, x):
    high, low = F.relu(m.h(x)), F.relu(m.l(F.avg_pool2d(x, 2)))
    return m.hh(high) + F.interpolate(m.lh(low), scale_factor=2), m.ll(low) + m.hl(F.avg_pool2d(high, 2, 2))


def conditional(m, x):
    b, c, h, w = x.shape
    r = torch.sigmoid(m.r(F.adaptive_avg_pool2d(x, 1).flatten(1)))
    weight = (r @ m.experts).view(b * 6, c, 3, 3)
    return F.conv2d(x.reshape(1, b * c, h, w), weight, padding=1, groups=b).view(b, 6, h, w)


def blaze(m, x):
    y = m.a(x)
    short = F.pad(F.max_pool2d(y, 2, 2), (0, 0, 0, 0, 0, 4))
    return F.relu(m.pw(m.dw(F.pad(y, (0, 1, 0, 1)))) + short)


def mask_heads(m, x):
    y, k = m.f1(x), m.k(F.adaptive_avg_pool2d(x, 4))
    kernels = k.flatten(2).transpose(1, 2)
    return (kernels @ y.flatten(2)).view(x.shape[0], 16, *y.shape[2:]).sigmoid()


def pillars(m, x):
    y = F.relu(m.n(m.l(x).transpose(1, 2))).max(2)[0]
    canvas = torch.zeros(x.shape[0], 8, 16)
    canvas[:, :, 3] = y
    return m.c(canvas.view(-1, 8, 4, 4))


def kalman(m, x):
    s, p = m.s(x), torch.eye(2) * 0.5
    for _ in range(2):
        p = m.f1 @ p @ m.f1.t() + 0.1 * torch.eye(2)
        det = p[0, 0] * p[1, 1] - p[0, 1] * p[1, 0]
        gain = torch.stack([p[1, 1] / det, -p[0, 1] / det])
        s = s @ m.f1.t() + gain * (x[..., :1] - s[..., :1])
    return s


def quaternions(m, x):
    q = F.normalize(m.a(x), dim=-1)
    w, i, j, k = q.unbind(-1)
    rows = [1 - 2 * (j * j + k * k), 2 * (i * j - k * w), 2 * (i * k + j * w), 2 * (i * j + k * w), 1 - 2 * (i * i + k * k), 2 * (j * k - i * w)]
    return torch.stack(rows, -1).view(*q.shape[:-1], 2, 3) @ x[..., :3, None], torch.atan2(i, w)


def mixture(m, x):
    pi, mu, sigma = m.a(x).split(4, -1)
    return (pi.log_softmax(-1) - 0.5 * ((0.3 - mu) / sigma.exp()).pow(2) - sigma).logsumexp(-1)


def prototypes(m, x):
    z = F.normalize(m.a(x).flatten(1), dim=1)
    return z @ F.normalize(m.p, dim=1).t() / 0.07, torch.cdist(z.unsqueeze(0), m.p.unsqueeze(0)).squeeze(0)


def divided(m, x):
    b, c, t, h, w = x.shape
    y = m.e(x.permute(0, 3, 4, 2, 1)).reshape(b * h * w, t, 8)
    y = y + m.time(y, y, y)[0]
    y = y.view(b, h * w, t, 8).transpose(1, 2).reshape(b * t, h * w, 8)
    return (y + m.space(y, y, y)[0]).view(b, t, h * w, 8).mean((1, 2))


def hsv(m, x):
    x = x.sigmoid()
    top, low = x.max(1, keepdim=True)[0], x.min(1, keepdim=True)[0]
    s = torch.where(top > 0, (top - low) / top.clamp(min=1e-3), torch.zeros_like(top))
    return m.c(torch.cat([s, top, x.pow(1 / 2.2)], 1))


def edges(m, x):
    g = F.conv2d(F.pad(x.mean(1, keepdim=True), (1, 1, 1, 1), mode="replicate"), m.sobel)
    return torch.sqrt(g.pow(2).sum(1, keepdim=True) + 1e-6), torch.atan2(g[:, :1], g[:, 1:] + 1e-3)


def fake_quantised(m, x):
    w = (m.w / 0.02).round().clamp(-127, 127) * 0.02
    return F.conv2d((x / 0.05).round().clamp(-128, 127) * 0.05, w, padding=1)


def pcen(m, x):
    e = x.abs()
    smooth = e[:, :, :1]
    out = [smooth]
    for t in range(1, 5):
        smooth = 0.9 * smooth + 0.1 * e[:, :, t : t + 1]
        out.append(smooth)
    y = torch.cat(out, 2)
    return (e[:, :, :5] / (1e-3 + y).pow(0.9) + 2).pow(0.5) - 2**0.5


def ranked(m, x):
    order = m.a(x).argsort(-1, descending=True)
    return torch.gather(m.b(x), -1, order)


def swap(m, x):
    return m.o(torch.cat([x[:, 1:], x[:, :1]], 1) * m.a(x) + torch.roll(x, 2, 1))


def biaffine(m, x):
    h, d = F.elu(m.a(x)), F.elu(m.b(x))
    return torch.einsum("bxi,oij,byj->boxy", h, m.u, d)


def conditional_field(m, x):
    e = m.a(x)
    alpha = e[:, 0]
    for t in range(1, 4):
        alpha = torch.logsumexp(alpha.unsqueeze(2) + m.t.unsqueeze(0), 1) + e[:, t]
    return torch.logsumexp(alpha, 1)


def tree_weights(m, x):
    p = torch.sigmoid(m.a(x))
    left, right = torch.stack([p, 1 - p], -1).unbind(-1)
    leaves = torch.stack([left[:, 0] * left[:, 1], left[:, 0] * right[:, 1], right[:, 0] * left[:, 2], right[:, 0] * right[:, 2]], 1)
    return leaves @ m.leaf


def weight_normed(size):
    return nn.utils.parametrizations.weight_norm(nn.Conv1d(8, size, 3, padding=1))


def word_parts(m, x):
    i = (x.sigmoid() * 9).long()
    y = m.e(i) + m.p(torch.arange(x.shape[1])).unsqueeze(0)
    return m.o(m.n(y).mean(1))


NETS = {
    "attention-gate": (lambda: Parts(attention_gate, a=nn.Conv2d(3, 8, 3, 1, 1), b=nn.Conv2d(8, 8, 3, 2, 1), wa=nn.Conv2d(8, 4, 1), wg=nn.Conv2d(8, 4, 1), psi=nn.Conv2d(4, 1, 1)), PICTURE),
    "hourglass": (lambda: Parts(hourglass, a=block(3, 8), b=block(8, 8), c=block(8, 8), out=nn.Conv2d(8, 4, 1)), PICTURE),
    "involution": (lambda: S(conv(), Parts(involution, reduce=nn.Conv2d(8, 4, 1), span=nn.Conv2d(4, 18, 1))), PICTURE),
    "retention": (lambda: Parts(retention, q=nn.Linear(32, 16), k=nn.Linear(32, 16), v=nn.Linear(32, 32), g=nn.Linear(32, 32), o=nn.Linear(32, 32)), ROWS),
    "time-mix": (lambda: Parts(time_mix, mix=(32,), k=nn.Linear(32, 48, bias=False), r=nn.Linear(32, 32, bias=False), v=nn.Linear(48, 32, bias=False)), ROWS),
    "performer": (lambda: Parts(performer, q=nn.Linear(32, 16), k=nn.Linear(32, 16), v=nn.Linear(32, 16), w=torch.randn(16, 24) * 0.3), ROWS),
    "linformer": (lambda: Parts(linformer, qkv=nn.Linear(32, 96), e=nn.Linear(12, 4), f2=nn.Linear(12, 4)), ROWS),
    "spatial-gate": (lambda: Parts(spatial_gate, i=nn.Linear(32, 64), n=nn.LayerNorm(32), s=nn.Linear(12, 12), o=nn.Linear(32, 32)), ROWS),
    "latents": (lambda: Parts(latents, z=(1, 5, 32), q=nn.Linear(32, 32), k=nn.Linear(32, 32), v=nn.Linear(32, 32), o=nn.Linear(32, 8)), ROWS),
    "slots": (lambda: Parts(slots, k=nn.Linear(32, 32), v=nn.Linear(32, 32), q=nn.Linear(32, 32), s=(1, 3, 32), r=nn.GRUCell(32, 32)), ROWS),
    "capsule": (lambda: Parts(capsule, a=nn.Conv2d(3, 8, 5, 2), w=(16, 4, 5, 6)), PICTURE),
    "ode": (lambda: Parts(ode, f1=S(nn.Linear(33, 24), nn.Tanh(), nn.Linear(24, 32))), (1, 32)),
    "factors": (lambda: Parts(factors, first=nn.Linear(32, 1), v=(32, 4)), (1, 32)),
    "crossed": (lambda: Parts(crossed, a=nn.Linear(32, 32), b=nn.Linear(32, 32), d=nn.Linear(32, 8), o=nn.Linear(40, 1)), (1, 32)),
    "routed": (lambda: Parts(routed, route=nn.Linear(32, 4), experts=nn.ModuleList(nn.Linear(32, 16) for _ in range(4))), ROWS),
    "shifted": (lambda: Parts(shifted, q=nn.Linear(32, 32), k=nn.Linear(32, 32), v=nn.Linear(32, 16), r=(12, 32)), ROWS),
    "interleaved": (lambda: Parts(interleaved, q=nn.Linear(32, 32), o=nn.Linear(32, 8)), ROWS),
    "shifted-windows": (lambda: Parts(windows, e=nn.Conv2d(3, 8, 1), n=nn.LayerNorm(8), qkv=nn.Linear(8, 24), bias=(2, 16, 16)), PICTURE),
    "focal": (lambda: S(conv(), Parts(focal, f1=nn.Linear(8, 19), k0=nn.Conv2d(8, 8, 3, 1, 1, groups=8), k1=nn.Conv2d(8, 8, 5, 1, 2, groups=8), h=nn.Conv2d(8, 8, 1))), PICTURE),
    "coordinates": (lambda: Parts(coordinates, c=nn.Conv2d(6, 8, 3, padding=1)), PICTURE),
    "spade": (lambda: Parts(spade, a=nn.Conv2d(3, 8, 3, 2, 1), s=nn.Conv2d(3, 6, 3, padding=1), g=nn.Conv2d(6, 8, 3, padding=1), b=nn.Conv2d(6, 8, 3, padding=1)), PICTURE),
    "pixel-norm": (lambda: S(conv(), Fn(lambda x: x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-8)), nn.LeakyReLU(0.2), nn.Conv2d(8, 3, 1)), PICTURE),
    "correlation": (lambda: Parts(correlation, f1=nn.Conv2d(3, 8, 3, padding=1)), PICTURE),
    "conv-gru": (lambda: Parts(conv_gru, i=nn.Conv2d(3, 6, 3, padding=1), z=nn.Conv2d(9, 6, 3, padding=1), r=nn.Conv2d(9, 6, 3, padding=1), q=nn.Conv2d(9, 6, 3, padding=1)), PICTURE),
    "neighbours": (lambda: Parts(neighbours, c=S(nn.Conv2d(16, 12, 1), nn.BatchNorm2d(12), nn.LeakyReLU(0.2))), SIGNAL),
    "graph-attention": (lambda: Parts(graph_attention, w=nn.Linear(32, 16), a=nn.Linear(16, 1), b=nn.Linear(16, 1), adjacent=(torch.rand(12, 12) + torch.eye(12))), ROWS),
    "chebyshev": (lambda: Parts(chebyshev, lap=torch.rand(12, 12) / 6, a=nn.Linear(32, 8), b=nn.Linear(32, 8), c=nn.Linear(32, 8)), ROWS),
    "beats": (lambda: Parts(beats, **{f"{n}{i}": m for i in (0, 1) for n, m in (("a", nn.Linear(32, 24)), ("b", nn.Linear(24, 32)), ("c", nn.Linear(24, 8)))}), (1, 32)),
    "moving-average": (lambda: Parts(moving, s=nn.Linear(40, 10), t=nn.Linear(40, 10)), (1, 8, 40)),
    "patched-series": (lambda: Parts(patches, i=nn.Linear(4, 6), o=nn.Linear(114, 10)), (1, 8, 40)),
    "bahdanau": (lambda: Parts(bahdanau, r=nn.GRU(32, 12, batch_first=True), a=nn.Linear(12, 8), b=nn.Linear(12, 8), v=nn.Linear(8, 1)), ROWS),
    "voice-activity": (lambda: Parts(speech, a=nn.Conv1d(8, 16, 3, 2, 1), l=nn.LSTM(16, 12, batch_first=True), o=nn.Linear(12, 1)), SIGNAL),
    "sinc": (lambda: Parts(sinc, low=(4,)), SIGNAL),
    "mel": (lambda: Parts(mel, window=torch.hann_window(8), cos=torch.randn(8, 5), sin=torch.randn(8, 5), bank=torch.rand(5, 4)), (1, 2, 40)),
    "demucs": (lambda: Parts(demucs, a=nn.Conv1d(8, 16, 8, 4, 2), b=nn.Conv1d(16, 32, 1), l=nn.LSTM(16, 8, bidirectional=True), c=nn.Conv1d(16, 32, 3, padding=1), d=nn.ConvTranspose1d(16,
                        2, 8, 4, 2)), (1, 8, 40)),
    "highway": (lambda: Parts(highway, h0=nn.Linear(32, 32), t0=nn.Linear(32, 32), h1=nn.Linear(32, 32), t1=nn.Linear(32, 32)), ROWS),
    "cells": (lambda: Parts(cells, cell=nn.GRUCell(32, 12), o=nn.Linear(12, 5)), ROWS),
    "lstm-cells": (lambda: Parts(lambda m, x: m.cell(x[:, 1], m.cell(x[:, 0]))[0], cell=nn.LSTMCell(32, 12)), ROWS),
    "codebook": (lambda: Parts(codebook, a=nn.Conv2d(3, 8, 4, 4), code=(16, 8), b=nn.ConvTranspose2d(8, 3, 4, 4)), PICTURE),
    "diffusion": (lambda: Parts(diffusion, e=nn.Linear(16, 16), t=nn.Linear(16, 8), i=nn.Conv2d(3, 8, 3, padding=1), n0=nn.GroupNorm(4, 8), a=nn.Conv2d(8, 8, 3, padding=1), n1=nn.GroupNorm(4, 8),
                                qkv=nn.Conv2d(8, 24, 1), o=nn.Conv2d(8, 3, 1)), PICTURE),
    "unpartitioned": (lambda: Parts(unpartitioned, e=nn.Conv2d(3, 8, 4, 4, padding=0), f1=nn.Linear(8, 8)), (1, 3, 16, 16)),
    "queries": (lambda: Parts(queries, e=nn.Conv2d(3, 16, 4, 4), q=(5, 16), pos=(16, 1, 16), att=nn.MultiheadAttention(16, 4), n=nn.LayerNorm(16), cls=nn.Linear(16, 4), box=nn.Linear(16,
                        4)), (1, 3, 16, 16)),
    "pyramid": (lambda: Parts(pyramid, e=block(3, 8), a=nn.Conv2d(8, 2, 1), b=nn.Conv2d(8, 2, 1), c=nn.Conv2d(8, 2, 1), o=nn.Conv2d(14, 4, 1)), (1, 3, 16, 16)),
    "unpooled": (lambda: Parts(unpooled, a=nn.Conv2d(3, 8, 3, padding=1), b=nn.Conv2d(8, 3, 3, padding=1)), (1, 3, 16, 16)),
    "octave": (lambda: Parts(octave, h=nn.Conv2d(3, 6, 3, padding=1), l=nn.Conv2d(3, 6, 3, padding=1), hh=nn.Conv2d(6, 4, 1), lh=nn.Conv2d(6, 4, 1), ll=nn.Conv2d(6, 4, 1), hl=nn.Conv2d(6,
                        4, 1)), (1, 3, 16, 16)),
    "conditional": (lambda: S(conv(), Parts(conditional, r=nn.Linear(8, 3), experts=(3, 6 * 8 * 9))), PICTURE),
    "asymmetric": (lambda: Fn(F.relu, TwoWay(lambda a, b, c: a + b + c, nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(3, 8, (1, 3), padding=(0, 1)), nn.Conv2d(3, 8, (3, 1), padding=(1, 0)))), PICTURE),
    "maxout": (lambda: Fn(lambda x: x.view(x.shape[0], 4, 2, *x.shape[2:]).max(2)[0], conv()), PICTURE),
    "weight-norm": (lambda: S(weight_normed(16), nn.GELU(), nn.Conv1d(16, 4, 1)), SIGNAL),
    "blaze": (lambda: Parts(blaze, a=block(3, 8, s=2), dw=nn.Conv2d(8, 8, 3, 2, groups=8), pw=nn.Conv2d(8, 12, 1)), (1, 3, 32, 32)),
    "mask-heads": (lambda: Parts(mask_heads, f1=nn.Conv2d(3, 8, 3, padding=1), k=nn.Conv2d(3, 8, 1)), (1, 3, 16, 16)),
    "pillars": (lambda: Parts(pillars, l=nn.Linear(32, 8), n=nn.BatchNorm1d(8), c=nn.Conv2d(8, 4, 3, padding=1)), ROWS),
    "kalman": (lambda: Parts(kalman, s=nn.Linear(32, 2), f1=torch.tensor([[1.0, 0.1], [0.0, 1.0]])), ROWS),
    "quaternions": (lambda: Parts(quaternions, a=nn.Linear(32, 4)), (1, 32)),
    "mixture": (lambda: Parts(mixture, a=nn.Linear(32, 12)), (1, 32)),
    "prototypes": (lambda: Parts(prototypes, a=nn.Conv2d(3, 4, 4, 4), p=(5, 64)), (1, 3, 16, 16)),
    "divided-attention": (lambda: Parts(divided, e=nn.Linear(2, 8), time=nn.MultiheadAttention(8, 2, batch_first=True), space=nn.MultiheadAttention(8, 2, batch_first=True)), VOLUME),
    "hsv": (lambda: Parts(hsv, c=nn.Conv2d(5, 4, 3, padding=1)), PICTURE),
    "edges": (lambda: Parts(edges, sobel=torch.tensor([[[[1.0, 0, -1], [2, 0, -2], [1, 0, -1]]], [[[1, 2, 1], [0, 0, 0], [-1, -2, -1]]]])), PICTURE),
    "fake-quantised": (lambda: S(Parts(fake_quantised, w=(8, 3, 3, 3)), nn.ReLU()), PICTURE),
    "pcen": (lambda: Parts(pcen), SIGNAL),
    "ranked": (lambda: Parts(ranked, a=nn.Linear(32, 6), b=nn.Linear(32, 6)), ROWS),
    "rotated-rows": (lambda: Parts(swap, a=nn.Linear(32, 32), o=nn.Linear(32, 8)), ROWS),
    "biaffine": (lambda: Parts(biaffine, a=nn.Linear(32, 8), b=nn.Linear(32, 8), u=(3, 8, 8)), ROWS),
    "conditional-field": (lambda: Parts(conditional_field, a=nn.Linear(32, 5), t=(5, 5)), ROWS),
    "soft-tree": (lambda: Parts(tree_weights, a=nn.Linear(32, 3), leaf=(4, 6)), (1, 32)),
    "word-parts": (lambda: Parts(word_parts, e=nn.Embedding(10, 16), p=nn.Embedding(40, 16), n=nn.LayerNorm(16), o=nn.Linear(16, 3)), (1, 20)),
    "encoder-layer": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 48, activation="gelu", norm_first=True), 2, enable_nested_tensor=False), (12, 1, 32)),
    "voxels": (lambda: S(nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.LeakyReLU(0.1), nn.AvgPool3d(2), nn.Upsample(scale_factor=2, mode="trilinear"), nn.Conv3d(4, 2, 1)), VOLUME),
    "embedding-conv": (lambda: S(Fn(lambda x: x.unsqueeze(1)), nn.Conv2d(1, 6, (3, 32)), nn.ReLU(), Fn(lambda x: x.squeeze(3).max(2)[0]), nn.Linear(6, 2)), ROWS),
    "rnn-relu": (lambda: Fn(lambda y: y[0], nn.RNN(32, 12, nonlinearity="relu", batch_first=True)), ROWS),
    "gru-two-ways": (lambda: Fn(lambda y: torch.cat([y[1][-2], y[1][-1]], -1), nn.GRU(32, 12, 2, bidirectional=True, batch_first=True)), ROWS),
    "conv-transpose-groups": (lambda: S(nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 8, 4, 2, 1, groups=4), nn.ConvTranspose2d(8, 3, 3, 1, 1, dilation=1), nn.Softsign()), PICTURE),
    "local-response": (lambda: S(conv(), nn.LocalResponseNorm(5), nn.MaxPool2d(3, 2), nn.Conv2d(8, 8, 3, groups=2), nn.CELU()), PICTURE),
    "logits-temperature": (lambda: Fn(lambda x: torch.cat([(x / 0.7).softmax(-1), x.sort(-1, descending=True)[0][..., :2], x.argmax(-1, keepdim=True).float()], -1), nn.Linear(32, 6)), ROWS),
    "row-sums": (lambda: Fn(lambda x: (x.cumsum(1) / torch.arange(1, 13).float().view(1, 12, 1)).tril(2), nn.Linear(32, 12)), ROWS),
}


def build(name):
    make, shape = NETS[name]
    return make(), lambda b: torch.randn(b, *shape[1:]) if shape[0] == 1 else torch.randn(shape[0], b, *shape[2:])
