"""Which torch operators have no lowering, of those that published models use and those that PyTorch's two exporters know.

usage: coverage.py [--models TABLE.tsv]
Prints what has neither a row nor a reason; exits 1 when there is any.
"""
import argparse
import pathlib
import re
import sys
import warnings

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Names that need no lowering, by pattern.
REASONS = [
    (r"prim::.*|onnx::.*", "the language itself: staging runs it"),
    (r"prims::.*|quantized_decomposed::.*|higher_order::.*|math::.*|_operator::.*", "torch.export's own dialect, not in TorchScript archives"),
    (r"quantized::.*|aten::(de)?quantize.*|aten::fake_quantize.*|aten::q_.*|aten::_fake_quantize.*|aten::choose_qparams.*", "quantisation: an issue of its own"),
    (r"aten::_(scaled_dot_product|efficient|flash|cudnn)_.*(cuda|_attention).*", "kernels that PyTorch picks on a GPU at run time; archives hold scaled_dot_product_attention"),
    (r"aten::(broadcast_shapes|sym_.*|_assert.*|_local_scalar_dense|is_pinned|_version)", "no tensor arithmetic"),
    (r"aten::__\w+_|aten::get_pool_ceil_padding|aten::_reshape_from_tensor|aten::_floor_divide|onnx_symbolic::.*", "functions of the exporter's own code, no operators"),
    (r"cond|scan|while_loop|invoke_subgraph", "torch.export's own dialect, not in TorchScript archives"),
    (r"aten::__interpolate|aten::tanhshrink", "Python functions: archives hold what they call"),
    (r"aten::_sample_dirichlet|aten::_standard_gamma", "random numbers of distributions that ONNX does not have"),
    (r"aten::embedding_renorm|aten::.*_backward.*", "training"),
    (r"aten::data|aten::wait_tensor|aten::_cudnn.*", "training and devices"),
]


def rows():
    """Every overload with a row or a host function, functional names."""
    names = set()
    for path in [*(ROOT / "src/lowering").rglob("*.cpp"), *(ROOT / "src/staging/host").glob("*.cpp")]:
        if "generated" in path.parts: continue
        names |= set(re.findall(r'\{"((?:aten|torchvision|prim)::[^"]+)"', path.read_text()))
    pairs = re.findall(r'\{"(aten::\w+)", "(aten::\w+)"\}', (ROOT / "src/lowering/row.cpp").read_text())
    bases = {n.split(".")[0] for n in names}
    for second, first in pairs:
        if first in bases: names |= {n.replace(first, second, 1) for n in names if n.split(".")[0] == first}
    return names


def functional(name):
    base, dot, overload = name.partition(".")
    if re.fullmatch(r"aten::__i\w+__", base): base = base.replace("__i", "__")
    elif base.endswith("_") and not base.endswith("__"): base = base[:-1]
    return base


def known_to_exporters():
    import torch.onnx._internal.torchscript_exporter.utils  # noqa: F401, fills the registry
    from torch.onnx._internal.exporter import _registration
    from torch.onnx._internal.torchscript_exporter import registration
    names = {n: "TorchScript's exporter" for n in registration.registry.all_functions()}
    for target in _registration.ONNXRegistry.from_torchlib().functions:
        name = target if isinstance(target, str) else target.name() if hasattr(target, "name") else f"_operator::{target.__name__}" if callable(target) else str(target)
        names.setdefault(name.split(".")[0], "the dynamo exporter")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=str(ROOT.parent / "shared/facts/operators-in-traced-models.tsv"))
    args = parser.parse_args()
    bases = {n.split(".")[0] for n in rows()} | {functional(n) for n in rows()}
    wanted = known_to_exporters()
    table = pathlib.Path(args.models)
    for line in table.read_text().splitlines() if table.exists() else []:
        if not line.startswith("#"): wanted[line.split("\t")[0]] = f"{line.split(chr(9))[1]} models"
    missing, excused = [], 0
    for name, who in sorted(wanted.items()):
        if name in bases or functional(name) in bases: continue
        reason = next((why for pattern, why in REASONS if re.fullmatch(pattern, name)), "")
        if reason: excused += 1
        else: missing.append((name, who))
    for name, who in missing: print(f"{name}\t{who}")
    print(f"{len(wanted)} operators: {len(wanted) - len(missing) - excused} have a lowering, {excused} need none, {len(missing)} are missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
