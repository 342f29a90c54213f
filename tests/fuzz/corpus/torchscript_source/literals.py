class Literals(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  e : float
  def forward(self: __torch__.Literals,
    x: Tensor,
    k: float=1000000000000,
    s: str="a\\b\"c\'d\n\t\r\001\177",
    u: str=CONSTANTS.c0,
    o: Optional[List[int]]=None,
    f: bool=False,
    z: int=-9223372036854775808) -> Tuple[Tensor, Tensor, List[complex], Tuple[str, str, str, str], Tensor, List[Optional[int]], Dict[str, int], Tensor, str, Optional[List[int]], Tuple[()], Tuple[Tensor]]:
    _0 = torch.add(torch.add(torch.mul(x, inf), -inf), nan)
    _1 = torch.add(_0, 9.9999999999999995e-08)
    _2 = torch.add(torch.add(_1, 1e+30), 10000000000)
    _3 = torch.add(_2, 4.9406564584124654e-324)
    _4 = torch.add(_3, 0.10000000000000001)
    e = self.e
    y = torch.add(_4, e)
    _5 = torch.masked_fill(y, torch.gt(x, 0), -10000000000)
    _6 = torch.add(torch.add(_5, 100000.), -0.)
    y0 = torch.add(_6, 9223372036854775807)
    _7 = torch.add(torch.mul(x, 1.+2.j), 0.+3.5j)
    c = torch.add(_7, 0.+infj)
    cs = [1.+2.j, 3.-4.j]
    _8 = torch.add(torch.add(torch.upper(s), s[0]), torch.slice(s, 1, 3))
    t = ("b", _8, torch.join(",", ["a", "b"]), torch.format("n={} {}", z, s))
    w = torch.zeros([2, 2], dtype=4, layout=None, device=torch.device("cpu"))
    e0 = annotate(List[Optional[int]], [1, None])
    d = annotate(Dict[str, int], {})
    v = torch.to(x, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, copy=False, memory_format=2)
    _9 = (y0, c, cs, t, w, e0, d, v, u, o, (), (x,))
    return _9
