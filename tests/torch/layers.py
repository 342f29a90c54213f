"""Layers with all their options, in-place and out= forms, complex numbers: judged as the traps are (traps.py).

usage: layers.py [--cameo PATH] [--only TEXT]
"""
import argparse
import itertools
import sys
import tempfile

import torch
import torch.nn.functional as F

from traps import ROOT, Trap, grid, i64, judge


class Recurrent(torch.nn.Module):
    def __init__(self, kind, state, **options):
        super().__init__()
        torch.manual_seed(1)
        self.net, self.state = kind(4, 5, **options), state

    def forward(self, x, *state):
        if not self.state: hidden = None
        elif isinstance(self.net, torch.nn.LSTM): hidden = tuple(state)
        else: hidden = state[0]
        out, end = self.net(x, hidden)
        return (out, *end) if isinstance(end, tuple) else (out, end)


def recurrent():
    for kind, layers, both, first, bias, state in itertools.product((torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN), (1, 2), (False, True), (False, True), (True, False), (False, True)):
        if sum((layers == 2, both, first, not bias, state)) not in (0, 1, 4, 5): continue  # each one separately, and nearly all together
        shape = (layers * (2 if both else 1), 3, 5)
        states = (grid(*shape, seed=2), grid(*shape, seed=3))[:2 if kind is torch.nn.LSTM else 1] if state else ()
        x = grid(3, 6, 4) if first else grid(6, 3, 4)
        name = f"{kind.__name__} layers={layers} bidirectional={both} batch_first={first} bias={bias} state={state}"
        yield Trap(0, name, Recurrent(kind, state, num_layers=layers, bidirectional=both, batch_first=first, bias=bias), (x, *states))
    for both in (False, True):
        yield Trap(0, f"LSTM with a projection, bidirectional={both}", Recurrent(torch.nn.LSTM, False, num_layers=2, proj_size=3, bidirectional=both), (grid(6, 3, 4),))


class PackedNet(torch.nn.Module):
    def __init__(self, kind, batch_first, bidirectional):
        super().__init__()
        torch.manual_seed(1)
        self.net, self.first = kind(4, 5, batch_first=batch_first, bidirectional=bidirectional), batch_first

    def forward(self, x, lengths):
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=self.first)
        out, end = self.net(packed)
        y, n = torch.nn.utils.rnn.pad_packed_sequence(out, batch_first=self.first)
        return y, n, (end[0] if isinstance(end, tuple) else end)


class Cells(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.a, self.b, self.c = torch.nn.LSTMCell(4, 5), torch.nn.GRUCell(4, 5), torch.nn.RNNCell(4, 5, nonlinearity="relu")

    def forward(self, x, h, c): return (*self.a(x, (h, c)), self.b(x, h), self.c(x, h))


class Encoder(torch.nn.Module):
    def __init__(self, **options):
        super().__init__()
        torch.manual_seed(1)
        self.net = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)
        for p in self.net.parameters(): p.data = p.data + 0.1 * torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel()))

    def forward(self, x): return self.net(x)


class MultiHead(torch.nn.Module):
    def __init__(self, need_weights, average=True):
        super().__init__()
        torch.manual_seed(1)
        self.net, self.need, self.average = torch.nn.MultiheadAttention(8, 2, batch_first=True), need_weights, average

    def forward(self, x):
        y, w = self.net(x, x, x, need_weights=self.need, average_attn_weights=self.average)
        return (y, w) if self.need else y


def attention():
    q, k, v = grid(2, 4, 3, 8), grid(2, 4, 5, 8, seed=1), grid(2, 4, 5, 6, seed=2)
    mask, bias = torch.tensor([[True, False, True, True, False]] * 3), grid(2, 1, 3, 5, seed=3)
    sdpa = F.scaled_dot_product_attention
    yield Trap(0, "attention, plain", lambda q, k, v: sdpa(q, k, v), (q, k, v))
    yield Trap(0, "attention, bool mask", lambda q, k, v, m: sdpa(q, k, v, m), (q, k, v, mask))
    yield Trap(0, "attention, added mask", lambda q, k, v, m: sdpa(q, k, v, m, scale=0.5), (q, k, v, bias))
    yield Trap(0, "attention, causal", lambda q, k, v: sdpa(q, k, v, is_causal=True), (q, k, v))
    yield Trap(0, "attention, grouped queries with a mask", lambda q, k, v, m: sdpa(q, k, v, m, enable_gqa=True), (q, k[:, :2], v[:, :2], mask))
    yield Trap(0, "attention of rank 3", lambda q, k, v, m: sdpa(q, k, v, m), (q[0], k[0], v[0], mask))
    yield Trap(0, "attention of rank 2", lambda q, k, v: sdpa(q, k, v), (q[0, 0], k[0, 0], v[0, 0]))
    yield Trap(0, "attention of rank 5", lambda q, k, v: sdpa(q, k, v, is_causal=True), (q[None], k[None], v[None]))
    yield Trap(0, "attention below opset 23, f16", lambda q, k, v: sdpa(q, k, v), (q.half(), k.half(), v.half()), rtol=1e-2, atol=1e-2)
    for options in ({}, {"norm_first": True}, {"activation": "gelu"}): yield Trap(0, f"TransformerEncoderLayer {options}", Encoder(**options), (grid(2, 5, 8),))
    for options in ((False,), (True,), (True, False)): yield Trap(0, f"MultiheadAttention {options}", MultiHead(*options), (grid(2, 5, 8),))


def out_forms(x, y):
    z = torch.zeros(3, 4)
    torch.add(x, y, out=z)
    w = torch.empty(3, 4)
    torch.sigmoid(z, out=w)
    values, at = torch.empty(3, 2), torch.empty(3, 2, dtype=torch.int64)
    torch.topk(x, 2, out=(values, at))
    return z, w, values


def in_place_forms(x, y):
    x = x.clone()
    x.add_(y).mul_(2).clamp_(-1, 1)
    x[:, 0].fill_(3)
    x.t()[1].sub_(1)
    x.view(-1)[5:7].zero_()
    F.relu_(x)
    z = x.unsqueeze(0)
    z.sigmoid_()
    a = torch.zeros(3, 4)
    a.copy_(y)
    a.masked_fill_(y > 0, 7.0)
    a.index_add_(0, torch.tensor([0, 2]), y[:2])
    a.pow_(2)
    a.floor_divide_(y.abs() + 1)
    b = y.clone()
    b.unsqueeze_(1)
    b.squeeze_()
    b.transpose_(0, 1)
    return x, z, a, b


class EitherSign(torch.nn.Module):
    """Places on an axis that the model computes: below zero they count from the end."""

    def forward(self, x, n: torch.Tensor):
        k = int(n)
        start, end, row = x.clone(), x.clone(), x.clone()
        start[-k:] = 0.0
        end[:k] = 0.0
        row[k] = 0.0
        return x.roll(k, 0), x.roll((-k, 3), (0, 1)), x[k:], x[:-k], start, end, row


def complex_forms(x):
    z = torch.view_as_complex(x)
    w = torch.polar(z.abs(), z.angle()) * torch.complex(x[..., 1], x[..., 0])
    return (torch.view_as_real(z.conj() * w), (z / w).real, (z + 1).imag, z.exp(), z @ w.transpose(0, 1), z.sum(), z.mean(0), (z * z.conj()).real, z[1:, ::2], torch.cat([z, w], 0), z == w, z.sqrt(), w.log(), z.reciprocal(), z.flatten().flip(0), z.reshape(-1, 2).T)


class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("turns", torch.polar(torch.ones(5, 4), grid(5, 4)))

    def forward(self, x):
        z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(z * self.turns[: x.shape[1]].unsqueeze(0)).flatten(-2)


class Filter(torch.nn.Module):
    """Spectral filtering, as in GFNet and FNO."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.view_as_complex(grid(3, 8, 5, 2)))

    def forward(self, x):
        return torch.fft.irfft2(torch.fft.rfft2(x, norm="ortho") * self.weight, s=x.shape[-2:], norm="ortho")


CASES = [
    *recurrent(), *attention(), Trap(0, "cells", Cells(), (grid(3, 4), grid(3, 5, seed=1), grid(3, 5, seed=2))),
    *[Trap(0, f"packed {k.__name__} batch_first={f} bidirectional={b}", PackedNet(k, f, b), (grid(3, 6, 4) if f else grid(6, 3, 4), i64(6, 4, 2)))
      for k in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN) for f, b in ((True, False), (False, True))],
    Trap(0, "rms_norm", torch.nn.RMSNorm((3, 4), eps=1e-3), (grid(2, 3, 4),)), Trap(0, "rms_norm at opset 23", torch.nn.RMSNorm(4), (grid(2, 3, 4),), opset=23),
    Trap(0, "out= forms", out_forms, (grid(3, 4), grid(3, 4, seed=1))), Trap(0, "in-place forms", in_place_forms, (grid(3, 4), grid(3, 4, seed=1))),
    Trap(0, "complex numbers", complex_forms, (grid(3, 4, 2),), rtol=1e-3, atol=1e-4), Trap(0, "rotary embedding with complex turns", Rotary(), (grid(2, 5, 8),)),
    Trap(0, "a filter of the spectrum with complex weights", Filter(), (grid(2, 3, 8, 8),)),
    Trap(0, "the same, dynamic batch", Filter(), (grid(2, 3, 8, 8),), flags=("--input", "x=f32[batch,3,8,8]"), more=((grid(1, 3, 8, 8, seed=1),),)),
    Trap(0, "stft and istft of any length", lambda x: torch.istft(torch.stft(x, 16, window=torch.hann_window(16), return_complex=True) * 2, 16, window=torch.hann_window(16)),
         (grid(2, 64),), flags=("--input", "x=f32[b,n]"), more=((grid(3, 80, seed=1),),), rtol=1e-3, atol=1e-4, opset=18),
    Trap(0, "rfft and irfft of any length", lambda x: torch.fft.irfft(torch.fft.rfft(x), n=x.shape[-1]), (grid(2, 64),), flags=("--input", "x=f32[b,n]"), more=((grid(3, 80, seed=1),),), rtol=1e-3, atol=1e-3),
    Trap(0, "LSTM with a projection, any length", Recurrent(torch.nn.LSTM, False, proj_size=3, batch_first=True), (grid(2, 5, 4),), flags=("--input", "x=f32[b,s,4]"), more=((grid(3, 7, 4, seed=1),),)),
    Trap(0, "singular values, pseudo-inverse, LU", lambda x: (torch.linalg.svdvals(x), torch.linalg.pinv(x), torch.linalg.lu_factor(x)[0]), (grid(2, 4, 3),), flags=("--input", "x=f32[b,4,3]"), more=((grid(3, 4, 3, seed=1),),), rtol=1e-3, atol=1e-4),
    Trap(0, "places of either sign", EitherSign(), (grid(6, 4), torch.tensor(2)), scripted=True, flags=("--input", "x=f32[rows,4]", "--input", "n=i64[]"),
         more=((grid(5, 4, seed=1), torch.tensor(-2)), (grid(6, 4, seed=2), torch.tensor(0)), (grid(7, 4, seed=3), torch.tensor(-7)))),
    Trap(0, "complex input and output", lambda z: (z * 2, z.abs()), (torch.view_as_complex(grid(3, 2)),)),
    Trap(0, "pools of negative numbers with zeros around", lambda x: (F.avg_pool2d(F.pad(x, (0, 1, 0, 1)), 1, 2), F.avg_pool2d(F.pad(x, (1, 1, 1, 1)), 3, 2), F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 3, 2), F.max_pool2d(F.pad(x.neg(), (0, 1, 0, 1)), 2, return_indices=True)), (-1 - grid(2, 3, 5, 5).abs(),)),
    Trap(0, "repeat_interleave, roll, einsum", lambda x, r: (x.repeat_interleave(r, 1), torch.einsum("ij,ik->jk", x, x)), (grid(2, 3), i64(1, 0, 2))),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    wrong = 0
    for case in CASES:
        if args.only not in case.name: continue
        with tempfile.TemporaryDirectory() as folder:
            try: problem = judge(case, args.cameo, folder)
            except Exception as e: problem = f"{type(e).__name__}: {str(e).splitlines()[0][:200]}"
        wrong += bool(problem)
        if problem: print(f"{case.name}: {problem}")
    print(f"{len(CASES) - wrong} right, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
