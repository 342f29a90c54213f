op_version_set = 1
import __torch__.a.16
class I(ModuleInterface):
  def f(self, x: Tensor) -> Tensor:
    pass
class M(Module):
  __parameters__ = ["0", ]
  __annotations__ = []
  __annotations__["0"] = Tensor
  k : Final[int] = 1
