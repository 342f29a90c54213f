"""Guards, structures, classes, containers and numbers of scripted models."""
from enum import Enum
from typing import Dict, List, NamedTuple

import torch
from torch import Tensor, nn

from scripted_cases import case

# Guards, asserts, exceptions.

@case("x=f32[b,c]", ((2, 3),), ((5, 4),))
class Asserts(nn.Module):
    def forward(self, x):
        assert x.dim() == 2, "two dimensions"
        assert x.size(0) > 1, "a batch"
        if x.size(0) < 2:
            raise ValueError("never")
        return x[1] + x.size(1)


@case("x=f32[b,3]", ((2, 3),), ((5, 3),))
class RaiseOnData(nn.Module):
    def forward(self, x):
        if x.isnan().any():
            raise RuntimeError("not a number")
        return x * 2


# Structures, classes, strings.

class Stats(NamedTuple):
    mean: Tensor
    count: int


class Mode(Enum):
    DOUBLE = 2
    TRIPLE = 3


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.n = start
        self.seen: List[Tensor] = []

    def add(self, x: Tensor):
        self.n += 1
        self.seen.append(x)


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class NamedTupleResult(nn.Module):
    def forward(self, x):
        s = Stats(x.mean(0), x.size(0))
        for i in range(x.size(0)):
            s = Stats(s.mean * 0.5 + x[i], s.count + 1)
        return s


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class ObjectInLoop(nn.Module):
    def forward(self, x):
        c = Counter(3)
        for i in range(x.size(0)):
            c.add(x[i] * c.n)
        return torch.stack(c.seen), c.n


@case("x=f32[b,3]", ((2, 3),))
class EnumAndStrings(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = Mode.TRIPLE

    def forward(self, x, name: str = "twice"):
        label = "{}-{}".format(name.upper(), self.mode.value)
        if label.startswith("TWICE") and "3" in label:
            x = x * 3
        if self.mode == Mode.DOUBLE:
            x = x * 2
        return x, label


@case("x=f32[b,4]", ((2, 4),), ((3, 4),))
class ModuleContainers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(4, 3)})

    def forward(self, x):
        kept: List[Tensor] = []
        for i, layer in enumerate(self.layers):
            x = torch.relu(layer(x)) + i
            kept.append(x)
        out: Dict[str, Tensor] = {}
        for name, head in self.heads.items():
            out[name] = head(kept[-1])
        return out, torch.stack(kept, 1)


@case("x=f32[b,4]", ((2, 4),), ((3, 4),))
class ForkAndWith(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        future = torch.jit.fork(self.fc, x)
        with torch.no_grad():
            y = x * 2
        return torch.jit.wait(future) + y


@case("x=f32[b,t,4]", ((2, 3, 4),), ((1, 6, 4),))
class LstmByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.into = nn.Linear(4, 20)
        self.back = nn.Linear(5, 20)

    def forward(self, x):
        h = torch.zeros(x.size(0), 5)
        c = torch.zeros(x.size(0), 5)
        outs: List[Tensor] = []
        for t in range(x.size(1)):
            i, f, g, o = (self.into(x[:, t]) + self.back(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outs.append(h)
        return torch.stack(outs, 1), (h, c)


@case("x=f32[b,4]", ((2, 4),), ((3, 4),))
class StateInBuffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.calls = 0

    def forward(self, x):
        for i in range(x.size(0)):
            self.total += x[i]
            self.calls += 1
        return self.total * self.calls


@case("x=f32[b,3]", (torch.tensor([[3., 2, 1]]),), ((4, 3),))
class Arithmetic(nn.Module):
    def forward(self, x):
        n = int(x.abs().max()) + 2
        f = float(x.mean())
        k = n // 2 + n % 3 - min(n, 4) + max(n, 3) * abs(-n)
        g = f ** 2 + f / 3 - (f if f > 0 else -f)
        return torch.arange(n), x * g + k, round(g * 0.0)


@case("x=f32[b,3] n=i64[]", (torch.ones(2, 3), torch.tensor(3)), (torch.ones(2, 3), torch.tensor(0)), numbers=(1,))
class CountIsInput(nn.Module):
    def forward(self, x, n: int):
        for i in range(n):
            x = x * 2 + i
        return x


@case("x=f32[b,3] y=f32[c,3]", ((2, 3), (1, 3)), ((3, 3), (4, 3)))
class DictByKeyLoop(nn.Module):
    def forward(self, x, y):
        named: Dict[str, Tensor] = {"x": x, "y": y}
        named["z"] = torch.cat([x, y])
        out: List[Tensor] = []
        for key, value in named.items():
            if key != "y":
                out.append(value.sum(0))
        del named["x"]
        return torch.stack(out), len(named)


@case("x=f32[b,2,h,w]", ((1, 2, 9, 8),), ((2, 2, 16, 23),))
class WindowsBySize(nn.Module):
    def forward(self, x):
        h, w = x.size(2) // 4, x.size(3) // 4
        return torch.nn.functional.avg_pool2d(x, (h, w), (h, w)), torch.nn.functional.max_pool2d(x, (h, w), (1, 2))
