"""The flags of `cameo export`, on recorded archives."""
import json

import onnxfile as o


def data(t, name):
    return t.root / "tests/data/export" / name


def exported(t, archive, *flags, out="net.onnx"):
    t.run("export", data(t, archive), "-o", out, *flags)
    return t.run("show", out, "--json").json


def names(values):
    return [v["name"] for v in values]


def test_needs_no_flags_for_a_traced_archive(t):
    told = exported(t, "blocks.pt")
    assert told["inputs"] == [{"name": "x", "type": "f32[4,6]", "dtype": "f32", "shape": [4, 6]}]
    t.path("copy.pt").write_bytes(data(t, "blocks.pt").read_bytes())
    t.run("export", "copy.pt")
    assert t.path("copy.onnx").exists()


def test_same_flags_same_bytes_and_provenance(t):
    for name in ("a.onnx", "b.onnx"):
        t.run("export", data(t, "blocks.pt"), "-o", name, "--opset", "17")
    assert t.path("a.onnx").read_bytes() == t.path("b.onnx").read_bytes()
    assert b"cameo.source.sha256" in t.path("a.onnx").read_bytes() and b"export --opset=17" in t.path("a.onnx").read_bytes()
    t.run("export", data(t, "blocks.pt"), "-o", "c.onnx", "--no-provenance")
    assert b"cameo.source" not in t.path("c.onnx").read_bytes()
    piped = t.run("export", data(t, "blocks.pt"), "-o", "-", "--opset", "17").out_bytes
    assert piped == t.path("a.onnx").read_bytes()


def test_input_types(t):
    told = exported(t, "blocks.pt", "--input", "x=f32[batch,_]")
    assert told["inputs"][0]["shape"] == ["batch", 6] and told["outputs"][0]["shape"] == ["batch", 3]
    assert names(exported(t, "blocks.pt", "--input", "rows=f32[n,6]")["inputs"]) == ["rows"]  # in order, renaming
    told = exported(t, "arguments.pt", "--input", "x=f32[b,3]", "--input", "n=3")
    assert names(told["inputs"]) == ["x"]
    told = exported(t, "arguments.pt", "--input", "x=f32[b,3]", "--input", "n=i64[]", "--input", "mask=f32[b,3]")
    assert names(told["inputs"]) == ["x", "n", "mask"]
    told = exported(t, "structures.pt", "--input", "images.0=f32[b,3]", "--input", "images.1=f32[b,3]", "--input", "extra.scale=f32[]")
    assert names(told["inputs"]) == ["images.0", "images.1", "extra.scale"]


def test_wrong_inputs(t):
    err = t.fails("export", data(t, "arguments.pt"), "-o", "a.onnx", code=2, error="use.input-missing").err
    assert "--input 'x=f32[...]' --input 'n=1'" in err and "forward(x: Tensor, n: int" in err
    for bad in ("x", "x=f99[2]", "x=f32[2", "x=f32[h:9..3]", "x=f32[h:%0]", "x=f32[h:a..b]", "x=f32[-3]"):
        t.fails("export", data(t, "blocks.pt"), "--input", bad, "-o", "a.onnx", code=2, error="use.input")
    t.fails("export", data(t, "blocks.pt"), "--input", "a=f32[2]", "--input", "b=f32[2]", "-o", "a.onnx", code=2, error="use.input")
    t.fails("export", data(t, "blocks.pt"), "--input-names", "a,b", "-o", "a.onnx", code=2, error="use.input-names")
    t.fails("export", data(t, "blocks.pt"), "--output-names", "a,b", "-o", "a.onnx", code=2, error="use.output-names")
    assert not t.path("a.onnx").exists()


def test_inputs_as_other_tools_spell_them(t):
    """A shape, or a type of PyTorch's, in place of f32[4,6]: what to write is said, with the sizes that were given."""
    for given, instead in (("x=1,4,6", "x=f32[1,4,6]"), ("x=[4, 6]", "x=f32[4,6]"), ("x=4x6", "x=f32[4,6]"), ("x=float32[4,6]", "x=f32[4,6]"), ("x=torch.int64[b,6]", "x=i64[b,6]"),
                           ("x=f32[4x6]", "commas stand between sizes"), ("x=f32(4,6)", "x=f32["), ("x=random", "x=f32[")):
        err = t.fails("export", data(t, "blocks.pt"), "--input", given, "-o", "a.onnx", code=2, error="use.input").err
        assert instead in err, (given, err)


def test_the_result_as_second_operand(t):
    t.run("export", data(t, "blocks.pt"), "second.onnx")
    assert t.path("second.onnx").exists()
    t.fails("export", data(t, "blocks.pt"), "a.onnx", "-o", "b.onnx", code=2, error="use.conflict")
    assert not t.path("a.onnx").exists() and not t.path("b.onnx").exists()


def test_names_that_are_wrong_are_refused(t):
    def refused(archive, error, *flags):
        return t.fails("export", t.root / "tests/data" / archive, *flags, "-o", "a.onnx", code=2, error=error).err

    assert "forward(x" in refused("export/blocks.pt", "use.input-name", "--input", "x=f32[b,6]", "--input", "nope=f32[b,6]")
    refused("export/blocks.pt", "use.input", "--input", "x=f32[b,6]", "--input", "x=f32[b,6]")
    refused("export/blocks.pt", "use.output-names", "--output-names", "x")
    refused("export/blocks.pt", "use.input-names", "--input-names", "a,a")
    assert "its inputs are: x" in refused("pt2/branch.pt2", "use.input-name", "--input", "nope=f32[4]")
    assert "is f32 in the archive, not i64" in refused("pt2/branch.pt2", "use.input", "--input", "x=i64[4]")
    assert "cannot be fixed at 4" in refused("pt2/branch.pt2", "use.input", "--input", "x=4") and "x=f32[1,4]" in refused("pt2/branch.pt2", "use.input", "--input", "x=1,4")
    refused("pt2/branch.pt2", "use.input-names", "--input-names", "a,b")
    refused("pt2/branch.pt2", "use.output-names", "--output-names", "x")
    t.run("export", t.root / "tests/data/pt2/branch.pt2", "--input", "x=f32[4]", "--output-names", "y", "-o", "a.onnx")


def test_dim_ranges(t):
    told = exported(t, "blocks.pt", "--input", "x=f32[batch:1..64,6]")
    assert told["inputs"][0]["shape"] == ["batch", 6]
    for text in ("batch:%32", "batch:4..", "batch:..64"):
        assert exported(t, "blocks.pt", "--input", f"x=f32[{text},6]")["inputs"][0]["shape"] == ["batch", 6]


def test_example_inputs_and_verify(t):
    done = t.run("export", data(t, "blocks.pt"), "-o", "b.onnx", "--inputs", data(t, "blocks_in.npz"), "--verify", data(t, "blocks_out.npz"))
    assert "verified: 1 output" in done.err
    told = t.run("export", data(t, "arguments.pt"), "-o", "a.onnx", "--inputs", data(t, "arguments_in.npz"), "--verify", data(t, "arguments_out.npz"), "--json").json
    assert told["verified"]["outputs"] == 4 and told["verified"]["max_difference"] < 1e-5
    t.path("x0.npz").write_bytes(o.npz(x0=o.npy([2, 6], [0.5] * 12)))
    told = exported(t, "blocks.pt", "--inputs", "x0.npz")
    assert told["inputs"][0]["shape"] == [2, 6]
    told = exported(t, "blocks.pt", "--inputs", "x0.npz", "--input", "x=f32[rows,_]")
    assert told["inputs"][0]["shape"] == ["rows", 6]
    t.path("x.npy").write_bytes(o.npy([5, 6], [0.5] * 30))
    assert exported(t, "blocks.pt", "--inputs", "x.npy")["inputs"][0]["shape"] == [5, 6]


def test_what_cannot_be_compared_leaves_no_model(t):
    t.path("other.npz").write_bytes(o.npz(z=o.npy([4, 3], [1.0] * 12)))
    t.path("none.npz").write_bytes(o.npz())
    t.path("text.npz").write_bytes(b"no zip")
    cases = ("missing.npz", 3, "file.missing"), ("text.npz", 3, "file.not-npy"), ("other.npz", 2, "use.input-name"), ("none.npz", 1, "verify.outputs")
    for expected, code, error in cases:
        t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--inputs", data(t, "blocks_in.npz"), "--verify", expected, code=code, error=error)
        assert not t.path("b.onnx").exists(), expected


def test_verify_says_what_differs(t):
    t.path("wrong.npz").write_bytes(o.npz(output=o.npy([4, 3], [1.0] * 12)))
    err = t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--inputs", data(t, "blocks_in.npz"), "--verify", "wrong.npz", code=1, error="verify.mismatch").err
    assert "'output'" in err
    t.run("export", data(t, "blocks.pt"), "-o", "b.onnx", "--inputs", data(t, "blocks_in.npz"), "--verify", "wrong.npz", "--atol", "100")
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--verify", "wrong.npz", code=2, error="use.verify")
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--rtol", "1", code=2, error="use.conflict")
    t.path("other.npz").write_bytes(o.npz(z=o.npy([4, 6], [1.0] * 24)))
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--inputs", "other.npz", code=2, error="use.input-name")


def test_dynamic_axes_forms(t):
    def shapes(axes, *flags):
        told = exported(t, "blocks.pt", "--dynamic-axes", json.dumps(axes), *flags)
        return told["inputs"][0]["shape"], told["outputs"][0]["shape"]
    assert shapes({"x": [0]}) == (["x_dynamic_axes_1", 6], ["x_dynamic_axes_1", 3])
    assert shapes({"x": {"0": "batch"}}) == (["batch", 6], ["batch", 3])
    assert shapes({"a": {"-2": "batch"}, "y": [0]}, "--input-names", "a", "--output-names", "y") == (["batch", 6], ["batch", 3])
    for bad in ("{", "[]", '{"x": 3}', '{"x": ["a"]}', '{"x": {"a": "b"}}', '{"x": {"0": 1}}', '{"x": [7]}', '{"output": [7]}'):
        t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--dynamic-axes", bad, code=2, error="use.dynamic-axes")
    assert "export.dynamic-axes" in t.run("export", data(t, "blocks.pt"), "-o", "b.onnx", "--dynamic-axes", '{"z": [0]}').err


def test_names_of_output_axes(t):
    done = t.run("export", data(t, "selected.pt"), "-o", "s.onnx", "--input", "x=f32[b,3]", "-v", "--dynamic-axes", '{"output.0": {"0": "count"}, "output.1": {"0": "all"}}')
    told = t.run("show", "s.onnx", "--json").json
    assert [v["shape"] for v in told["outputs"]] == [["count"], ["3*b"]]
    assert "3*b, which is written in place of the name 'all'" in done.err


def test_rename_dim(t):
    told = exported(t, "blocks.pt", "--input", "x=f32[s77,6]", "--rename-dim", "s77=batch")
    assert told["inputs"][0]["shape"] == ["batch", 6] and told["outputs"][0]["shape"] == ["batch", 3]
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--rename-dim", "q=r", code=2, error="use.rename-dim")


def test_outputs_have_readable_names(t):
    done = t.run("export", data(t, "arguments.pt"), "-o", "a.onnx", "--input", "x=f32[b,3]", "--input", "n=3", "-v")
    told = t.run("show", "a.onnx", "--json").json
    assert names(told["outputs"]) == ["output.0.sum", "output.0.twice", "output.1.0", "output.1.1"]
    assert "'output.2' is str" in done.err and "'output.3' is None" in done.err
    assert names(exported(t, "arguments.pt", "--input", "x=f32[b,3]", "--input", "n=3", "--output-names", "s,t,u")["outputs"]) == ["s", "t", "u", "output.1.1"]


def test_value_names_follow_modules(t):
    exported(t, "blocks.pt")
    text = t.run("show", "net.onnx", "--text").out
    for name in ("first.linear.weight", "second.linear.bias", "first.linear/Gemm", "second/Add_output_0"):
        assert f'"{name}"' in text, text


def test_opset(t):
    for opset in (7, 13, 18, 22):
        assert exported(t, "blocks.pt", "--opset", opset)["opsets"]["ai.onnx"] == opset
        t.run("check", "net.onnx")
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--opset", "6", code=2, error="use.value")


def test_weights(t):
    whole = exported(t, "layers.pt")
    t.run("export", data(t, "layers.pt"), "-o", "e.onnx", "--weights", "external")
    assert len(list(t.folder.glob("e.onnx.*.data"))) == 1 and t.path("e.onnx").stat().st_size < t.path("net.onnx").stat().st_size
    t.path("l.pt").write_bytes(data(t, "layers.pt").read_bytes())
    t.run("export", "l.pt", "--weights", "in-place")
    assert t.run("show", "l.onnx", "--json").json["parameters"] == whole["parameters"]
    assert t.path("l.onnx").stat().st_size < t.path("net.onnx").stat().st_size and not list(t.folder.glob("l.onnx.*.data"))
    t.run("verify", "net.onnx", "l.onnx", "--random", "1")
    t.fails("export", data(t, "layers.pt"), "-o", "far.onnx", "--weights", "in-place", code=2, error="use.weights")
    t.run("verify", "net.onnx", "e.onnx", "--random", "1")


def test_params_as_inputs(t):
    told = exported(t, "blocks.pt", "--no-params")
    wanted = ["x"] + [f"{b}.{p}" for b in ("first", "second") for p in ("linear.weight", "linear.bias", "norm.weight", "norm.bias")] + ["head.weight", "head.bias"]
    assert names(told["inputs"]) == wanted and told["parameters"] == 0
    told = exported(t, "convolutions.pt", "--no-params")
    assert told["operators"]["BatchNormalization"] == 2 and "features.1.running_mean" in names(told["inputs"])
    told = exported(t, "blocks.pt", "--keep-initializers-as-inputs")
    assert names(told["inputs"]) == wanted and told["parameters"] == 129
    exported(t, "blocks.pt", "--number-params")
    assert "Gemm<transB=1>(x, \"0\", \"1\")" in t.run("show", "net.onnx", "--text").out


def test_no_fold(t):
    assert "BatchNormalization" not in exported(t, "convolutions.pt")["operators"]
    for flag in ("--no-fold", "--no-simplify"):
        assert exported(t, "convolutions.pt", flag, out="plain.onnx")["operators"]["BatchNormalization"] == 2
    t.run("verify", "net.onnx", "plain.onnx", "--random", "1", "--atol", "1e-4")


def test_training(t):
    done = t.run("export", data(t, "training.pt"), "-o", "t.onnx")
    assert "warning[export.training]: aten::dropout" in done.err
    assert t.run("show", "t.onnx", "--json").json["operators"]["Dropout"] == 1
    done = t.run("export", data(t, "training.pt"), "-o", "t.onnx", "--training", "eval")
    assert "warning[export.training]" not in done.err and "Dropout" not in t.run("show", "t.onnx", "--json").json["operators"]
    t.run("export", data(t, "convolutions_scripted.pt"), "-o", "t.onnx", "--input", "x=f32[2,3,16,16]", "--training", "preserve")
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--training", "maybe", code=2, error="use.value")


def test_state(t):
    done = t.run("export", data(t, "state.pt"), "-o", "s.onnx", "--input", "x=f32[b,3]")
    assert "export.dropped-state" in done.err and "total, calls, last" in done.err
    told = exported(t, "state.pt", "--input", "x=f32[b,3]", "--state", "outputs")
    assert names(told["outputs"]) == ["output", "total_out", "calls_out", "last_out"]


def test_loops_and_methods(t):
    assert exported(t, "counted.pt", "--input", "x=f32[b,3]", "--input", "n=3")["operators"]["Loop"] == 1
    assert "Loop" not in exported(t, "counted.pt", "--input", "x=f32[b,3]", "--input", "n=3", "--loops", "unroll")["operators"]
    told = exported(t, "blocks.pt", "--method", "features")
    assert told["outputs"][0]["shape"] == [4, 6]
    assert "forward, features" in t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--method", "nothing", code=2, error="use.method").err


def test_frozen(t):
    err = t.fails("export", data(t, "indices.pt"), "-o", "i.onnx", "--input", "x=f32[a,b,3]", "--frozen", "maybe", code=2, error="use.value").err
    assert "error, allow" in err


def test_fallback(t):
    given = ("--input", "x=f32[b,3]")
    err = t.fails("export", data(t, "custom.pt"), "-o", "c.onnx", *given, code=1, error="lower.no-rule").err
    assert "mylib::scale_shift" in err and "--fallback" in err and not t.path("c.onnx").exists()
    told = exported(t, "custom.pt", *given, "--fallback", "custom", "--custom-opset", "mylib=3")
    assert told["operators"]["mylib::scale_shift"] == 1 and told["opsets"]["mylib"] == 3
    assert "scale_shift<arg1=2.5, arg2=[0, 1]>(x)" in t.run("show", "net.onnx", "--text").out
    told = exported(t, "custom.pt", *given, "--fallback", "aten")
    assert told["operators"]["org.pytorch.aten::ATen"] == 1 and told["operators"]["Relu"] == 1
    told = exported(t, "blocks.pt", "--fallback", "all-aten")
    assert told["operators"] == {"org.pytorch.aten::ATen": 9} and told["outputs"][0]["shape"] == [4, 3]
    t.fails("export", data(t, "custom.pt"), "-o", "c.onnx", "--custom-opset", "mylib", code=2, error="use.value")
    assert "export.custom-opset" in t.run("export", data(t, "blocks.pt"), "-o", "b.onnx", "--custom-opset", "mylib=2").err


def test_types_of_kept_operators(t):
    given = ("--input", "x=f32[b,3]", "--fallback", "custom", "--type")
    for text, shape in (("f32[b,3]", ["b", 3]), ("arg0", ["b", 3]), ("f32[2*b+1,?]", ["2*b + 1", None]), ("f32[]", [])):
        result = t.run("export", data(t, "custom.pt"), "-o", "c.onnx", *given, f"mylib::scale_shift={text}")
        assert "export.fallback" in result.err and "unknown shape" not in result.err and "has no shape" not in result.err
        assert t.run("show", "c.onnx", "--json").json["outputs"][0]["shape"] == shape
    for mode in ("aten", "all-aten"):
        t.run("export", data(t, "custom.pt"), "-o", "c.onnx", *given[:2], "--fallback", mode, "--type", "mylib::scale_shift=f16[b,3]")
        assert t.run("show", "c.onnx", "--json").json["outputs"][0]["dtype"] == "f16"
    for text in ("scale_shift=f32[b]", "mylib::scale_shift", "mylib::scale_shift=f3[b]", "mylib::scale_shift=f32[b", "mylib::scale_shift=",
                 "mylib::scale_shift=f32[b,]", "mylib::scale_shift=arg7", "mylib::scale_shift=arg1"):
        t.fails("export", data(t, "custom.pt"), "-o", "no.onnx", *given, text, code=2, error="use.type")
    assert not t.path("no.onnx").exists()
    assert "export.type" in t.run("export", data(t, "custom.pt"), "-o", "c.onnx", *given, "mylib::other=f32[b]").err
    hint = t.run("export", data(t, "custom.pt"), "-o", "c.onnx", *given[:4]).err
    assert "--type declares it: 'mylib::scale_shift=" in hint


def test_keep_outputs(t):
    assert names(exported(t, "blocks.pt", "--keep-outputs", "first")["outputs"]) == ["output", "first/Add_output_0"]
    assert names(exported(t, "blocks.pt", "--keep-outputs", "*/Relu")["outputs"]) == ["output", "first/Relu_output_0", "second/Relu_output_0"]
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--keep-outputs", "third", code=2, error="use.keep-outputs")


def test_verbose_and_doc_strings(t):
    out = t.run("export", data(t, "blocks.pt"), "-o", "b.onnx", "--verbose").out
    assert "# aten::linear  make_flag_samples.py:" in out, out
    exported(t, "blocks.pt", "--doc-strings")
    assert b"make_flag_samples.py:" in t.path("net.onnx").read_bytes()
    exported(t, "blocks.pt")
    assert b"make_flag_samples.py" not in t.path("net.onnx").read_bytes()


def test_report(t):
    t.run("export", data(t, "blocks.pt"), "-o", "b.onnx", "--report", "r.json", "--inputs", data(t, "blocks_in.npz"), "--verify", data(t, "blocks_out.npz"))
    report = json.loads(t.path("r.json").read_text())
    assert report["lowered"]["aten::linear"] == ["Gemm"] and report["operators"]["Gemm"] == 3 and report["verified"]["outputs"] == 1
    assert report["nodes"][0]["module"] == "first.linear" and report["nodes"][0]["place"].startswith("make_flag_samples.py:")
    t.run("export", data(t, "blocks.pt"), "-o", "b.onnx", "--report", "r.html")
    page = t.path("r.html").read_text()
    assert page.startswith("<!doctype html>") and "aten::layer_norm" in page and "<script" not in page
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--report", "r.txt", code=2, error="use.value")


def test_unknown_flags_name_the_nearest(t):
    assert "did you mean --verify?" in t.fails("export", data(t, "blocks.pt"), "--verfy", "x", code=2, error="use.unknown-flag").err
    for flag, value in (("--weights", "inside"), ("--fallback", "maybe"), ("--state", "x"), ("--loops", "x"), ("--opset", "x")):
        t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", flag, value, code=2, error="use.value")


RULES = """# mylib::scale_shift(Tensor x, float scale, int[] axes)
<domain: "mylib", opset_import: ["" : 20]>
scale_shift <scale, axes> (x) => (y) {
  s = Constant <value_float: float = @scale> ()
  a = Constant <value_ints: ints = @axes> ()
  f = CastLike (a, x)
  total = ReduceSum <keepdims = 0> (f)
  m = Mul (x, s)
  y = Add (m, total)
}
<domain: "aten", opset_import: ["" : 20]>
relu (self) => (y) { y = LeakyRelu <alpha = 0.0> (self) }
"""


def test_rules(t):
    t.path("rules.txt").write_text(RULES)
    told = exported(t, "custom.pt", "--rules", "rules.txt", "--inputs", data(t, "custom_in.npz"), "--verify", data(t, "custom_out.npz"))
    assert told["operators"]["LeakyRelu"] == 1 and "Relu" not in told["operators"]
    t.path("wrong.txt").write_text(RULES.replace("(self)", "(nothing)"))
    assert "aten::relu" in t.fails("export", data(t, "custom.pt"), "-o", "c.onnx", "--input", "x=f32[b,3]", "--rules", "wrong.txt", code=2, error="use.rules").err
    t.path("empty.txt").write_text("# nothing\n")
    t.fails("export", data(t, "custom.pt"), "-o", "c.onnx", "--input", "x=f32[b,3]", "--rules", "empty.txt", code=2, error="use.rules")
    t.path("broken.txt").write_text("<domain: ")
    t.fails("export", data(t, "custom.pt"), "-o", "c.onnx", "--input", "x=f32[b,3]", "--rules", "broken.txt", code=3, error="file.syntax")


def test_modules_as_functions(t):
    given = ("--inputs", data(t, "blocks_in.npz"), "--verify", data(t, "blocks_out.npz"))
    told = exported(t, "blocks.pt", "--modules-as-functions=Block", *given)
    text = t.run("show", "net.onnx", "--text").out
    assert text.count("Block (x0,") == 1 and text.count("__main__.Block(") == 2, text
    exported(t, "blocks.pt", "--modules-as-functions", *given)
    text = t.run("show", "net.onnx", "--text").out
    assert "Linear (" in text and "LayerNorm (" in text and told["outputs"][0]["name"] == "output"
    t.run("check", "net.onnx")
    assert "Block" in t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--modules-as-functions=Blok", code=2, error="use.modules").err
    t.fails("export", data(t, "blocks.pt"), "-o", "b.onnx", "--modules-as-functions", "--opset", "13", code=2, error="use.opset")


def test_functions_can_be_inlined(t):
    exported(t, "blocks.pt", "--modules-as-functions", "--input", "x=f32[batch,6]")
    before = t.run("show", "net.onnx", "--json").json["operators"]
    t.run("convert", "net.onnx", "flat.onnx", "--inline")
    after = t.run("show", "flat.onnx", "--json").json["operators"]
    assert any("Block" in name for name in before) and not any("Block" in name for name in after), (before, after)
    t.run("verify", "net.onnx", "flat.onnx", "--dim", "batch=3")
