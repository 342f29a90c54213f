"""cameo.lint: findings for deployment targets."""
import json

import cameo

NET = b"""<ir_version: 8, opset_import: ["" : 18]>
g (double[n,4] x) => (double[n,4] y) { a = Relu(x) y = Abs(a) }
"""


def net(tmp_path):
    path = tmp_path / "net.onnxtxt"
    path.write_bytes(NET)
    return cameo.load(path)


def test_findings(tmp_path):
    report = cameo.lint(net(tmp_path), ["rknn", "onnxruntime:1.20"])
    assert report.targets["onnxruntime"] == "1.20" and not report.ok
    assert {f.node for f in report.findings if f.rule == "rknn.double"} == {"a", "y"}
    assert {f.rule for f in report.findings if f.severity == "error"} == {"rknn.double", "rknn.dynamic"}
    assert not any("--" in f.cure for f in report.findings if f.fixable)
    assert json.loads(report.sarif)["version"] == "2.1.0"


def test_ignore(tmp_path):
    report = cameo.lint(net(tmp_path), "rknn", ignore=["double", "dynamic"])
    assert report.ok and report.ignored == 3


def test_lists():
    assert "tensorrt" in cameo.lint_targets()
    assert any(r["rule"] == "tensorrt.resize-cubic" and r["severity"] == "error" for r in cameo.lint_rules("tensorrt"))


def test_fix(tmp_path):
    fixed = cameo.fix_lint(net(tmp_path), "rknn", tmp_path / "out.onnx", input_shapes={"x": [2, 4]})
    assert [s.cure for s in fixed.steps if s.done] == ["fixed-sizes", "f32"]
    assert fixed.after.ok and cameo.load(tmp_path / "out.onnx").inputs[0].shape == [2, 4]
