"""Every operator of linger, from a live module whose Function writes the node, with floats as PyTorch holds them; judged by tests/python/linger_numpy.py."""
import importlib.util
import pathlib
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

import cameo  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from linger_cases import cases  # noqa: E402

CASES = cases()
SUFFIX = {int: "i", float: "f", str: "s", list: "i"}


@pytest.fixture(scope="module")
def node():
    spec = importlib.util.spec_from_file_location("layers", ROOT / "examples" / "linger" / "layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.node


def grids(case):
    """For each operand (scale, bits, rounding); None where it is taken as it is."""
    a = case.attributes
    x = (a.get("scale_x"), a.get("x_bits"), "up")
    even = lambda scale: (scale, 8, "even")  # noqa: E731
    if case.op in ("Quant", "Dequant", "Squeeze"):
        return [None]
    if case.op == "Gather":
        return [even(a["scale_w"]), None]
    if case.op == "QCat":
        return [(a[f"scale_x_{i}"], 8, "up") for i in range(len(case.operands))]
    if case.op in ("QLSTM", "QGRU"):
        states = [None] * (a["has_hidden"] + a.get("has_cell", 0))
        return [x, *states, even(a["scale_iw"]), even(a["scale_hw"]), (a["scale_x"] * a["scale_iw"], 32, "even"), (a["scale_h"] * a["scale_hw"], 32, "even")]
    if "scale_w" in a:
        return [x, even(a["scale_w"]), (a.get("scale_y_normal", a["scale_x"]) * a["scale_w"], 32, "even")]
    return [x, (a.get("scale_y"), a.get("y_bits"), "up")]


def floats(v, grid):
    return v if grid is None else (v / grid[0]).astype(np.float32)


def whole(v, grid):
    if grid is None:
        return v
    scale, bits, how = grid
    scaled = v.astype(np.float64) * scale
    return np.clip(np.floor(scaled + 0.5) if how == "up" else np.round(scaled), -2 ** (bits - 1), 2 ** (bits - 1) - 1).astype({8: np.int8, 32: np.int32}[bits])


class OneNode(torch.nn.Module):
    def __init__(self, case, node):
        super().__init__()
        self.case, self.node, self.grids = case, node, grids(case)
        for i, (v, g) in enumerate(zip(case.operands, self.grids)):
            if i not in case.inputs:
                self.register_buffer(f"operand{i}", torch.from_numpy(floats(v, g)))

    def compute(self, *operands):
        """The formula on whole numbers; whole numbers that come out become floats again."""
        results = self.case.expect(*[whole(o.detach().numpy(), g) for o, g in zip(operands, self.grids)])
        a = self.case.attributes
        scale = a.get("scale_o", a.get("scale_x", a.get("scale_w", 1.0)))
        results = [r if r.dtype == np.float32 or self.case.op == "Squeeze" else (r.astype(np.float64) / scale).astype(np.float32) for r in results]
        return tuple(map(torch.from_numpy, results)) if self.case.outputs > 1 else torch.from_numpy(results[0])

    def forward(self, *inputs):
        feed = iter(inputs)
        operands = [next(feed) if i in self.case.inputs else getattr(self, f"operand{i}") for i in range(len(self.case.operands))]
        if not torch.onnx.is_in_onnx_export():
            return self.compute(*operands)
        attributes = {f"{k}_{SUFFIX[type(v)]}": v for k, v in self.case.attributes.items()}
        return self.node(self.case.op, self.compute, attributes, *operands, outputs=self.case.outputs)


# A Dequant and a Squeeze alone are of floats, as a module holds them: there is nothing to convert.
@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.op not in ("Dequant", "Squeeze")])
def test_exported(node, tmp_path, name):
    case = CASES[name]
    net = OneNode(case, node).eval()
    inputs = tuple(torch.from_numpy(floats(case.operands[i], net.grids[i])) for i in case.inputs)
    cameo.export(net, inputs, tmp_path / "m.onnx", input_names=[f"x{i}" for i in case.inputs], output_names=[f"y{i}" for i in range(case.outputs)], capture="trace", verify=False)
    proto = onnx.load(tmp_path / "m.onnx")
    found = [n for n in proto.graph.node if n.op_type == case.op and n.domain == "linger"][0]
    assert {a.name: onnx.helper.get_attribute_value(a) for a in found.attribute} == {k: v.encode() if isinstance(v, str) else v for k, v in case.attributes.items()}
    stored = {w.name: onnx.numpy_helper.to_array(w) for w in proto.graph.initializer}
    for i, operand in enumerate(case.operands):
        if i not in case.inputs:
            assert stored[found.input[i]].dtype == operand.dtype and np.array_equal(stored[found.input[i]], operand)
    assert not [d for d in cameo.check(tmp_path / "m.onnx") if d.severity == "error"]
    got = cameo.run(tmp_path / "m.onnx", {f"x{i}": v.numpy() for i, v in zip(case.inputs, inputs)})
    with torch.no_grad():
        want = net(*inputs)
    for i, w in enumerate(want if case.outputs > 1 else [want]):
        assert np.array_equal(got[f"y{i}"], w.numpy())
