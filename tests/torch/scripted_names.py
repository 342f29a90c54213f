"""Names that a branch or the turns of a loop decide: the tensor from before, or a new one of any size, written to afterwards."""
from typing import List

import torch
from torch import Tensor, nn

from scripted_cases import case

TURNS = ((3,),), ((1,),), ((2,),)


@case("x=f32[n]", *TURNS)
class GrownThenWritten(nn.Module):
    """No turn: the write after the loop reaches the argument's copy."""
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        for i in range(x.size(0) - 1):
            y = torch.cat([y, y[:1] + i])
        y.mul_(2)
        return x, y


@case("x=f32[n]", *TURNS)
class WrittenThenGrown(nn.Module):
    """The first turn writes to the tensor from before the loop, the others do not."""
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        for i in range(x.size(0) - 1):
            y[0] = 10.0 + i
            y = torch.cat([y, y[:1] + i])
        return x, y


@case("x=f32[n]", *TURNS)
class BaseWrittenAfterTheLoop(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        for i in range(x.size(0) - 1):
            y = y * 2
        x.zero_()
        return x, y


@case("x=f32[n]", *TURNS)
class ViewFromBefore(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        y = x[1:]
        for i in range(x.size(0) - 2):
            y.add_(1)
            y = y * 2
        y.sub_(5)
        return x, y


@case("x=f32[n]", *[(torch.tensor(v),) for v in ([1., 2., 3.], [9., 1., 2.], [5.], [-1., -2., -3., -4.])])
class BestOfTurns(nn.Module):
    """An iteration that finds nothing better does not change the name."""
    def forward(self, x: Tensor):
        x = x + 0
        best = x
        for i in range(x.size(0)):
            if bool(x[i] > 2.5):
                best = x * i
        best[0] = 100.0
        return x, best


@case("x=f32[n]", *TURNS)
class TwoIfsInATurn(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        for i in range(x.size(0)):
            if bool(x.sum() > 2):
                y = y + 1
            if i > 1:
                y = torch.cat([y, y])
            y.mul_(0.5)
        x.add_(3)
        y.add_(1)
        return x, y


@case("x=f32[n]", *TURNS)
class WhileRebinds(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        while bool(y.sum() < 8):
            y = torch.cat([y, y])
        y.neg_()
        return x, y


@case("x=f32[n]", *TURNS)
class TwoNamesOfOne(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        a = x
        b = x
        for i in range(x.size(0) - 1):
            a.add_(1)
            if i == 0:
                a = b * 2
            else:
                b = torch.cat([b, a])
        a.mul_(3)
        return x, a, b


@case("x=f32[n]", *TURNS)
class NestedLoops(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        for i in range(x.size(0) - 1):
            for j in range(i):
                y = torch.cat([y, y[:1]])
            y.add_(1)
        y.mul_(2)
        return x, y


@case("x=f32[n]", *TURNS)
class IfOfAnotherSize(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        if x.size(0) > 1:
            y = torch.cat([x, x])
        y.mul_(2)
        return x, y


@case("x=f32[n]", *TURNS)
class IfOfAnotherSizeBaseWritten(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        if bool(x.sum() > 4):
            y = x[1:] * 1
        x.mul_(2)
        y.add_(1)
        return x, y


@case("x=f32[n]", *TURNS)
class RowsWrittenInATurn(nn.Module):
    def forward(self, x: Tensor):
        x = x + 1
        kept: List[Tensor] = []
        y = x
        for i in range(x.size(0)):
            y[i] = float(i)
            kept.append(y.sum())
            if i % 2 == 1:
                y = y.clone()
        return x, y, torch.stack(kept)


@case("x=f32[b,t]", ((1, 1),), ((2, 3),))
class WrittenUnderTheOlderName(nn.Module):
    """One side gives the name a new tensor, the other writes to the one that it has: it is that one afterwards."""
    def forward(self, x: Tensor):
        x = x + 1
        y = x
        for _ in range(3):
            x[:1] -= 0.5
            if x.numel() > 7:
                y = x.clamp(-4, 4)
            else:
                y[x > 0] = 0.5
        return x, y


@case("x=f32[b,t] ids=i64[n]", ((2, 3), torch.tensor([1, 2])), ((1, 1), torch.tensor([4])))
class BranchThatLeavesNothing(nn.Module):
    """A side of an if computes with a size, and its result is not used: neither is left behind."""
    def forward(self, x: Tensor, ids: Tensor):
        n = ids.shape[0]
        for row in x:
            if n == 1:
                pass
            else:
                lists: List[List[int]] = [[0, (n ^ 0)], [n]]
                lists[1].append(len(lists[0]))
        return x


ALIKE = ((1, 2, 3),), ((1, 3, 3),), ((2, 1, 3),)


@case("x=f32[b,t,3]", *ALIKE)
class TwoNamesOfANewTensor(nn.Module):
    def forward(self, x: Tensor):
        x = x + 0
        y = x
        if x.shape[1] % 2 == 0:
            y = torch.ones([1, 2, 3])
            x = y
        y[0, 0].fill_(0)
        return x, y


@case("x=f32[b,t,3]", *ALIKE)
class TwoNamesOfATurnsTensor(nn.Module):
    def forward(self, x: Tensor):
        a = x + 1
        b = x + 2
        for _ in range(x.size(1) - 1):
            b.mul_(2)
            a = a * 2
            b = a
        a.add_(1)
        return a, b


@case("x=f32[b,t,3]", *ALIKE, refused="stage.write-joined")
class NewTensorInAListAndUnderAName(nn.Module):
    def forward(self, x: Tensor):
        y = x + 1
        kept: List[Tensor] = []
        if bool(x.sum() > 0):
            y = x * 2
            kept.append(y)
        else:
            kept.append(x * 3)
        y.fill_(7)
        return kept[0], y


@case("x=f32[b,t,3]", *ALIKE, refused="stage.unavailable")
class TwoNamesOfANewList(nn.Module):
    def forward(self, x: Tensor):
        a = [1]
        b = [2]
        if bool(x.sum() > 0):
            a = [3, 4]
            b = a
        a.append(5)
        return len(b), sum(b)


@case("x=f32[b,3]", ((1, 3),), ((2, 3),))
class ReshapedToItsOwnShape(nn.Module):
    """A maybe-view of a maybe-view: the second reshape changes nothing, so a write reaches as far as the first one's would."""
    def forward(self, x: Tensor):
        x = x + 1
        flat = x.t().reshape(-1)
        again = flat.flatten().reshape(-1)
        again.tanh_()
        return x, flat, again


@case("x=f32[b] n=i64[]", ((2,), torch.tensor(3)), refused="stage.unavailable")
class WrittenWithWhatCannotBeHad(nn.Module):
    """What a text says is not available, and neither is a sum with it."""
    def forward(self, x: Tensor, n: int):
        x = x + 1
        x.add_(int("{}".format(n)))
        return x


@case("x=f32[b] n=i64[]", ((2,), torch.tensor(3)), ((2,), torch.tensor(0)), ((1,), torch.tensor(-12)), ((2,), torch.tensor(-9223372036854775808)), ((2,), torch.tensor(99999)),
      ((2,), torch.tensor(100000)), numbers=(1,))
class WrittenWithTheLengthOfANumbersText(nn.Module):
    def forward(self, x: Tensor, n: int):
        x = x + 1
        x.add_(len("{}".format(n)))
        return x


@case("x=f32[b] n=i64[]", ((2,), torch.tensor(3)), numbers=(1,))
class WrittenElsewhere(nn.Module):
    def forward(self, x: Tensor, n: int):
        y = x + 1
        y.add_(int("{}".format(n)))
        return x * n


@case("x=f32[b,1]", ((1, 1),), ((2, 1),), refused="stage.write-through-copy")
class ReshapedWhereElementsOverlap(nn.Module):
    """With one row it is a view whose elements lie at one place."""
    def forward(self, x: Tensor):
        x = x + 1
        wide = x.expand(-1, 3)
        flat = wide.transpose(-1, -2).reshape(-1)
        flat[-1] = 0.5
        return wide, flat


@case("x=f32[b,1]", (torch.tensor([[1.], [2.]]),), (torch.tensor([[0.5], [0.25]]),), (torch.tensor([[3.]]),))
class ListOfWhatOneSideWrote(nn.Module):
    def forward(self, x: Tensor):
        x = x + 0
        kept: List[Tensor] = [x, x * 2]
        if bool(x.max() > 1):
            x += x
        else:
            x.mul_(3)
            kept = kept[::-1]
        return kept[0], kept[1]


@case("x=f32[a,b]", (torch.tensor([[1., 0.], [2., 3.]]),), (torch.tensor([[-1., 1.]]),), (torch.tensor([[0., 0.]]),))
class PlacesLieTransposed(nn.Module):
    """What nonzero gives is contiguous where there is one place at most."""
    def forward(self, x: Tensor):
        places = (x > 0).nonzero()
        return places, places.is_contiguous()
