"""What holds for every verb."""
import json

VERBS = ["show", "infer", "run", "check", "convert", "edit", "extract", "merge", "diff", "verify"]


def test_version(t):
    assert t.run("--version").out.startswith("cameo ")
    told = t.run("--version", "--json").json
    assert told["newest_opset"] >= 18 and "version" in told


def test_help_has_an_example(t):
    assert "show" in t.run("--help").out
    for verb in VERBS:
        out = t.run(verb, "--help").out
        assert f"  cameo {verb} " in out.split("for example:")[1]


def test_wrong_use(t):
    t.run(code=2)
    assert "did you mean show?" in t.fails("shwo", code=2, error="use.unknown-verb").err
    assert "did you mean --inputs?" in t.fails("run", "--imputs", "x", "a.onnx", code=2, error="use.unknown-flag").err
    t.fails("show", code=2, error="use.operands")
    t.fails("run", "a.onnx", "--repeat", "many", code=2, error="use.value")
    t.fails("run", "a.onnx", "--repeat", code=2, error="use.missing-value")


def test_files_that_are_no_models(t):
    t.fails("show", "absent.onnx", code=3, error="file.missing")
    t.path("empty.onnx").write_bytes(b"")
    t.run("show", "empty.onnx", code=3)
    t.path("text.onnx").write_bytes(b"hello, world\n" * 100)
    t.run("show", "text.onnx", code=3)
    t.path("page.onnx").write_bytes(b"<!DOCTYPE html><html></html>")
    t.run("show", "page.onnx", code=3)


def test_json_errors(t):
    told = json.loads(t.run("show", "absent.onnx", "--json", code=3).err)
    assert told["code"] == "file.missing" and told["severity"] == "error"


def test_a_verb_of_the_contract_that_is_not_built_says_what_else_to_do(t):
    assert "cameo extract" in t.fails("capsule", "x", code=2, error="use.unknown-verb").err
