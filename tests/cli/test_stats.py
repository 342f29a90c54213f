"""cameo stats: what a model is made of."""
NET = """<ir_version: 8, opset_import: ["" : 18]>
g (float[n,4] x) => (float[n,3] y)
<float[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, int64[2] s = {-1, 3}>
{
  a = MatMul(x, w)
  b = Relu(a)
  y = Reshape(b, s)
}
"""

CALLS = """<ir_version: 8, opset_import: ["" : 18, "my" : 1]>
g (float[n,8] x, float[8,8] w) => (float[n,8] y) { a = my.layer(x, w) y = my.layer(a, w) }
<domain: "my", opset_import: ["" : 18]>
layer (a, b) => (c) { one = Constant<value_float=1.0>() t = MatMul(a, b) u = Mul(t, one) c = Relu(u) }
"""


def test_stats_of_a_small_model(t):
    t.path("net.onnxtxt").write_text(NET)
    found = t.run("stats", "net.onnxtxt", "--json").json
    assert found["opsets"] == {"ai.onnx": 18} and found["nodes"] == 3 and found["operators"] == {"MatMul": 1, "Relu": 1, "Reshape": 1}
    assert found["parameters"] == 14 and found["bytes_by_dtype"] == {"f32": 48, "i64": 16} and found["macs"] == "12*n" and found["dims"] == ["n"]
    text = t.run("stats", "net.onnxtxt").out
    assert "MatMul" in text and "12*n" in text


def test_work_in_functions_counts_at_every_call(t):
    t.path("net.onnxtxt").write_text(CALLS)
    found = t.run("stats", "net.onnxtxt", "--json").json
    assert found["macs"] == "128*n" and found["macs_unknown"] == 0 and found["operators"]["my::layer"] == 2
