"""cameo lint: findings by target, reports, what is left out."""
import json

DOUBLE = """<ir_version: 8, opset_import: ["" : 18]>
g (double[n,4] x) => (double[n,4] y)
<double[4,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}>
{
  a = MatMul(x, w)
  y = Relu(a)
}
"""

UPSAMPLE = """<ir_version: 5, opset_import: ["" : 8]>
g (double[1,1,2,2] x) => (double[1,1,4,4] y) { y = Upsample<mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]>(x) }
"""


def write(t, text=DOUBLE, name="net.onnxtxt"):
    t.path(name).write_text(text)
    return name


def rules(report, severity="error"):
    return sorted({f["rule"] for f in report["findings"] if f["severity"] == severity})


def test_several_targets_at_once(t):
    found = t.run("lint", write(t), "--target", "rknn,onnxruntime:1.20", "--json", code=1).json
    assert [(x["name"], x["version"]) for x in found["targets"]] == [("rknn", "2.3"), ("onnxruntime", "1.20")]
    assert rules(found) == ["rknn.double", "rknn.dynamic"]
    assert {f["node"] for f in found["findings"] if f["rule"] == "rknn.double"} == {"a", "y"}
    assert all(f["source"] for f in found["findings"])
    assert any(f["cure"].startswith("cameo ") for f in found["findings"])


def test_status_is_by_severity(t):
    assert "0 errors" in t.run("lint", write(t), "--target", "tensorrt").out  # warnings only
    result = t.run("lint", "net.onnxtxt", "--target", "rknn", code=1)
    assert "error[lint.rknn.double]" in result.err and "MatMul 'a', Relu 'y'" in result.err


def test_unknown_targets(t):
    write(t)
    assert "did you mean tensorrt?" in t.fails("lint", "net.onnxtxt", "--target", "tensort", code=2, error="use.target").err
    t.fails("lint", "net.onnxtxt", "--target", "tensorrt:new", code=2, error="use.target")
    t.fails("lint", "--target", "tensorrt", code=2, error="use.operands")


def test_lists(t):
    assert "tensorrt" in t.run("lint", "--list-targets").out
    assert "tensorrt.resize-cubic  error" in t.run("lint", "--list-rules", "--target", "tensorrt").out


def test_sarif(t):
    found = json.loads(t.run("lint", write(t), "--target", "all", "--sarif", code=1).out)
    run = found["runs"][0]
    ids = {r["id"] for r in run["tool"]["driver"]["rules"]}
    assert found["version"] == "2.1.0" and {r["ruleId"] for r in run["results"]} == ids
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "net.onnxtxt"
    assert {r["level"] for r in run["results"]} == {"error", "warning", "note"}
    assert all(r["locations"][0]["physicalLocation"]["region"] == {"startLine": 1} for r in run["results"])


GRID = '''<ir_version: 8, opset_import: ["" : 18]> g (float[1,2,6,6] x) => (float[1,4,3,3] y)
 <float s = {0.02}, uint8 z = {97}, int8[4,2,1,1] w = {1,2,3,4,5,6,7,-8}, float[4] ws = {0.01,0.02,0.03,0.04}, int8[4] wz = {0,0,0,0}, float t = {0.004}, uint8 tz = {3}>
 { q = QuantizeLinear(x, s, z) p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(q) d = DequantizeLinear(p, s, z) v = DequantizeLinear<axis=0>(w, ws, wz)
   c = Conv(d, v) a = QuantizeLinear(c, t, tz) r = Transpose<perm=[0,1,3,2]>(a) y = DequantizeLinear(r, t, tz) }'''


def test_a_grid_of_8_bits_in_float(t):
    write(t, GRID, "grid.onnxtxt")
    fixed = t.run("lint", "grid.onnxtxt", "--target", "tensorrt", "--fix", "float.onnxtxt", "--json").json
    assert fixed["after"]["errors"] == 0 and [s["cure"] for s in fixed["steps"] if s["done"]] == ["float-grid"]
    text = t.path("float.onnxtxt").read_text()
    assert "uint8" not in text and "int8" not in text and "QuantizeLinear" not in text and "Cast" not in text
    # The fast kernels sum integers exactly; sums between two levels, of which this grid has many, may be a step apart.
    t.run("verify", "grid.onnxtxt", "float.onnxtxt", "--random", "1", "--atol", "0.0041")


def test_sarif_has_uris(t):
    write(t)
    t.run("convert", "net.onnxtxt", "a 模型 [100%].onnx")
    found = json.loads(t.run("lint", "a 模型 [100%].onnx", "--target", "rknn", "--sarif", code=1).out)
    uri = found["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%20%E6%A8%A1%E5%9E%8B%20%5B100%25%5D.onnx"


def test_versions_of_one_target_are_told_apart(t):
    write(t, '<ir_version: 8, opset_import: ["" : 22]> g (float[2] x) => (float[2] y) { y = Relu(x) }', "old.onnxtxt")
    done = t.run("lint", "old.onnxtxt", "--target", "tensorrt:10.9,tensorrt:10.1,tensorrt:10.2", "--json", code=1)
    errors = [(f["target"], f["version"]) for f in done.json["findings"] if f["severity"] == "error"]
    assert errors == [("tensorrt", "10.1"), ("tensorrt", "10.2")]
    said = t.run("lint", "old.onnxtxt", "--target", "tensorrt:10.9,tensorrt:10.1", code=1).err
    assert "(tensorrt:10.1)" in said and "(tensorrt:10.9)" not in said


def test_ignore_by_flag_and_metadata(t):
    write(t)
    found = t.run("lint", "net.onnxtxt", "--target", "rknn", "--ignore", "rknn.double@a,dynamic", "--json", code=1).json
    assert [f["node"] for f in found["findings"] if f["severity"] == "error"] == ["y"] and found["ignored"] == 2
    t.run("edit", "net.onnxtxt", "quiet.onnx", "--set-metadata", "cameo: ignore=rknn.*")
    found = t.run("lint", "quiet.onnx", "--target", "rknn", "--json").json
    assert found["errors"] == 0 and found["ignored"] >= 3


def test_archives_are_exported_first(t):
    found = t.run("lint", t.root / "examples/digits/digits.pt", "--target", "onnxruntime,openvino", "--json").json
    assert found["errors"] == 0


def test_older_words_of_the_file(t):
    """Upsample is Resize inside; the target sees Upsample."""
    write(t, UPSAMPLE, "m.onnxtxt")
    t.run("convert", "m.onnxtxt", "m.onnx")
    for name in ("m.onnxtxt", "m.onnx"):
        found = t.run("lint", name, "--target", "tflite", "--json").json
        assert {f["op"] for f in found["findings"] if f["node"]} == {"Upsample"}


def test_hostile_files_are_refused(t):
    t.path("bad.onnx").write_bytes(b"\x08\x07" + b"\xff" * 50)
    t.run("lint", "bad.onnx", code=3)


DETECTOR = """<ir_version: 10, opset_import: ["" : 21]>
g (float[n,3,8,8] x) => (float[n,3] y, float[n,2] v)
<int64[1] k = {2}>
{
  a = Gelu(x)
  p = GlobalAveragePool(a)
  y = Flatten(p)
  v, i = TopK<sorted=0>(y, k)
}
"""


def fixed(t, text, target, *flags, code=0):
    write(t, text)
    return t.run("lint", "net.onnxtxt", "--target", target, "--fix", "out.onnx", "--json", *flags, code=code).json


def test_fix_changes_opset_and_attributes(t):
    found = fixed(t, DETECTOR, "tensorrt")
    assert [(s["cure"], s["done"]) for s in found["steps"]] == [("opset 20", True), ("attr sorted=1", True)]
    assert found["before"]["errors"] == 2 and found["after"]["errors"] == 0
    t.run("verify", "net.onnxtxt", "out.onnx", "--random", "1")


def test_fix_gives_sizes(t):
    found = fixed(t, DETECTOR, "rknn", "--dim", "n=4", code=1)  # TopK has no cure there
    assert ("fixed-sizes", True) in [(s["cure"], s["done"]) for s in found["steps"]]
    assert "f32[4,3,8,8]" in t.run("show", "out.onnx").out
    fixed(t, DETECTOR, "rknn", "--overwrite-input-shape", "x:2,3,8,8", code=1)
    assert "f32[2,3,8,8]" in t.run("show", "out.onnx").out


def test_fix_computes_doubles_as_floats(t):
    found = fixed(t, DOUBLE.replace("[n,4]", "[1,4]"), "rknn")
    assert [s["cure"] for s in found["steps"] if s["done"]] == ["f32"]
    assert "f32[1,4]" in t.run("show", "out.onnx").out


def test_fix_expands_what_a_target_lacks(t):
    found = fixed(t, '<ir_version: 8, opset_import: ["" : 18]> g (float[2,2] x) => (float y) { y = Det(x) }', "openvino")
    assert ("expand", True) in [(s["cure"], s["done"]) for s in found["steps"]]
    assert "Det" not in t.run("show", "out.onnx").out
    t.run("verify", "net.onnxtxt", "out.onnx", "--random", "1")


def test_fix_writes_pools_along_one_axis_along_two(t):
    found = fixed(t, '<ir_version: 8, opset_import: ["" : 19]> g (float[1,3,10] x) => (float[1,3,4] y, float[1,3,5] z, float[1,3,6] w) { y = AveragePool<kernel_shape=[3], strides=[2]>(x) '
                     'z = MaxPool<kernel_shape=[2], strides=[2]>(x) w = MaxPool<kernel_shape=[3], dilations=[2]>(x) }', "tensorrt")
    assert not [f for f in found["after"]["findings"] if f["severity"] == "error"]


def test_fix_expands_resizes_that_a_target_lacks(t):
    for opset in (17, 18, 19):
        for target in ("tensorrt", "openvino") if opset > 17 else ("tensorrt",):
            how = 'mode="linear", antialias=1' if target == "openvino" else 'mode="cubic"'
            found = fixed(t, f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[1,1,10,10] x) => (float[1,1,7,7] y) <int64[4] s = {{1,1,7,7}}> {{ y = Resize<{how}>(x, , , s) }}', target)
            assert [s["done"] for s in found["steps"]] == [True] and not [f for f in found["after"]["findings"] if f["severity"] == "error"]


def test_fix_expands_only_the_form_that_is_lacked(t):
    fixed(t, '<ir_version: 8, opset_import: ["" : 19]> g (float[1,3,10,10] x) => (float[1,3,5,5] y, float[1,3,6,6] w) { y = MaxPool<kernel_shape=[2,2], strides=[2,2], ceil_mode=1>(x) '
             'w = MaxPool<kernel_shape=[3,3], dilations=[2,2]>(x) }', "tensorrt")
    assert t.run("show", "out.onnx", "--text").out.count("MaxPool<") == 1


def test_unknown_rules_are_not_ignored_without_a_word(t):
    t.path("net.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 18]> g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }')
    assert "did you mean resize-cubic" in t.run("lint", "net.onnxtxt", "--ignore", "resize-cubik", code=2).err
    t.run("lint", "net.onnxtxt", "--ignore", "resize-cubic,tensorrt.resize*,openvino.type@x,*.license")


def test_fix_widens_element_types(t):
    found = fixed(t, '<ir_version: 8, opset_import: ["" : 18]> g (uint16[2,2] x) => (int64[1,2] y) { y = ArgMax(x) }', "onnxruntime")
    assert [(s["cure"], s["done"]) for s in found["steps"]] == [("widen", True)] and found["before"]["errors"] == 1
    t.run("verify", "net.onnxtxt", "out.onnx", "--random", "1")


def test_fix_leaves_alone_what_it_cannot_cure(t):
    net = '<ir_version: 8, opset_import: ["" : 18, "my" : 1]> g (float[2] x) => (float[2] y) { y = my.op(x) }'
    found = fixed(t, net, "openvino", code=1)
    assert found["steps"] == [] and found["after"]["errors"] == 1
