"""What fingers type out of habit: onnxsim's call, flags of other tools, -o everywhere, names that promise another format."""
import json

SCALED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,3] x) => (float[n,3] y) <float one = {1}> { i = Identity(x)  m = Mul(i, one)  y = Relu(m) }
"""


def model(t):
    t.path("net.onnxtxt").write_text(SCALED)
    t.run("convert", "net.onnxtxt", "net.onnx")


def operators(t, name):
    return [line.split()[0] for line in t.run("show", name).out.split("nodes:")[1].split("parameters")[0].splitlines()[1:] if line.strip()]


def test_onnxsim(t):
    model(t)
    t.run("onnxsim", "net.onnx", "simple.onnx")
    assert "Mul" not in operators(t, "simple.onnx")
    t.run("onnxsim", "net.onnx", "simple.onnx", "2", "--overwrite-input-shape", "x:1,3", "--no-large-tensor")
    assert "f32[1,3]" in t.run("show", "simple.onnx").out
    t.run("onnxsim", "net.onnx", "simple.onnx", "--overwrite-input-shape=x:4,3", "--no-large-tensor=1KB")
    assert "f32[4,3]" in t.run("show", "simple.onnx").out
    t.fails("onnxsim", "net.onnx", "simple.onnx", "--skip-fuse-bn=yes", code=2, error="use.value")
    t.run("onnxsim", "--input-shape", "x:2,3", "net.onnx", "simple.onnx")
    assert "f32[2,3]" in t.run("show", "simple.onnx").out
    t.run("onnxsim", "net.onnx", "simple.onnx", "--skip-optimizer", "eliminate_nop_with_unit", "fuse_bn_into_conv")
    assert "Mul" in operators(t, "simple.onnx")
    t.run("onnxsim", "--skip-optimization", "--dynamic-input-shape", "net.onnx", "simple.onnx")
    assert "Mul" in operators(t, "simple.onnx")


def test_onnxsim_refusals(t):
    model(t)
    for flags, code, said in ((["--custom-lib", "x.so"], "use.unsupported-flag", "onnxruntime"), (["--nonsense"], "use.unknown-flag", "--help"),
                              (["--skip-optimizer", "eliminate_nop_casts"], "use.value", "eliminate_nop_cast"), (["--check-rtol"], "use.missing-value", "")):
        r = t.attempt("onnxsim", "net.onnx", "out.onnx", *flags)
        assert r.code == 2 and code in r.err and said in r.err, str(r)
    assert t.attempt("onnxsim", "net.onnx").code == 2 and not t.path("out.onnx").exists()


def test_output_flag_of_every_writing_verb(t):
    model(t)
    for verb, *more in (("simplify",), ("convert", "--opset", "18"), ("infer",), ("edit", "--strip"), ("extract", "--to", "y")):
        t.run(verb, "net.onnx", "-o", f"{verb}.onnx", *more)
        t.run(verb, "net.onnx", *more, "--output", f"{verb}.onnx")
        assert t.path(f"{verb}.onnx").exists(), verb
        assert t.attempt(verb, "net.onnx", "a.onnx", "-o", "b.onnx", *more).code == 2


def test_flags_of_other_tools(t):
    model(t)
    for verb, flag, instead in (("simplify", "--input-shapes", "--overwrite-input-shape"), ("simplify", "--model-check", "--check 1"),
                                ("simplify", "--fold-constants", "folds by default"), ("convert", "--dtype", "--float f16"), ("extract", "--outputs", "--to")):
        r = t.attempt(verb, "net.onnx", "out.onnx", flag, "x")
        assert r.code == 2 and f"you wrote {flag}" in r.err and instead in r.err, str(r)


def test_flags_are_answered_for_the_verb_at_hand(t):
    model(t)
    for words, instead in ((("run", "net.onnx", "--input-shapes", "x:1,3"), "--dim NAME=N"), (("simplify", "net.onnx", "o.onnx", "--model_check"), "--check 1"),
                           (("onnxsim", "net.onnx", "o.onnx", "--check-n", "3"), "after OUT"), (("show", "net.onnx", "-o", "o.txt"), "> FILE")):
        r = t.attempt(*words)
        assert r.code == 2 and instead in r.err, str(r)


def test_hints_name_flags_that_the_verb_has(t):
    """A hint is a thing to type: what it names exists, for this verb or for the verb that it names."""
    model(t)
    for verb, flag, instead in (("export", "--input-shape", "--input 'NAME=f32["), ("edit", "--input-shape", "--fix-shape"), ("simplify", "--inputs", "--overwrite-input-shape"),
                                ("convert", "--fp16", "--float f16"), ("convert", "--half", "--float f16"), ("convert", "--target-opset", "--opset N"),
                                ("simplify", "--target-opset", "cameo convert"), ("simplify", "--inline", "--functions inline"), ("export", "--simplify", "--no-simplify"),
                                ("export", "--imgsz", "--input 'NAME=f32["), ("convert", "--saved-model", "tf2onnx")):
        r = t.attempt(verb, "net.onnx", flag, "x")
        assert r.code == 2 and f"you wrote {flag}" in r.err and instead in r.err, str(r)
    r = t.attempt("simplify", "net.onnx", "out.onnx", "3")
    assert r.code == 2 and "--check 3" in r.err, str(r)


def test_help_as_people_ask_for_it(t):
    assert "--check" in t.run("help", "simplify").out and "cameo simplify IN OUT" in t.run("help", "simplify").out
    assert t.run("version").out == t.run("--version").out
    assert t.run("onnxsim", "--version").out.startswith("cameo ")
    assert t.attempt("help", "simplfy").code == 2


def test_verbs_of_other_tools(t):
    for verb, instead in (("onnxslim", "cameo simplify"), ("surgeon", "cameo extract"), ("inspect", "cameo show"), ("info", "cameo show"), ("debug", "cameo verify"),
                          ("netron", "cameo view"), ("infer_shapes", "cameo infer"), ("fp16", "--float f16"), ("simplfy", "did you mean simplify")):
        r = t.attempt(verb, "net.onnx")
        assert r.code == 2 and "use.unknown-verb" in r.err and instead in r.err, str(r)


def test_sizes_that_are_no_numbers(t):
    model(t)
    for size in ("x", "", "3x", "-1", "99999999999999999999", "1..y"):
        for words in (("run", "net.onnx", "--random", "0", "--dim"), ("verify", "net.onnx", "net.onnx", "--random", "0", "--dim"),
                      ("lint", "net.onnx", "--target", "opencv", "--fix", "out.onnx", "--dim"), ("prepare", "net.onnx", "out.onnx", "--fix-size")):
            r = t.attempt(*words, f"n={size}")
            assert r.code == 2 and "use.value" in r.err, (words, size, r)


def test_lists_for_machines(t):
    for words in (("lint", "--list-targets"), ("lint", "--list-rules"), ("simplify", "--list-rules")):
        rows = [json.loads(line) for line in t.attempt(*words, "--json").out.splitlines()]
        assert len(rows) > 5 and all(rows), words


def test_sizes_that_no_input_has(t):
    model(t)
    for words in (("run", "net.onnx"), ("verify", "net.onnx", "net.onnx")):
        r = t.attempt(*words, "--random", "0", "--dim", "batch=4")
        assert r.code == 2 and "use.dim" in r.err and "they have: n" in r.err, str(r)


def test_names_nearly_right(t):
    t.path("net.onnxtxt").write_text(SCALED.replace("x)", "image)").replace("[n,3] x", "[n,3] image"))
    for flag, value, near in (("--rename", "imge=picture", "image"), ("--insert", "z = Reluu(y)", "Relu"), ("--add-output", "mm", "m")):
        r = t.attempt("edit", "net.onnxtxt", "out.onnx", flag, value)
        assert r.code == 1 and f"did you mean {near}?" in r.err, str(r)


def test_files_that_are_no_models(t):
    heads = {"file.text": b"import torch\n", "file.tflite": b"\x1c\0\0\0TFL3\x14\0", "file.tensorrt": b"ptrt\0\0\1\2", "file.compressed": b"\x1f\x8b\x08\0\0",
             "file.picture": b"\x89PNG\r\n\x1a\n\0", "file.xml": b"<?xml version='1.0'?>\n<net/>", "file.lfs-pointer": b"version https://git-lfs.github.com/spec/v1\n",
             "file.web-page": b"<!DOCTYPE html><html></html>", "file.empty": b"", "file.hdf5": b"\x89HDF\r\n\x1a\n"}
    for code, head in heads.items():
        t.path("net.onnx").write_bytes(head)
        for verb in ("check", "show", "stats", "export"):
            r = t.attempt(verb, "net.onnx")
            assert r.code == 3 and code in r.err, str(r)


def test_strict_check(t):
    t.path("open.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 17]>\ng (float[n,3] x) => (float[n,3] y) { y = Relu(x) }\n""")
    t.run("check", "open.onnxtxt", "--strict")


def test_made_up_sizes_are_reported(t):
    model(t)
    assert "made-up inputs: n = 1" in t.run("run", "net.onnx", "--random", "0", "-v").err
    assert "made-up inputs: n = 4" in t.run("run", "net.onnx", "--random", "0", "--dim", "n=4", "-v").err


def test_shapes_that_engines_ignore_are_warnings(t):
    """A declared shape of an inner value that is not what its node computes; of an output it is an error."""
    text = """<ir_version: 8, opset_import: ["" : 17]>\ng (float[2,3] x) => (float[{}] y) <float[7] h> {{ h = Relu(x) y = Neg(h) }}\n"""
    t.path("inner.onnxtxt").write_text(text.format("2,3"))
    assert "warning[infer.declared]" in t.run("check", "inner.onnxtxt").err
    t.fails("check", "inner.onnxtxt", "--strict", code=1, error="infer.declared")
    t.path("outer.onnxtxt").write_text(text.format("2,4"))
    t.fails("check", "outer.onnxtxt", code=1, error="infer.declared")


def test_made_up_sizes_and_indices_fit(t):
    """A length beside the batch of a state; indices of an axis of one element."""
    t.path("state.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 17]>
g (float[b,t] x, float[2,s,4] h) => (float[b,k] y)
{ w = Constant<value = float[1,1,20] {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}>() a = Constant<value = int64[1] {1}>() z = Constant<value = int64[1] {0}>()
  u = Unsqueeze(x, a) c = Conv(u, w) one = Constant<value = int64[3] {2, 1, 4}>() r = Reshape(h, one) m = ReduceSum<keepdims=0>(r) q = Add(c, m) y = Squeeze(q, a) }
""")
    assert "s = 1, t = 32" in t.run("run", "state.onnxtxt", "--random", "0", "-v").err
    t.path("graph.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 17]>
g (float[n,3] x, int64[2,e] edges) => (float[m] y)
{ zero = Constant<value = int64 {0}>() one = Constant<value = int64 {1}>() i = Gather(edges, zero) j = Mul(i, one) r = Gather(x, j) y = ReduceSum(r) }
""")
    for seed in range(5):
        t.run("run", "graph.onnxtxt", "--random", str(seed))


def test_extensions(t):
    model(t)
    for words in (("convert", "net.onnx", "net.mlmodel"), ("simplify", "net.onnx", "net.txt"), ("run", "net.onnx", "--random", "0", "-o", "out.txt")):
        r = t.attempt(*words)
        assert r.code == 2 and "use.extension" in r.err, str(r)
        assert not t.path(words[-1]).exists()
    t.run("convert", "net.onnx", "plain")
    assert t.path("plain").exists()
