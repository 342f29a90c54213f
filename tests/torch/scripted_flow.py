"""Branches and loops of scripted models."""
from typing import List, Optional, Tuple

import torch
from torch import Tensor, nn

from scripted_cases import case, ints

# Branches.

@case("x=f32[b,3]", ((2, 3),), ((5, 3),), (-torch.ones(2, 3),))
class IfOnData(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        return y


@case("x=f32[b,3]", (torch.full((2, 3), 5.0),), (torch.full((2, 3), 0.5),), (torch.full((2, 3), -1.0),))
class ElifChain(nn.Module):
    def forward(self, x):
        m = x.mean()
        if m > 2:
            return x * 10
        elif m > 0:
            y = x + 1
            if m > 0.4 and x.size(0) > 1:
                y = y * y
            return y
        return -x


@case("x=f32[b,3]", ((2, 3),), ((6, 3),))
class IfOnSize(nn.Module):
    def forward(self, x):
        if x.size(0) > 4:
            return x[:4].sum(0)
        return x.sum(0) * 2


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class NumbersJoined(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            n, f, flag = 2, 0.5, True
        else:
            n, f, flag = 3, 1.5, False
        y = x * f + n
        if flag:
            y = y + 1
        return y, torch.full([n], 7.0)


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class OptionalJoined(nn.Module):
    def forward(self, x):
        extra: Optional[Tensor] = None
        if x.sum() > 0:
            extra = x * 3
        if extra is not None:
            return x + extra
        return x


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class TupleJoined(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            pair = (x, 1)
        else:
            pair = (x * 2, 4)
        return pair[0] + pair[1]


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class ListGrowsInBranch(nn.Module):
    def forward(self, x):
        parts = [x]
        if x.sum() > 0:
            parts.append(x * 2)
        else:
            parts[0] = x - 1
        return torch.cat(parts, 0), len(parts)


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class DictInBranch(nn.Module):
    def forward(self, x):
        d = {"a": x, "b": x + 1}
        if x.sum() > 0:
            d["a"] = x * 2
        else:
            d["b"] = d["a"] - 3
        return d


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class WriteInBranch(nn.Module):
    def forward(self, x):
        y = x.clone()
        row = y[0]
        if x.sum() > 0:
            y[1] = 5.0
            tail = y[1:]
        else:
            row += 2
            tail = y[:1]
        return y, row, tail


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class Ternary(nn.Module):
    def forward(self, x):
        a = 1.0 if bool(x.max() > 0) else 2.0
        b = x if a > 1.5 else x * 4
        return b * a


@case("x=f32[b,3]", (torch.ones(4, 3),), (-torch.ones(2, 3),))
class ShortCircuit(nn.Module):
    def forward(self, x):
        if (x.sum() > 0 and x.size(0) > 3) or not bool(x.min() < 0):
            return x + 1
        return x - 1


# Loops.

@case("x=f32[b,3] n=4", ((2, 3),), ((5, 3),), keywords={"n": 4})
class CountedKnown(nn.Module):
    def forward(self, x, n: int):
        for i in range(n):
            x = x * 0.5 + i
        return x


@case("x=f32[t,3]", ((2, 3),), ((5, 3),), ((1, 3),), loops=1)
class CountedBySize(nn.Module):
    def forward(self, x):
        h = torch.zeros(3)
        for i in range(x.size(0)):
            h = torch.tanh(h + x[i])
        return h


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class AppendThenStack(nn.Module):
    def forward(self, x):
        outs: List[Tensor] = []
        h = torch.zeros(3)
        for i in range(x.size(0)):
            h = torch.tanh(h + x[i])
            outs.append(h)
        return torch.stack(outs), torch.stack(outs, 1), h


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class AppendThenCat(nn.Module):
    def forward(self, x):
        outs = [x[0:1]]
        for i in range(x.size(0)):
            outs.append(x[i:i + 1] * i)
        return torch.cat(outs, dim=0), torch.cat(outs, dim=1)


@case("x=f32[t,3]", ((2, 3),), ((4, 3),))
class AppendDifferentSizes(nn.Module):
    def forward(self, x):
        outs: List[Tensor] = []
        for i in range(x.size(0)):
            outs.append(x[:i + 1].sum(1))
        return torch.cat(outs), outs[-1]


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class ListReadInLoop(nn.Module):
    def forward(self, x):
        outs = [x[0]]
        for i in range(1, x.size(0)):
            outs.append(outs[-1] * 0.5 + x[i])
        return torch.stack(outs)


@case("x=f32[t,3]", ((2, 3),), ((5, 3),), sequence=True)
class ListReturned(nn.Module):
    def forward(self, x):
        outs: List[Tensor] = []
        for i in range(x.size(0)):
            outs.append(x[i] * 2)
        return outs


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class IntListInLoop(nn.Module):
    def forward(self, x):
        counts: List[int] = []
        total = 0
        for i in range(x.size(0)):
            total += i * 2
            counts.append(total)
        return torch.tensor(counts), len(counts), counts[-1], x.sum()


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class Comprehension(nn.Module):
    def forward(self, x):
        rows = [row * 2 for row in x.unbind(0)]
        sizes = [int(i) * 3 for i in range(x.size(0))]
        return torch.stack(rows), sizes[0], torch.tensor(sizes)


@case("x=f32[t,3]", ((2, 3),), ((5, 3),))
class ForOverTensor(nn.Module):
    def forward(self, x):
        acc = torch.zeros(3)
        for row in x:
            acc = acc * 0.9 + row
        return acc


@case("x=f32[t,3]", ((4, 3),), ((5, 3),))
class ForOverSplit(nn.Module):
    def forward(self, x):
        acc = torch.zeros(3)
        for part in x.split(2):
            acc = acc * 0.9 + part.mean(0)
        return acc


@case("x=f32[t,u]", ((2, 3),), ((5, 4),))
class NestedLoops(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        for i in range(x.size(0)):
            for j in range(x.size(1)):
                y[i, j] = x[i, j] * i + j
        return y


@case("x=f32[t,u]", ((2, 3),), ((3, 2),))
class NestedAppend(nn.Module):
    def forward(self, x):
        outs: List[Tensor] = []
        for i in range(x.size(0)):
            for j in range(x.size(1)):
                outs.append(x[i, j] * j)
        return torch.stack(outs)


@case("x=f32[b,3]", ((2, 3),), ((5, 3),))
class WhileOnData(nn.Module):
    def forward(self, x):
        steps = 0
        while bool(x.abs().max() > 0.1):
            x = x * 0.5
            steps += 1
        return x, steps


@case("x=f32[b,3]", ((2, 3),), ((5, 3),))
class WhileTrueBreak(nn.Module):
    def forward(self, x):
        n = 0
        while True:
            x = x / 2
            n += 1
            if x.abs().sum() < 0.5:
                break
        return x, n


@case("x=f32[t,3]", (torch.tensor([[1., 2, 3], [-9, -9, 1], [4, 4, 4]]),), ((5, 3),))
class Continue(nn.Module):
    def forward(self, x):
        acc = torch.zeros(3)
        for i in range(x.size(0)):
            if x[i].sum() < 0:
                continue
            acc = acc + x[i]
        return acc


@case("x=f32[t,3]", (torch.tensor([[1., 2, 3], [-9, -9, 1], [4, 4, 4]]),), (torch.ones(4, 3),))
class ReturnInLoop(nn.Module):
    def forward(self, x):
        for i in range(x.size(0)):
            if x[i].sum() < 0:
                return x[i] * 10
        return x[0]


@case("x=f32[t,3]", (torch.tensor([[1., 2, 3], [-9, -9, 1], [4, 4, 4]]),), (torch.ones(4, 3),))
class BreakWithIndex(nn.Module):
    def forward(self, x):
        where = -1
        for i in range(x.size(0)):
            if x[i, 0] < 0:
                where = i
                break
        return x.sum(0), where


@case("x=f32[t,3]", (torch.tensor([[1., 2, 3], [-9, -9, 1], [4, 4, 4]]),), (-torch.ones(4, 3),))
class OptionalInLoop(nn.Module):
    def forward(self, x):
        best: Optional[Tensor] = None
        for i in range(x.size(0)):
            if x[i].sum() > 0:
                if best is None:
                    best = x[i]
                else:
                    best = torch.maximum(best, x[i])
        if best is None:
            return torch.zeros(3)
        return best


@case("x=f32[t,3]", ((3, 3),), ((5, 3),))
class NumbersCarried(nn.Module):
    def forward(self, x):
        n, f, up = 1, 0.5, True
        for i in range(x.size(0)):
            n = n * 2
            f = f + float(x[i].sum())
            up = not up
        y = x.sum(0) * f + n
        if up:
            y = -y
        return y


@case("x=f32[t,3]", ((3, 3),), ((5, 3),))
class TupleCarried(nn.Module):
    def forward(self, x):
        state = (torch.zeros(3), torch.ones(3))
        for i in range(x.size(0)):
            h, c = state
            c = c * 0.5 + x[i]
            state = (torch.tanh(c + h), c)
        return state


@case("x=f32[t,3]", ((3, 3),), ((5, 3),))
class TupleList(nn.Module):
    def forward(self, x):
        pairs: List[Tuple[Tensor, int]] = []
        for i in range(x.size(0)):
            pairs.append((x[i] * 2, i + 1))
        out = torch.zeros(3)
        for t, n in pairs:
            out = out + t * n
        return out


@case("x=f32[t,3]", ((3, 3),), ((6, 3),))
class AppendInBranchInLoop(nn.Module):
    def forward(self, x):
        kept: List[Tensor] = []
        for i in range(x.size(0)):
            if x[i].sum() > 0:
                kept.append(x[i])
        kept.append(x[0])
        return torch.stack(kept), len(kept)


@case("x=f32[t,3]", ((3, 3),), ((6, 3),))
class ListSetItemInLoop(nn.Module):
    def forward(self, x):
        slots = [torch.zeros(3), torch.ones(3)]
        for i in range(x.size(0)):
            slots[1] = slots[0] + x[i]
            slots[0] = slots[1] * 0.5
        return slots[0], slots[1]


@case("x=f32[t,3]", ((3, 3),), ((6, 3),))
class DictInLoop(nn.Module):
    def forward(self, x):
        d = {"sum": torch.zeros(3), "max": torch.full([3], -100.0)}
        for i in range(x.size(0)):
            d["sum"] = d["sum"] + x[i]
            d["max"] = torch.maximum(d["max"], x[i])
        return d


@case("x=f32[t,3]", ((3, 3),), ((6, 3),))
class PopAndInsert(nn.Module):
    def forward(self, x):
        queue: List[Tensor] = []
        for i in range(x.size(0)):
            queue.append(x[i])
        last = queue.pop()
        queue.insert(0, last)
        first = queue.pop(0)
        queue.append(first * 2)
        queue.reverse()
        return torch.stack(queue), first, len(queue)


@case("x=f32[t,3]", ((3, 3),), ((6, 3),))
class ZipAndEnumerate(nn.Module):
    def forward(self, x):
        ys: List[Tensor] = []
        for i, (a, b) in enumerate(zip(x, x * 2)):
            ys.append(a * i + b)
        return torch.stack(ys)


@case("x=f32[t,3]", ((4, 3),), ((7, 3),))
class RangeWithStep(nn.Module):
    def forward(self, x):
        acc = torch.zeros(3)
        for i in range(x.size(0) - 1, -1, -2):
            acc = acc * 0.5 + x[i]
        return acc


@case("x=f32[t,3]", ((4, 3),), ((7, 3),))
class GrowingTensor(nn.Module):
    def forward(self, x):
        y = x[:1]
        for i in range(1, x.size(0)):
            y = torch.cat([y, y[-1:] + x[i:i + 1]], 0)
        return y


@case("start=i64[1]", (ints(3),), (ints(7),))
class GreedyDecode(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 8)
        self.head = nn.Linear(8, 11)

    def forward(self, start):
        tokens = start
        for _ in range(8):
            logits = self.head(self.table(tokens).mean(0))
            best = logits.argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, best])
            if int(best) == 2:
                break
        return tokens
