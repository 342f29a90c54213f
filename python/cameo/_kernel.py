"""Kernels of your own, for operators that Cameo does not know or in place of its own."""
from typing import NamedTuple

from ._findings import failure


class KernelType(NamedTuple):
    """An input's type, as a shape rule sees it."""
    dtype: str  # "f32"
    shape: list  # sizes: numbers, names, None where not known yet


class Kernel:
    """A function over NumPy arrays, and a rule for the types of what it gives.

    run    run(*inputs, **attributes) gives one array, or a tuple of them. Absent inputs are None
    types  types(*inputs, **attributes) gives for each output "f32[2,8]", (dtype, sizes), or an input itself, from the
           KernelTypes of the inputs. With it, what follows in the model is planned before anything runs, and results are
           checked against it"""

    def __init__(self, run, types=None):
        self.run, self.types = run, types


def kernel_list(kernels):
    """{"my.domain::Op": function or Kernel} as the library takes it."""
    if kernels is None:
        return None
    if not hasattr(kernels, "items"):
        raise failure("use.kernel", "kernels are given as a dict", hint='kernels={"my.domain::Op": function}')
    out = []
    for name, kernel in kernels.items():
        if not isinstance(kernel, Kernel):
            kernel = Kernel(kernel)
        if not callable(kernel.run) or not (kernel.types is None or callable(kernel.types)):
            raise failure("use.kernel", f"the kernel of {name} is not a function", hint='kernels={"my.domain::Op": function}')
        out.append((str(name), kernel.run, kernel.types))
    return out
