"""Whether a difference is more than rounding: how far a model's own numbers move when what it is given changes in the last digits."""
import torch

from ._findings import note, warning

DIGITS = 8        # units in the last place by which numbers are changed
TIMES = 4         # a difference of so many movements is still rounding: two ways of computing, each with many roundings
NOTICEABLE = 1e-2  # of the largest number: beyond this, the comparison is inconclusive


def _nudged(t, generator):
    if not t.is_floating_point() or t.dtype.itemsize < 2:
        return t
    change = torch.rand(t.shape, generator=generator, dtype=torch.float64).sub_(0.5).mul_(2 * DIGITS * torch.finfo(t.dtype).eps).to(t.device)
    t64 = t.detach().double()
    usual = float(t64.abs().mean()) if t.numel() else 0.0
    # Zeros move as the others do: weights that are all zero, as classifiers begin, give every choice the same score.
    return (t64 + change * t64.abs().clamp_min(usual or 1.0)).to(t.dtype)


def moved(model, call, tensors):
    """What `call(model, tensors)` gives for slightly other tensors and slightly other weights."""
    generator = torch.Generator().manual_seed(0)
    given = [_nudged(t, generator) for t in tensors]
    if not isinstance(model, torch.nn.Module) or isinstance(model, torch.jit.ScriptModule):
        return call(model, given)
    weights = {name: _nudged(t, generator) for name, t in model.named_parameters()}
    return call(lambda *args, **kwargs: torch.func.functional_call(model, weights, args, kwargs), given)


def excused(checks, model, call, tensors, expected, compare, findings):
    """Marks as right, with a note, what differs by no more than the model's own numbers change."""
    try:
        with torch.no_grad():
            others = moved(model, call, tensors)
    except Exception:  # a model whose weights cannot be changed
        return
    for check, other, want in zip(checks, others, expected):
        if check.ok:
            continue
        own = compare(check.name, other, want)
        if own.max_abs == float("inf") or check.max_abs > TIMES * own.max_abs:
            continue
        said = f"the output '{check.name}' differs from PyTorch's by {check.max_abs:.3g}"
        because = f"the model's own numbers move by {own.max_abs:.3g} when those it is given change in their last digits"
        if check.max_rel <= NOTICEABLE:
            findings.append(note("verify.rounding", f"{said}: {because}"))
        else:
            unstable = warning("verify.unstable", said, f"{because} (a choice between nearly equal numbers, most likely): the comparison is inconclusive")
            if str(unstable) not in map(str, findings):
                findings.append(unstable)
        check.ok, check.why = True, ""


# Where fake quantizers have their scale.
FAKE = {"fake_quantize_per_tensor_affine": 1, "fused_moving_avg_obs_fake_quant": 5}


class _Scales(torch.overrides.TorchFunctionMode):
    """Remembers the scales of the quantised tensors that become fractions again, and those of fake quantizers."""

    def __init__(self):
        super().__init__()
        self.steps = []

    def __torch_function__(self, function, _types, args=(), kwargs=None):
        if getattr(function, "__name__", "") == "dequantize" and args and isinstance(args[0], torch.Tensor) and args[0].is_quantized and args[0].qscheme() == torch.per_tensor_affine:
            self.steps.append(args[0].q_scale())
        place = FAKE.get(getattr(function, "__name__", ""))
        if place is not None and len(args) > place:
            self.steps.append(float(args[place]))
        return function(*args, **(kwargs or {}))


def within_a_step(checks, call, findings):
    """Marks as right what differs by no more than one step of the numbers that a quantised model makes its outputs of."""
    try:
        with torch.no_grad(), _Scales() as seen:
            call()
    except Exception:  # a program that takes no mode
        return
    step = max(seen.steps, default=0.0) * 1.001
    for check in checks:
        if not check.ok and check.max_abs <= step:
            findings.append(note("verify.rounding", f"the output '{check.name}' differs from PyTorch's by {check.max_abs:.3g}: no more than one step of its quantised numbers"))
            check.ok, check.why = True, ""
