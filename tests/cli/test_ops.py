"""cameo ops, its page, and what the shell completes."""
import json
import subprocess
import sys


def test_table(t):
    out = t.run("ops", "aten::linear").out
    assert out.startswith("aten::linear") and "Gemm" in out
    told = {op["name"]: op for op in t.run("ops", "--json").json}
    assert told["aten::relu"] == {"name": "aten::relu", "support": "lowered", "onnx": ["Relu"], "from_opset": 7}
    assert told["aten::append"]["support"] == "staged"
    assert sum(op["support"] == "lowered" for op in told.values()) > 600


def test_both_ways(t):
    assert "aten::linear" in t.run("ops", "Gemm", "--reverse").out
    assert "aten::linear" in [op["name"] for op in t.run("ops", "Gemm", "--json").json]
    assert "aten::conv2d" in t.run("ops", "Conv", "--reverse", "--json").json["Conv"]


def test_every_operator_has_an_answer(t):
    assert "NonMaxSuppression" in t.run("ops", "nms").out
    assert "torchvision::nms" in t.run("ops", "nonmaxsuppression", "--reverse").out
    assert "no torch operator becomes it" in t.run("ops", "Hardmax", "--reverse").out
    assert t.run("ops", "Hardmax", "--reverse", "--json").json == {"Hardmax": []}
    t.fails("ops", "nosuchoperator", "--reverse", code=2, error="use.no-match")
    unknown = [op["name"] for op in t.run("ops", "--json").json if op["support"] == "lowered" and "onnx" not in op]
    assert len(unknown) < 15, f"their ONNX operators are not recorded: {unknown}"


def test_names_as_python_has_them(t):
    for name, operator in (("torch.nn.functional.gelu", "aten::gelu"), ("nn.AdaptiveAvgPool2d", "aten::adaptive_avg_pool2d"), ("torchvision.ops.nms", "torchvision::nms"),
                           ("torch.ops.aten.add.Tensor", "aten::add.Tensor"), ("torch.ops.aten.relu.default", "aten::relu")):
        assert operator in t.run("ops", name).out
    assert "'nn.Nope'" in t.fails("ops", "nn.Nope", code=2, error="use.no-match").err


def test_why_not(t):
    assert "matrix decompositions" in t.run("ops", "aten::linalg_ldl_factor").out
    assert "not supported" in t.run("ops", "aten::linalg_ldl_factor").out
    t.fails("ops", "nosuchoperator", code=2, error="use.no-match")
    for op in t.run("ops", "--opset", "7", "--json").json:
        assert op["support"] != "lowered" or op.get("from_opset", 7) <= 7


def test_page_is_current(t):
    assert t.run("ops", "--markdown").out == (t.root / "docs/operators.md").read_text(), "run tools/operators.py, build, and tools/operators.py --docs"


def test_pages_of_verbs_are_current(t):
    done = subprocess.run([sys.executable, t.root / "tools/verbs.py", "--check", "--cameo", t.command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_table_has_what_exports_emit(t):
    """Nothing that an export of the recorded archives makes is missing from the table."""
    told = {op["name"]: set(op.get("onnx", [])) for op in t.run("ops", "--json").json}
    for archive in ("blocks.pt", "convolutions.pt", "shapes.pt", "indices.pt", "layers.pt"):
        t.run("export", t.root / "tests/data/export" / archive, "-o", "net.onnx", "--report", "report.json")
        for op, emitted in json.loads(t.path("report.json").read_text())["lowered"].items():
            assert set(emitted) <= told[op], f"{op} became {emitted}; run tools/operators.py"


def test_completion(t):
    for shell in ("bash", "zsh", "fish"):
        assert "cameo" in t.run("completion", shell).out
    t.fails("completion", "tcsh", code=2, error="use.value")
    flags = t.run("export", "--list-flags").out
    assert "--weights\tembed|external|in-place\t" in flags
    verbs = t.run("--list-verbs").out
    assert "export\t" in verbs and "ops\t" in verbs


def test_every_verb_has_help_with_an_example(t):
    for line in t.run("--list-verbs").out.splitlines():
        verb = line.split("\t")[0]
        text = t.run(verb, "--help").out
        assert text.startswith(f"cameo {verb}") and "for example:\n  cameo " + verb in text, text
        for flag in t.run(verb, "--list-flags").out.splitlines():
            name, _, help_text = flag.split("\t")
            assert len(help_text) > 5 and name in text, flag
