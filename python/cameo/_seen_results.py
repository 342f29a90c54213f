"""What operators without a lowering give in a run of the model: a script knows no types of them."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import _arguments as arguments
from . import _capture


class _Seen(TorchDispatchMode):
    def __init__(self, known):
        super().__init__()
        self.known, self.results = known, {}

    def __torch_dispatch__(self, operator, _types, args=(), kwargs=None):
        given = operator(*args, **(kwargs or {}))
        name = operator.name().split(".")[0]
        if name not in self.known and operator.namespace not in ("prim", "prims"):
            self.results.setdefault(name, []).append(given)
        return given


def of_a_run(bound, known, axes):
    """{operator: the declaration of its type}, of those that give the same dtypes and ranks in every call."""
    model = bound.model
    try:
        with torch.no_grad(), _capture.state_kept(model), _Seen(known) as seen:
            bound.call(model, [leaf.value.clone() for leaf in bound.tensors])
    except Exception:  # the export itself will tell
        return {}
    declared = {op: _declaration(calls, axes) for op, calls in seen.results.items()}
    return {op: text for op, text in declared.items() if text}


def _declaration(calls, axes):
    lists = [list(c) if isinstance(c, (tuple, list)) else [c] for c in calls]
    if any(len(r) != len(lists[0]) or not all(isinstance(t, torch.Tensor) for t in r) for r in lists):
        return ""
    texts = []
    for results in zip(*lists):
        if len({(t.dtype, t.dim()) for t in results}) > 1:
            return ""
        dtype = arguments.DTYPES.get(str(results[0].dtype).split(".")[-1])
        sizes = ["?" if axes or len(set(n)) > 1 else str(n[0]) for n in zip(*(t.shape for t in results))]
        if dtype is None:
            return ""
        texts.append(f"{dtype}[{','.join(sizes)}]")
    return ";".join(texts)
