"""cameo simplify, explain."""
import json

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 4] x) => (float[N, 2, 2] y) <float one = {1}, int64[1] zero = {0}, int64 first = {0}, int64[1] rest = {-1}, int64[3] shape = {0, 2, 2}>
{
  a = Identity(x)
  b = Mul(a, one)
  s = Shape(b)
  n = Gather(s, first)
  u = Unsqueeze(n, zero)
  t = Concat<axis=0>(u, rest)
  c = Reshape(b, t)
  y = Reshape(c, shape)
}
"""


def model(t, text=MODEL):
    t.path("net.onnxtxt").write_text(text)
    t.run("convert", "net.onnxtxt", "net.onnx")
    return "net.onnx"


def test_simplify_shrinks_and_tells(t):
    r = t.run("simplify", model(t), "out.onnx", "--ledger", "ledger.jsonl")
    assert "Reshape" in r.out and "nodes" in r.out and "peak memory" in r.out
    assert t.run("show", "out.onnx", "--json").json["operators"] == {"Reshape": 1}
    rules = [json.loads(line)["rule"] for line in t.path("ledger.jsonl").read_text().splitlines()]
    assert "identity" in rules and "mul-one" in rules
    t.run("verify", "net.onnx", "out.onnx", "--dim", "N=3")
    once = t.path("out.onnx").read_bytes()
    t.run("simplify", "out.onnx", "twice.onnx", "--no-provenance")
    t.run("simplify", "twice.onnx", "thrice.onnx", "--no-provenance")
    assert t.path("twice.onnx").read_bytes() == t.path("thrice.onnx").read_bytes() and once


def test_simplify_flags(t):
    net = model(t)
    assert t.run("--json", "simplify", net, "out.onnx", "--skip", "mul-one").json["operators_after"]["Mul"] == 1
    assert t.run("--json", "simplify", net, "out.onnx", "--only", "identity").json["nodes_after"] == 7
    t.fails("simplify", net, "bad.onnx", "--skip", "mull-one", code=2, error="use.rule")
    t.fails("simplify", net, code=2, error="use.operands")
    assert "mul-one" in t.run("simplify", "--list-rules").out
    r = t.run("--json", "simplify", net, "out.onnx", "--overwrite-input-shape", "3,4")
    assert r.json["macs_before"] == r.json["macs_after"] == 0
    assert t.run("--json", "show", "out.onnx").json["inputs"][0]["shape"] == [3, 4] and r.json["nodes_after"] == 1
    assert not t.path("bad.onnx").exists()


def test_simplify_check(t):
    r = t.run("simplify", model(t), "out.onnx", "--check", "2", "--test-input-shape", "x:5,4")
    assert "checked on 2 sets" in r.err


def test_simplify_shows_progress_on_a_terminal_alone(t):
    count = 300000
    lines = [f"  v{i + 1} = {'Sigmoid' if i % 2 else 'Neg'}(v{i})" for i in range(count)]
    text = '<ir_version: 8, opset_import: ["" : 17]>\ng (float[N] v0) => (float[N] v' + f"{count}) {{\n" + "\n".join(lines) + "\n}\n"
    net = model(t, text)
    assert "simplifying [" in t.run_on_terminal("simplify", net, "out.onnx")
    assert "simplifying [" not in t.run_on_terminal("-q", "simplify", net, "out.onnx")
    assert "simplifying [" not in t.run_on_terminal("--json", "simplify", net, "out.onnx")
    assert "simplifying [" not in t.run("simplify", net, "out.onnx").err


def test_explain(t):
    net = model(t)
    assert "mul-one applied at 'b'" in t.run("explain", net, "--rule", "mul-one").out
    assert "identity: applied 1" in t.run("explain", net).out
    t.fails("explain", net, "--rule", "mul-won", code=2, error="use.rule")


BRANCH = """<ir_version: 8, opset_import: ["" : 18]>
g (int64[b] x, float[c, t] z) => (int64 y, float w) <int64[1] one = {1}, int64[1] zero = {0}, int64[2] rows = {0, -1}>
{
  n = Shape(x)
  e = Equal(n, one)
  single = Squeeze(e, zero)
  y = If(single) <then_branch = a () => (int64 p) { r = Reshape(x, one) p = ReduceSum<keepdims=0>(r) },
                  else_branch = b () => (int64 q) { k = Add(x, x) q = ReduceSum<keepdims=0>(k) }>
  c = Shape<end=1>(z)
  t = Shape<start=1>(z)
  f = Equal(c, t)
  square = Squeeze(f, zero)
  w = If(square) <then_branch = d () => (float u) { m = MatMul(z, z) v = Reshape(m, rows) u = ReduceSum<keepdims=0>(v) },
                  else_branch = h () => (float s) { l = Neg(z) s = ReduceSum<keepdims=0>(l) }>
}
"""


def test_what_a_branch_needs_of_sizes_holds_there_alone(t):
    t.run("simplify", model(t, BRANCH), "out.onnx")
    shown = t.run("show", "out.onnx", "--text").out
    assert "int64[b] x" in shown and "float[c,t] z" in shown and shown.count("If(") == 2


CALLS = """<ir_version: 8, opset_import: ["" : 18, "my" : 1]>
g (float[n,8] x, float[8,8] w) => (float[n,8] y) {{ a = my.layer(x, w) y = my.layer(a, w) }}
<domain: "my", opset_import: ["" : 18]>
layer (a, b) => (c) {{ {0} }}
"""
WASTE, LEAN = "one = Constant<value_float=1.0>() t = MatMul(a, b) u = Mul(t, one) c = Relu(u)", "t = MatMul(a, b) c = Relu(t)"


def test_functions_are_inlined_where_that_pays(t):
    def after(body, *flags):
        t.path("net.onnxtxt").write_text(CALLS.format(body))
        t.run("simplify", "net.onnxtxt", "out.onnx", *flags)
        t.run("check", "out.onnx")
        return t.run("show", "out.onnx", "--json").json["operators"]
    assert after(WASTE) == {"MatMul": 2, "Relu": 2}
    assert after(LEAN) == {"my::layer": 2, "MatMul": 1, "Relu": 1}
    assert after(WASTE, "--functions", "keep")["my::layer"] == 2
    assert after(LEAN, "--functions", "inline") == {"MatMul": 2, "Relu": 2}
    t.fails("simplify", "net.onnxtxt", "out.onnx", "--functions", "maybe", code=2, error="use.value")
