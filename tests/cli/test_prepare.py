"""cameo prepare: steps, targets, words, what is refused."""
import json

NET = """<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,3,h,w] x) => (float[batch,2,a,b] y)
<float[2,3,1,1] k = {1, 2, 3, -1, -2, -3}>
{
  c = Conv(x, k)
  i = Identity(c)
  y = Relu(i)
}
"""
# Boxes as they are, scores of two classes: 3 candidates.
PAIR = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,4] b, float[1,3,2] s) => (float[1,3,4] boxes, float[1,3,2] scores) { boxes = Identity(b) scores = Sigmoid(s) }
"""


def write(t, text=NET, name="net.onnxtxt"):
    t.path(name).write_text(text)
    return name


def ledger(t, *flags, code=0, source=None):
    done = t.run("prepare", source or write(t), "out.onnx", "--json", *flags, code=code)
    return {s["step"]: s for s in done.json["ledger"]}, done.json["lint"]


def test_sizes_by_target(t):
    steps, _ = ledger(t, "--target", "onnxruntime")
    assert "sizes" not in steps and "outputs agree" in steps["simplify"]["checked"]
    steps, lint = ledger(t, "--target", "qnn")
    assert "batch = 1" in steps["sizes"]["what"] and "wants fixed sizes" in steps["sizes"]["what"]
    assert not [f for f in lint["findings"] if f["severity"] == "error"]
    steps, _ = ledger(t, "--target", "qnn", "--fix-size", "batch=2,h=8,w=6")
    assert steps["sizes"]["what"] == "x is f32[2,3,8,6]"
    steps, _ = ledger(t, "--input", "x=f32[1,3,8,w]")
    assert steps["sizes"]["what"] == "x is f32[1,3,8,w]"
    t.run("check", "out.onnx")


def test_what_makes_no_sense_is_refused(t):
    write(t)
    for flags, code, error in [
        (["--target", "tensort"], 2, "use.target"), (["--target", "all"], 2, "use.target"), (["--fix-size", "n=2"], 2, "use.dim"),
        (["--fix-size", "batch=0"], 2, "use.value"), (["--input", "z=f32[1]"], 2, "use.input-name"), (["--input", "x=f16[1,3,8,8]"], 2, "use.value"),
        (["--input", "x"], 2, "use.value"), (["--input", "x=f32[1,3]"], 1, "edit.dim"), (["--target", "opencv", "--float", "f16"], 2, "use.conflict"),
        (["--target", "ncnn", "--quantize", "x.npz"], 2, "use.conflict"), (["--append-nms=boxs=b"], 2, "use.value"), (["--append-nms=format=xy"], 2, "use.value"),
        (["--append-nms=max=0"], 2, "use.value"), (["--append-nms=scores=s"], 2, "use.value"), (["--append-nms"], 1, "prepare.detector"),
        (["--image", "sizes=3"], 2, "use.value"), (["--image", "picture=grey"], 2, "use.value"), (["--image", "picture-size=0"], 2, "use.value"),
        (["--image", ""], 0, None), (["--image", "mean=0.5"], 1, "quantize.picture"), (["--image", "size=8", "--target", "ncnn", "--fix-size", "batch=1,h=8,w=8"], 2, "use.conflict"),
        (["--opset", "99"], 2, "use.opset"),
    ]:
        if error:
            t.fails("prepare", "net.onnxtxt", "bad.onnx", *flags, code=code, error=error)
            assert not t.path("bad.onnx").exists(), flags
        else:
            t.run("prepare", "net.onnxtxt", "good.onnx", *flags)


def test_opset(t):
    steps, _ = ledger(t, "--opset", "12")
    assert steps["opset"]["what"] == "17 to 12"
    old = write(t, NET.replace('"" : 17', '"" : 8'), "old.onnxtxt")
    steps, _ = ledger(t, "--target", "rknn", "--fix-size", "batch=1,h=8,w=8", source=old)
    assert steps["opset"]["what"] == "8 to 12"


def test_words_may_follow_their_flag(t):
    write(t, PAIR)
    for flags in (["--append-nms", "score=0.1"], ["--append-nms=score=0.1"], ["--append-nms", "boxes=boxes,scores=scores,format=xyxy,score=0.1"]):
        shown = t.run("prepare", "net.onnxtxt", "out.onnx", *flags).err
        assert "score 0.1" in shown and "equal to plain code" in shown
    t.run("prepare", "--append-nms", "net.onnxtxt", "out.onnx")
    t.run("prepare", "net.onnxtxt", "out.onnx", "--append-nms", "agnostic")
    t.fails("prepare", "net.onnxtxt", "out.onnx", "other", code=2, error="use.operands")


def test_lint_decides_the_status(t):
    write(t, """<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,3,8,8] x) => (float[1,3,8,8] y) { y = Relu(x) }""")
    t.run("prepare", "net.onnxtxt", "out.onnx", "--target", "tensorrt")
    write(t, """<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,3] x) => (int32[1,2] y) { y = Multinomial<dtype=6, sample_size=2>(x) }""")
    result = t.run("prepare", "net.onnxtxt", "out.onnx", "--target", "tensorrt", code=1)
    assert "lint.tensorrt.operator" in result.err and t.path("out.onnx").exists()
    t.run("prepare", "net.onnxtxt", "out.onnx", "--target", "tensorrt", "--ignore", "operator")


def test_ledger(t):
    t.run("prepare", write(t), "out.onnx", "--ledger", "ledger.json")
    found = json.loads(t.path("ledger.json").read_text())
    assert [s["step"] for s in found["ledger"]] == ["read", "simplify", "check"]
    t.fails("prepare", "net.onnxtxt", "out.onnx", "--ledger", "ledger.txt", code=2, error="use.extension")


def test_odd_inputs(t):
    """Ranks, several inputs, sizes of 1, opset 7, bytes already, half precision, no image input."""
    words = "--image", "mean=0.5,size=8"
    for signature, body, error in [
        ("(float[n] x) => (float[n] y)", "y = Relu(x)", "prepare.picture"),
        ("(int64[2] x) => (int64[2] y)", "y = Add(x, x)", "prepare.picture"),
        ("(uint8[1,3,8,8] x) => (float[1,3,8,8] y)", "y = Cast<to=1>(x)", "prepare.picture"),
        ("(float[1,3,8,8] x, float[1,3,8,8] z) => (float[1,3,8,8] y)", "y = Add(x, z)", "prepare.picture"),
        ("(float[1,5,8,8] x) => (float[1,5,8,8] y)", "y = Relu(x)", "quantize.picture"),
    ]:
        t.path("odd.onnxtxt").write_text(f'<ir_version: 8, opset_import: ["" : 17]> g {signature} {{ {body} }}')
        t.fails("prepare", "odd.onnxtxt", "bad.onnx", *words, code=1, error=error)
        t.run("prepare", "odd.onnxtxt", "out.onnx")
    for dtype, shape, opset in (("float", "1,1,1,1", 17), ("float", "1,3,1,1", 7), ("float16", "1,3,8,8", 17), ("float", "1,8,8,3", 9), ("double", "b,3,8,8", 13)):
        t.path("odd.onnxtxt").write_text(f'<ir_version: 8, opset_import: ["" : {opset}]> g ({dtype}[{shape}] x) => ({dtype}[{shape}] y) {{ y = Relu(x) }}')
        done = t.run("prepare", "odd.onnxtxt", "out.onnx", "--image", "mean=0.5,std=0.25,fit=pad", "--json", "--no-fix")
        step = next(s for s in done.json["ledger"] if s["step"] == "picture")
        assert step["checked"].startswith("outputs agree"), step
        t.run("check", "out.onnx")


def test_detectors_of_odd_shapes(t):
    for signature, body, words, why in [
        ("(float[1,5,5] x) => (float[1,5,5] y)", "y = Relu(x)", "auto", "no output looks like"),
        ("(float[a,b,c] x) => (float[a,b,c] y)", "y = Relu(x)", "auto", "no output looks like"),
        ("(float[1,9,4] x) => (float[1,9,4] y)", "y = Relu(x)", "auto", "no output looks like"),
        ("(float[1,9,4] x) => (float[1,9,4] y)", "y = Relu(x)", "boxes=z", "no value 'z'"),
        ("(int64[1,20,6] x) => (int64[1,20,6] y)", "y = Add(x, x)", "auto", "no output looks like"),
        ("(float[1,20,6] x) => (float[1,20,6] y)", "y = Relu(x)", "classes=7", "no room"),
        ("(float[1,20,6] x) => (float[1,20,6] y)", "y = Relu(x)", "iou=2", "between 0 and 1"),
    ]:
        t.path("odd.onnxtxt").write_text(f'<ir_version: 8, opset_import: ["" : 17]> g {signature} {{ {body} }}')
        assert why in t.run("prepare", "odd.onnxtxt", "bad.onnx", "--append-nms", words, code=1).err, (signature, words)
    for shape, words in (("20,6", "auto"), ("1,20,5", "auto"), ("1,5,20", "auto"), ("1,20,6", "objectness=no"), ("n,6", "auto"), ("b,6,n", "auto"), ("2,1,6", "max=1000"), ("1,20,6", "form=topk")):
        t.path("odd.onnxtxt").write_text(f'<ir_version: 8, opset_import: ["" : 11]> g (float[{shape}] x) => (float[{shape}] y) {{ y = Relu(x) }}')
        done = t.run("prepare", "odd.onnxtxt", "out.onnx", "--append-nms", words, "--json")
        step = next(s for s in done.json["ledger"] if s["step"] == "detections")
        assert step["checked"].startswith("equal to plain code"), step
        t.run("check", "out.onnx")


PICTURE = '<ir_version: 9, opset_import: ["" : 17]> g ({inputs}, float[1,3,64,64] x) => ({outputs}) {weights} {{ {body} }}'


def centres(*shapes):
    """Outputs of a centernet of these sizes."""
    names = ["hm", "wh", "reg"]
    return PICTURE.format(inputs=", ".join(f"float[{s}] {n}0" for s, n in zip(shapes, names)), outputs=", ".join(f"float[{s}] {n}" for s, n in zip(shapes, names)),
                          weights="", body=" ".join(f"{n} = Relu({n}0)" for n in names))


def test_heads_that_do_not_fit(t):
    cell = "1,2,16,16"
    maps = [f"1,6,{side},{side}" for side in (8, 4, 2)]
    levels = PICTURE.format(inputs=", ".join(f"float[{s}] a{i}" for i, s in enumerate(maps)), outputs=", ".join(f"float[{s}] o{i}" for i, s in enumerate(maps)),
                            weights="", body=" ".join(f"o{i} = Relu(a{i})" for i in range(3)))
    for source, words, why in [
        (centres("1,3,16,16", cell, cell), "head=centernet,anchors=10x13", "has no anchors"),
        (centres("1,3,16,16", "1,2,16,14", "1,2,16,14"), "head=centernet", "lacks"),
        (levels, "head=yolov8,classes=100", "no room for boxes"),
    ]:
        t.path("heads.onnxtxt").write_text(source)
        done = t.fails("prepare", "heads.onnxtxt", "bad.onnx", "--append-nms", words, code=1, error="prepare.detector")
        assert why in done.err, done.err
    t.path("heads.onnxtxt").write_text(centres("1,3,16,16", cell, cell))
    t.run("prepare", "heads.onnxtxt", "good.onnx", "--append-nms", "head=centernet")


def test_heads_of_other_sizes_than_declared(t):
    """Each part of the heads computes another number of images."""
    shape = "z = ReduceSum<keepdims=0>(x) zz = Mul(z, nought) i = Cast<to=7>(zz)"
    body = " ".join(f"s{n} = Add(i, {n}1) {n} = Expand(z, s{n})" for n in ("hm", "wh", "reg"))
    weights = "<float nought = {0}, int64[4] hm1 = {2, 3, 16, 16}, int64[4] wh1 = {1, 2, 16, 16}, int64[4] reg1 = {1, 2, 16, 16}>"
    t.path("heads.onnxtxt").write_text(
        '<ir_version: 9, opset_import: ["" : 17]> g (float[1,3,64,64] x) => (float[n,3,16,16] hm, float[m,2,16,16] wh, float[k,2,16,16] reg) '
        f"{weights} {{ {shape} {body} }}")
    done = t.run("prepare", "heads.onnxtxt", "out.onnx", "--append-nms", "head=centernet", "--json")
    step = next(s for s in done.json["ledger"] if s["step"] == "heads")
    assert "other sizes than it declares" in step["checked"], step


def test_levels_as_large_as_the_picture(t):
    """Each cell of a level costs memory; declared sizes cost a file nothing."""
    side = 8192
    text = f'''<ir_version: 9, opset_import: ["" : 17]>
    g (float[1,3,{side},{side}] x) => (float[1,{side * side},6] y)
    <float[4,3,1,1] four = {{1,2,3,4,5,6,7,8,9,10,11,12}}, float[1,3,1,1] one = {{1,2,3}}, int64[3] s = {{1,6,{side * side}}}>
    {{ a = Conv(x, four) b0 = Conv(x, one) b = Sigmoid(b0) c0 = Conv(x, one) c = Sigmoid(c0) j = Concat<axis=1>(a, b, c) r = Reshape(j, s) y = Transpose<perm=[0,2,1]>(r) }}
    '''
    t.path("net.onnxtxt").write_text(text)
    flags = ["--append-nms", "auto", "--no-verify", "--no-simplify", "--max-memory", "200M"]
    t.fails("prepare", "net.onnxtxt", "out.onnx", *flags, code=1, error="prepare.detector")


def test_pictures_that_cannot_be_made_up(t):
    for images, why in ((0, "has no pictures"), (1 << 24, "too large to make some up")):
        t.path("net.onnxtxt").write_text(f'<ir_version: 9, opset_import: ["" : 17]> g (float[{images},3,8,8] x) => (float[{images},3,8,8] y) {{ y = Relu(x) }}')
        done = t.run("prepare", "net.onnxtxt", "out.onnx", "--image", "size=8", "--json")
        assert why in next(s for s in done.json["ledger"] if s["step"] == "picture")["checked"]
