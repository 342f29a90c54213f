"""Recurrent layers that quantize_dynamic made, as the model has them: int8 weights, and no rounding of inputs and states."""
import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FLOAT = {"aten::quantized_lstm": torch.ops.aten.lstm, "aten::quantized_gru": torch.ops.aten.gru}
HELD = ("input", "data")  # the overloads whose weights are in objects, which say what they hold


def _weights(cell):
    """Those of one cell in the order of the float operator, or None where they are no ints."""
    kind, _, _, _, packed = cell.__getstate__()[0]
    if not kind.startswith("quantized_dynamic"):
        return None
    both = [torch.ops.quantized.linear_unpack(p) for p in packed]
    return [weight.dequantize() for weight, _ in both] + [bias for _, bias in both if bias is not None]


class _FloatLayers(TorchDispatchMode):
    def __torch_dispatch__(self, operator, _types, args=(), kwargs=None):
        overloads = FLOAT.get(operator.name().split(".")[0])
        if overloads is None or operator._overloadname not in HELD:
            return operator(*args, **(kwargs or {}))
        at = next(i for i, a in enumerate(args) if isinstance(a, (list, tuple)) and a and isinstance(a[0], torch.ScriptObject))
        cells = [_weights(c) for c in args[at]]
        if None in cells:
            return operator(*args, **(kwargs or {}))
        return getattr(overloads, operator._overloadname)(*args[:at], [w for cell in cells for w in cell], *args[at + 1:])


def float_layers(wanted):
    """Where it is wanted, PyTorch computes inside what the model computes in the place of such layers."""
    return _FloatLayers() if wanted else contextlib.nullcontext()
