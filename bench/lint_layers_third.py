"""More small networks, for the third held-out set of lint_models.py: what papers and products are made of, in the order of nobody's tests."""
import torch
import torch.nn.functional as F
from torch import nn

from lint_layers import PICTURE, ROWS, SIGNAL, VOLUME, Fn, Recurrent, conv


class TwoWay(nn.Module):
    """A function of the results of several branches."""

    def __init__(self, f, *branches):
        super().__init__()
        self.branches, self.f = nn.ModuleList(branches), f

    def forward(self, x):
        return self.f(*[b(x) for b in self.branches])


def block(a, b, k=3, s=1, act=nn.ReLU, **how):
    return nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, **how), nn.BatchNorm2d(b), act())


class Squeeze(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(c, 4), nn.ReLU(), nn.Linear(4, c), nn.Sigmoid())

    def forward(self, x):
        b, c = x.shape[:2]
        return x * self.fc(F.adaptive_avg_pool2d(x, 1).view(b, c)).view(b, c, 1, 1)


class Spatial(nn.Module):
    """CBAM's half that looks at places."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        return x * torch.sigmoid(self.conv(torch.cat([x.mean(1, keepdim=True), x.max(1, keepdim=True)[0]], 1)))


class Eca(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 1, 3, padding=1, bias=False)

    def forward(self, x):
        y = F.adaptive_avg_pool2d(x, 1).squeeze(-1).transpose(-1, -2)
        return x * self.conv(y).transpose(-1, -2).unsqueeze(-1).sigmoid()


class NonLocal(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Conv2d(c, 4, 1), nn.Conv2d(c, 4, 1), nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1))

    def forward(self, x):
        b, _, h, w = x.shape
        q, k, v = self.q(x).flatten(2).transpose(1, 2), self.k(x).flatten(2), self.v(x).flatten(2).transpose(1, 2)
        return x + self.o(((q @ k).softmax(-1) @ v).transpose(1, 2).reshape(b, 4, h, w))


class Coord(nn.Module):
    """Attention along height and width apart."""

    def __init__(self):
        super().__init__()
        self.a, self.h, self.w = block(8, 4, 1, act=nn.Hardswish), nn.Conv2d(4, 8, 1), nn.Conv2d(4, 8, 1)

    def forward(self, x):
        n = x.shape[2]
        y = self.a(torch.cat([x.mean(3, keepdim=True), x.mean(2, keepdim=True).permute(0, 1, 3, 2)], 2))
        h, w = y[:, :, :n], y[:, :, n:].permute(0, 1, 3, 2)
        return x * self.h(h).sigmoid() * self.w(w).sigmoid()


class Fpn(nn.Module):
    def __init__(self, mode="nearest"):
        super().__init__()
        self.a, self.b, self.c = block(3, 8), block(8, 8, s=2), block(8, 8, s=2)
        self.mode = mode

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        c = self.c(b)
        b = b + F.interpolate(c, scale_factor=2, mode=self.mode)
        return a + F.interpolate(b, size=a.shape[-2:], mode=self.mode)


class Weighted(nn.Module):
    """BiFPN's fusion: weights that are normalised."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.w = block(3, 8, s=2), block(3, 8, 1), nn.Parameter(torch.tensor([0.3, 0.9]))

    def forward(self, x):
        w = F.relu(self.w)
        w = w / (w.sum() + 1e-4)
        return w[0] * self.a(x) + w[1] * F.max_pool2d(self.b(x), 3, 2, 1)


class Aspp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList(nn.Conv2d(8, 4, 3, padding=d, dilation=d) for d in (1, 2, 3))
        self.pool, self.out = nn.Conv2d(8, 4, 1), nn.Conv2d(16, 5, 1)

    def forward(self, x):
        p = F.interpolate(self.pool(F.adaptive_avg_pool2d(x, 1)), size=x.shape[-2:], mode="bilinear", align_corners=False)
        return self.out(torch.cat([*[a(x) for a in self.a], p], 1))


class Tcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(8, 8, 3, dilation=d) for d in (1, 2, 4))

    def forward(self, x):
        for d, layer in zip((1, 2, 4), self.layers):
            x = x + F.relu(layer(F.pad(x, (2 * d, 0))))
        return x


class Wavenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.g, self.r, self.s = nn.Conv1d(8, 8, 2, dilation=2), nn.Conv1d(8, 8, 2, dilation=2), nn.Conv1d(8, 8, 1), nn.Conv1d(8, 8, 1)

    def forward(self, x):
        y = torch.tanh(self.f(x)) * torch.sigmoid(self.g(x))
        return self.s(y) + self.r(y) + x[:, :, 2:]


class Self(nn.Module):
    """Attention as people write it themselves."""

    def __init__(self, d=32, heads=4, rotary=False, causal=False, alibi=False, scale_first=False, bias=True, groups=0):
        super().__init__()
        self.h, self.rotary, self.causal, self.alibi, self.first, self.groups = heads, rotary, causal, alibi, scale_first, groups
        kv = d // heads * groups if groups else d
        self.q, self.k, self.v, self.o = nn.Linear(d, d, bias=bias), nn.Linear(d, kv, bias=bias), nn.Linear(d, kv, bias=bias), nn.Linear(d, d)

    def heads(self, y, n):
        b, t, c = y.shape
        return y.view(b, t, n, c // n).transpose(1, 2)

    def turned(self, x):
        t, d = x.shape[-2:]
        angle = torch.arange(t).float()[:, None] * torch.pow(10.0, -torch.arange(0, d, 2).float() / d)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.heads(self.q(x), self.h), self.heads(self.k(x), self.groups or self.h), self.heads(self.v(x), self.groups or self.h)
        if self.groups:
            k, v = k.repeat_interleave(self.h // self.groups, 1), v.repeat_interleave(self.h // self.groups, 1)
        if self.rotary:
            q, k = self.turned(q), self.turned(k)
        scale = (c // self.h) ** -0.5
        a = (q * scale) @ k.transpose(-2, -1) if self.first else q @ k.transpose(-2, -1) * scale
        if self.alibi:
            away = torch.arange(t)[None, :] - torch.arange(t)[:, None]
            a = a + away * torch.tensor([0.5, 0.25, 0.125, 0.0625]).view(1, -1, 1, 1)
        if self.causal:
            a = a.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), float("-inf"))
        return self.o((a.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


class Cross(nn.Module):
    """Few learned queries look at the input: Perceiver, Q-Former, DETR's decoder."""

    def __init__(self):
        super().__init__()
        self.query, self.inner = nn.Parameter(torch.randn(1, 5, 32)), nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, x):
        return self.inner(self.query.expand(x.shape[0], -1, -1), x, x, need_weights=False)[0]


class Linear(nn.Module):
    """Attention without softmax over places."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(32, 96)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        return q @ (k.transpose(1, 2) @ v) / (q @ k.sum(1, keepdim=True).transpose(1, 2) + 1e-6)


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.cls, self.pos = nn.Conv2d(3, 32, 4, 4), nn.Parameter(torch.randn(1, 1, 32)), nn.Parameter(torch.randn(1, 17, 32))
        self.layer, self.norm, self.head = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu", norm_first=True), nn.LayerNorm(32), nn.Linear(32, 10)

    def forward(self, x):
        y = self.patch(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.cls.expand(y.shape[0], -1, -1), y], 1) + self.pos
        return self.head(self.norm(self.layer(y))[:, 0])


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory, self.inner = nn.Parameter(torch.randn(1, 6, 32)), nn.TransformerDecoderLayer(32, 4, 48, batch_first=True)

    def forward(self, x):
        return self.inner(x, self.memory.expand(x.shape[0], -1, -1))


class Modulated(nn.Module):
    """StyleGAN's convolution: its weights depend on a style."""

    def __init__(self):
        super().__init__()
        self.w, self.style = nn.Parameter(torch.randn(6, 3, 3, 3)), nn.Linear(3, 3)

    def forward(self, x):
        s = self.style(x.mean((2, 3)))[0].view(1, 3, 1, 1) + 1
        w = self.w * s
        return F.conv2d(x, w * torch.rsqrt(w.pow(2).sum((1, 2, 3), keepdim=True) + 1e-8), padding=1)


class Adain(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = conv(), nn.Linear(3, 16)

    def forward(self, x):
        y = self.a(x)
        g, b = self.b(x.mean((2, 3))).view(-1, 16, 1, 1).chunk(2, 1)
        mean, std = y.mean((2, 3), keepdim=True), y.std((2, 3), keepdim=True, unbiased=False) + 1e-5
        return (y - mean) / std * (1 + g) + b


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Conv1d(8, 16, 1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 1))
        self.b = nn.Linear(32, 5)

    def forward(self, x):
        return self.b(self.a(x).max(2)[0])


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.rand(12, 12))
        self.w = nn.Linear(32, 16)

    def forward(self, x):
        return F.relu(torch.matmul(self.a / self.a.sum(1, keepdim=True), self.w(x)))


class Nerf(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32 * 9, 32), nn.Linear(64, 4)

    def forward(self, x):
        y = torch.cat([x, *[f(x * 2.0**k) for k in range(4) for f in (torch.sin, torch.cos)]], -1)
        return self.b(torch.cat([F.relu(self.a(y)), x], -1))


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.v, self.d = nn.Linear(32, 32), nn.Linear(32, 1), nn.Linear(32, 6)

    def forward(self, x):
        h = F.relu(self.a(x))
        d = self.d(h)
        return self.v(h) + d - d.mean(1, keepdim=True)


class Shift(nn.Module):
    """Channels that move in time."""

    def forward(self, x):
        out = torch.zeros_like(x)
        out[:, :2, 1:] = x[:, :2, :-1]
        out[:, 2:4, :-1] = x[:, 2:4, 1:]
        out[:, 4:] = x[:, 4:]
        return out


class Crnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.r, self.o = nn.Sequential(block(3, 8), nn.MaxPool2d(2), block(8, 16), nn.MaxPool2d((2, 1))), nn.LSTM(64, 16, bidirectional=True), nn.Linear(32, 11)

    def forward(self, x):
        y = self.a(x)
        b, c, h, w = y.shape
        return F.log_softmax(self.o(self.r(y.reshape(b, c * h, w).permute(2, 0, 1))[0]), 2)


class ConvLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.Conv2d(11, 32, 3, padding=1)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], 8, *x.shape[2:])
        for _ in range(2):
            i, f, o, g = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return h


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 16 * 4 * 4), nn.Sequential(nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Tanh())

    def forward(self, x):
        return self.b(self.a(x).view(-1, 16, 4, 4))


class Keypoints(nn.Module):
    """Soft arg-max over heat maps."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 5, 3, padding=1)

    def forward(self, x):
        y = self.a(x)
        b, k, h, w = y.shape
        p = y.flatten(2).softmax(-1).view(b, k, h, w)
        return torch.stack([(p.sum(2) * torch.arange(w).float()).sum(-1), (p.sum(3) * torch.arange(h).float()).sum(-1)], -1)


class Centers(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.h, self.w = block(3, 8, s=2), nn.Conv2d(8, 4, 1), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        y = self.a(x)
        heat = self.h(y).sigmoid()
        return heat * (heat == F.max_pool2d(heat, 3, 1, 1)).float(), self.w(y)


class Yolo(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.h = block(3, 8, s=2, act=nn.SiLU), nn.Conv2d(8, 3 * 9, 1)

    def forward(self, x):
        y = self.h(self.a(x))
        b, _, h, w = y.shape
        y = y.view(b, 3, 9, h, w).permute(0, 1, 3, 4, 2).sigmoid()
        grid = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(h), indexing="xy"), -1).float()
        xy, wh = (y[..., :2] * 2 - 0.5 + grid) * 2, (y[..., 2:4] * 2) ** 2 * torch.tensor([[10.0, 13], [16, 30], [33, 23]]).view(1, 3, 1, 1, 2)
        return torch.cat([xy, wh, y[..., 4:]], -1).view(b, -1, 9)


class Ssd(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.l, self.c = block(3, 8, s=2), block(8, 8, s=2), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 6, 3, padding=1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        put = lambda t, n: t.permute(0, 2, 3, 1).reshape(x.shape[0], -1, n)
        return torch.cat([put(self.l(a), 4), put(self.l(b), 4)], 1), torch.cat([put(self.c(a), 3), put(self.c(b), 3)], 1).softmax(-1)


class Warp(nn.Module):
    """A picture moved by a flow that is computed."""

    def __init__(self):
        super().__init__()
        self.flow = nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, x):
        f = self.flow(x).permute(0, 2, 3, 1).tanh() * 0.1
        base = torch.stack(torch.meshgrid(torch.linspace(-1, 1, 16), torch.linspace(-1, 1, 16), indexing="xy"), -1)
        return F.grid_sample(x, base + f, mode="bilinear", padding_mode="border", align_corners=True)


class Blur(nn.Module):
    """Pooling without aliasing."""

    def __init__(self):
        super().__init__()
        a = torch.tensor([1.0, 2, 1])
        self.register_buffer("w", (a[:, None] * a / 16).expand(8, 1, 3, 3).contiguous())

    def forward(self, x):
        return F.conv2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), self.w, stride=2, groups=8)


class Blend(nn.Module):
    """Experts, of which a router makes a weighted sum."""

    def __init__(self):
        super().__init__()
        self.route, self.w1, self.w2 = nn.Linear(32, 4), nn.Parameter(torch.randn(4, 32, 16) * 0.2), nn.Parameter(torch.randn(4, 16, 32) * 0.2)

    def forward(self, x):
        p = self.route(x).softmax(-1)
        y = torch.einsum("btef,efd->bted", F.silu(torch.einsum("btd,edf->btef", x, self.w1)), self.w2)
        return (y * p.unsqueeze(-1)).sum(2)


class Mamba(nn.Module):
    """A scan in a few steps."""

    def __init__(self):
        super().__init__()
        self.i, self.c, self.o = nn.Linear(32, 64), nn.Conv1d(32, 32, 3, padding=2, groups=32), nn.Linear(32, 32)
        self.a = nn.Parameter(torch.rand(32))

    def forward(self, x):
        u, z = self.i(x).chunk(2, -1)
        u = F.silu(self.c(u.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        h, out = torch.zeros_like(u[:, 0]), []
        for t in range(4):
            h = h * self.a.sigmoid() + u[:, t]
            out.append(h)
        return self.o(torch.stack(out, 1) * F.silu(z[:, :4]))


class Relative(nn.Module):
    """Attention with a table of biases, gathered by distance."""

    def __init__(self):
        super().__init__()
        self.qkv, self.table = nn.Linear(32, 96), nn.Parameter(torch.randn(23, 4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        away = torch.arange(t)[None, :] - torch.arange(t)[:, None] + 11
        a = q @ k.transpose(-2, -1) / 8**0.5 + self.table[away].permute(2, 0, 1).unsqueeze(0)
        return (a.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c)


class Halves(nn.Module):
    """Affine coupling, as flows have it."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32))

    def forward(self, x):
        a, b = x.chunk(2, -1)
        s, t = self.net(a).chunk(2, -1)
        return torch.cat([a, b * torch.exp(torch.tanh(s)) + t], -1)


class Residual3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Sequential(nn.Conv3d(2, 4, (1, 3, 3), padding=(0, 1, 1)), nn.ReLU(), nn.Conv3d(4, 4, (3, 1, 1), padding=(1, 0, 0))), nn.Conv3d(2, 4, 1)

    def forward(self, x):
        return F.relu(self.a(x) + self.b(x)).mean((2, 3, 4))


class Unet3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.up, self.c = nn.Conv3d(2, 4, 3, 1, 1), nn.Conv3d(4, 8, 3, 2, 1), nn.ConvTranspose3d(8, 4, 2, 2), nn.Conv3d(8, 3, 1)

    def forward(self, x):
        a = F.relu(self.a(x))
        return self.c(torch.cat([a, self.up(F.relu(self.b(a)))], 1))


S = nn.Sequential
NETS = {
    "squeeze": (lambda: S(conv(), Squeeze()), PICTURE),
    "spatial": (lambda: S(conv(), Spatial()), PICTURE),
    "eca": (lambda: S(conv(), Eca()), PICTURE),
    "non-local": (lambda: S(conv(), NonLocal()), PICTURE),
    "coordinate": (lambda: S(conv(), Coord()), PICTURE),
    "fpn": (lambda: Fpn(), PICTURE),
    "fpn-linear": (lambda: Fpn("bilinear"), PICTURE),
    "bifpn": (lambda: Weighted(), PICTURE),
    "aspp": (lambda: S(conv(), Aspp()), PICTURE),
    "tcn": (lambda: Tcn(), SIGNAL),
    "wavenet": (lambda: Wavenet(), SIGNAL),
    "self": (lambda: Self(), ROWS),
    "self-rotary": (lambda: Self(rotary=True, causal=True), ROWS),
    "self-alibi": (lambda: Self(alibi=True), ROWS),
    "self-scaled": (lambda: Self(scale_first=True), ROWS),
    "self-plain": (lambda: Self(bias=False), ROWS),
    "self-grouped": (lambda: Self(groups=2), ROWS),
    "self-causal": (lambda: S(nn.LayerNorm(32), Self(causal=True)), ROWS),
    "cross": (lambda: Cross(), ROWS),
    "linear-attention": (lambda: Linear(), ROWS),
    "vit": (lambda: Vit(), PICTURE),
    "decoder": (lambda: Decoder(), ROWS),
    "modulated": (lambda: Modulated(), PICTURE),
    "adain": (lambda: Adain(), PICTURE),
    "pointnet": (lambda: PointNet(), SIGNAL),
    "graph": (lambda: Graph(), ROWS),
    "nerf": (lambda: Nerf(), ROWS),
    "dueling": (lambda: Dueling(), (1, 32)),
    "shift": (lambda: S(conv(), Shift()), PICTURE),
    "crnn": (lambda: Crnn(), PICTURE),
    "conv-lstm": (lambda: ConvLstm(), PICTURE),
    "generator": (lambda: Generator(), (1, 32)),
    "keypoints": (lambda: Keypoints(), PICTURE),
    "centers": (lambda: Centers(), PICTURE),
    "yolo": (lambda: Yolo(), PICTURE),
    "ssd": (lambda: Ssd(), PICTURE),
    "warp": (lambda: Warp(), PICTURE),
    "blur": (lambda: S(conv(), Blur()), PICTURE),
    "experts": (lambda: Blend(), ROWS),
    "scan": (lambda: Mamba(), ROWS),
    "relative": (lambda: Relative(), ROWS),
    "coupling": (lambda: Halves(), (1, 32)),
    "video": (lambda: Residual3d(), VOLUME),
    "unet-3d": (lambda: Unet3d(), VOLUME),
    "super-resolution": (lambda: S(conv(3, 16), nn.Tanh(), nn.Conv2d(16, 12, 3, padding=1), nn.PixelShuffle(2)), PICTURE),
    "autoencoder": (lambda: S(block(3, 8, s=2), block(8, 16, s=2), nn.ConvTranspose2d(16, 8, 2, 2), nn.ReLU(), nn.ConvTranspose2d(8, 3, 2, 2), nn.Sigmoid()), PICTURE),
    "style": (lambda: S(nn.ReflectionPad2d(1), nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8, affine=True), nn.ReLU(), nn.Upsample(scale_factor=2), nn.ReflectionPad2d(1), nn.Conv2d(8, 3, 3)), PICTURE),
    "depthwise": (lambda: S(block(3, 8), nn.Conv2d(8, 8, 5, 2, 2, groups=8), nn.BatchNorm2d(8), nn.ReLU6(), nn.Conv2d(8, 16, 1)), PICTURE),
    "grouped": (lambda: S(block(3, 8), nn.Conv2d(8, 16, 3, padding=1, groups=2), nn.PReLU(16), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(1024, 7)), PICTURE),
    "pool-odd": (lambda: S(conv(), nn.AdaptiveAvgPool2d((4, 2)), nn.Flatten(1), nn.Linear(64, 6)), PICTURE),
    "pool-avg-pad": (lambda: S(conv(), nn.AvgPool2d(3, 2, 1), nn.AvgPool2d(3, 1, 1, count_include_pad=False)), PICTURE),
    "pool-global-max": (lambda: S(conv(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Dropout(0.5), nn.Linear(8, 4)), PICTURE),
    "spp": (lambda: TwoWay(lambda *a: torch.cat(a, 1), *[S(conv(), nn.MaxPool2d(k, 1, k // 2)) for k in (3, 5, 9)]), PICTURE),
    "stem-focus": (lambda: S(nn.PixelUnshuffle(2), nn.Conv2d(12, 8, 3, padding=1), nn.SiLU()), PICTURE),
    "signal-net": (lambda: S(nn.Conv1d(8, 16, 7, 2, 3), nn.BatchNorm1d(16), nn.GELU(), nn.AvgPool1d(4), nn.Flatten(), nn.Linear(80, 3)), SIGNAL),
    "vocoder": (lambda: S(nn.Conv1d(8, 16, 7, padding=3), nn.LeakyReLU(0.1), nn.ConvTranspose1d(16, 8, 8, 4, 2), nn.LeakyReLU(0.1), nn.Conv1d(8, 1, 7, padding=3), nn.Tanh()), SIGNAL),
    "conformer-conv": (lambda: S(nn.LayerNorm(32), Fn(lambda x: x.transpose(1, 2)), nn.Conv1d(32, 64, 1), nn.GLU(1), nn.Conv1d(32, 32, 5, padding=2, groups=32), nn.BatchNorm1d(32),
        nn.SiLU(), nn.Conv1d(32, 32, 1), Fn(lambda x: x.transpose(1, 2))), ROWS),
    "tagger": (lambda: S(Recurrent(nn.LSTM(32, 12, 2, batch_first=True)), nn.Linear(12, 5)), ROWS),
    "gru-stack": (lambda: S(Recurrent(nn.GRU(32, 12, 2, batch_first=True)), nn.Linear(12, 5)), ROWS),
    "gru-last": (lambda: S(Recurrent(nn.GRU(32, 12, batch_first=True, bidirectional=True), last=True), nn.Linear(24, 5)), ROWS),
    "norm-rows": (lambda: Fn(lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt(), nn.Linear(32, 16)), ROWS),
    "siamese": (lambda: TwoWay(lambda a, b: F.pairwise_distance(a, b), S(conv(), nn.AdaptiveAvgPool2d(1), nn.Flatten()), S(conv(), nn.AdaptiveAvgPool2d(1), nn.Flatten())), PICTURE),
    "gram": (lambda: Fn(lambda x: torch.bmm(x.flatten(2), x.flatten(2).transpose(1, 2)) / 256, conv()), PICTURE),
    "soft-attention-pool": (lambda: TwoWay(lambda a, v: (a.softmax(1) * v).sum(1), nn.Linear(32, 1), nn.Linear(32, 16)), ROWS),
    "geglu": (lambda: S(nn.Linear(32, 64), Fn(lambda x: x.chunk(2, -1)[0] * F.gelu(x.chunk(2, -1)[1])), nn.Linear(32, 32)), ROWS),
    "swiglu": (lambda: TwoWay(lambda a, b: F.silu(a) * b, nn.Linear(32, 48), nn.Linear(32, 48)), ROWS),
    "hinge": (lambda: Fn(lambda x: torch.maximum(x, torch.zeros(1)) - torch.minimum(x, torch.ones(1) * 0.5), nn.Linear(32, 8)), (1, 32)),
    "masked": (lambda: Fn(lambda x: x.masked_fill(x < 0.1, -1e4).softmax(-1), nn.Linear(32, 8)), ROWS),
    "scaled-picture": (lambda: S(Fn(lambda x: (x - torch.tensor([0.4, 0.5, 0.6]).view(1, 3, 1, 1)) / torch.tensor([0.2, 0.3, 0.4]).view(1, 3, 1, 1)), conv(), nn.ReLU()), PICTURE),
    "two-sizes": (lambda: S(conv(), nn.Upsample(size=(20, 28), mode="bilinear"), nn.Conv2d(8, 2, 1)), PICTURE),
    "half-size": (lambda: S(conv(), nn.Upsample(scale_factor=0.5, mode="bilinear"), nn.Conv2d(8, 2, 1)), PICTURE),
    "upsample-aligned": (lambda: S(conv(), nn.Upsample(scale_factor=4, mode="bilinear", align_corners=True), nn.Sigmoid()), PICTURE),
    "rms": (lambda: S(nn.RMSNorm(32), nn.Linear(32, 16)), ROWS),
    "group": (lambda: S(conv(), nn.GroupNorm(2, 8), nn.SiLU(), nn.Conv2d(8, 3, 1)), PICTURE),
    "layer-norm-2d": (lambda: S(nn.Conv2d(3, 8, 4, 4), Fn(lambda x: F.layer_norm(x.permute(0, 2, 3, 1), (8,)).permute(0, 3, 1, 2)), nn.Conv2d(8, 8, 1)), PICTURE),
    "patch-merge": (lambda: Fn(lambda x: torch.cat([x[:, ::2, ::2], x[:, 1::2, ::2], x[:, ::2, 1::2], x[:, 1::2, 1::2]], -1), nn.Linear(16, 16)), (1, 8, 8, 16)),
    "axial": (lambda: Fn(lambda x: (x.softmax(2) + x.softmax(3)) * x, conv()), PICTURE),
    "hash-grid": (lambda: Fn(lambda x: (x * 7).floor().clamp(0, 6) / 7 + x.frac(), nn.Linear(32, 8)), ROWS),
    "quantile": (lambda: Fn(lambda x: x.sort(-1)[0][..., 3:6].mean(-1), nn.Linear(32, 16)), ROWS),
    "argmax-one-hot": (lambda: Fn(lambda x: F.one_hot(x.argmax(-1), 8).float(), nn.Linear(32, 8)), ROWS),
    "ordinal": (lambda: Fn(lambda x: (x.sigmoid() > 0.5).long().sum(-1), nn.Linear(32, 8)), ROWS),
}


def build(name):
    make, shape = NETS[name]
    return make(), lambda b: torch.randn(b, *shape[1:])
