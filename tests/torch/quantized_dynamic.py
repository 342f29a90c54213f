"""Layers of torch.ao.quantization.quantize_dynamic: linear and recurrent ones, cells. Archives, and references for each.

`twin` of a recurrent layer is the float layer with the weights that the archive stores. It rounds nothing at run time, as the exported
layer does not, so that both agree to `CLOSE`. The quantized model itself also rounds inputs and states to 7 bits by their own range:
`noise` says what that can amount to. Linear layers and cells are exported with that rounding and have no twin: numbers that lie between
two steps may go either way, which `tie` allows for.
"""
import itertools
import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.ao import quantization
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

warnings.filterwarnings("ignore")
CLOSE = 1e-5
STEPS = 127  # of a range: seven bits (reduce_range)
INPUT, HIDDEN = 4, 5


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Layer(nn.Module):
    def __init__(self, kind, sizes=(INPUT, HIDDEN), **options):
        super().__init__()
        self.net = kind(*sizes, **options)

    def forward(self, x):
        return self.net(x)


class LstmFrom(Layer):
    def forward(self, x, h, c):
        return self.net(x, (h, c))


class GruFrom(Layer):
    def forward(self, x, h):
        return self.net(x, h)


class PackedLstm(Layer):
    def forward(self, x, lengths):
        y, (h, c) = self.net(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
        y, n = pad_packed_sequence(y, batch_first=True)
        return y, n, h, c


class PackedGru(Layer):
    def forward(self, x, lengths):
        y, h = self.net(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
        y, n = pad_packed_sequence(y, batch_first=True)
        return y, n, h


class Turns(Layer):
    """The layer in a loop that stays a loop."""

    def forward(self, x):
        i = 0
        while bool(x.sum() < 1e6) and i < 3:
            x = self.net(x)[0][:, :, :4]
            i += 1
        return x


class LstmSteps(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.LSTMCell(INPUT, HIDDEN)

    def forward(self, x, h, c):
        for i in range(x.size(0)):
            h, c = self.net(x[i], (h, c))
        return h, c


class Steps(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.net = kind(INPUT, HIDDEN, **options)

    def forward(self, x, h):
        for i in range(x.size(0)):
            h = self.net(x[i], h)
        return h


def quantized(module, dtype, by_channel=False):
    kind = type(module.net)
    return quantization.quantize_dynamic(module.eval(), {kind: quantization.per_channel_dynamic_qconfig} if by_channel else {kind}, dtype=dtype)


def plain(weight):
    return weight.dequantize() if weight.is_quantized else weight


def twin_of(module, model):
    """The float module, with the weights of the quantized one."""
    for name, weight in {**model.net.get_weight(), **model.net.get_bias()}.items():
        getattr(module.net, name).data = plain(weight).detach()
    return module


def row_sums(net, part):
    return max(float(plain(w).abs().sum(1).max()) for name, w in net.get_weight().items() if part in name)


def noise(net, x, layers):
    """Half a step on every number that a row of weights meets, in each layer; what gates carry on from step to step as much again."""
    step = (float(x.max().clamp(min=0)) - float(x.min().clamp(max=0))) / STEPS
    first = step / 2 * row_sums(net, "ih_l0") + 1 / STEPS * row_sums(net, "hh")
    others = 1 / STEPS * (row_sums(net, "ih") + row_sums(net, "hh"))
    return 2 * (first + (layers - 1) * others)


def tie(x, *weights):
    """One number a whole step off."""
    return float(x.abs().max()) * 2 / STEPS * max(float(plain(w).abs().max()) for w in weights)


@dataclass
class Case:
    name: str
    model: Any
    twin: Any  # None: the model itself
    inputs: tuple[Tensor, ...]
    flags: tuple[str, ...]
    dtype: torch.dtype
    most: float  # difference from the model
    script: bool = True
    more: tuple[tuple[Tensor, ...], ...] = ()  # further inputs that the same file must take


def layer_case(name, cls, dtype, inputs, flags, script=True, by_channel=False, more=(), **options):
    torch.manual_seed(1)
    module = cls(**options)
    model = quantized(module, dtype, by_channel)
    most = CLOSE if dtype == torch.float16 else noise(model.net, inputs[0], model.net.num_layers)
    return Case(f"{name} {str(dtype)[6:]}{'' if script else ' traced'}", model, twin_of(module, model), inputs, flags, dtype, most, script, more)


FROM = {nn.LSTM: LstmFrom, nn.GRU: GruFrom}
PACKED = {nn.LSTM: PackedLstm, nn.GRU: PackedGru}


def layers():
    for kind, dtype in itertools.product((nn.LSTM, nn.GRU), (torch.qint8, torch.float16)):
        states = 2 if kind is nn.LSTM else 1
        x, name = numbers(6, 3, INPUT), kind.__name__
        sizes, more = ("x=f32[t,b,4]",), ((numbers(9, 2, INPUT, seed=1),),)
        yield layer_case(name, Layer, dtype, (x,), sizes, kind=kind, more=more)
        yield layer_case(name, Layer, dtype, (x,), (), script=False, kind=kind)
        deep = dict(kind=kind, num_layers=2, bidirectional=True, batch_first=True)
        given = tuple(numbers(4, 3, HIDDEN, seed=s).tanh() for s in range(2, 2 + states))
        yield layer_case(f"{name} of all options", FROM[kind], dtype, (numbers(3, 6, INPUT), *given), ("x=f32[3,t,4]", "h=f32[4,3,5]", "c=f32[4,3,5]")[:1 + states], **deep)
        packed = (numbers(3, 6, INPUT), torch.tensor([2, 6, 4]))
        yield layer_case(f"{name} of packed sequences", PACKED[kind], dtype, packed, ("x=f32[3,t,4]", "lengths=i64[3]"), kind=kind, batch_first=True, bidirectional=True)
        if dtype == torch.float16: continue
        yield layer_case(f"{name} in a loop", Turns, dtype, (x,), sizes, kind=kind)
        for both in (False, True):
            yield layer_case(f"{name} per channel bidirectional={both}", Layer, dtype, (x,), sizes, by_channel=True, kind=kind, bidirectional=both)


def cells():
    kinds = ((nn.LSTMCell, {}), (nn.GRUCell, {}), (nn.RNNCell, {}), (nn.RNNCell, {"nonlinearity": "relu"}))
    for (kind, options), dtype, script in itertools.product(kinds, (torch.qint8, torch.float16), (True, False)):
        torch.manual_seed(1)
        lstm = kind is nn.LSTMCell
        model = quantized(LstmSteps() if lstm else Steps(kind, **options), dtype)
        inputs = (numbers(6, 3, INPUT), numbers(3, HIDDEN, seed=2), numbers(3, HIDDEN, seed=3))[:3 if lstm else 2]
        flags = ("x=f32[t,b,4]", "h=f32[b,5]", "c=f32[b,5]")[:len(inputs)] if script else ()
        more = ((numbers(8, 2, INPUT, seed=4), *(numbers(2, HIDDEN, seed=s) for s in range(5, 4 + len(inputs)))),) if script else ()
        most = CLOSE if dtype == torch.float16 else tie(inputs[0], *model.net.get_weight().values())
        yield Case(f"{kind.__name__}{' relu' if options else ''} {str(dtype)[6:]}{'' if script else ' traced'}", model, None, inputs, flags, dtype, most, script, more)


def linear():
    for rank, dtype, by_channel in itertools.product((2, 3), (torch.qint8, torch.float16), (False, True)):
        if by_channel and dtype == torch.float16: continue
        torch.manual_seed(1)
        model = quantized(Layer(nn.Linear, sizes=(32, 40)), dtype, by_channel)
        x = numbers(*(6, 3, 32)[3 - rank:])
        most = CLOSE if dtype == torch.float16 else tie(x, model.net.weight())
        name = f"Linear of rank {rank} {'per channel ' if by_channel else ''}{str(dtype)[6:]}"
        yield Case(name, model, None, (x,), ("x=f32[t,b,32]" if rank == 3 else "x=f32[b,32]",), dtype, most)


def cases():
    return [*layers(), *cells(), *linear()]


def large():
    """Weights that must not be folded because they are small."""
    x, flags, sizes = numbers(6, 3, 32), ("x=f32[t,b,32]",), dict(sizes=(32, 40))
    for kind, both in itertools.product((nn.LSTM, nn.GRU), (False, True)):
        options = dict(kind=kind, bidirectional=both, num_layers=2, **sizes)
        for dtype in (torch.qint8, torch.float16):
            yield layer_case(f"large {kind.__name__} bidirectional={both}", Layer, dtype, (x,), flags, **options)
        yield layer_case(f"large {kind.__name__} bidirectional={both} per channel", Layer, torch.qint8, (x,), flags, by_channel=True, **options)


def archive(case, path):
    with torch.no_grad():
        program = torch.jit.script(case.model) if case.script else torch.jit.trace(case.model, case.inputs, check_trace=False)
    program.save(str(path))


def flat(value):
    return [value] if isinstance(value, Tensor) else [t for part in value for t in flat(part)]


def results(model, inputs):
    with torch.no_grad():
        return [t.numpy() for t in flat(model(*[x.clone() for x in inputs]))]
