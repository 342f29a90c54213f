class Tuples(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : NoneType
  color : __torch__.Color
  mode : __torch__.Mode
  def forward(self: __torch__.Tuples,
    p: __torch__.Point,
    t: Tuple[int, Tuple[Tensor, str]],
    c: __torch__.Color) -> Tuple[__torch__.Point, Tensor, int]:
    _0 = torch.add((p)[0], (t)[0])
    _1 = torch.add((p)[1], torch.size(((t)[1])[0], 0))
    _2 = ((t)[1])[1]
    if torch.eq(c, __torch__.Color.RED):
      b = torch.add(_1, (c).value)
    else:
      b = _1
    mode = self.mode
    if torch.eq(mode, __torch__.Mode.SLOW):
      s : Optional[str] = (c).name
    else:
      s = _2
    _3 = (__torch__.Point(_0, b, s), _0, torch.len([(t)[1]]))
    return _3
class Color(Enum):
  RED = 1
  GREEN = 2
class Mode(Enum):
  FAST = "fast"
  SLOW = "slow \ one"
class Point(NamedTuple):
  x : Tensor
  k : int
  s : Optional[str]
