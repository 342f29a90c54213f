"""Smaller graphs that compute the same."""
import os
from typing import NamedTuple

from . import _cameo
from ._findings import failure
from ._kernel import kernel_list
from ._model import as_model, to_proto
from ._progress import Steps


def simplified(model, *, skip=(), only=(), without=(), exact=False, fuse=True, fold=True, freeze_initializers=False, unroll=0,
               input_shapes=None, check=0, rtol=None, atol=None, sizes=None, sizes_may_be_zero=False, shapes=True, kernels=None, progress=None):
    """The model, smaller. `check` sets of inputs are run before and after; a rewrite that changes an output is undone.

    `without` leaves out single rewrites, "RULE@VALUE" as the ledger has them.
    kernels: as Session's, for these runs. input_shapes fixes inputs first: {"x": [1, 3, 224, 224]}. progress(what, done, all) is called now and then; False stops the call."""
    return _simplify(as_model(model), skip=_list(skip), only=_list(only), without=_list(without), exact=exact, fuse=fuse, fold=fold,
                     freeze_initializers=freeze_initializers, unroll=unroll, check=check, rtol=rtol, atol=atol, sizes=sizes,
                     sizes_may_be_zero=sizes_may_be_zero, shapes=shapes, input_shapes=input_shapes,
                     kernels=kernels, progress=progress)[0]


def simplify(model, check_n=0, perform_optimization=True, skip_fuse_bn=False, overwrite_input_shapes=None,
             test_input_shapes=None, skipped_optimizers=None, skip_constant_folding=False, skip_shape_inference=False,
             input_data=None, dynamic_input_shape=False, custom_lib=None, include_subgraph=False, unused_output=None,
             tensor_size_threshold=None, mutable_initializer=False, *, input_shapes=None, **more):
    """onnxsim's call: `model, ok = cameo.simplify(m)` on a path, bytes, an onnx.ModelProto or a cameo.Model.

    Gives the kind of model it was given: a ModelProto for a ModelProto or a path (where the onnx package is installed), else
    a cameo.Model. `ok` is False where check_n sets of inputs were asked for and none could be run. `more` goes to
    Model.simplify: exact, only, unroll, ..."""
    shapes = _shapes(overwrite_input_shapes or input_shapes or {})
    source = as_model(model)
    named = [i.name for i in source.inputs if not i.has_default]
    if None in shapes or "" in shapes:
        shapes = {(name or named[0]): v for name, v in shapes.items()}
    if custom_lib is not None:
        raise failure("use.value", "custom_lib is onnxruntime's: operators that Cameo does not know are left as they are", hint="leave it out")
    skip = [rule for name in _list(skipped_optimizers or []) for rule in _cameo.rules_of_pass(name)]
    if skip_fuse_bn:
        skip += _cameo.rules_of_pass("fuse_bn_into_conv")
    if not perform_optimization:
        skip = [name for name, _ in _cameo.rules() if not name.startswith("fold")]
    if unused_output:
        keep = [o.name for o in source.outputs if o.name not in set(_list(unused_output))]
        source = _cameo.extract(source, [], keep)
    options = dict(skip=skip, fold=not skip_constant_folding, shapes=not skip_shape_inference, check=check_n, input_shapes=shapes,
                   freeze_initializers=not mutable_initializer)
    tried = dict(test_input_shapes or {}) | {name: array.shape for name, array in (input_data or {}).items()}
    result, ok = _simplify(source, check_shapes={name: list(sizes) for name, sizes in tried.items()}, **(options | more))
    if _wants_proto(model):
        result = to_proto(result)
    return result, ok


def _shapes(given):
    try:
        return {name: list(sizes) for name, sizes in dict(given).items()}
    except (TypeError, ValueError):
        raise failure("use.value", f"the shapes of inputs are {given!r}", hint='write {"x": [1, 3, 224, 224]}') from None


def _simplify(model, **options):
    shapes = options.pop("input_shapes", None)
    if shapes:
        options["input_shapes"] = {name: list(sizes) for name, sizes in shapes.items()}
    options["kernels"] = kernel_list(options.pop("kernels", None))
    wanted = options.get("check", 0)
    with Steps("simplify", ["rewriting and checking" if wanted else "rewriting"]) as steps:
        steps.next()
        result, ledger, compared, worst = _cameo.simplify(model, {k: v for k, v in options.items() if v is not None})
    return result, not wanted or compared > 0


class Place(NamedTuple):
    rule: str
    value: str
    why: str  # empty where the rule applied


class Explanation(NamedTuple):
    applied: list  # of Place
    refused: list  # of Place
    waiting: list  # rules that need a newer opset, with which


def explain(model, rule="", *, opset=0):
    """Where rewrite rules apply, and where they nearly do and why not. rule: one of rules(); opset 0: the model's own."""
    applied, refused, waiting = _cameo.explain(as_model(model), rule, opset)
    return Explanation([Place(*p) for p in applied], [Place(*p) for p in refused], waiting)


def rules():
    """Every rewrite's name and class: exact, algebra or rounding."""
    return _cameo.rules()


def _wants_proto(model):
    if isinstance(model, (str, os.PathLike)):
        try:
            import onnx  # noqa: F401
        except ImportError:
            return False
        return True
    return hasattr(model, "SerializeToString") and not isinstance(model, _cameo.Model)


def _list(names):
    return [names] if isinstance(names, str) else list(names)
