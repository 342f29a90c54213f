"""cameo edit, extract, merge, diff, verify, convert."""
import onnxfile as o


def linear(t, name="net.onnx"):
    t.path(name).write_bytes(o.linear())
    return name


def operators(t, path):
    return t.run("show", path, "--json").json["operators"]


def outputs(t, path, **inputs):
    t.path("in.npz").write_bytes(o.npz(**inputs))
    t.run("run", path, "--inputs", "in.npz", "-o", "out.npz")
    return o.read_npz(t.path("out.npz"))


X = {"x": o.npy([1, 2], [1, 1])}


def test_metadata_changes_no_node(t):
    t.run("edit", linear(t), "out.onnx", "--set-metadata", "author=me", "--no-provenance")
    before, after = t.path("net.onnx").read_bytes(), t.path("out.onnx").read_bytes()
    assert b"author" in after and len(after) == len(before) + len(o.field(14, o.field(1, "author") + o.field(2, "me")))
    for node in [o.node("MatMul", ["x", "w"], ["h"], "product"), o.node("Add", ["h", "b"], ["s"], "sum")]:
        assert node in after


def test_names(t):
    t.run("edit", linear(t), "out.onnx", "--rename", "x=image", "--rename", "product=mul")
    assert outputs(t, "out.onnx", image=X["x"]) == {"y": ((1, 3), [5.5, 0, 9])}
    t.fails("edit", "net.onnx", "bad.onnx", "--rename", "x=h", code=1, error="edit.name")
    t.fails("edit", "net.onnx", "bad.onnx", "--rename", "nothing=h2", code=1, error="edit.no-value")
    assert not t.path("bad.onnx").exists()


def test_inputs_and_outputs(t):
    t.run("edit", linear(t), "out.onnx", "--add-output", "h")
    assert outputs(t, "out.onnx", **X) == {"y": ((1, 3), [5.5, 0, 9]), "h": ((1, 3), [5, 7, 9])}
    t.run("edit", "out.onnx", "h.onnx", "--remove-output", "y")
    assert operators(t, "h.onnx") == {"MatMul": 1}
    t.fails("edit", "net.onnx", "no.onnx", "--remove-output", "y", code=1, error="edit.output")
    t.fails("edit", "net.onnx", "no.onnx", "--remove-input", "x", code=1, error="edit.input")


def test_shapes(t):
    t.run("edit", linear(t), "out.onnx", "--set-dim", "x:0=8")
    told = t.run("show", "out.onnx", "--json").json
    assert told["inputs"][0]["shape"] == [8, 2] and told["outputs"][0]["shape"] == [8, 3]
    t.run("edit", "out.onnx", "named.onnx", "--fix-shape", "x:n,2")
    told = t.run("show", "named.onnx", "--json").json
    assert told["inputs"][0]["shape"] == ["n", 2] and told["outputs"][0]["shape"] == ["n", 3]
    t.fails("edit", "net.onnx", "bad.onnx", "--set-dim", "x:1=7", code=1, error="infer.mismatch")
    t.fails("edit", "net.onnx", "bad.onnx", "--set-dim", "x:2=7", code=1, error="edit.dim")
    for path in ["out.onnx", "named.onnx"]:
        t.run("check", path)


def test_nodes(t):
    t.run("edit", linear(t), "out.onnx", "--set-op", "positive=Neg")
    assert outputs(t, "out.onnx", **X)["y"][1] == [-5.5, 93, -9]
    t.run("edit", "net.onnx", "out.onnx", "--insert", "z = Softmax<axis=0>(h)", "--add-output", "z")
    assert outputs(t, "out.onnx", **X)["z"][1] == [1, 1, 1]
    t.run("edit", "net.onnx", "out.onnx", "--insert", "h2 = Neg(h)", "--rewire", "h=h2")
    assert outputs(t, "out.onnx", **X)["y"][1] == [0, 0, 0]
    t.run("edit", "net.onnx", "out.onnx", "--remove-node", "positive")
    assert outputs(t, "out.onnx", **X)["y"][1] == [5.5, -93, 9]
    t.run("edit", "net.onnx", "out.onnx", "--remove-node", "sum")
    assert outputs(t, "out.onnx", **X)["y"][1] == [5, 7, 9]
    t.fails("edit", "net.onnx", "bad.onnx", "--set-op", "positive=Nothing", code=1, error="edit.operator")
    t.fails("edit", "net.onnx", "bad.onnx", "--insert", "h3 = Relu", code=1, error="edit.insert")
    t.fails("edit", "net.onnx", "bad.onnx", "--set-op", "positive=Not", code=1, error="graph.type")  # of booleans only
    assert not t.path("bad.onnx").exists()


def test_broken_models_can_be_repaired(t):
    nodes = [o.node("Not", ["x"], ["h"], "first"), o.node("And", ["h", "h"], ["y"], "second")]
    t.path("net.onnx").write_bytes(o.model(nodes, [o.value_info("x", [1, 2])], [o.value_info("y", [1, 2])]))
    t.run("edit", "net.onnx", "half.onnx", "--set-op", "first=Neg")
    t.run("edit", "half.onnx", "out.onnx", "--set-op", "second=Mul")
    t.run("check", "out.onnx")


def test_attributes(t):
    nodes = [o.node("Softmax", ["x"], ["y"], "soft", axis=1)]
    t.path("net.onnx").write_bytes(o.model(nodes, [o.value_info("x", [1, 2])], [o.value_info("y", [1, 2])]))
    t.run("edit", "net.onnx", "out.onnx", "--set-attr", "soft:axis=0")
    assert outputs(t, "out.onnx", **X)["y"][1] == [1, 1]
    t.fails("edit", "net.onnx", "bad.onnx", "--set-attr", "soft:axis=x", code=1, error="edit.attribute")
    t.fails("edit", "net.onnx", "bad.onnx", "--set-attr", "soft:alpha=1", code=1, error="edit.attribute")


def test_weights(t):
    t.path("b.npy").write_bytes(o.npy([3], [1, 1, 1]))
    t.run("edit", linear(t), "out.onnx", "--set-initializer", "b=b.npy")
    assert outputs(t, "out.onnx", **X)["y"][1] == [6, 8, 10]


def test_strip(t):
    with_notes = o.linear() + o.field(6, "a long story")
    t.path("net.onnx").write_bytes(with_notes)
    t.run("edit", "net.onnx", "out.onnx", "--strip")
    assert b"story" not in t.path("out.onnx").read_bytes()


def test_extract(t):
    t.run("extract", linear(t), "out.onnx", "--from", "h", "--to", "s")
    assert operators(t, "out.onnx") == {"Add": 1}
    t.run("check", "out.onnx")
    assert outputs(t, "out.onnx", h=o.npy([1, 3], [1, 1, 1]))["s"][1] == [1.5, -99, 1]
    t.run("extract", "net.onnx", "head.onnx", "--to", "h")
    assert operators(t, "head.onnx") == {"MatMul": 1}
    t.fails("extract", "net.onnx", "bad.onnx", "--from", "y", "--to", "s", code=1, error="edit.extract")


def test_merge(t):
    linear(t, "a.onnx")
    nodes = [o.node("MatMul", ["x", "w"], ["h"]), o.node("Relu", ["h"], ["y"])]
    weights = [o.floats("w", [3, 1], [1, 1, 1])]
    t.path("b.onnx").write_bytes(o.model(nodes, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 1])], weights, opset=13))
    t.run("merge", "a.onnx", "b.onnx", "out.onnx", "--connect", "y=x")
    t.run("check", "out.onnx")
    told = t.run("show", "out.onnx", "--json").json
    assert told["operators"] == {"MatMul": 2, "Relu": 2, "Add": 1} and told["opsets"] == {"ai.onnx": 18}
    assert list(outputs(t, "out.onnx", **X).values()) == [((1, 1), [14.5])]
    t.fails("merge", "a.onnx", "b.onnx", "bad.onnx", "--connect", "z=x", code=1, error="edit.merge")
    t.fails("merge", "b.onnx", "b.onnx", "bad.onnx", "--connect", "y=x", code=1, error="edit.merge")


def test_diff(t):
    linear(t, "a.onnx")
    t.run("edit", "a.onnx", "named.onnx", "--rename", "x=image", "--rename", "h=hidden")
    assert "same" in t.run("diff", "a.onnx", "named.onnx").out
    t.run("edit", "a.onnx", "op.onnx", "--insert", "h2 = Neg(h)", "--rewire", "h=h2")
    assert "only the second has Neg" in t.run("diff", "a.onnx", "op.onnx", code=1).out
    t.path("b.npy").write_bytes(o.npy([3], [0.5, -100, 1]))
    t.run("edit", "a.onnx", "w.onnx", "--set-initializer", "b=b.npy")
    told = t.run("diff", "a.onnx", "w.onnx", "--json", code=1).json
    assert told["differences"] == [{"what": "a weight f32[3] differs in 1 of 3 elements, by at most 1", "first": "b", "second": "b"}]


def test_verify(t):
    linear(t, "a.onnx")
    t.run("edit", "a.onnx", "named.onnx", "--rename", "x=image")
    assert "agrees" in t.run("verify", "a.onnx", "named.onnx", "--random", "3", "--dim", "batch=4").out
    t.path("b.npy").write_bytes(o.npy([3], [0.5, -100, 1]))
    t.run("edit", "a.onnx", "w.onnx", "--set-initializer", "b=b.npy")
    err = t.fails("verify", "a.onnx", "w.onnx", code=1, error="verify.mismatch").err
    assert "the first value that differs is 's'" in err
    t.run("verify", "a.onnx", "w.onnx", "--atol", "2")
    t.path("x.npz").write_bytes(o.npz(**X))
    t.path("good.npz").write_bytes(o.npz(y=o.npy([1, 3], [5.5, 0, 9])))
    t.path("bad.npz").write_bytes(o.npz(y=o.npy([1, 3], [5.5, 0, 8])))
    t.run("verify", "a.onnx", "good.npz", "--inputs", "x.npz")
    assert "element [0,2] is 9, and 8 is wanted" in t.fails("verify", "a.onnx", "bad.npz", "--inputs", "x.npz", code=1, error="verify.mismatch").err


def test_convert(t):
    x = [o.value_info("x", [2, 3])]
    axes = [o.node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    t.path("net.onnx").write_bytes(o.model(axes, x, [o.value_info("y", [2])], [o.ints("axes", [1], [1])], opset=13))
    t.run("convert", "net.onnx", "old.onnx", "--opset", "11")
    t.run("check", "old.onnx")
    assert t.run("show", "old.onnx", "--json").json["opsets"] == {"ai.onnx": 11}
    t.run("convert", "old.onnx", "new.onnx", "--opset", "20")
    t.run("verify", "net.onnx", "new.onnx")
    dynamic = [o.node("ReduceSum", ["x", "axes"], ["y"], keepdims=1)]
    inputs = x + [o.value_info("axes", [1], o.INT64)]
    t.path("net.onnx").write_bytes(o.model(dynamic, inputs, [o.value_info("y", ["a", "b"])], opset=13))
    t.run("convert", "net.onnx", "old.onnx", "--opset", "11")  # axes that the caller gives: one reduction per axis
    t.run("check", "old.onnx")
    strings = [o.node("StringConcat", ["s", "s"], ["y"])]
    t.path("text.onnx").write_bytes(o.model(strings, [o.value_info("s", [2], o.STRING)], [o.value_info("y", [2], o.STRING)], opset=20))
    t.run("convert", "text.onnx", "bad.onnx", "--opset", "11", code=1)
    assert not t.path("bad.onnx").exists()
    t.fails("convert", "net.onnx", "bad.onnx", "--opset", "3", code=2, error="use.value")


def detector(t, boxes, scores, name="detector.onnx"):
    t.path("d.onnxtxt").write_text(f"g (float[{boxes}] b, float[{scores}] s) => (float[{boxes}] boxes, float[{scores}] scores) {{ boxes = Identity(b) scores = Identity(s) }}")
    t.run("convert", "d.onnxtxt", name)
    return name


# Three boxes: the second overlaps the first by 0.8, the third nothing. Class 0 likes the first two, class 1 the last.
BOXES, SCORES = [0, 0, 10, 10, 0, 0, 10, 8, 20, 20, 30, 30], [0.9, 0.8, 0.1, 0.02, 0.3, 0.7]


def test_shapes_that_are_declared_wrong_do_not_stop_an_edit(t):
    """Other tools leave such declarations in bodies; what is computed counts."""
    t.path("loop.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 17]>
    g (float[n] x, int64 m, bool c) => (float[k] y) { y = Loop(m, c, x) <body = b (int64 i, bool k, float[3,4] v) => (bool k2, float[3,4] w) { k2 = Identity(k) w = Relu(v) }> }""")
    t.run("edit", "loop.onnxtxt", "out.onnx", "--set-dim", "x:0=2")
    t.run("prepare", "loop.onnxtxt", "out.onnx", "--fix-size", "n=2")


def test_nms(t):
    t.run("edit", detector(t, "1,3,4", "1,2,3"), "out.onnx", "--append-nms", "boxes,scores,0.5,0.05,10", "--remove-output", "boxes", "--remove-output", "scores")
    t.run("check", "out.onnx")
    got = outputs(t, "out.onnx", b=o.npy([1, 3, 4], BOXES), s=o.npy([1, 2, 3], SCORES))
    assert list(got) == ["nms_boxes", "nms_scores", "nms_classes"]
    assert got["nms_classes"][1] == [0, 0, 1, 1]
    assert got["nms_boxes"] == ((4, 4), [*BOXES[:4], *BOXES[8:], *BOXES[8:], *BOXES[4:8]])
    assert [round(x, 2) for x in got["nms_scores"][1]] == [0.9, 0.1, 0.7, 0.3]


def test_nms_takes_the_usual_layouts(t):
    across = [BOXES[i + 4 * n] for i in range(4) for n in range(3)]
    by_box = [SCORES[n + 3 * c] for n in range(3) for c in range(2)]
    for boxes, scores, b, s in [("3,4", "3,2", BOXES, by_box), ("b,n,4", "b,n,2", BOXES, by_box), ("b,4,n", "b,2,n", across, SCORES),
                                ("b,n,1,4", "b,m,2", BOXES, by_box), ("1,n,4", "1,2,m", BOXES, SCORES)]:
        t.run("edit", detector(t, boxes, scores), "out.onnx", "--append-nms", "boxes,scores,0.5,0.2")
        shapes = [[int({"b": 1, "n": 3, "m": 3}.get(w, w)) for w in text.split(",")] for text in (boxes, scores)]
        got = outputs(t, "out.onnx", b=o.npy(shapes[0], b), s=o.npy(shapes[1], s))
        assert got["nms_boxes"][1] == [*BOXES[:4], *BOXES[8:], *BOXES[4:8]], boxes
        assert got["nms_classes"][1] == [0, 1, 1] and ("nms_batch" in got) == boxes.startswith("b")
    t.run("edit", detector(t, "3,4", "3"), "out.onnx", "--append-nms", "boxes,scores,0.5,0.05,1,center")
    assert outputs(t, "out.onnx", b=o.npy([3, 4], BOXES), s=o.npy([3], SCORES[:3]))["nms_boxes"] == ((1, 4), BOXES[:4])


def test_nms_refuses_what_is_not_clear(t):
    detector(t, "1,3,4", "1,3,3")
    assert "classes-first or classes-last" in t.fails("edit", "detector.onnx", "out.onnx", "--append-nms", "boxes,scores", code=1, error="edit.nms").err
    t.run("edit", "detector.onnx", "out.onnx", "--append-nms", "boxes,scores,0.5,0.1,5,classes-last")
    assert "no boxes" in t.fails("edit", "detector.onnx", "out.onnx", "--append-nms", "scores,boxes", code=1, error="edit.nms").err
    t.fails("edit", "detector.onnx", "out.onnx", "--append-nms", "boxes,scores,1.5", code=1, error="edit.nms")
    for value in ("boxes", "boxes,scores,0.5,0.1,5.5", "boxes,scores,middle"):
        t.fails("edit", "detector.onnx", "out.onnx", "--append-nms", value, code=2, error="use.value")


def test_weights_are_added(t):
    t.path("k.npy").write_bytes(o.npy([3], [10, 20, 30]))
    t.run("edit", linear(t), "out.onnx", "--set-initializer", "k=k.npy", "--insert", "z = Add(h, k)", "--add-output", "z")
    assert outputs(t, "out.onnx", **X)["z"][1] == [15, 27, 39]
    assert "did you mean b?" in t.fails("edit", "net.onnx", "bad.onnx", "--set-initializer", "bb=k.npy", code=1, error="edit.initializer").err
    t.fails("edit", "net.onnx", "bad.onnx", "--set-initializer", "h=k.npy", code=1, error="edit.initializer")
    assert not t.path("bad.onnx").exists()


def test_constants_in_inserted_nodes(t):
    t.run("edit", linear(t), "out.onnx", "--insert", "z = Mul(h, f32{2, 3, 4})", "--insert", "a, c = Split<axis=1>(z, {1, 2})", "--add-output", "c")
    assert outputs(t, "out.onnx", **X)["c"][1] == [21, 36]
    t.run("edit", "net.onnx", "out.onnx", "--insert", 'z = Clip(h, "", f32{6}[])', "--add-output", "z")
    assert outputs(t, "out.onnx", **X)["z"][1] == [5, 6, 6]
    for text in ("z = Mul(h, {a})", "z = Mul(h, i8{300})", "z = Mul(h, i64{0.5})", "z = Mul(h, f33{1})", "z = Mul(h, f32{1, 2}[])"):
        t.fails("edit", "net.onnx", "bad.onnx", "--insert", text, code=1, error="edit.insert")
