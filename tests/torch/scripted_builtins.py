"""Builtin functions of scripted models on numbers that the inputs decide: sizes, items, int and float inputs."""
import math
from typing import List, NamedTuple

import torch
from torch import Tensor, nn

from scripted_cases import case

TIGHT = 1e-12  # Python's floats are doubles


def number(v):
    return torch.tensor(v, dtype=torch.float64 if isinstance(v, float) else torch.int64)


def each(*rows):
    """Calls with number inputs."""
    return [tuple(number(v) for v in (row if isinstance(row, tuple) else (row,))) for row in rows]


# Python's math module.

@case("x=f64[]", *each(0.3, -0.3, 1e-9, 0.999, -1.0, 1.0, 0.0), numbers=(0,), tolerance=TIGHT)
class MathInUnitInterval(nn.Module):
    def forward(self, x: float):
        return (math.sin(x), math.cos(x), math.tan(x), math.asin(x), math.acos(x), math.atan(x), math.sinh(x), math.cosh(x),
                math.tanh(x), math.asinh(x), math.atanh(x), math.exp(x), math.expm1(x), math.log1p(x), math.erf(x), math.erfc(x),
                math.degrees(x), math.radians(x), math.fabs(x), abs(x), math.isnan(x), math.isinf(x), math.isfinite(x))


@case("x=f64[]", *each(0.5, 1.0, 3.0, 12.75, 700.0, 1e-3, 8.0, 1000.0, 1e10), numbers=(0,), tolerance=TIGHT)
class MathOfPositive(nn.Module):
    def forward(self, x: float):
        return (math.log(x), math.log10(x), math.log(x, 3), math.log1p(x), math.sqrt(x), math.acosh(x + 1), math.asinh(x), math.asinh(-x),
                math.atan(x), math.atan(-x), math.lgamma(x), math.erf(x), math.erfc(x), math.erfc(-x), math.sinh(min(x, 300.0)),
                math.cosh(min(x, 300.0)), math.tan(x), int(math.log10(x)), math.frexp(x), math.frexp(-x), math.modf(x), math.modf(-x))


@case("x=f64[]", *each(5.0, 0.5, 1.5, 20.0, 11.25, -0.5, -1.5, -7.25, 100.0), numbers=(0,), tolerance=1e-11)
class Gamma(nn.Module):
    def forward(self, x: float):
        return math.gamma(x), math.lgamma(x), int(math.gamma(min(x, 18.0)))


@case("x=f64[]", *each(float("inf"), float("-inf"), float("nan"), -2.0), numbers=(0,), tolerance=TIGHT)
class MathOfSpecial(nn.Module):
    def forward(self, x: float):
        return (math.log(x), math.sqrt(x), math.exp(x), math.expm1(x), math.tanh(x), math.sinh(x), math.cosh(x), math.asinh(x), math.acosh(x),
                math.atanh(x), math.asin(x), math.acos(x), math.atan(x), math.erf(x), math.erfc(x), math.isnan(x), math.isinf(x),
                math.isfinite(x), math.copysign(1.0, x), math.modf(x), math.log10(x), math.log1p(x), abs(x), math.frexp(x)[0])


@case("x=f64[] y=f64[]", *each((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.0, -2.0), (5.0, 2.0), (0.7, 0.1), (-0.0, 3.0), (1.0, -0.0), (3.0, 0.5), (-3.5, -0.7)),
      numbers=(0, 1), tolerance=TIGHT)
class MathOfTwo(nn.Module):
    def forward(self, x: float, y: float):
        if y != 0.0:
            more = (math.fmod(x, y), math.remainder(x, y), x / y, x // y, x % y, divmod(x, y)[0], divmod(x, y)[1])
        else:
            more = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return math.atan2(x, y), math.copysign(x, y), math.ldexp(x, int(y)), math.pow(abs(x), y), abs(x) ** y, max(x, y), min(x, y), more


@case("n=i64[] m=i64[]", *each((7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (1, 12), (20, 8), (0, 5)), numbers=(0, 1), tolerance=TIGHT)
class MathOfInts(nn.Module):
    def forward(self, n: int, m: int):
        a = abs(n)
        return (math.log(a + 1), math.log(a + 2, 2), math.log10(a + 1), math.sqrt(a), math.exp(n), math.sin(n), math.tanh(n), math.atan2(n, m),
                math.fmod(n, m), math.remainder(n, m), math.copysign(n, m), math.pow(n, m), n ** 2, 2 ** m, n // m, n % m, n / m,
                divmod(n, m), divmod(n, 2), math.gcd(n, m), math.factorial(a), math.fabs(n), abs(n), round(n), math.floor(n), math.ceil(n),
                math.ldexp(1.5, m), math.degrees(n), max(n, m), min(n, m), n // 2, n % 3, -n // 2)


@case("x=f64[]", *each(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.4, -2.6, 1e15 + 0.5), numbers=(0,), tolerance=TIGHT)
class Rounding(nn.Module):
    def forward(self, x: float):
        return round(x), math.floor(x), math.ceil(x), int(x), int(round(x)), x // 1.0, x % 1.0


@case("n=i64[] x=f64[]", *each((7, 2.5), (-7, 2.5), (7, -2.5), (9, 0.5)), numbers=(0, 1), tolerance=TIGHT)
class MixedNumbers(nn.Module):
    def forward(self, n: int, x: float):
        return n + x, n * x, n - x, n / x, n // x, n % x, x // n, x % n, divmod(n, x), divmod(x, n), max(n, x), min(x, n), x ** n, n < x, n == x


@case("x=f32[b,c]", ((2, 3),), ((5, 4),), ((8, 16),))
class MathOfSizes(nn.Module):
    def forward(self, x):
        n, m = x.size(0), x.size(1)
        scale = 1.0 / math.sqrt(m) + math.log(n) + math.exp(-n) + math.tanh(n / m) + math.fmod(n, 3) + math.sin(m)
        steps = math.ceil(math.log(n) / math.log(2))
        return x * scale, torch.zeros(steps + 1), x.sum() * math.pow(0.5, n), math.isnan(float(n))


@case("x=f32[b,3]", (torch.tensor([[1.0, 2, 3], [4, 5, 6]]),), (torch.tensor([[2.5, -1, 3]]),))
class MathOfItems(nn.Module):
    def forward(self, x):
        a, b = float(x[0, 0]), x[0, 1].item()
        rate = math.exp(-abs(a)) + math.log1p(abs(float(b))) + math.erf(a)
        if math.isnan(a) or math.isinf(a):
            rate = 0.0
        return x * rate, math.floor(a), round(a)


# Bits, quotients.

@case("n=i64[] m=i64[]", *each((7, 2), (-7, 3), (12, 10), (0, 5), (-1, 1), (1 << 40, 20)), numbers=(0, 1))
class Bits(nn.Module):
    def forward(self, n: int, m: int):
        return n & m, n | m, n ^ m, n << m, n >> m, n << 3, n >> 2, n & 7, 6 & n, n & 1, m | 4, n ^ -1, divmod(n, m), n & m == 2


@case("x=f32[b,c]", ((2, 3),), ((5, 4),), ((8, 16),))
class BitsOfSizes(nn.Module):
    def forward(self, x):
        n, m = x.size(0), x.size(1)
        rows, rest = divmod(n * m, 2)
        if n & 1:
            x = x + 1
        return x, torch.zeros((n >> 1) + (m << 1), (n | m) + 1), torch.ones(rows + rest), torch.ones(n ^ m)


# Lists whose items the inputs decide.

@case("n=i64[] m=i64[]", *each((3, 1), (1, 3), (2, 2), (5, 3)), numbers=(0, 1))
class ListQuestions(nn.Module):
    def forward(self, n: int, m: int):
        values = [n, m, 3, n + m]
        doubles = [n * 0.5, 1.5, float(m)]
        flags = [n > m, m == 2, n == 3]
        return (values.count(3), values.count(n), [1, 2, 3, 5].count(n), sum(values), max(values), min(values), values.index(n + m), [9, n, 3].index(3),
                sum(doubles), max(doubles), min(doubles), doubles.count(1.5), any(flags), all(flags), any([n - 3, m - 3]), all([n, m]), sum(flags))


@case("n=i64[] m=i64[]", *each((3, 1), (1, 3), (2, 2), (-5, 3)), numbers=(0, 1))
class ListOrder(nn.Module):
    def forward(self, n: int, m: int):
        values = [n, m, 2, n * m]
        up = sorted(values)
        values.sort(reverse=True)
        floats = [n * 0.5, 1.25, float(m)]
        floats.sort()
        left = [4, n, m, n]
        left.remove(m)
        return up, values, floats, sorted([n > 0, False, m > 2]), left, len(left)


@case("x=f32[t,3]", ((2, 3),), ((5, 3),), ((1, 3),))
class LongLists(nn.Module):
    def forward(self, x):
        counts: List[int] = []
        totals: List[float] = []
        for i in range(x.size(0)):
            counts.append((i * 7) % 4)
            totals.append(float(x[i].sum()))
        counts.append(3)
        ordered = sorted(counts)
        out = (counts.count(3), counts.index(3), sum(counts), max(counts), min(counts), any(counts), all(counts), torch.tensor(ordered))
        counts.remove(3)
        totals.sort()
        return out, torch.tensor(counts), sum(totals), max(totals), min(totals), torch.tensor(totals)


@case("x=i64[4]", (torch.tensor([3, 1, 2, 9]),), (torch.tensor([0, 0, 5, -1]),))
class ToListKnownSize(nn.Module):
    def forward(self, x):
        a: List[int] = x.tolist()
        b: List[List[float]] = (x * 0.5).reshape(2, 2).tolist()
        total = 0
        for v in a:
            if v > 1:
                total += v
        n: int = x[0].tolist()
        return total, a[2], b[1][0], max(a), torch.zeros(len(a)), torch.tensor(a), n


@case("x=i64[n]", (torch.tensor([3, 1, 2]),), (torch.tensor([0, 0, 5, -1, 7]),))
class ToListOpenSize(nn.Module):
    def forward(self, x):
        a: List[int] = x.tolist()
        total = 0
        for v in a:
            total = total * 2 + v
        return total, a[1], len(a), torch.tensor(a), max(a)


@case("x=f32[b,c]", ((2, 3),), ((5, 4),))
class TensorOfSizes(nn.Module):
    def forward(self, x):
        n, m = x.size(0), x.size(1)
        return torch.tensor([n, m]), torch.tensor([[n, 1], [m, n * m]]), torch.tensor([n / m, 0.5]), torch.tensor([n > m, True]), torch.tensor(x.shape)


# Strings.

@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),), (torch.zeros(4, 3),))
class StringFromBranch(nn.Module):
    def forward(self, x):
        mode = "up"
        if x.sum() > 0:
            mode = "down"
        elif x.sum() < 0:
            mode = "sideways"
        scale = {"up": 1.0, "down": 2.0, "sideways": -3.0}[mode]
        y = x * scale
        if mode == "down" or mode.startswith("side"):
            y = y + len(mode)
        return y, mode != "up", mode in ["up", "down"], (mode + "s") == "ups"


@case("x=f32[t,3]", ((2, 3),), ((5, 3),), ((1, 3),))
class StringToggledInLoop(nn.Module):
    def forward(self, x):
        state = "a"
        acc = torch.zeros(3)
        for i in range(x.size(0)):
            if state == "a":
                acc = acc + x[i]
                state = "b"
            elif state == "b":
                acc = acc - x[i]
                state = "c"
            else:
                state = "a"
        return acc, state == "b", len(state)


@case("x=f32[b,3]", ((2, 3),), ((5, 3),))
class StringMethods(nn.Module):
    def forward(self, x):
        s = "Hello World  again"
        return (x, s.find("o"), s.find("o", 5), s.rfind("o"), s.count("l"), s.index("W"), len(s.split()), len(s.split(" ")), s.upper() == "HELLO WORLD  AGAIN",
                s.title() == "Hello World  Again", s.isalpha(), s.istitle(), len(s.center(30)), s.zfill(20) == "00" + s, s.partition(" ")[2] == "World  again",
                s.swapcase().islower(), "12".isdigit(), int("12"), ord("a"), chr(98) == "b", hex(255) == "0xff", bin(-5) == "-0b101", s[0] == "H", s[-3:] == "ain",
                s.startswith("World", 6), s.replace("l", "L") == "HeLLo WorLd  again", "-".join(s.split()), s.rsplit(" ", 1)[1] == "again", "a\nb".splitlines()[1] == "b")


@case("x=f32[b,3]", ((2, 3),), ((5, 3),))
class MessageOfSize(nn.Module):
    def forward(self, x):
        n = x.size(0)
        print(f"batch {n}")
        if n > 100:
            raise ValueError(f"too many rows: {n}")
        message = "rows: " + str(n)
        print(message)
        return x + 1


# Sizes as numbers of tensor operators.

@case("x=f32[r,c]", ((4, 3),), ((2, 5),), ((6, 6),))
class SizesAsDiagonal(nn.Module):
    def forward(self, x):
        n, m = x.size(0), x.size(1)
        mask = torch.ones(n, n, dtype=torch.bool).tril(diagonal=m - n)
        return (x.tril(n - 2), x.triu(m - n), mask, torch.triu_indices(n, m, 1), torch.tril_indices(n, m, m - n), torch.triu_indices(n, n, offset=0),
                torch.eye(n, m))


@case("x=f32[n]", ((4,),), ((7,),), ((1,),), tolerance=1e-5)
class SizesAsSteps(nn.Module):
    def forward(self, x):
        n = x.size(0)
        return (torch.linspace(0, 1, n), torch.linspace(-2, n, 5), torch.linspace(0, n - 1, n), torch.logspace(0, 2, n), torch.arange(0, 3 * n, n),
                torch.arange(0.0, 1.0, 1.0 / n), torch.arange(n, 0, -1), torch.fft.fftfreq(n), torch.fft.rfftfreq(n, 0.5), torch.hann_window(4))


@case("x=f32[b,3,h,w]", ((2, 3, 6, 8),), ((1, 3, 4, 4),), ((1, 3, 5, 7),))
class AdaptiveMaxPool(nn.Module):
    def forward(self, x):
        f = torch.nn.functional
        y, at = f.adaptive_max_pool2d(x, 3, return_indices=True)
        return f.adaptive_max_pool2d(x, 1), f.adaptive_max_pool2d(x, (2, 4)), f.adaptive_max_pool1d(x[0], 2), y, at


@case("x=f32[n,4]", ((6, 4),), ((9, 4),), ((4, 4),))
class PiecesOfOpenSize(nn.Module):
    def forward(self, x):
        total = torch.zeros(4)
        for part in x.chunk(3):
            total = total * 0.5 + part.sum(0)
        a, b = x.chunk(2)
        p, q, r = torch.tensor_split(x, 3)
        return total, a, b, p, q, r, len(x.chunk(4))


@case("x=f32[r,c]", ((4, 3),), ((3, 5),), ((7, 2),))
class FillDiagonal(nn.Module):
    def forward(self, x):
        y, z = x.clone(), x.clone()
        y.fill_diagonal_(7.0)
        z.fill_diagonal_(-1.0, wrap=True)
        return y, z


@case("x=f32[a,3] y=f32[b,3]", (torch.ones(2, 3), torch.ones(2, 3)), (torch.ones(2, 3), torch.ones(4, 3)), (torch.ones(2, 3), torch.zeros(2, 3)),
      (torch.ones(5, 3), torch.ones(1, 3)))
class EqualOfOpenSizes(nn.Module):
    def forward(self, x, y):
        if torch.equal(x, y):
            return x * 2, True
        return x - 1, torch.equal(x, x)


class Batch(NamedTuple):
    image: Tensor
    scale: float
    ids: Tensor


@case("batch.image=f32[b,3] batch.scale=f64[] batch.ids=i64[b]", (torch.ones(2, 3), number(0.5), torch.tensor([1, 2])), tuple_of=Batch, numbers=(1,))
class NamedTupleInput(nn.Module):
    def forward(self, batch: Batch):
        return batch.image * batch.scale + batch.ids[:, None], batch.ids.sum()
