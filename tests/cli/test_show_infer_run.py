import os

import onnxfile as o


def linear(t):
    t.path("net.onnx").write_bytes(o.linear())
    return "net.onnx"


def test_show(t):
    out = t.run("show", linear(t)).out
    assert "x  f32[batch,2]" in out and "dynamic dims: batch" in out and "MACs: 6*batch" in out
    told = t.run("show", "net.onnx", "--json").json
    assert told["operators"] == {"Add": 1, "MatMul": 1, "Relu": 1} and told["parameters"] == 9 and told["weight_bytes"] == 36
    assert told["data_files"] == []
    assert told["inputs"] == [{"name": "x", "type": "f32[batch,2]", "dtype": "f32", "shape": ["batch", 2]}]
    assert t.run("show", "-", input=o.linear()).out.startswith("-: ONNX model")


def test_text(t):
    text = t.run("show", linear(t), "--text").out
    assert "h = MatMul (x, w)" in text or "h = MatMul(x, w)" in text, text
    t.run("convert", "net.onnx", "net.onnxtxt")
    t.run("convert", "net.onnxtxt", "back.onnx")
    assert t.run("diff", "net.onnx", "back.onnx").code == 0
    t.run("check", "net.onnxtxt")
    assert t.run("show", "net.onnxtxt", "--json").json["parameters"] == 9


def test_show_archive(t):
    archive = t.root / "examples/digits/digits.pt"
    out = t.run("show", archive).out
    assert "forward(images: Tensor) -> Tensor" in out and "aten::_convolution" in out
    assert t.run("show", archive, "--json").json["parameters"] == 38476
    assert "def forward" in t.run("show", archive, "--text").out


def test_show_exported_program(t):
    samples = t.root / "tests/data/pt2"
    out = t.run("show", samples / "convolutions.pt2").out
    assert "x  f32[s77,3,s53,s0]" in out and "s53  16..512  axis 2 of x" in out and "aten::conv2d" in out and "output  f32[s77,8]" in out, out
    told = t.run("show", samples / "branch.pt2", "--json").json
    assert {"name": "higher_order::cond", "count": 1, "lowers": True} in told["operators"] and {"name": "aten::sin", "count": 1, "lowers": True} in told["operators"], told
    assert "return getitem" in t.run("show", samples / "branch.pt2", "--text").out
    assert {"name": "scale", "type": "fixed at 0.5"} in t.run("show", samples / "nested.pt2", "--json").json["inputs"]
    assert "encode, decode" in t.run("show", samples / "several.pt2", code=2).err
    assert "this is decode" in t.run("show", samples / "several.pt2", "--method", "decode").out


def test_infer(t):
    t.run("infer", linear(t), "typed.onnx")
    assert b"cameo.source.sha256" in t.path("typed.onnx").read_bytes()
    t.run("infer", "net.onnx", "plain.onnx", "--no-provenance")
    assert b"cameo" not in t.path("plain.onnx").read_bytes()
    first = t.path("typed.onnx").read_bytes()
    t.run("infer", "net.onnx", "typed.onnx")
    assert t.path("typed.onnx").read_bytes() == first
    assert t.run("infer", "net.onnx", "-", "--no-provenance").out_bytes == t.path("plain.onnx").read_bytes()
    t.run("infer", "net.onnx", "net.onnx")
    assert t.path("net.onnx").read_bytes() == first


def test_infer_says_where_it_stops(t):
    nodes = [o.node("MatMul", ["x", "x"], ["y"], "bad")]
    t.path("bad.onnx").write_bytes(o.model(nodes, [o.value_info("x", [2, 3])], [o.value_info("y", [2, 3])]))
    assert "bad" in t.run("infer", "bad.onnx", "out.onnx").err
    t.run("infer", "--strict", "bad.onnx", "strict.onnx", code=1)
    assert not t.path("strict.onnx").exists()


def test_run(t):
    net = linear(t)
    t.path("x.npz").write_bytes(o.npz(x=o.npy([1, 2], [1, 1])))
    t.run("run", net, "--inputs", "x.npz", "-o", "y.npz")
    assert o.read_npz(t.path("y.npz")) == {"y": ((1, 3), [5.5, 0, 9])}
    t.path("x0.npz").write_bytes(o.npz(x0=o.npy([1, 2], [1, 1])))
    t.run("run", net, "--inputs", "x0.npz", "-o", "y0.npz", "--keep-outputs", "product,s")
    assert sorted(o.read_npz(t.path("y0.npz"))) == ["h", "s", "y"]
    told = t.run("run", net, "--random", "1", "--dim", "batch=4", "--repeat", "3", "--json", "--profile", "trace.json").json
    assert told["runs"] == 3 and told["min_ms"] <= told["median_ms"] <= told["p99_ms"]
    assert told["outputs"] == [{"name": "y", "type": "f32[4,3]"}]
    assert '"ph":"X"' in t.path("trace.json").read_text()


def test_run_without_onednn(t):
    net = linear(t)
    t.path("x.npz").write_bytes(o.npz(x=o.npy([1, 2], [1, 1])))
    os.environ["CAMEO_ONEDNN"] = "off"
    try:
        assert t.run("--version", "--json").json["onednn"] is False
        t.run("run", net, "--inputs", "x.npz", "-o", "y.npz")
    finally:
        del os.environ["CAMEO_ONEDNN"]
    assert o.read_npz(t.path("y.npz")) == {"y": ((1, 3), [5.5, 0, 9])}


def test_run_refuses_wrong_inputs(t):
    net = linear(t)
    t.fails("run", net, code=2, error="use.inputs")
    told = t.run("run", net, "--random", "1", "--dim", "batch=2..5", "--repeat", "6", "--json").json  # 2, 3, 4, 5, 2, 3
    assert told["runs"] == 6 and told["outputs"][0]["type"].startswith("f32[3,")
    t.fails("run", net, "--random", "1", "--dim", "batch=5..2", code=2, error="use.value")
    t.path("size.npz").write_bytes(o.npz(x=o.npy([1, 5], [1] * 5)))
    err = t.fails("run", net, "--inputs", "size.npz", code=1, error="run.size").err
    assert "axis 1 of the input 'x' has size 5, and the model wants 2" in err
    t.path("dtype.npz").write_bytes(o.npz(x=o.npy([1, 2], [1, 2], "<i8")))
    assert "is i64, and the model wants f32" in t.fails("run", net, "--inputs", "dtype.npz", code=1, error="run.dtype").err
    t.path("rank.npz").write_bytes(o.npz(x=o.npy([2], [1, 2])))
    t.fails("run", net, "--inputs", "rank.npz", code=1, error="run.rank")
    t.path("name.npz").write_bytes(o.npz(z=o.npy([1, 2], [1, 2])))
    t.fails("run", net, "--inputs", "name.npz", code=2, error="use.input-name")
    t.fails("run", net, "--random", "1", "--keep-outputs", "nothing*", code=1, error="run.no-match")


def test_infer_describes_values_of_the_file_only(t):
    """An old form becomes several nodes inside; where it is written as it was, their values are no names of the file."""
    old = o.node("GroupNormalization", ["a", "s", "s"], ["b"], num_groups=2)
    rest = [o.value_info("x", [2, 4, 3]), o.value_info("s", [2])]
    y = [o.value_info("y", [2, 4, 3])]
    plain = o.model([o.node("Identity", ["x"], ["a"]), old, o.node("Relu", ["b"], ["y"])], rest, y, opset=18, ir=10)
    f = o.field
    body = f(1, "F") + f(4, "a") + f(4, "s") + f(5, "c") + f(7, old) + f(7, o.node("Relu", ["b"], ["c"])) + f(9, f(1, "") + f(2, 18)) + f(10, "f")
    call = o.node("F", ["x", "s"], ["y"]) + f(7, "f")
    inside = o.model([call], rest, y, opset=18, ir=10) + f(8, f(1, "f") + f(2, 1)) + f(25, body)
    for data in (plain, inside):
        t.path("old.onnx").write_bytes(data)
        t.run("infer", "old.onnx", "typed.onnx")
        made = t.path("typed.onnx").read_bytes()
        assert b"GroupNormalization" in made
        assert not [name for name in (b"Unsqueeze", b"Expand", b"Reshape", b"Concat", b"Shape_0", b"Slice") if name in made], made
