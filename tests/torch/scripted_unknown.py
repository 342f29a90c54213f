"""Questions that only a run can answer: sizes, items and tokens compared, looked up and branched on."""
from typing import Dict, List, Optional

import torch
from torch import Tensor, nn

from scripted_cases import case, ints

# Comparisons with 1 and 0.

@case("x=f32[b,3]", ((2, 3),), ((5, 3),))
class CounterIsOne(nn.Module):
    def forward(self, x):
        y = x
        for i in range(3):
            if i == 1:
                y = y * 10
            y = y + 1
        return y


@case("x=f32[b]", (torch.tensor([1., 5., 2.]),), (torch.tensor([7., 5., 2.]),), (torch.tensor([1.]),))
class ArgmaxIsOne(nn.Module):
    def forward(self, x):
        n = 0
        y = x
        while n < 4:
            if int(y.argmax()) == 1:
                break
            y = y.roll(1) + 1
            n += 1
        return y, n


@case("x=f32[b,t,3]", ((2, 1, 3),), ((2, 4, 3),), ((1, 1, 3),))
class PrefillOrStep(nn.Module):
    def forward(self, x):
        if x.size(1) == 1:
            return x.sum(1) * 2
        return x.mean(1)


@case("x=f32[b,t:1..64,3]", ((2, 1, 3),), ((2, 4, 3),))
class PrefillOrStepInRange(nn.Module):
    def forward(self, x):
        if x.size(1) != 1:
            return x.mean(1)
        return x.sum(1) * 2


@case("x=f32[1,2,h,w]", ((1, 2, 4, 4),), ((1, 2, 5, 4),), ((1, 2, 1, 3),))
class OddIsPadded(nn.Module):
    def forward(self, x):
        h, w = x.size(2), x.size(3)
        if h % 2 == 1:
            x = nn.functional.pad(x, [0, 0, 0, 1])
        if w % 2 == 1:
            x = nn.functional.pad(x, [0, 1])
        return x


@case("x=f32[n:0..8,3]", ((2, 3),), ((0, 3),), ((1, 3),))
class EmptyInRange(nn.Module):
    def forward(self, x):
        if x.size(0) == 0:
            return torch.full([3], -1.0)
        if x.numel() == 3:
            return x[0] + 100
        return x.sum(0)


@case("x=f32[n,m]", ((2, 3),), ((0, 3),), ((2, 0),))
class EmptyAnyway(nn.Module):
    def forward(self, x):
        if x.numel() == 0:
            return torch.ones(2)
        return torch.stack([x.min(), x.max()])


@case("x=f32[n,3]", ((2, 3),), ((0, 3),))
class LengthAsTruth(nn.Module):
    def forward(self, x):
        n = len(x)
        if not n:
            return torch.zeros(3)
        return x[0]


@case("x=f32[b,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),), (torch.ones(1, 3),))
class ItemComparedWithOne(nn.Module):
    def forward(self, x):
        k = int(x[0, 0].item())
        a = k == 1
        b = 1 != k
        return x + float(a) - float(b), a, b


@case("x=f32[b,3] k=i64[]", ((2, 3), torch.tensor(1)), ((2, 3), torch.tensor(0)), ((2, 3), torch.tensor(5)), numbers=(1,))
class IntInput(nn.Module):
    def forward(self, x, k: int):
        if k == 1:
            return x * 2
        elif k == 0:
            return x
        return x - k


# Equality of structures.

@case("x=f32[n,m] y=f32[p,q]", ((2, 3), (2, 3)), ((2, 3), (3, 2)), ((1, 1), (1, 1)))
class ShapesEqual(nn.Module):
    def forward(self, x, y):
        if x.shape == y.shape:
            return (x + y).sum()
        return x.sum() * 100


@case("x=f32[n,m]", ((4, 3),), ((3, 4),), ((4, 4),))
class TupleOfSizes(nn.Module):
    def forward(self, x):
        a, b = x.size(0), x.size(1)
        same = (a, b) == (4, 3)
        other = (a, b) != (4, 4)
        return x.sum() + float(same), same, other


@case("x=f32[n]", (torch.tensor([1., -2.]),), (torch.tensor([-1., -2.]),), (torch.tensor([1., 2.]),))
class BoolsEqual(nn.Module):
    def forward(self, x):
        a = bool(x[0] > 0)
        b = bool(x[1] > 0)
        if a == b:
            return x * 2, a != b
        return x, a != b


@case("x=f32[n,3]", ((2, 3),), ((3, 3),))
class ListOfSizes(nn.Module):
    def forward(self, x):
        sizes = [x.size(0), x.size(1)]
        if sizes == [3, 3]:
            return x @ x
        return x @ torch.ones(3, 3)


@case("x=f32[n,m]", ((2, 3),), ((3, 3),))
class AssertedShapes(nn.Module):
    def forward(self, x):
        y = x * 2
        assert x.shape == y.shape
        return x + y


# Membership.

@case("ids=i64[n]", (ints(4, 1, 7),), (ints(5, 6, 2),), (ints(3, 3, 3),), (ints(1),))
class TokenInList(nn.Module):
    def forward(self, ids):
        n = 0
        for i in range(ids.size(0)):
            if int(ids[i]) in [1, 2]:
                break
            n += 1
        return ids[:n], n


@case("x=f32[n,m]", ((2, 3),), ((5, 7),))
class SizeInList(nn.Module):
    def forward(self, x):
        known = x.size(0) in [2, 3]
        not_in = x.size(1) not in [3, 4]
        return x.sum() + float(known), not_in


@case("x=f32[n] ids=i64[m]", ((3,), ints(1, 2)), ((5,), ints(1, 5, 7)))
class InListOfUnknownLength(nn.Module):
    def forward(self, x, ids):
        seen: List[int] = []
        for i in range(ids.size(0)):
            seen.append(int(ids[i]) * 2)
        return x * 2, (10 in seen)


# Dicts.

@case("k=i64[1]", (ints(1),), (ints(2),), (ints(9),))
class DictGet(nn.Module):
    def forward(self, k):
        d = {1: 10, 2: 20}
        got = d.get(int(k), 7)
        return k + got, int(k) in d


@case("x=f32[n] k=i64[1]", ((3,), ints(1)), ((3,), ints(2)))
class DictOfTensors(nn.Module):
    def forward(self, x, k):
        d = {1: x, 2: x * 2}
        return d[int(k)]


@case("k=i64[1]", (ints(1),), (ints(2),), (ints(3),))
class WriteToExistingKey(nn.Module):
    def forward(self, k):
        d = {1: 10, 2: 20}
        i = int(k)
        if i in d:
            d[i] += 1
        return k + d[1] * 100 + d[2]


@case("x=f32[n,3]", ((1, 3),), ((2, 3),))
class DictBySize(nn.Module):
    def forward(self, x):
        names: Dict[int, float] = {1: 0.5, 2: 1.5}
        return x * names[x.size(0)]


# Lists.

@case("x=f32[n,3]", ((2, 3),), ((4, 3),))
class RowsAddedInPlace(nn.Module):
    def forward(self, x):
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            rows += [x[i] * i]
        return torch.stack(rows)


@case("x=f32[n,3]", ((2, 3),), ((4, 3),))
class RowsAddedInPlaceAliased(nn.Module):
    def forward(self, x):
        rows: List[Tensor] = []
        other = rows
        for i in range(3):
            rows += [x * i]
        rows += [x]
        return torch.stack(other), len(rows)


@case("x=f32[n,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),))
class OptionalNumberCompared(nn.Module):
    def forward(self, x):
        k: Optional[int] = None
        if x.sum() > 0:
            k = 3
        if k is not None and k == 3:
            return x * 2
        return x


@case("x=f32[n,3]", (torch.ones(2, 3),), (-torch.ones(2, 3),), (torch.ones(3, 3),))
class ConditionAskedTwice(nn.Module):
    def forward(self, x):
        n = x.size(0)
        y = x
        if n == 2 and bool(x.sum() > 0):
            y = y + 1
        if n == 2:
            y = y * 3
            if n == 2:
                y = y - 1
        return y


@case("x=f32[b,t:1..9,3]", ((2, 1, 3),), ((2, 4, 3),))
class SqueezedInBranch(nn.Module):
    def forward(self, x):
        if x.size(1) == 1:
            return x.squeeze(1)
        return x.sum(1)


@case("x=f32[b,3]", ((2, 3),), ((5, 3),))
class RowOfLongOnes(nn.Module):
    def forward(self, x):
        if x.size(0) > 3:
            row = x[3]
        else:
            row = x[0]
        return row * 2
