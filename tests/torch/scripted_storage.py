"""Writes in place to copies, views and what is one or the other as the sizes say: PyTorch's rules of memory.

Each program returns the written tensor and its base. Sizes of 1 are tried wherever they change whether PyTorch copies.
"""
import torch
from torch import nn

from scripted_cases import case

SQUARE = ((2, 3),), ((1, 3),), ((4, 1),), ((1, 1),)
CUBE = ((2, 3, 4),), ((1, 3, 4),), ((2, 1, 4),), ((2, 3, 1),), ((1, 1, 4),), ((1, 1, 1),)
LOST = dict(refused="stage.write-through-copy")
THROUGH = dict(refused="stage.write-through")


# Copies or views.

@case("x=f32[b,3]", *[((2, 3),), ((1, 3),)])
class ContiguousOfContiguous(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.contiguous()
        y.add_(1)
        return x, y


@case("x=f32[a,b]", *SQUARE)
class ContiguousOfTransposed(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        y.mul_(2)
        return x, y


@case("x=f32[a,b]", *SQUARE)
class BaseWrittenAfterContiguous(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        x.mul_(3)
        return x, y


@case("x=f32[a,b]", *SQUARE)
class BothWritten(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        x.mul_(3)
        y.add_(1)
        x[0] = 7.0
        return x, y


@case("x=f32[a,b]", *SQUARE)
class ViewsOfTheMaybeCopy(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        first = y[0]
        x.mul_(3)
        first.add_(10)
        return x, y, first


@case("x=f32[a,b]", *SQUARE)
class MaybeCopyOfMaybeCopy(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        z = y.t().contiguous()
        z.add_(1)
        y.mul_(2)
        x.sub_(3)
        return x, y, z


@case("x=f32[2,3]", ((2, 3),))
class TransposedIsACopy(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        z = x.t().reshape(6)
        y.mul_(2)
        z.sub_(1)
        return x, y, z


@case("x=f32[a,b,c]", *CUBE)
class ReshapeOfTransposed(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.transpose(0, 1).reshape(-1)
        y.mul_(2)
        return x, y


@case("x=f32[a,b,c]", *CUBE)
class ReshapeThatKeepsPieces(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.transpose(0, 1).reshape(x.size(1), x.size(0), 1, x.size(2))
        y.mul_(2)
        return x, y


@case("x=f32[a,b,c]", *CUBE)
class FlattenTwoOfThree(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.permute(2, 0, 1).flatten(1)
        z = x.permute(2, 0, 1).flatten(0, 1)
        y.mul_(2)
        z.add_(1)
        return x, y, z


@case("x=f32[b,t,4]", ((2, 3, 4),), ((2, 1, 4),), ((1, 3, 4),), ((1, 1, 4),))
class HeadsMerged(nn.Module):
    def forward(self, x):
        x = x + 1
        b, t = x.size(0), x.size(1)
        heads = x.view(b, t, 2, 2).transpose(1, 2)
        y = heads.transpose(1, 2).reshape(b, t, 4)
        z = heads.reshape(b, 2, t * 2)
        y.mul_(2)
        z.add_(1)
        return x, y, z


@case("x=f32[a,b]", *SQUARE)
class RavelOfTransposed(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().ravel()
        y.mul_(2)
        return x, y


@case("x=f32[a,b]", *SQUARE)
class FlattenOfSlice(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x[:, 0:1].flatten()
        y.mul_(2)
        return x, y


@case("x=f32[6,4]", ((6, 4),))
class FlattenOfSteppedSlices(nn.Module):
    def forward(self, x):
        x = x + 1
        rows = x[::2].flatten()
        columns = x[:, ::2].flatten()
        head = x[:3].flatten()
        rows.mul_(2)
        columns.add_(5)
        head.sub_(1)
        return x, rows, columns, head


@case("x=f32[a,b]", *SQUARE, **LOST)
class ReshapeAs(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().reshape_as(x)
        y.mul_(2)
        return x, y


@case("x=f32[b,4]", ((2, 4),), ((1, 4),))
class UnflattenIsAView(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.unflatten(1, [2, 2])
        y[:, 0].mul_(2)
        return x, y


@case("x=f32[b,4]", ((2, 4),), ((1, 4),))
class ViewAndViewAs(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.view(-1)
        z = y.view_as(x)
        z.mul_(2)
        y[0] = 9.0
        return x, y, z


# Conversions.

@case("x=f32[b,4]", ((2, 4),), ((1, 4),))
class ToTheSameType(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.to(torch.float32)
        y.mul_(2)
        z = x.float()
        z.add_(1)
        return x, y, z


@case("x=f32[b,4]", ((2, 4),), ((1, 4),))
class ToAnotherType(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.double()
        y.div_(255)
        z = x.to(torch.int64)
        z.add_(1)
        return x, y, z


@case("x=u8[b,4]", (torch.arange(8, dtype=torch.uint8).view(2, 4),))
class ImageToFloat(nn.Module):
    def forward(self, x):
        y = x.float().div_(255)
        y.sub_(0.5).div_(0.25)
        return x, y


@case("x=f32[b,4]", ((2, 4),))
class ToWithCopy(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.to(torch.float32, copy=True)
        y.mul_(2)
        return x, y


@case("x=f32[b,4] o=f32[b,4]", ((2, 4), (2, 4)))
class TypeAs(nn.Module):
    def forward(self, x, o):
        x = x + 1
        y = x.type_as(o)
        z = x.type_as(o.double())
        y.mul_(2)
        z.add_(1)
        w = x.to(o)
        w.sub_(1)
        return x, y, z, w


@case("x=f32[a,b]", *SQUARE)
class ConversionKeepsStrides(nn.Module):
    def forward(self, x):
        d = x.t().double()
        y = d.contiguous()
        y.mul_(2)
        d.add_(1)
        return d, y


@case("x=f32[2,3,4,5]", ((2, 3, 4, 5),))
class ChannelsLast(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.contiguous(memory_format=torch.channels_last)
        z = y.contiguous(memory_format=torch.channels_last)
        w = y.contiguous()
        y.mul_(2)
        z.add_(1)
        w.sub_(3)
        p = y.permute(0, 2, 3, 1).reshape(-1)
        p[0] = 5.0
        return x, y, z, w, p


@case("x=f32[2,3,4,5]", ((2, 3, 4, 5),))
class ChannelsLastClone(nn.Module):
    def forward(self, x):
        y = x.clone(memory_format=torch.channels_last)
        z = y.flatten(1)
        w = (y * 2).permute(0, 2, 3, 1)
        v = w.flatten()
        z.add_(1)
        v.add_(1)
        return y, z, w, v


# What new results are like in memory.

@case("x=f32[a,b]", *SQUARE)
class ElementwiseKeepsOrder(nn.Module):
    def forward(self, x):
        h = torch.relu(x.t() * 2 + 1)
        y = h.contiguous()
        z = h.t().contiguous()
        y.add_(1)
        z.mul_(3)
        return h, y, z


@case("x=f32[3,4]", ((3, 4),))
class FirstOperandOrders(nn.Module):
    def forward(self, x):
        a = x.t()
        b = torch.ones(4, 3)
        first = a + b
        second = b + a
        f = first.flatten()
        s = second.flatten()
        f.add_(1)
        s.add_(1)
        return first, f, second, s


@case("x=f32[3,4]", ((3, 4),))
class BiasDoesNotOrder(nn.Module):
    def forward(self, x):
        h = torch.ones(3) + x.t()
        f = h.flatten()
        g = h.t().flatten()
        f.add_(1)
        g.mul_(2)
        return h, f, g


@case("x=f32[a,b]", *SQUARE)
class CloneKeepsOrder(nn.Module):
    def forward(self, x):
        c = x.t().clone()
        y = c.contiguous()
        y.add_(1)
        z = torch.zeros_like(x.t())
        w = z.t().view(-1)
        w.add_(2)
        return c, y, z, w


@case("x=f32[6,4]", ((6, 4),))
class SlicesLoseTheirGaps(nn.Module):
    def forward(self, x):
        h = x.t()[:, ::2] + 1
        y = h.t().view(-1)
        z = h.reshape(-1)
        y.mul_(2)
        z.add_(1)
        return h, y, z


@case("x=f32[a,b]", *SQUARE)
class SlicedSymbolic(nn.Module):
    def forward(self, x):
        h = x.t()[:, :1] * 2
        y = h.flatten()
        y.add_(1)
        return h, y


@case("x=f32[2,3] w=f32[3,4]", ((2, 3), (3, 4)))
class ProductsAreContiguous(nn.Module):
    def forward(self, x, w):
        h = torch.matmul(w.t(), x.t())
        y = h.flatten()
        y.add_(1)
        s = torch.softmax(x.t(), 0)
        z = s.reshape(-1)
        z.mul_(2)
        m = x.t().masked_fill(x.t() > 0, 1.0)
        v = m.flatten()
        v.sub_(1)
        return h, y, s, z, m, v


@case("x=f32[b,3]", ((2, 3),), ((1, 3),))
class DropoutReturnsItsInput(nn.Module):
    def forward(self, x):
        h = x + 1
        y = torch.nn.functional.dropout(h, 0.5, False)
        y.mul_(2)
        return h, y


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("t", torch.arange(6.0).view(2, 3).t())
        self.register_buffer("c", torch.arange(6.0).view(2, 3))


@case("x=f32[3]", ((3,),))
class StoredStrides(Weights):
    def forward(self, x):
        t = self.t * 1
        a = t.contiguous()
        a.add_(1)
        b = t.t().contiguous()
        b.add_(10)
        return a + x[:, None], b, t


# Expanded tensors.

@case("x=f32[1,3]", ((1, 3),))
class ExpandedIsCopied(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.expand(4, 3).contiguous()
        y[1] = 7.0
        z = x.expand(4, 3).reshape(12)
        z.add_(1)
        w = x.expand(4, 3).clone()
        w.mul_(2)
        return x, y, z, w


@case("x=f32[1,3] o=f32[n,3]", ((1, 3), (4, 3)), ((1, 3), (1, 3)))
class ExpandedToANamedSize(nn.Module):
    def forward(self, x, o):
        x = x + 1
        y = x.expand_as(o).contiguous()
        y.add_(o)
        return x, y


@case("x=f32[b,3]", ((2, 3),), ((1, 3),))
class ExpandToItsOwnSizeIsAView(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.expand(-1, 3)
        y.mul_(2)
        return x, y


@case("x=f32[1,3]", ((1, 3),), **THROUGH)
class WriteThroughExpand(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.expand(4, 3)
        y[0] = 1.0
        return x, y


# Writes through views.

@case("x=f32[b,3,4]", ((2, 3, 4),), ((1, 3, 4),))
class ThroughPermutations(nn.Module):
    def forward(self, x):
        x = x + 1
        x.movedim(2, 0)[0].mul_(2)
        x.movedim([0, 1], [2, 0])[1].add_(3)
        x.swapaxes(0, 2)[1].sub_(1)
        x.swapdims(1, 2)[:, 2].mul_(3)
        x.mT[:, 0].add_(1)
        x.adjoint()[:, 3].sub_(4)
        x[0].T[1].mul_(5)
        x.permute(2, 1, 0)[2].add_(7)
        return x


@case("x=f32[b,4]", ((4, 4),), ((2, 4),), ((6, 4),))
class ThroughDiagonal(nn.Module):
    def forward(self, x):
        x = x + 1
        x.diagonal().zero_()
        x.diagonal(1).fill_(3.0)
        x.t().diagonal(1).mul_(2)
        return x


@case("x=f32[b,4,4]", ((2, 4, 4),))
class ThroughBatchedDiagonal(nn.Module):
    def forward(self, x):
        x = x + 1
        x.diagonal(dim1=-2, dim2=-1).add_(10)
        return x


@case("x=f32[4,4]", ((4, 4),))
class FillDiagonal(nn.Module):
    def forward(self, x):
        y = x + 1
        y.fill_diagonal_(9.0)
        return y


@case("x=f32[7,3]", ((7, 3),))
class FillDiagonalWrap(nn.Module):
    def forward(self, x):
        y = x + 1
        y.fill_diagonal_(9.0, wrap=True)
        z = x * 1
        z.fill_diagonal_(2.0)
        return y, z


@case("x=f32[b,3]", ((2, 3),), ((5, 3),), ((1, 3),))
class FillDiagonalNamed(nn.Module):
    def forward(self, x):
        y = x + 1
        y.fill_diagonal_(9.0)
        return y


@case("x=f32[b,8]", ((2, 8),), ((1, 8),))
class ThroughUnfold(nn.Module):
    def forward(self, x):
        x = x + 1
        x.unfold(1, 2, 4)[:, 1].mul_(3)
        return x


@case("x=f32[b,8]", ((2, 8),), **THROUGH)
class ThroughOverlappingUnfold(nn.Module):
    def forward(self, x):
        x = x + 1
        x.unfold(1, 4, 2).mul_(3)
        return x


@case("x=f32[b,7]", ((2, 7),), ((1, 7),))
class ThroughPieces(nn.Module):
    def forward(self, x):
        x = x + 1
        a = x.tensor_split(3, 1)
        a[1].mul_(2)
        b = x.chunk(3, 1)
        b[2].add_(1)
        c = x.split(2, 1)
        c[3].sub_(5)
        d = x.hsplit([2, 5])
        d[1].mul_(3)
        e = x.unbind(1)
        e[6].fill_(4.0)
        return x, a[0], b[0], c[0], d[2], e[5]


@case("x=f32[4,6]", ((4, 6),))
class ThroughAsStrided(nn.Module):
    def forward(self, x):
        x = x + 1
        d = x.as_strided([4], [7])
        d.mul_(2)
        t = x.t()
        e = t.as_strided([2, 3], [6, 1], 6)
        e.add_(3)
        f = x[1].as_strided([2], [6])
        g = x.t().contiguous().as_strided([3], [4], 1)
        return x, d, t, e, f, g


@case("x=f32[b,3,1]", ((2, 3, 1),), ((1, 3, 1),))
class ThroughSqueeze(nn.Module):
    def forward(self, x):
        x = x + 1
        x.squeeze(2)[0].mul_(2)
        x.unsqueeze(0).add_(1)
        x.squeeze(1).sub_(1)
        return x


@case("x=f32[b,3]", ((2, 3),))
class DetachAndData(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.detach()
        y.mul_(2)
        z = x.data
        z.add_(1)
        return x, y, z


@case("x=f32[b,3]", ((2, 3),), ((1, 3),))
class FlipIsACopy(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.flip(1)
        y.mul_(2)
        z = x.roll(1, 1)
        z.add_(1)
        return x, y, z


# Forms of writing.

@case("x=f32[b,3] v=f32[3]", ((2, 3), (3,)), ((1, 3), (3,)))
class CopyBroadcasts(nn.Module):
    def forward(self, x, v):
        x = x + 1
        x.copy_(v)
        i = torch.zeros(3, dtype=torch.int64)
        i.copy_(v * 10)
        x[:, 1:].copy_(v[1:] * 2)
        return x, i


@case("x=f32[b,4]", ((3, 4),), ((2, 4),))
class SetItems(nn.Module):
    def forward(self, x):
        x = x + 1
        x[0] = 1.0
        x[:, 1] = 2.0
        x[..., -1] = x[..., 0]
        x[x > 1.5] = 0.5
        x[torch.tensor([0, 1]), torch.tensor([2, 0])] = 8.0
        x[1:, None, :2] += 1
        x.t()[3] *= 2
        return x


@case("x=f32[b,4]", ((3, 4),), ((1, 4),))
class OutOnViews(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        torch.add(x[:, 0], 1, out=y[:, 1])
        z = torch.empty_like(x)
        torch.exp(x, out=z)
        return y, z


@case("x=f32[b,4]", ((3, 4),), ((1, 4),))
class MaskedAndIndexed(nn.Module):
    def forward(self, x):
        x = x + 1
        v = x[:, 1:3]
        v.masked_fill_(v > 1, -1.0)
        x.t().index_fill_(0, torch.tensor([0]), 3.0)
        x.index_add_(1, torch.tensor([3]), torch.ones(x.size(0), 1))
        x[:, :2].clamp_(min=0.0)
        return x, v


@case("x=f32[b,3]", ((2, 3),), ((1, 3),))
class InBranch(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        if x.sum() > 3:
            y.mul_(2)
        else:
            x.add_(1)
        return x, y


@case("x=f32[a,b]", *SQUARE)
class InLoop(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x.t().contiguous()
        for i in range(x.size(0)):
            y.mul_(2)
            x[i].add_(1)
        return x, y


@case("x=f32[b,3] n=i64[]", ((2, 3), torch.tensor(3)), ((1, 3), torch.tensor(0)), numbers=(1,), refused="stage.unavailable")
class FreshInLoop(nn.Module):
    def forward(self, x, n: int):
        h = x.t()
        for i in range(n):
            h = h.t() + 1
            k = h.contiguous()
            k.mul_(2)
        return h.sum()


@case("x=f32[b,3]", ((2, 3),), (-torch.ones(2, 3),))
class ViewChosenByData(nn.Module):
    def forward(self, x):
        x = x + 1
        if x.sum() > 0:
            row = x[0]
        else:
            row = x[-1]
        row.add_(1)
        return x, row


@case("x=f32[b,3]", ((2, 3),), (-torch.ones(2, 3),))
class BaseOfChosenViewWritten(nn.Module):
    def forward(self, x):
        x = x + 1
        y = x * 2
        if x.sum() > 0:
            y = x
        x.add_(1)
        return x, y


@case("x=f32[b,6]", ((2, 6),), ((1, 6),))
class UnsafePieces(nn.Module):
    def forward(self, x):
        a, b, c = torch.unsafe_chunk(x + 1, 3, 1)
        a.sigmoid_()
        c.tanh_()
        return a, b, c


@case("x=f32[b,6]", ((2, 6),))
class UnsafePiecesOfWhatIsRead(nn.Module):
    def forward(self, x):
        x = x + 1
        a, b, c = torch.unsafe_chunk(x, 3, 1)
        a.sigmoid_()
        return a, b, x


@case("x=f32[3,4]", ((3, 4),), **LOST)
class SingleOperandEinsum(nn.Module):
    def forward(self, x):
        x = x + 1
        y = torch.einsum("ij->ji", x)
        y.add_(1)
        return x, y


@case("x=f32[3,4]", ((3, 4),))
class BaseIsNotReadAgain(nn.Module):
    def forward(self, x):
        y = torch.einsum("ij->ji", x + 1)
        y.add_(1)
        return y


@case("x=f32[2,3]", ((2, 3),), **THROUGH)
class ViewOfAReshapedTensor(nn.Module):
    def forward(self, x):
        x = x + 1
        row = x[0]
        x.t_()
        return x, row


@case("x=f32[2,3]", ((2, 3),), refused="lower.no-rule")
class AnotherMemory(nn.Module):
    def forward(self, x):
        y = torch.zeros(2, 3)
        y.set_(x)
        return y


@case("x=f32[b,3]", ((2, 3),), ((1, 3),))
class MovedToWhereItIs(nn.Module):
    def forward(self, x):
        a, b, c = x + 1, x + 2, x + 3
        a.cpu()[0] = 1.0
        b.to(x.device)[0] = 1.0
        c.to("cpu")[0] = 1.0
        return a, b, c


@case("x=f32[b,3]", ((2, 3),), ((1, 3),))
class AsTensors(nn.Module):
    def forward(self, x):
        a, b = x + 1, x + 2
        torch.as_tensor(a)[0] = 1.0
        torch.as_tensor(b, dtype=torch.float64)[0] = 1.0
        return a, b


@case("x=f32[2,3]", ((2, 3),), **THROUGH)
class ResizedView(nn.Module):
    def forward(self, x):
        y = (x + 1)[0]
        y.resize_(2)
        return y


@case("x=f32[2,3]", ((2, 3),))
class TransposedInPlace(nn.Module):
    def forward(self, x):
        x = x + 1
        x.t_()
        y = x.contiguous()
        x.mul_(2)
        return x, y


@case("x=f32[a,b]", *SQUARE)
class IsContiguous(nn.Module):
    def forward(self, x):
        y = x.t()
        if y.is_contiguous():
            return y * 2
        return y + 1


@case("x=f32[2,3,4]", ((2, 3, 4),))
class Strides(nn.Module):
    def forward(self, x):
        y = x.permute(2, 0, 1)[:, :, ::2]
        return torch.tensor(y.stride()), torch.tensor(x[1, 1].storage_offset()), torch.tensor([y.is_contiguous(), x[1].is_contiguous()])


@case("x=f32[a,b]", *SQUARE, refused="stage.raise")
class IntsTakeNoFractions(nn.Module):
    def forward(self, x):
        y = x.int()
        y.add_(1.5)
        return y
