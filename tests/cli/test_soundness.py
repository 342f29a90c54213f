"""Nodes that break their operator's rules, wherever they stand: what rewrites a model refuses them with a finding, or
leaves them as they are where they may never run. Never a signal, never exit 4."""
import json

import onnxfile as o

BIG = 2**62
# A node that no run can come through, on x of shape [2, 3, 4]; INTO and FROM are what it gives and takes.
BROKEN = {
    "softmax": "INTO = Softmax<axis=7>(FROM)",
    "softmax, far": f"INTO = Softmax<axis={BIG}>(FROM)",
    "log-softmax": "INTO = LogSoftmax<axis=-9>(FROM)",
    "flatten": "INTO = Flatten<axis=-8>(FROM)",
    "transpose, far": "INTO = Transpose<perm=[0, 1, 2147483648]>(FROM)",
    "transpose, negative": "INTO = Transpose<perm=[-1, 0, 1]>(FROM)",
    "transpose, twice": "INTO = Transpose<perm=[0, 0, 1]>(FROM)",
    "transpose, short": "INTO = Transpose<perm=[1, 0]>(FROM)",
    "transpose, long": "INTO = Transpose<perm=[0, 1, 2, 3]>(FROM)",
    "concat": "INTO = Concat<axis=5>(FROM, FROM)",
    "concat, far": f"INTO = Concat<axis={-BIG}>(FROM, FROM)",
    "reduce": "INTO = ReduceSum(FROM, far)",
    "reduce, twice": "INTO = ReduceMean(FROM, twice)",
    "squeeze": "INTO = Squeeze(FROM, far)",
    "squeeze, not one": "INTO = Squeeze(FROM, one)",
    "unsqueeze": "INTO = Unsqueeze(FROM, far)",
    "unsqueeze, twice": "INTO = Unsqueeze(FROM, twice)",
    "gather": "INTO = Gather<axis=6>(FROM, one)",
    "gather elements": "INTO = GatherElements<axis=6>(FROM, one)",
    "slice": "INTO = Slice(FROM, one, one, far)",
    "slice, lengths": "INTO = Slice(FROM, one, three)",
    "slice, steps": "INTO = Slice(FROM, one, one, one, none)",
    "split": "INTO, b = Split<axis=9, num_outputs=2>(FROM)",
    "split, sizes": "INTO, b = Split<axis=0>(FROM, three)",
    "pad": "INTO = Pad(FROM, one)",
    "pad, axes": "INTO = Pad(FROM, one, , far)",
    "reshape": "INTO = Reshape(FROM, three)",
    "expand": "INTO = Expand(FROM, three)",
    "tile": "INTO = Tile(FROM, one)",
    "matmul": "INTO = MatMul(FROM, FROM)",
    "gemm": "INTO = Gemm(FROM, w, w)",
    "add": "INTO = Add(FROM, w)",
    "where": "INTO = Where(c, FROM, w)",
    "conv": "INTO = Conv(FROM, w)",
    "conv, group": "INTO = Conv<group=0>(FROM, k)",
    "conv, pads": "INTO = Conv<pads=[1]>(FROM, k)",
    "conv transpose": "INTO = ConvTranspose<group=7>(FROM, k)",
    "batch norm": "INTO = BatchNormalization(FROM, w, w, w, w)",
    "layer norm": "INTO = LayerNormalization<axis=8>(FROM, w)",
    "instance norm": "INTO = InstanceNormalization(FROM, w, w)",
    "group norm": "INTO = GroupNormalization<num_groups=0>(FROM, w, w)",
    "pool": "INTO = MaxPool<kernel_shape: ints=[]>(FROM)",
    "pool, strides": "INTO = AveragePool<kernel_shape=[2], strides=[0]>(FROM)",
    "topk": "INTO, b = TopK<axis=5>(FROM, one)",
    "argmax": "INTO = ArgMax<axis=5>(FROM)",
    "cumsum": "INTO = CumSum(FROM, farscalar)",
    "resize": "INTO = Resize(FROM, , w)",
    "depth": "INTO = DepthToSpace<blocksize=0>(FROM)",
    "einsum": 'INTO = Einsum<equation="ij,jk->ik">(FROM, FROM)',
    "einsum, words": 'INTO = Einsum<equation="->->">(FROM)',
    "one hot": "INTO = OneHot<axis=9>(FROM, one, w)",
    "quantize": "INTO = QuantizeLinear<axis=9>(FROM, w)",
    "dequantize": "INTO = DequantizeLinear<axis=-9, block_size=2>(FROM, w)",
    "scatter": "INTO = ScatterElements<axis=9>(FROM, one, w)",
    "shape": "INTO = Reshape(FROM, w)",
    "lstm": "INTO = LSTM<hidden_size=3>(FROM, w, w)",
    "attention": "INTO = Attention<q_num_heads=0, kv_num_heads=0>(FROM, FROM, FROM)",
    "max, absent": 'INTO = Max(FROM, "", FROM)',
    "if, bare": "INTO = If(c)",
    "loop, bare": 'INTO = Loop("", c, FROM)',
    "constant, bare": "b = Constant() INTO = Add(FROM, b)",
    "arity": "INTO = Relu(FROM, FROM)",
    "kind": 'INTO = Softmax<axis="1">(FROM)',
}
TOLD_LATER = ("cumsum", "shape")  # by a run, or by `check`: rules need not see them
WEIGHTS = ("<int64[1] far = {2147483647}, int64 farscalar = {77}, int64[2] twice = {1, 1}, int64[1] one = {1}, "
           "int64[3] three = {5, 7, 11}, int64[0] none = {}, float[5] w = {1, 2, 3, 4, 5}, float[2,3,1] k = {1, 2, 3, 4, 5, 6}>")
HEAD = '<ir_version: 10, opset_import: ["" : 24, "f" : 1]>\n'
SETTINGS = {
    "known": "g (float[2,3,4] x, bool c) => (y) " + WEIGHTS + " { h = Relu(x) FIRST SECOND y = Identity(z) }",
    "unknown rank": "g (float[] x, bool c) => (float[2,3,4] y) " + WEIGHTS + " { h = Relu(x) FIRST SECOND y = Relu(z) }",
    "declared": "g (float[] x, bool c) => (float[2,3,4] y) " + WEIGHTS[:-1] + ", float[2,3,4] h, float[2,3,4] m, float[2,3,4] z> { h = Custom.Op(x) FIRST SECOND y = Relu(z) }",
    "in a branch": "g (float[2,3,4] x, bool c) => (y) " + WEIGHTS + " { h = Relu(x) y = If(c) <then_branch = t () => (z) { FIRST SECOND }, else_branch = e () => (q) { q = Neg(x) }> }",
    "in a function": "g (float[2,3,4] x, bool c) => (y) { y = f.body(x, c) }\n<domain: \"f\", opset_import: [\"\" : 24]> body (h, c) => (z) { CONSTANTS FIRST SECOND }",
}
CONSTANTS = ("far = Constant<value=int64[1] {2147483647}>() farscalar = Constant<value=int64 {77}>() twice = Constant<value=int64[2] {1, 1}>() one = Constant<value=int64[1] {1}>() "
             "three = Constant<value=int64[3] {5, 7, 11}>() none = Constant<value_ints: ints = []>() w = Constant<value=float[5] {1, 2, 3, 4, 5}>() "
             "k = Constant<value=float[2,3,1] {1, 2, 3, 4, 5, 6}>()")
VERBS = [("simplify", "net.onnxtxt", "out.onnx"), ("convert", "net.onnxtxt", "out.onnx", "--opset", "7"), ("convert", "net.onnxtxt", "out.onnx", "--opset", "13"),
         ("convert", "net.onnxtxt", "out.onnx", "--opset", "21"), ("infer", "net.onnxtxt", "out.onnx"), ("explain", "net.onnxtxt"), ("edit", "net.onnxtxt", "out.onnx", "--rename", "h=hidden"),
         ("extract", "net.onnxtxt", "out.onnx", "--to", "y"), ("check", "net.onnxtxt"), ("merge", "net.onnxtxt", "plain.onnx", "out.onnx"), ("diff", "net.onnxtxt", "plain.onnx"),
         ("convert", "net.onnxtxt", "out.onnx", "--float", "f16"), ("show", "net.onnxtxt")]


def placed(setting, line):
    """The node in its place, twice in a row: rules look at pairs."""
    first, second = (line.replace("INTO", a).replace("FROM", b).replace("b =", c + " =") for a, b, c in (("m", "h", "b1"), ("z", "m", "b2")))
    return HEAD + SETTINGS[setting].replace("FIRST", first.replace("b)", "b1)")).replace("SECOND", second.replace("b)", "b2)")).replace("CONSTANTS", CONSTANTS) + "\n"


def judged(t, setting, verbs=VERBS):
    t.path("plain.onnx").write_bytes(o.linear())
    wrong = []
    for name, line in BROKEN.items():
        t.path("net.onnxtxt").write_text(placed(setting, line))
        for verb in verbs:
            result = t.attempt(*verb)
            refuses = verb[0] in ("simplify", "convert", "explain") and name not in TOLD_LATER
            if result.code not in (0, 1, 3) or (setting == "known" and refuses and result.code == 0):
                wrong.append(f"{name}, {setting}, {' '.join(verb)}: exit {result.code} {result.err[:300]}")
            elif result.code and verb[0] != "diff" and "error[" not in result.err:
                wrong.append(f"{name}, {setting}, {' '.join(verb)}: no finding")
    assert not wrong, f"{len(wrong)} of {len(BROKEN) * len(verbs)}:\n" + "\n".join(wrong)


def test_known_shapes(t):
    judged(t, "known")


def test_unknown_ranks(t):
    judged(t, "unknown rank")


def test_declared_shapes(t):
    judged(t, "declared")


def test_in_branches(t):
    judged(t, "in a branch")


def test_in_functions(t):
    judged(t, "in a function")


# Whole models, each of which once broke a verb.
MODELS = {
    "a sparse weight of a terabyte": HEAD + "g () => (float[] y) <sparse_tensor(float[1000000000000]) w = float[1] {1} int64[1] {100000000000}> { y = Relu(w) }",
    "a function that is called like an operator": '<ir_version: 8, opset_import: ["" : 18]>\ng () => (float[2,5] y) { y = Softmax() }\n'
                                                  '<domain: "", opset_import: ["" : 18]>\nSoftmax (a) => (b) { b = Identity(a) }',
    "a constant turned around": HEAD + "g () => (int64[] y) <int64[3] c = {5, 2, 12}> { t = Transpose<perm=[0, 2, 1, 3]>(c) y = Reshape(t, c) }",
    "too many elements to count": HEAD + f"g (float[{BIG}] x) => (float[{BIG}] y) {{ y = Relu(x) }}",
    "a branch that gives too little": HEAD + "g (bool c, float[2] x) => (y, z) { y, z = If(c) <then_branch = t () => (p) { p = Relu(x) }, else_branch = e () => (q) { q = Neg(x) }> }",
    "a loop whose body takes too little": HEAD + 'g (bool c, float[2] x) => (y) <int64 n = {1}> { y = Loop(n, c, x) <body = b (i) => (i) { k = Neg(x) }> }',
    "a branch of a body that is not there": HEAD + "g (bool c, float[2] x) => (y) { y = If(c) <then_branch = t () => (p) { p = If(c) }, else_branch = e () => (q) { q = Neg(x) }> }",
}


def test_whole_models(t):
    t.path("plain.onnx").write_bytes(o.linear())
    wrong = []
    for name, text in MODELS.items():
        t.path("net.onnxtxt").write_text(text)
        for verb in VERBS:
            result = t.attempt(*verb)
            if result.code not in (0, 1, 3):
                wrong.append(f"{name}, {' '.join(verb)}: exit {result.code} {result.err[:300]}")
    assert not wrong, "\n".join(wrong)


def test_every_finding_at_once(t):
    t.path("net.onnxtxt").write_text(HEAD + "g (float[2,3] x) => (y) { a = Softmax<axis=4>(x) b = Softmax<axis=5>(x) y = Add(a, b) }")
    refused = t.fails("simplify", "net.onnxtxt", "out.onnx", code=1, error="infer.axis")
    assert refused.err.count("error[infer.axis]") == 2 and "cameo check net.onnxtxt" in refused.err, refused
    assert not t.path("out.onnx").exists()


def test_branch_that_cannot_run_stays(t):
    """A size that is squeezed away where it is 1: the branch breaks its rule and is never taken."""
    t.path("net.onnxtxt").write_text(HEAD + "g (float[2,3] x, bool c) => (y) <int64[1] one = {1}> { r = Relu(x) s = Relu(r) y = If(c) <"
                                     "then_branch = t () => (z) { z = Squeeze(s, one) }, else_branch = e () => (q) { q = Neg(s) }> }")
    told = t.run("simplify", "net.onnxtxt", "out.onnx", "--json").json
    assert told["operators_after"] == {"If": 1, "Neg": 1, "Relu": 1, "Squeeze": 1}, told


def test_declared_types_are_hints(t):
    """A declared shape that is not what a node computes: a warning, and the model is simplified."""
    t.path("net.onnxtxt").write_text(HEAD + "g (float[2,3] x) => (float[2,3] y) <float[7,9] r, float[8] s> { r = Relu(x) s = Relu(r) y = Identity(s) }")
    result = t.run("simplify", "net.onnxtxt", "out.onnx", "--json")
    told = json.loads(result.err)
    assert told["severity"] == "warning" and told["code"] == "infer.declared" and "2 declared types" in told["because"], told
    assert result.json["operators_after"] == {"Relu": 1}
    assert t.run("convert", "net.onnxtxt", "out.onnx", "--opset", "13").err.count("warning[infer.declared]") == 1


def test_newer_opsets_pass_through(t):
    """Operators of an opset that Cameo does not know have no rules here, whatever they are called."""
    t.path("net.onnx").write_bytes(o.model([o.node("Transpose", ["x"], ["a"]), o.node("Transpose", [], ["b"]), o.node("Softmax", ["a", "b"], ["c"]),
                                            o.node("If", [], ["d"]), o.node("Add", ["c", "d"], ["y"])],
                                           [o.value_info("x", [2, 3])], [o.value_info("y", [2, 3])], opset=99))
    told = t.run("simplify", "net.onnx", "out.onnx", "--json").json
    assert told["operators_after"] == {"Add": 1, "If": 1, "Softmax": 1, "Transpose": 2}
    t.run("explain", "net.onnx")
    t.fails("convert", "net.onnx", "out.onnx", "--opset", "13", code=1, error="convert.refused")


def test_initializers_of_branches_in_old_files(t):
    """Where initializers are inputs, which a branch has none of, the file says a later IR version."""
    t.path("net.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 13]> g (bool c, float[N,4] x) => (float[N,4] y) { y = If(c) <then_branch = t () => (p) { p = Relu(x) }, '
                                     'else_branch = e () => (q) <float[4] w = {1, 1, 1, 1}> { q = Add(x, w) }> }')
    t.run("convert", "net.onnxtxt", "seven.onnx", "--opset", "7")
    t.run("check", "seven.onnx")
