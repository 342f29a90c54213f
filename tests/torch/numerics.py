"""Numbers at the edges: tensors without axes, sizes of 0 and 1, orders of 0; judged as the traps are (traps.py)."""
import math

import torch

from traps import Trap, grid, i64

MINUS = torch.tensor(-3.0)
POLYNOMIALS = [f"{kind}_polynomial_{letter}" for kind, letters in (("chebyshev", "tuvw"), ("shifted_chebyshev", "tuvw"), ("hermite", "h"), ("hermite", "he"), ("laguerre", "l"), ("legendre", "p"))
               for letter in ((letters,) if letters in ("he",) else letters)]


def norms():
    for p in (0, 1, 2, 3, math.inf, -math.inf):
        yield Trap(0, f"norm {p} of a number", lambda x, p=p: (torch.norm(x, p=p, dim=0), torch.norm(x, p=p), torch.linalg.vector_norm(x, ord=p)), (MINUS,))
    yield Trap(0, "norms of one element", lambda x: (torch.norm(x, p=2, dim=0), torch.norm(x, p=1), x.norm(dim=0, keepdim=True)), (torch.tensor([-3.0]),))
    yield Trap(0, "reductions of a number", lambda x: (x.sum(0), x.mean(0), x.prod(0), x.amax(0), torch.logsumexp(x, 0), torch.std(x, correction=0), x.cumsum(0)), (MINUS,))
    yield Trap(0, "more correction than elements", lambda x: (torch.var(x, 1, correction=9), torch.std(x, 0, correction=2)), (grid(3, 4),))


def empty_products():
    a, b = torch.zeros(2, 0), torch.zeros(0, 3)
    yield Trap(0, "addmm over nothing", lambda c, a, b: (torch.addmm(c, a, b, beta=2.0), torch.addmm(c, a, b), torch.addmm(c, a, b, beta=0)), (grid(2, 3), a, b))
    yield Trap(0, "addmm over a size that may be 0", lambda x: torch.addmm(torch.ones(3, 3), x.t(), x, beta=2.0, alpha=0.5), (grid(4, 3),),
               flags=("--input", "x=f32[k:0..9,3]"), more=((b,),))
    yield Trap(0, "products over nothing", lambda a, b: (a @ b, torch.nn.functional.linear(a, b.t(), torch.ones(3)), torch.einsum("ij,jk->ik", a, b)), (a, b))
    yield Trap(0, "sums and products over nothing", lambda c, a, b: (torch.addbmm(c, a, b, beta=2.0), torch.baddbmm(c.expand(4, 2, 3), a, b, beta=2.0)),
               (grid(2, 3), torch.zeros(4, 2, 0), torch.zeros(4, 0, 3)))


def joins():
    none = torch.zeros(0)
    yield Trap(0, "cat of nothing", lambda a, b: (torch.cat([a, b]), torch.cat([a, b, a], -1), torch.cat([a])), (none, none))
    yield Trap(0, "cat of nothing of two types", lambda a, b: torch.cat([a, b]), (none, torch.zeros(0, dtype=torch.int32)))
    yield Trap(0, "cat with empty rows", lambda a, b, c: (torch.cat([a, b], 1), torch.cat([a, c], 1), torch.cat([b, b], 1)), (none, torch.zeros(2, 0), grid(2, 3)))


def products():
    yield Trap(0, "tensordot over sizes of 1", lambda a, b, c: (torch.tensordot(a, b, dims=([1], [0])), torch.tensordot(b, a, dims=([0], [1])), torch.tensordot(c, b, dims=([1], [0]))),
               (grid(2, 1), grid(3, 4), grid(2, 3)))
    yield Trap(0, "tensordot over two axes, one of 1 each", lambda a, b: torch.tensordot(a, b, dims=([1, 2], [0, 1])), (grid(2, 1, 5), grid(3, 1, 4)))
    weights = torch.tensor([1, 2, 3, 4]), torch.tensor([0.1, 0.2, 0.3, 0.4])
    for correction in (0, 1, 2):
        yield Trap(0, f"cov with weights, correction {correction}",
                   lambda x, f, a, n=correction: (torch.cov(x, correction=n, fweights=f), torch.cov(x, correction=n, aweights=a), torch.cov(x, correction=n, fweights=f, aweights=a),
                                                  torch.cov(x[0], correction=n, fweights=f)),
                   (grid(3, 4), *weights))
    yield Trap(0, "cov of too few", lambda x: torch.cov(x, correction=9), (grid(3, 4),))


def polynomials():
    x = torch.tensor([-1.0, -0.5, 0.0, 0.5, 1.0, 0.7, 2.0])  # of other orders than 0 and nan, PyTorch gives what happens to lie there
    for name in POLYNOMIALS:
        f = getattr(torch.special, name)
        yield Trap(0, f"{name} of order 0", lambda x, n, f=f: (f(x, n), f(x, 0), f(x, n * 0)), (x, i64(0, 0, 0, 0, 0, 0, 0)))
        yield Trap(0, f"{name} of other orders", lambda x, n, f=f: (f(x, n), f(x, 1), f(x, 3), f(0.5, n)), (x, i64(0, 1, 2, 3, 4, -1, 2)))


def windows(x):
    """Longformer's chunks: a view of heads, padded, then read by strides."""
    padded = torch.nn.functional.pad(x.transpose(1, 2).reshape(2, 6, 4), (0, 0, 2, 2), value=-1.0)
    stride = padded.stride()
    return padded.as_strided((2, 3, 6, 4), (stride[0], 2 * stride[1], stride[1], stride[2])) * 2


CASES = [Trap(0, "windows of a padded view", windows, (grid(1, 6, 2, 4),)), *norms(), *empty_products(), *joins(), *products(), *polynomials()]
