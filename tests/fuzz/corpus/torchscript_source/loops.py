class Loops(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.Loops,
    x: Tensor,
    n: int,
    xs: List[Tensor]) -> Tensor:
    _0 = uninitialized(Tensor)
    _1 = uninitialized(Tensor)
    _2 = uninitialized(bool)
    x0 = x
    for i in range(n):
      x0 = torch.add(x0, i)
    _3 = [9223372036854775807, torch.len(xs)]
    _4 = ops.prim.min(_3)
    _5 = False
    _6 = _0
    x1 = x0
    _7 = 0
    _8 = torch.gt(_4, 0)
    while _8:
      y = xs[_7]
      if torch.eq(_7, 3):
        _9, _10, _11, _12 = False, True, torch.add(x1, 1), _0
      else:
        _9, _10, _11, _12 = True, False, _0, torch.mul(x1, y)
      _13 = torch.add(_7, 1)
      _14 = torch.__and__(torch.lt(_13, _4), _9)
      _8, _5, _6, x1, _7 = _14, _10, _11, _12, _13
    if _5:
      _15 = _6
    else:
      x2 = x1
      for _16 in range(torch.__range_length(1, n, 2)):
        i0 = torch.__derive_index(_16, 1, 2)
        x3 = x2
        _17 = 0
        _18 = torch.gt(n, 0)
        while _18:
          if torch.gt(_17, i0):
            _19, _20, _21, _22, _23 = True, False, x3, _2, _1
          else:
            if torch.eq(_17, 2):
              _24, _25, _26, _27, _28 = True, True, x3, _2, _1
            else:
              _24, _25, _26, _27, _28 = False, _2, _1, True, torch.sub(x3, _17)
            _19, _20, _21, _22, _23 = _24, _25, _26, _27, _28
          if _19:
            _29, _30 = _20, _21
          else:
            _29, _30 = _22, _23
          _31 = torch.add(_17, 1)
          _32 = torch.__and__(torch.lt(_31, n), _29)
          _18, x3, _17 = _32, _30, _31
        x2 = x3
      _33 = bool(torch.gt(torch.sum(x2), 100))
      x4 = x2
      _34 = _33
      while _34:
        x5 = torch.div(x4, 2)
        _35 = bool(torch.gt(torch.sum(x5), 100))
        _34, x4 = _35, x5
      _36 = [1, 2, 3]
      _37 = ops.prim.min([torch.len(xs), torch.len(_36)])
      x6 = x4
      for _38 in range(_37):
        a = xs[_38]
        b = _36[_38]
        x6 = torch.add(x6, torch.mul(a, b))
      last: Optional[Tensor] = None
      for _39 in range(torch.len(x6)):
        last = torch.select(x6, 0, _39)
      if torch.__is__(last, None):
        _40 = torch.percentFormat("bad %d", n)
        ops.prim.RaiseException(_40, "builtins.ValueError")
        last0 = _1
      else:
        last0 = unchecked_cast(Tensor, last)
      if torch.eq(torch.dim(x6), 2):
        pass
      else:
        _41 = torch.format("rank {} is not 2", torch.dim(x6))
        _42 = torch.add("AssertionError: ", _41)
        ops.prim.RaiseException(_42)
      _15 = torch.add(x6, last0)
    return _15
