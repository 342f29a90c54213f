"""Small networks of PyTorch's own layers, for lint_models.py: what a user's own model is made of. Each is a module and the shape of its input."""
import torch
import torch.nn.functional as F
from torch import nn


class Fn(nn.Module):
    """A function behind a layer that has weights."""

    def __init__(self, f, first=None):
        super().__init__()
        self.first, self.f = first or nn.Identity(), f

    def forward(self, x):
        return self.f(self.first(x))


class Attention(nn.Module):
    def __init__(self, causal=False):
        super().__init__()
        self.inner, self.causal = nn.MultiheadAttention(32, 4, batch_first=True), causal

    def forward(self, x):
        mask = torch.triu(torch.full((x.shape[1], x.shape[1]), float("-inf")), 1) if self.causal else None
        return self.inner(x, x, x, attn_mask=mask, need_weights=not self.causal)[0]


class Recurrent(nn.Module):
    def __init__(self, inner, last=False):
        super().__init__()
        self.inner, self.last = inner, last

    def forward(self, x):
        y = self.inner(x)[0]
        return y[:, -1] if self.last else y


class Unet(nn.Module):
    def __init__(self, up):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 8, 3, 1, 1), nn.Conv2d(8, 16, 3, 2, 1), nn.Conv2d(24, 4, 3, 1, 1)
        self.up = up

    def forward(self, x):
        a = F.relu(self.a(x))
        return self.c(torch.cat([a, self.up(F.relu(self.b(a)))], 1))


class Head(nn.Module):
    """What a detector without anchors ends in: boxes decoded on a grid, beside scores."""

    def __init__(self, classes=5):
        super().__init__()
        self.stem, self.out = nn.Conv2d(3, 16, 3, 4, 1), nn.Conv2d(16, 4 * 8 + classes, 1)
        self.classes = classes

    def forward(self, x):
        y = self.out(F.silu(self.stem(x)))
        b, _, h, w = y.shape
        box, score = y.reshape(b, -1, h * w).split((32, self.classes), 1)
        d = (box.view(b, 4, 8, h * w).softmax(2) * torch.arange(8.0).view(1, 1, 8, 1)).sum(2)
        grid = torch.stack(torch.meshgrid(torch.arange(w) + 0.5, torch.arange(h) + 0.5, indexing="xy")).reshape(2, -1)
        return torch.cat([torch.cat([grid - d[:, :2], grid + d[:, 2:]], 1) * 4, score.sigmoid()], 1)


class Gated(nn.Module):
    """A block of squeezed and excited channels with a residual."""

    def __init__(self):
        super().__init__()
        self.a, self.gate = nn.Conv2d(8, 8, 5, padding=2, groups=8), nn.Conv2d(8, 8, 1)

    def forward(self, x):
        y = F.hardswish(self.a(x))
        return x + y * F.hardsigmoid(self.gate(y.mean((2, 3), keepdim=True)))


class Window(nn.Module):
    """Attention in shifted windows."""

    def __init__(self):
        super().__init__()
        self.qkv, self.bias = nn.Linear(16, 48), nn.Parameter(torch.randn(4, 16, 16))

    def forward(self, x):
        b, h, w, c = x.shape
        x = torch.roll(x, (-2, -2), (1, 2)).view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(x).view(-1, 16, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = ((q @ k.transpose(-2, -1) * 0.5 + self.bias).softmax(-1) @ v).transpose(1, 2).reshape(-1, 16, c)
        return torch.roll(y.view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c), (2, 2), (1, 2))


def turned():
    return F.affine_grid(torch.tensor([[[0.9, 0.1, 0.0], [-0.1, 0.9, 0.1]]]), [1, 8, 12, 12], align_corners=False)


def conv(n=3, out=8):
    return nn.Conv2d(n, out, 3, padding=1)


PICTURE, ROWS, SIGNAL, VOLUME = (1, 3, 16, 16), (1, 12, 32), (1, 8, 40), (1, 2, 8, 8, 8)

LAYERS = {
    "conv1d": (lambda: nn.Sequential(nn.Conv1d(8, 16, 5, padding=2), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(16, 4, 3)), SIGNAL),
    "conv3d": (lambda: nn.Sequential(nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2)), VOLUME),
    "deconv": (lambda: nn.Sequential(conv(), nn.ConvTranspose2d(8, 4, 4, 2, 1)), PICTURE),
    "deconv-output-padding": (lambda: nn.Sequential(conv(), nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1)), PICTURE),
    "deconv1d": (lambda: nn.Sequential(nn.Conv1d(8, 8, 3), nn.ConvTranspose1d(8, 4, 4, 2)), SIGNAL),
    "deconv-groups": (lambda: nn.Sequential(conv(), nn.ConvTranspose2d(8, 8, 4, 2, 1, groups=8)), PICTURE),
    "conv-dilated": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=2, dilation=2), nn.ELU()), PICTURE),
    "conv-same": (lambda: nn.Sequential(nn.Conv2d(3, 8, 4, padding="same"), nn.LeakyReLU(0.1)), PICTURE),
    "conv-reflect": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"), nn.ReLU()), PICTURE),
    "conv-circular": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular"), nn.ReLU()), PICTURE),
    "conv-replicate": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, padding_mode="replicate"), nn.ReLU()), PICTURE),
    "lstm": (lambda: Recurrent(nn.LSTM(32, 16, batch_first=True)), ROWS),
    "lstm-both": (lambda: Recurrent(nn.LSTM(32, 16, 2, batch_first=True, bidirectional=True)), ROWS),
    "gru": (lambda: Recurrent(nn.GRU(32, 16, batch_first=True), last=True), ROWS),
    "gru-both": (lambda: Recurrent(nn.GRU(32, 16, batch_first=True, bidirectional=True)), ROWS),
    "rnn": (lambda: Recurrent(nn.RNN(32, 16, batch_first=True)), ROWS),
    "lstm-last": (lambda: Recurrent(nn.LSTM(32, 16, batch_first=True), last=True), ROWS),
    "group-norm": (lambda: nn.Sequential(conv(), nn.GroupNorm(2, 8), nn.SiLU()), PICTURE),
    "instance-norm": (lambda: nn.Sequential(conv(), nn.InstanceNorm2d(8, affine=True)), PICTURE),
    "layer-norm": (lambda: nn.Sequential(nn.Linear(32, 16), nn.LayerNorm(16)), ROWS),
    "layer-norm-picture": (lambda: nn.Sequential(conv(), nn.LayerNorm((8, 16, 16))), PICTURE),
    "rms-norm": (lambda: nn.Sequential(nn.Linear(32, 16), nn.RMSNorm(16)), ROWS),
    "local-response": (lambda: nn.Sequential(conv(), nn.LocalResponseNorm(3)), PICTURE),
    "attention": (lambda: Attention(), ROWS),
    "attention-causal": (lambda: Attention(True), ROWS),
    "encoder-layer": (lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), ROWS),
    "encoder-norm-first": (lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True, activation="gelu"), ROWS),
    "pixel-shuffle": (lambda: nn.Sequential(conv(), nn.PixelShuffle(2)), PICTURE),
    "pixel-unshuffle": (lambda: nn.Sequential(conv(), nn.PixelUnshuffle(2)), PICTURE),
    "channel-shuffle": (lambda: nn.Sequential(conv(), nn.ChannelShuffle(2)), PICTURE),
    "nearest": (lambda: Unet(nn.Upsample(scale_factor=2)), PICTURE),
    "bilinear": (lambda: Unet(nn.Upsample(scale_factor=2, mode="bilinear")), PICTURE),
    "bilinear-corners": (lambda: Unet(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)), PICTURE),
    "bicubic": (lambda: nn.Sequential(conv(), nn.Upsample(scale_factor=2, mode="bicubic")), PICTURE),
    "resize-to": (lambda: Fn(lambda x: F.interpolate(x, size=(20, 28), mode="bilinear"), conv()), PICTURE),
    "unet-deconv": (lambda: Unet(nn.ConvTranspose2d(16, 16, 2, 2)), PICTURE),
    "adaptive-average": (lambda: nn.Sequential(conv(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 5)), PICTURE),
    "adaptive-average-odd": (lambda: nn.Sequential(conv(), nn.AdaptiveAvgPool2d((3, 5))), PICTURE),
    "adaptive-max": (lambda: nn.Sequential(conv(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(8, 5)), PICTURE),
    "max-pool-ceil": (lambda: nn.Sequential(conv(), nn.MaxPool2d(3, 2, ceil_mode=True)), PICTURE),
    "average-pool-ceil": (lambda: nn.Sequential(conv(), nn.AvgPool2d(3, 2, 1, ceil_mode=True)), PICTURE),
    "average-pool-inside": (lambda: nn.Sequential(conv(), nn.AvgPool2d(3, 2, 1, count_include_pad=False)), PICTURE),
    "lp-pool": (lambda: nn.Sequential(conv(), nn.LPPool2d(2, 2)), PICTURE),
    "max-pool-dilated": (lambda: nn.Sequential(conv(), nn.MaxPool2d(3, 1, dilation=2)), PICTURE),
    "unfold": (lambda: nn.Sequential(conv(), nn.Unfold(4, stride=4)), PICTURE),
    "fold": (lambda: Fn(lambda x: F.fold(F.unfold(x, 4, stride=4), (16, 16), 4, stride=4), conv()), PICTURE),
    "patches": (lambda: nn.Sequential(nn.Conv2d(3, 32, 4, 4), nn.Flatten(2), Fn(lambda x: x.transpose(1, 2)), nn.LayerNorm(32)), PICTURE),
    "prelu": (lambda: nn.Sequential(conv(), nn.PReLU(8)), PICTURE),
    "prelu-one": (lambda: nn.Sequential(conv(), nn.PReLU()), PICTURE),
    "glu": (lambda: nn.Sequential(conv(), nn.GLU(1)), PICTURE),
    "gelu": (lambda: nn.Sequential(conv(), nn.GELU()), PICTURE),
    "gelu-tanh": (lambda: nn.Sequential(conv(), nn.GELU("tanh")), PICTURE),
    "mish": (lambda: nn.Sequential(conv(), nn.Mish()), PICTURE),
    "celu": (lambda: nn.Sequential(conv(), nn.CELU(0.5)), PICTURE),
    "selu": (lambda: nn.Sequential(conv(), nn.SELU()), PICTURE),
    "softplus": (lambda: nn.Sequential(conv(), nn.Softplus(2)), PICTURE),
    "softsign": (lambda: nn.Sequential(conv(), nn.Softsign(), nn.Tanhshrink()), PICTURE),
    "hard-shrink": (lambda: nn.Sequential(conv(), nn.Hardshrink()), PICTURE),
    "soft-shrink": (lambda: nn.Sequential(conv(), nn.Softshrink()), PICTURE),
    "threshold": (lambda: nn.Sequential(conv(), nn.Threshold(0.1, -1.0)), PICTURE),
    "hard-tanh": (lambda: nn.Sequential(conv(), nn.Hardtanh(-0.5, 0.5), nn.ReLU6()), PICTURE),
    "log-softmax": (lambda: nn.Sequential(nn.Linear(32, 8), nn.LogSoftmax(-1)), ROWS),
    "softmax-channels": (lambda: nn.Sequential(conv(), nn.Softmax(1)), PICTURE),
    "normalize": (lambda: Fn(lambda x: F.normalize(x, dim=1), conv()), PICTURE),
    "cosine": (lambda: Fn(lambda x: F.cosine_similarity(x[:, :4], x[:, 4:], dim=1), conv()), PICTURE),
    "arcface": (lambda: Fn(lambda x: F.linear(F.normalize(x), torch.ones(5, 8)), nn.Sequential(conv(), nn.AdaptiveAvgPool2d(1), nn.Flatten())), PICTURE),
    "grid-sample": (lambda: Fn(lambda x: F.grid_sample(x, turned(), align_corners=False), conv()), PICTURE),
    "pad-reflect": (lambda: nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(3, 8, 3)), PICTURE),
    "pad-constant": (lambda: nn.Sequential(nn.ConstantPad2d((1, 2, 0, 1), 0.5), nn.Conv2d(3, 8, 3)), PICTURE),
    "crop": (lambda: Fn(lambda x: x[:, :, 1:-1, ::2], conv()), PICTURE),
    "flip": (lambda: Fn(lambda x: x.flip(3), conv()), PICTURE),
    "roll": (lambda: Fn(lambda x: x.roll((1, -2), (2, 3)), conv()), PICTURE),
    "focus": (lambda: nn.Sequential(Fn(lambda x: torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1)), nn.Conv2d(12, 8, 1)), PICTURE),
    "split": (lambda: Fn(lambda x: torch.cat([F.relu(a) if i else a for i, a in enumerate(x.split((3, 1, 4), 1))], 1), conv()), PICTURE),
    "chunk": (lambda: Fn(lambda x: x.chunk(2, 1)[0] * x.chunk(2, 1)[1].sigmoid(), conv()), PICTURE),
    "stack": (lambda: Fn(lambda x: torch.stack([x, x + 1], 1).amax(1), conv()), PICTURE),
    "where": (lambda: Fn(lambda x: torch.where(x > 0, x, x.exp() - 1), conv()), PICTURE),
    "clamp": (lambda: Fn(lambda x: x.clamp(min=-0.2).pow(2).sqrt(), conv()), PICTURE),
    "arg-max": (lambda: Fn(lambda x: x.argmax(1), conv()), PICTURE),
    "top-k": (lambda: Fn(lambda x: x.topk(3, -1)[0], nn.Linear(32, 16)), ROWS),
    "sort": (lambda: Fn(lambda x: x.sort(-1)[0], nn.Linear(32, 8)), ROWS),
    "cumsum": (lambda: Fn(lambda x: x.cumsum(1), nn.Linear(32, 8)), ROWS),
    "einsum": (lambda: Fn(lambda x: torch.einsum("bij,bkj->bik", x, x).softmax(-1), nn.Linear(32, 8)), ROWS),
    "outer": (lambda: Fn(lambda x: x.unsqueeze(2) - x.unsqueeze(1), nn.Linear(32, 4)), ROWS),
    "distance": (lambda: Fn(lambda x: torch.cdist(x, x), nn.Linear(32, 4)), ROWS),
    "statistics": (lambda: Fn(lambda x: torch.cat([x.mean((2, 3)), x.std((2, 3)), x.amax((2, 3)), x.amin((2, 3))], 1), conv()), PICTURE),
    "log-sum-exp": (lambda: Fn(lambda x: x.logsumexp(1), conv()), PICTURE),
    "norms": (lambda: Fn(lambda x: x / x.norm(dim=1, keepdim=True).clamp(min=1e-3), conv()), PICTURE),
    "rotary": (lambda: Fn(lambda x: x * torch.arange(12.0).cos().view(12, 1) + torch.cat([-x[..., 16:], x[..., :16]], -1) * torch.arange(12.0).sin().view(12, 1), nn.Linear(32, 32)), ROWS),
    "rounded": (lambda: Fn(lambda x: (x * 4).round().floor() / 4 + x.sign() + x.abs(), conv()), PICTURE),
    "trigonometry": (lambda: Fn(lambda x: x.sin() + x.cos() * x.tanh() + x.erf() + x.atan(), conv()), PICTURE),
    "logic": (lambda: Fn(lambda x: ((x > 0) & (x < 1) | (x < -1)).float() * x, conv()), PICTURE),
    "embedding": (lambda: Fn(lambda x: x, nn.Sequential(Fn(lambda x: (x.abs() * 4).long().clamp(max=9)), nn.Embedding(10, 6))), (1, 12)),
    "bilinear-layer": (lambda: Fn(lambda x: nn.functional.bilinear(x, x, torch.ones(3, 32, 32) / 9), None), (1, 32)),
    "mlp": (lambda: nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8), nn.Sigmoid()), (1, 32)),
    "mlp-rows": (lambda: nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8)), ROWS),
    "repeat": (lambda: Fn(lambda x: x.repeat(1, 2, 1, 1) + x.expand(1, 8, 16, 16).sum(1, keepdim=True), conv()), PICTURE),
    "detector-head": (lambda: Head(), (1, 3, 32, 32)),
    "gated": (lambda: nn.Sequential(conv(), Gated(), Gated()), PICTURE),
    "window-attention": (lambda: Window(), (1, 8, 8, 16)),
    "mixer": (lambda: nn.Sequential(Fn(lambda x: x.transpose(1, 2)), nn.Linear(12, 12), Fn(lambda x: x.transpose(1, 2)), nn.LayerNorm(32)), ROWS),
    "channels-last": (lambda: nn.Sequential(Fn(lambda x: x.permute(0, 2, 3, 1)), nn.LayerNorm(8), nn.Linear(8, 8), Fn(lambda x: x.permute(0, 3, 1, 2)), nn.Conv2d(8, 4, 1)), (1, 8, 16, 16)),
}


def build(name):
    factory, shape = LAYERS[name]
    return factory(), lambda b: torch.randn(b, *shape[1:])
