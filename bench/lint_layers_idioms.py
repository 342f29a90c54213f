"""Small networks of the set `idioms` of lint_models.py: lines that PyTorch code is made of, each behind as little as possible. Where lint and an engine differ on one, a class is missing."""
import torch
import torch.nn.functional as F
from torch import nn

from lint_layers_fourth import Parts

ROWS, PICTURE, SIGNAL, TABLE = (1, 6, 16), (1, 3, 12, 16), (1, 4, 32), (2, 10)


def conv(a=3, b=8, k=3):
    return nn.Conv2d(a, b, k, padding=k // 2)


def multi_query(m, x):
    q, k, v = m.q(x).view(1, 6, 4, 4).transpose(1, 2), m.k(x), m.v(x)
    return m.o((F.softmax(q @ k.unsqueeze(1).transpose(-1, -2) * 0.5, -1) @ v.unsqueeze(1)).transpose(1, 2).reshape(1, 6, 16))


def grouped_query(m, x):
    q, k = m.q(x).view(1, 6, 4, 4).transpose(1, 2), m.k(x).view(1, 6, 2, 4).transpose(1, 2).repeat_interleave(2, 1)
    v = m.v(x).view(1, 6, 2, 4).transpose(1, 2)[:, :, None].expand(1, 2, 2, 6, 4).reshape(1, 4, 6, 4)
    return (F.softmax(q @ k.transpose(2, 3) * 0.5, -1) @ v).transpose(1, 2).flatten(2)


NETS = {
    "mqa": (lambda: Parts(multi_query, q=nn.Linear(16, 16), k=nn.Linear(16, 4), v=nn.Linear(16, 4), o=nn.Linear(16, 16)), ROWS),
    "gqa": (lambda: Parts(grouped_query, q=nn.Linear(16, 16), k=nn.Linear(16, 8), v=nn.Linear(16, 8)), ROWS),
    "cls-token": (lambda: Parts(lambda m, x: torch.cat([m.c.expand(x.shape[0], -1, -1), m.e(x)], 1), c=(1, 1, 8), e=nn.Linear(16, 8)), ROWS),
    "pos-add": (lambda: Parts(lambda m, x: m.e(x) + m.p[:6], p=(9, 8), e=nn.Linear(16, 8)), ROWS),
    "patch-embed": (lambda: Parts(lambda m, x: m.c(x).flatten(2).transpose(1, 2), c=nn.Conv2d(3, 8, 4, 4)), PICTURE),
    "patchify": (lambda: Parts(lambda m, x: m.e(x.reshape(1, 3, 3, 4, 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(1, 12, 48)), e=nn.Linear(48, 8)), PICTURE),
    "unpatchify": (lambda: Parts(lambda m, x: m.e(x).reshape(1, 2, 3, 2, 2, 2).permute(0, 5, 1, 3, 2, 4).reshape(1, 2, 4, 6), e=nn.Linear(16, 8)), ROWS),
    "se-linear": (lambda: Parts(lambda m, x: (lambda y: y * torch.sigmoid(m.b(F.relu(m.a(y.mean((2, 3)))))).unsqueeze(-1).unsqueeze(-1))(m.c(x)), c=conv(),
                    a=nn.Linear(8, 4), b=nn.Linear(4, 8)), PICTURE),
    "se-index": (lambda: Parts(lambda m, x: (lambda y: y * torch.sigmoid(m.a(y.mean([2, 3])))[:, :, None, None])(m.c(x)), c=conv(), a=nn.Linear(8, 8)), PICTURE),
    "std-pool": (lambda: Parts(lambda m, x: torch.cat([m.c(x).mean((2, 3)), m.c(x).std((2, 3))], 1), c=conv()), PICTURE),
    "var-norm": (lambda: Parts(lambda m, x: (lambda y: (y-y.mean(1, keepdim=True)) / torch.sqrt(y.var(1, keepdim=True, unbiased=False) + 1e-5) * m.g.view(1, 8, 1,
                    1) + m.b.view(1, 8, 1, 1))(m.c(x)), c=conv(), g=(8,), b=(8,)), PICTURE),
    "ln2d": (lambda: Parts(lambda m, x: m.n(m.c(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2), c=conv(), n=nn.LayerNorm(8)), PICTURE),
    "grn": (lambda: Parts(lambda m, x: (lambda y: (lambda g: y * (g / (g.mean(1, keepdim=True) + 1e-6)) * m.w + y)(torch.norm(y, p=2, dim=(2, 3),
                    keepdim=True)))(m.c(x)), c=conv(), w=(1, 8, 1, 1)), PICTURE),
    "cosine-head": (lambda: Parts(lambda m, x: F.linear(F.normalize(m.c(x).mean((2, 3))), F.normalize(m.w)), c=conv(), w=(5, 8)), PICTURE),
    "norm-tokens": (lambda: Parts(lambda m, x: F.normalize(m.e(x), dim=-1) @ F.normalize(m.e(x), dim=-1).transpose(1, 2), e=nn.Linear(16, 8)), ROWS),
    "max-drop": (lambda: Parts(lambda m, x: m.c(x).max(3)[0].max(2)[0], c=conv()), PICTURE),
    "gap-squeeze": (lambda: Parts(lambda m, x: F.adaptive_avg_pool2d(m.c(x), 1).squeeze(-1).squeeze(-1), c=conv()), PICTURE),
    "gem": (lambda: Parts(lambda m, x: F.avg_pool2d(m.c(x).clamp(min=1e-6).pow(3), (12, 16)).pow(1 / 3).flatten(1), c=conv()), PICTURE),
    "soft-argmax": (lambda: Parts(lambda m, x: (F.softmax(m.c(x).flatten(2), -1) * torch.arange(192.)).sum(-1), c=conv()), PICTURE),
    "coordconv": (lambda: Parts(lambda m, x: m.c(torch.cat([x, torch.linspace(-1, 1, 16).view(1, 1, 1, 16).expand(1, 1, 12, 16)], 1)), c=conv(4, 8)), PICTURE),
    "crop-skip": (lambda: Parts(lambda m, x: torch.cat([m.c(x)[:, :, 1:-1, 2:-2], m.d(x)], 1), c=conv(), d=nn.Conv2d(3, 4, (3, 5))), PICTURE),
    "neg-slice": (lambda: Parts(lambda m, x: m.c(x)[..., -5:], c=conv()), PICTURE),
    "stride-slice": (lambda: Parts(lambda m, x: m.c(x)[:, :, ::2, 1::2], c=conv()), PICTURE),
    "channel-pick": (lambda: Parts(lambda m, x: m.c(x)[:, [0, 2, 5]], c=conv()), PICTURE),
    "channel-one": (lambda: Parts(lambda m, x: m.c(x)[:, 2], c=conv()), PICTURE),
    "channel-keep": (lambda: Parts(lambda m, x: m.c(x)[:, 2:3] * m.c(x), c=conv()), PICTURE),
    "rgb2bgr": (lambda: Parts(lambda m, x: m.c(x[:, [2, 1, 0]]), c=conv()), PICTURE),
    "flip-w": (lambda: Parts(lambda m, x: m.c(x) + m.c(x.flip(3)).flip(3), c=conv()), PICTURE),
    "norm-input": (lambda: Parts(lambda m, x: m.c((x-torch.tensor([0.4, 0.5, 0.6]).view(1, 3, 1, 1)) / torch.tensor([0.2, 0.3, 0.4]).view(1, 3, 1, 1)), c=conv()),
                    PICTURE),
    "x255": (lambda: Parts(lambda m, x: m.c(x / 255.0-0.5), c=conv()), PICTURE),
    "up-size": (lambda: Parts(lambda m, x: F.interpolate(m.c(x), size=(20, 30), mode="bilinear"), c=conv()), PICTURE),
    "up-like": (lambda: Parts(lambda m, x: F.interpolate(F.max_pool2d(m.c(x), 2), size=m.c(x).shape[2:], mode="nearest") + m.c(x), c=conv()), PICTURE),
    "up-corners": (lambda: Parts(lambda m, x: F.interpolate(m.c(x), scale_factor=2, mode="bilinear", align_corners=True), c=conv()), PICTURE),
    "down-area": (lambda: Parts(lambda m, x: F.interpolate(m.c(x), scale_factor=0.5, mode="area"), c=conv()), PICTURE),
    "up-1d": (lambda: Parts(lambda m, x: F.interpolate(m.c(x), scale_factor=2), c=nn.Conv1d(4, 6, 3)), SIGNAL),
    "pool1d": (lambda: Parts(lambda m, x: F.max_pool1d(F.relu(m.c(x)), 2)-F.avg_pool1d(m.c(x), 2), c=nn.Conv1d(4, 6, 3)), SIGNAL),
    "causal": (lambda: Parts(lambda m, x: m.c(F.pad(x, (2, 0))), c=nn.Conv1d(4, 6, 3)), SIGNAL),
    "causal-trim": (lambda: Parts(lambda m, x: m.c(x)[:, :, :-2], c=nn.Conv1d(4, 6, 3, padding=2)), SIGNAL),
    "wavenet": (lambda: Parts(lambda m, x: (lambda y: torch.tanh(y[:, :4]) * torch.sigmoid(y[:, 4:]) + x)(m.c(x)), c=nn.Conv1d(4, 8, 3, padding=1)), SIGNAL),
    "glu1d": (lambda: Parts(lambda m, x: F.glu(m.c(x), 1), c=nn.Conv1d(4, 8, 3)), SIGNAL),
    "lstm-last": (lambda: Parts(lambda m, x: m.r(x)[0][:, -1], r=nn.LSTM(16, 5, batch_first=True)), ROWS),
    "lstm-h": (lambda: Parts(lambda m, x: m.r(x)[1][0][-1], r=nn.LSTM(16, 5, batch_first=True)), ROWS),
    "bilstm": (lambda: Parts(lambda m, x: m.o(m.r(x)[0]), r=nn.LSTM(16, 5, batch_first=True, bidirectional=True), o=nn.Linear(10, 3)), ROWS),
    "lstm-seq": (lambda: Parts(lambda m, x: m.r(x.transpose(0, 1))[0], r=nn.LSTM(16, 5)), ROWS),
    "gru": (lambda: Parts(lambda m, x: m.r(x)[0].mean(1), r=nn.GRU(16, 5, batch_first=True)), ROWS),
    "gru2": (lambda: Parts(lambda m, x: m.r(x)[0], r=nn.GRU(16, 5, 2, batch_first=True)), ROWS),
    "rnn": (lambda: Parts(lambda m, x: m.r(x)[0], r=nn.RNN(16, 5, batch_first=True)), ROWS),
    "where": (lambda: Parts(lambda m, x: torch.where(m.e(x)>0, m.e(x), -m.e(x)), e=nn.Linear(16, 8)), ROWS),
    "mask-attn": (lambda: Parts(lambda m, x: (m.e(x) @ x.transpose(1, 2)).masked_fill(torch.ones(6, 6).triu(1).bool(), float("-inf")).softmax(-1) @ x,
                    e=nn.Linear(16, 16)), ROWS),
    "mask-add": (lambda: Parts(lambda m, x: ((m.e(x) @ x.transpose(1, 2)) + torch.full((6, 6), -1e9).triu(1)).softmax(-1) @ x, e=nn.Linear(16, 16)), ROWS),
    "relpos": (lambda: Parts(lambda m, x: ((m.e(x) @ x.transpose(1, 2)) / 4 + m.b).softmax(-1) @ x, e=nn.Linear(16, 16), b=(6, 6)), ROWS),
    "swiglu": (lambda: Parts(lambda m, x: m.o(F.silu(m.a(x)) * m.b(x)), a=nn.Linear(16, 24), b=nn.Linear(16, 24), o=nn.Linear(24, 16)), ROWS),
    "geglu": (lambda: Parts(lambda m, x: (lambda y: y[0] * F.gelu(y[1]))(m.a(x).chunk(2, -1)), a=nn.Linear(16, 24)), ROWS),
    "gelu-tanh": (lambda: Parts(lambda m, x: F.gelu(m.a(x), approximate="tanh"), a=nn.Linear(16, 24)), ROWS),
    "qgelu": (lambda: Parts(lambda m, x: (lambda y: y * torch.sigmoid(1.702 * y))(m.a(x)), a=nn.Linear(16, 24)), ROWS),
    "rms": (lambda: Parts(lambda m, x: m.e(m.w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)), w=(16,), e=nn.Linear(16, 8)), ROWS),
    "rope": (lambda: Parts(lambda m, x: (lambda q: q * torch.arange(96.).view(1, 6, 16).cos() + torch.cat([-q[..., 8:], q[..., :8]], -1) * torch.arange(96.).view(1,
                    6, 16).sin())(m.e(x)), e=nn.Linear(16, 16)), ROWS),
    "log-probs": (lambda: Parts(lambda m, x: F.log_softmax(m.e(x), -1)[:, :, 1], e=nn.Linear(16, 4)), ROWS),
    "softmax-1": (lambda: Parts(lambda m, x: F.softmax(m.c(x), 1), c=conv()), PICTURE),
    "argmax": (lambda: Parts(lambda m, x: m.c(x).argmax(1), c=conv()), PICTURE),
    "argmax-row": (lambda: Parts(lambda m, x: m.e(x).argmax(-1), e=nn.Linear(10, 4)), TABLE),
    "topk-row": (lambda: Parts(lambda m, x: m.e(x).softmax(-1).topk(2)[0], e=nn.Linear(10, 4)), TABLE),
    "onehot": (lambda: Parts(lambda m, x: F.one_hot(m.e(x).argmax(-1), 4).float(), e=nn.Linear(10, 4)), TABLE),
    "bn1d": (lambda: Parts(lambda m, x: F.relu(m.n(m.e(x))), e=nn.Linear(10, 4), n=nn.BatchNorm1d(4)), TABLE),
    "outer": (lambda: Parts(lambda m, x: (lambda y: (y.unsqueeze(2) * y.unsqueeze(1)).flatten(1))(m.e(x)), e=nn.Linear(10, 4)), TABLE),
    "fm": (lambda: Parts(lambda m, x: (lambda v: 0.5 * (v.sum(1)**2-(v**2).sum(1)))(m.e(x).view(-1, 3, 4)), e=nn.Linear(10, 12)), TABLE),
    "dist": (lambda: Parts(lambda m, x: ((m.e(x).unsqueeze(1)-m.c.unsqueeze(0))**2).sum(-1), e=nn.Linear(10, 4), c=(5, 4)), TABLE),
    "cdist": (lambda: Parts(lambda m, x: torch.cdist(m.e(x), m.c), e=nn.Linear(10, 4), c=(5, 4)), TABLE),
    "bilinear": (lambda: Parts(lambda m, x: F.bilinear(m.e(x), m.e(x), m.w), e=nn.Linear(10, 4), w=(3, 4, 4)), TABLE),
    "matmul-t": (lambda: Parts(lambda m, x: x @ m.w.t(), w=(4, 10)), TABLE),
    "linear-nobias": (lambda: Parts(lambda m, x: F.linear(x, m.w), w=(4, 10)), TABLE),
    "mlp-2": (lambda: Parts(lambda m, x: m.b(F.leaky_relu(m.a(x), 0.2)), a=nn.Linear(10, 8), b=nn.Linear(8, 2)), TABLE),
    "concat-feat": (lambda: Parts(lambda m, x: m.b(torch.cat([m.a(x), x], 1)), a=nn.Linear(10, 8), b=nn.Linear(18, 2)), TABLE),
    "split-mlp": (lambda: Parts(lambda m, x: torch.cat([torch.tanh(x[:, :3]), torch.exp(x[:, 3:6]), m.a(x[:, 6:])], 1), a=nn.Linear(4, 2)), TABLE),
    "prod": (lambda: Parts(lambda m, x: m.e(x).prod(1, keepdim=True), e=nn.Linear(10, 4)), TABLE),
    "cumsum": (lambda: Parts(lambda m, x: m.e(x).softmax(-1).cumsum(-1), e=nn.Linear(10, 4)), TABLE),
    "min-max": (lambda: Parts(lambda m, x: (lambda y: (y-y.min(1, keepdim=True)[0]) / (y.max(1, keepdim=True)[0]-y.min(1, keepdim=True)[0] + 1e-5))(m.e(x)),
                    e=nn.Linear(10, 4)), TABLE),
    "einsum-head": (lambda: Parts(lambda m, x: torch.einsum("bnd, hde->bhne", x, m.w), w=(2, 16, 5)), ROWS),
    "einsum-out": (lambda: Parts(lambda m, x: torch.einsum("bhw, bcw->bhc", m.e(x), x), e=nn.Linear(16, 16)), ROWS),
    "cross": (lambda: Parts(lambda m, x: m.a(m.q.unsqueeze(0), x, x, need_weights=False)[0], a=nn.MultiheadAttention(16, 2, batch_first=True), q=(3, 16)), ROWS),
    "shift-tokens": (lambda: Parts(lambda m, x: m.e(x + F.pad(x, (0, 0, 1, -1))), e=nn.Linear(16, 8)), ROWS),
    "roll": (lambda: Parts(lambda m, x: torch.roll(m.c(x), (1, 2), (2, 3)), c=conv()), PICTURE),
    "windows": (lambda: Parts(lambda m, x: m.c(x).view(1, 8, 3, 4, 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(-1, 16, 8).mean(1), c=conv()), PICTURE),
    "shuffle": (lambda: Parts(lambda m, x: m.c(x).view(1, 2, 4, 12, 16).transpose(1, 2).reshape(1, 8, 12, 16), c=conv()), PICTURE),
    "focus": (lambda: Parts(lambda m, x: m.c(torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1)), c=conv(12)), PICTURE),
    "dw-sep": (lambda: Parts(lambda m, x: m.b(F.relu6(m.a(x))), a=nn.Conv2d(3, 3, 3, 2, 1, groups=3), b=nn.Conv2d(3, 8, 1)), PICTURE),
    "dil": (lambda: Parts(lambda m, x: m.a(x), a=nn.Conv2d(3, 4, 3, padding=2, dilation=2)), PICTURE),
    "deconv": (lambda: Parts(lambda m, x: m.a(x), a=nn.ConvTranspose2d(3, 4, 3, 2, 1, 1)), PICTURE),
    "deconv-dil": (lambda: Parts(lambda m, x: m.a(x), a=nn.ConvTranspose2d(3, 4, 3, 1, 0, dilation=2)), PICTURE),
    "deconv-asym": (lambda: Parts(lambda m, x: m.a(x), a=nn.ConvTranspose2d(3, 4, (3, 4), (1, 2), (1, 0))), PICTURE),
    "conv-asym": (lambda: Parts(lambda m, x: m.a(x), a=nn.Conv2d(3, 4, (1, 5), (1, 2), (0, 2))), PICTURE),
    "pad-asym": (lambda: Parts(lambda m, x: m.a(F.pad(x, (0, 1, 0, 1))), a=nn.Conv2d(3, 4, 3, 2)), PICTURE),
    "pad-replicate": (lambda: Parts(lambda m, x: F.pad(m.a(x), (1, 1, 1, 1), mode="replicate"), a=conv()), PICTURE),
    "lrn": (lambda: Parts(lambda m, x: F.local_response_norm(m.a(x), 3), a=conv()), PICTURE),
    "maxpool-ceil": (lambda: Parts(lambda m, x: F.max_pool2d(m.a(x), 3, 2, ceil_mode=True), a=conv()), PICTURE),
    "avg-nopad": (lambda: Parts(lambda m, x: F.avg_pool2d(m.a(x), 3, 2, 1, count_include_pad=False), a=conv()), PICTURE),
    "aap-3": (lambda: Parts(lambda m, x: F.adaptive_avg_pool2d(m.a(x), (3, 4)), a=conv()), PICTURE),
    "aap-5": (lambda: Parts(lambda m, x: F.adaptive_avg_pool2d(m.a(x), (5, 7)), a=conv()), PICTURE),
    "grid": (lambda: Parts(lambda m, x: F.grid_sample(x, torch.tanh(m.a(x)).permute(0, 2, 3, 1), align_corners=True), a=conv(3, 2)), PICTURE),
    "affine": (lambda: Parts(lambda m, x: F.grid_sample(x, F.affine_grid(m.a(x.mean((2, 3))).view(1, 2, 3), (1, 3, 8, 8), align_corners=False),
                    align_corners=False), a=nn.Linear(3, 6)), PICTURE),
    "unfold": (lambda: Parts(lambda m, x: F.unfold(m.a(x), 3, padding=1), a=conv()), PICTURE),
    "instance": (lambda: Parts(lambda m, x: F.instance_norm(m.a(x)), a=conv()), PICTURE),
    "group": (lambda: Parts(lambda m, x: m.n(m.a(x)), a=conv(), n=nn.GroupNorm(4, 8)), PICTURE),
    "prelu": (lambda: Parts(lambda m, x: m.n(m.a(x)), a=conv(), n=nn.PReLU(8)), PICTURE),
    "mish": (lambda: Parts(lambda m, x: F.mish(m.a(x)), a=conv()), PICTURE),
    "hswish": (lambda: Parts(lambda m, x: m.a(x) * F.relu6(m.a(x) + 3) / 6, a=conv()), PICTURE),
    "softplus-b": (lambda: Parts(lambda m, x: F.softplus(m.a(x), beta=2), a=conv()), PICTURE),
    "std-conv3d": (lambda: Parts(lambda m, x: m.a(x.unsqueeze(2)).squeeze(2), a=nn.Conv3d(3, 4, (1, 3, 3))), PICTURE),
    "scaled-res": (lambda: Parts(lambda m, x: x * m.g + m.a(x) * m.h, a=conv(3, 3), g=(1,), h=()), PICTURE),
    "two-out": (lambda: Parts(lambda m, x: (m.a(x).mean((2, 3)), m.b(x)), a=conv(), b=conv(3, 1, 1)), PICTURE),
    "out-is-mid": (lambda: Parts(lambda m, x: (lambda y: (y, F.relu(y).amax((2, 3))))(m.a(x)), a=conv()), PICTURE),
    "batch2": (lambda: Parts(lambda m, x: m.b(F.relu(m.a(x)).flatten(1)), a=nn.Conv2d(3, 2, 3, 4), b=nn.Linear(24, 3)), (2,3,12,16)),
}


def build(name):
    make, shape = NETS[name]
    return make(), lambda b: torch.randn(b * shape[0], *shape[1:])
