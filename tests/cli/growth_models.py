"""Models of N equal parts, one for each way in which a model can be large: time and memory of every verb have to grow with N, not with its square."""
import onnxfile as o
from onnxfile import field, floats, ints, node, value_info

X = [value_info("x", [2, 2])]
Y = [value_info("y", [2, 2])]
EYE = floats("w", [2, 2], [1, 0, 0, 1])


def plain(nodes, weights=(), inputs=X, outputs=Y, **more):
    return o.model(nodes, inputs, outputs, weights, **more)


def chain_of(count, make):
    """make(i, input, output) gives one or more nodes."""
    nodes = []
    for i in range(count):
        made = make(i, f"v{i}" if i else "x", f"v{i + 1}" if i + 1 < count else "y")
        nodes += made if isinstance(made, list) else [made]
    return nodes


def graph_attribute(name, nodes, inputs=(), outputs=(), weights=()):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "body") + b"".join(field(5, w) for w in weights)
    graph += b"".join(field(11, i) for i in inputs) + b"".join(field(12, v) for v in outputs)
    return field(5, field(1, name) + field(6, graph) + field(20, 5))


def untyped(name):
    return field(1, name)


def unary_chain(n): return plain(chain_of(n, lambda i, a, b: node("Sigmoid", [a], [b])))
def named_chain(n): return plain(chain_of(n, lambda i, a, b: node("Relu" if i % 2 else "Tanh", [a], [b], f"/model/layers.{i}/block/act/{b}")))
def numbered_modules(n): return plain(chain_of(n, lambda i, a, b: node("Relu" if i % 6 < 3 else "Tanh", [a], [b], f"m/{i}/act")))
def identity_chain(n): return plain(chain_of(n, lambda i, a, b: node("Identity", [a], [b])))
def transpose_chain(n): return plain(chain_of(n, lambda i, a, b: [node("Transpose", [a], [b + "t"], perm=[1, 0]), node("Exp", [b + "t"], [b])]))


def cast_chain(n):
    return plain(chain_of(n, lambda i, a, b: [node("Cast", [a], [b + "c"], to=10), node("Neg", [b + "c"], [b + "n"]), node("Cast", [b + "n"], [b], to=1)]))


def reshape_chain(n):
    shapes = [ints("s0", [1], [4]), ints("s1", [2], [2, 2])]
    return plain(chain_of(n, lambda i, a, b: [node("Reshape", [a, "s0"], [b + "r"]), node("Abs", [b + "r"], [b + "a"]), node("Reshape", [b + "a", "s1"], [b])]), shapes)


def product_chain(n): return plain(chain_of(n, lambda i, a, b: node("MatMul", [a, "w"], [b])), [EYE])
def weighted_chain(n): return plain(chain_of(n, lambda i, a, b: node("MatMul", [a, f"w{i}"], [b])), [floats(f"w{i}", [2, 2], [1, i, 0, 1]) for i in range(n)])
def gemm_chain(n): return plain(chain_of(n, lambda i, a, b: [node("Gemm", [a, "w", "b"], [b + "g"]), node("Relu", [b + "g"], [b])]), [EYE, floats("b", [2], [1, 2])])
def add_chain(n): return plain(chain_of(n, lambda i, a, b: node("Add", [a, f"w{i}"], [b])), [floats(f"w{i}", [2, 2], [i, i, 0, 1]) for i in range(n)])
def residual_chain(n): return plain(chain_of(n, lambda i, a, b: [node("Tanh", [a], [b + "t"]), node("Add", [a, b + "t"], [b])]))
def shortcut_chain(n): return plain([node("Exp", ["x"], ["e"])] + chain_of(n, lambda i, a, b: [node("Tanh", [a], [b + "t"]), node("Add", ["e", b + "t"], [b])]))


def conv_chain(n):
    make = lambda i, a, b: [node("Conv", [a, "k"], [b + "c"], kernel_shape=[1, 1]), node("BatchNormalization", [b + "c", "o", "o", "o", "o"], [b + "b"]), node("Relu", [b + "b"], [b])]
    shape = [1, 2, 2, 2]
    return plain(chain_of(n, make), [floats("k", [2, 2, 1, 1], [1, 0, 0, 1]), floats("o", [2], [1, 1])], [value_info("x", shape)], [value_info("y", shape)])


def quantised_chain(n):
    make = lambda i, a, b: [node("QuantizeLinear", [a, "s", "z"], [b + "q"]), node("DequantizeLinear", [b + "q", "s", "z"], [b + "d"]), node("MatMul", [b + "d", "w"], [b])]
    zero = field(2, 2) + field(8, "z") + field(9, b"\0")
    return plain(chain_of(n, make), [EYE, floats("s", [], [0.1]), zero])


def fan(n):
    """One value with N users, all of them outputs."""
    nodes = [node("Exp", ["x"], ["e"])] + [node("Relu", ["e"], [f"y{i}"]) for i in range(n)]
    return plain(nodes, outputs=[value_info(f"y{i}", [2, 2]) for i in range(n)])


def fan_of_products(n):
    nodes = [node("MatMul", ["x", f"w{i}"], [f"p{i}"]) for i in range(n)] + [node("Sum", [f"p{i}" for i in range(n)], ["y"])]
    return plain(nodes, [floats(f"w{i}", [2, 2], [1, i, 0, 1]) for i in range(n)])


def fan_and_join(n):
    nodes = [node("Sin" if i % 2 else "Cos", ["x"], [f"p{i}"]) for i in range(n)] + [node("Concat", [f"p{i}" for i in range(n)], ["y"], axis=0)]
    return plain(nodes, outputs=[value_info("y", [2 * n, 2])])


def copied_branches(n):
    """N equal subexpressions."""
    return plain([node("Exp", ["x"], [f"e{i}"]) for i in range(n)] + [node("Sum", [f"e{i}" for i in range(n)], ["y"])])


def equal_weights(n):
    return plain(chain_of(n, lambda i, a, b: node("Mul", [a, f"w{i}"], [b])), [floats(f"w{i}", [2, 2], [1, 2, 3, 4]) for i in range(n)])


def unused_weights(n): return plain([node("Relu", ["x"], ["y"])], [floats(f"w{i}", [1], [i]) for i in range(n)])
def unused_nodes(n): return plain([node("Relu", ["x"], ["y"])] + [node("Exp", [f"u{i}" if i else "x"], [f"u{i + 1}"]) for i in range(n)])
def constants(n): return plain(chain_of(n, lambda i, a, b: [node("Constant", [], [f"c{i}"], value_float=float(i)), node("Add", [a, f"c{i}"], [b])]))


def many_inputs(n):
    return plain([node("Sum", [f"x{i}" for i in range(n)], ["y"])], inputs=[value_info(f"x{i}", [2, 2]) for i in range(n)])


def many_sizes(n):
    """Every input has a size of its own."""
    nodes = [node("Relu", [f"x{i}"], [f"y{i}"]) for i in range(n)]
    return plain(nodes, inputs=[value_info(f"x{i}", [f"d{i}", 2]) for i in range(n)], outputs=[value_info(f"y{i}", [f"d{i}", 2]) for i in range(n)])


def sum_of_sizes(n):
    return plain([node("Concat", [f"x{i}" for i in range(n)], ["y"], axis=0)], inputs=[value_info(f"x{i}", [f"d{i}", 2]) for i in range(n)], outputs=[value_info("y", ["d", 2])])


def growing_size(n):
    """Every value has another symbolic size: x, then one row more."""
    nodes = chain_of(n, lambda i, a, b: node("Concat", [a, "w"], [b], axis=0))
    return plain(nodes, [floats("w", [1, 2], [1, 2])], [value_info("x", ["N", 2])], [value_info("y", ["M", 2])])


def shape_arithmetic(n):
    def one(i, a, b):
        return [node("Shape", [a], [b + "s"]), node("Gather", [b + "s", "zero"], [b + "g"]), node("Concat", [b + "g", "two"], [b + "c"], axis=0), node("Reshape", [a, b + "c"], [b + "r"]),
                node("Relu", [b + "r"], [b])]
    return plain(chain_of(n, one), [ints("zero", [1], [0]), ints("two", [1], [2])], [value_info("x", ["N", 2])], [value_info("y", ["N", 2])])


def one_wide_split(n):
    nodes = [node("Split", ["x"], [f"p{i}" for i in range(n)], axis=0, num_outputs=n), node("Concat", [f"p{i}" for i in reversed(range(n))], ["y"], axis=0)]
    return plain(nodes, inputs=[value_info("x", [n, 2])], outputs=[value_info("y", [n, 2])])


def slices(n):
    weights = [ints(f"k{i}", [1], [i]) for i in range(n + 1)]
    nodes = [node("Slice", ["x", f"k{i}", f"k{i + 1}", "k0"], [f"p{i}"]) for i in range(n)] + [node("Concat", [f"p{i}" for i in range(n)], ["y"], axis=0)]
    return plain(nodes, weights, [value_info("x", [n, 2])], [value_info("y", [n, 2])])


def many_branches(n):
    def one(i, a, b):
        bodies = [graph_attribute(name, [node(op, [a], [f"{name}{i}"])], outputs=[untyped(f"{name}{i}")]) for name, op in (("then_branch", "Exp"), ("else_branch", "Neg"))]
        return node("If", ["c"], [b]) + b"".join(bodies)
    return plain(chain_of(n, one), inputs=X + [value_info("c", [], 9)])


def many_loops(n):
    def one(i, a, b):
        body = [node("Relu", [f"s{i}"], [f"t{i}"]), node("Identity", [f"c{i}"], [f"d{i}"])]
        inputs = [value_info(f"i{i}", [], 7), value_info(f"c{i}", [], 9), value_info(f"s{i}", [2, 2])]
        return node("Loop", ["turns", "", a], [b]) + graph_attribute("body", body, inputs, [untyped(f"d{i}"), untyped(f"t{i}")])
    return plain(chain_of(n, one), [ints("turns", [], [2])])


def many_scans(n):
    def one(i, a, b):
        inputs = [value_info(f"s{i}", [2]), value_info(f"r{i}", [2])]
        body = [node("Add", [f"s{i}", f"r{i}"], [f"t{i}"]), node("Neg", [f"r{i}"], [f"u{i}"])]
        return node("Scan", ["start", a], ["", b], num_scan_inputs=1) + graph_attribute("body", body, inputs, [untyped(f"t{i}"), untyped(f"u{i}")])
    return plain(chain_of(n, one), [floats("start", [2], [0, 0])])


def large_body(n):
    """One Loop whose body reads N values from outside."""
    around = [node("Sin", ["x"], ["o0"])] + [node("Sin", [f"o{i}"], [f"o{i + 1}"]) for i in range(n)]
    body = [node("Add", [f"b{i}" if i else "s", f"o{i}"], [f"b{i + 1}"]) for i in range(n)] + [node("Identity", ["c"], ["d"])]
    inputs = [value_info("i", [], 7), value_info("c", [], 9), value_info("s", [2, 2])]
    loop = node("Loop", ["turns", "", "x"], ["y"]) + graph_attribute("body", body, inputs, [untyped("d"), untyped(f"b{n}")])
    return plain(around + [loop], [ints("turns", [], [2])])


def nested_branches(n):
    """To a depth of 60, and a chain of N nodes at the bottom."""
    last = [node("Exp", [f"q{i}" if i else "x"], [f"q{i + 1}"]) for i in range(n)]
    out = f"q{n}"
    for depth in range(60):
        branches = graph_attribute("then_branch", last, outputs=[untyped(out)]) + graph_attribute("else_branch", [node("Neg", ["x"], [f"e{depth}"])], outputs=[untyped(f"e{depth}")])
        last, out = [node("If", ["c"], [f"r{depth}"]) + branches], f"r{depth}"
    return plain(last + [node("Identity", [out], ["y"])], inputs=X + [value_info("c", [], 9)])


def function(name, nodes, opset=18):
    body = field(1, name) + field(4, "a") + field(5, "b") + b"".join(field(7, n) for n in nodes)
    return field(25, body + field(9, field(1, "") + field(2, opset)) + field(9, field(1, "f") + field(2, 1)) + field(10, "f"))


def call(name, a, b): return node(name, [a], [b]) + field(7, "f")


def many_functions(n):
    data = plain(chain_of(n, lambda i, a, b: call(f"F{i}", a, b))) + field(8, field(1, "f") + field(2, 1))
    return data + b"".join(function(f"F{i}", [node("Relu", ["a"], ["t"]), node("Neg", ["t"], ["b"])]) for i in range(n))


def chained_functions(n):
    """Each calls the next."""
    data = plain([call("F0", "x", "y")]) + field(8, field(1, "f") + field(2, 1))
    return data + b"".join(function(f"F{i}", [call(f"F{i + 1}", "a", "b") if i < n else node("Relu", ["a"], ["b"])]) for i in range(n + 1))


def equal_names(n):
    """Inlined, the values inside of all calls are called alike."""
    body = function("R", [node("Relu", ["a"], ["t"]), node("Neg", ["t"], ["b"])])
    calls = chain_of(n, lambda i, a, b: node("R", [a], [b], "same") + field(7, "f"))
    return plain(calls) + field(8, field(1, "f") + field(2, 1)) + body


def many_calls(n):
    data = plain(chain_of(n, lambda i, a, b: call("F", a, b))) + field(8, field(1, "f") + field(2, 1))
    return data + function("F", [node("Relu", ["a"], ["t"]), node("Neg", ["t"], ["b"])])


def backwards(n): return plain(list(reversed(chain_of(n, lambda i, a, b: node("Sigmoid", [a], [b])))))


def declared(n):
    """Every value is declared, and has a text with it."""
    infos = [value_info(f"v{i}", [2, 2]) for i in range(1, n)]
    return plain(chain_of(n, lambda i, a, b: node("Sigmoid", [a], [b], f"n{i}") + field(6, "doc")), infos=infos) + b"".join(field(14, field(1, f"k{i}") + field(2, "v")) for i in range(n))


def unknown_operators(n):
    return plain(chain_of(n, lambda i, a, b: node(f"Op{i}", [a], [b]) + field(7, "my"))) + field(8, field(1, "my") + field(2, 1))


def taken_names(n):
    """Values that are called like the outputs that are appended."""
    names = ["nms_boxes"] + [f"nms_boxes_{i}" for i in range(2, n + 1)]
    nodes = [node("Identity", [a], [b]) for a, b in zip(["x", *names], [*names, "b"])] + [node("Softmax", ["c"], ["s"], axis=-1)]
    return plain(nodes, (), [value_info("x", [1, 3, 4]), value_info("c", [1, 3, 2])], [value_info("b", [1, 3, 4]), value_info("s", [1, 3, 2])])


def long_sequence(n):
    nodes = [node("SequenceConstruct", ["x"], ["v0"])] + [node("SequenceInsert", [f"v{i}", "x"], [f"v{i + 1}"]) for i in range(n)]
    return plain(nodes + [node("ConcatFromSequence", [f"v{n}"], ["y"], axis=0)], outputs=[value_info("y", ["N", 2])])


def recurrent(n):
    weights = [floats("w", [1, 8, 2], [0.1] * 16), floats("r", [1, 8, 2], [0.1] * 16), ints("a", [1], [1])]
    make = lambda i, a, b: [node("LSTM", [a, "w", "r"], [b + "l"], hidden_size=2), node("Squeeze", [b + "l", "a"], [b])]
    return plain(chain_of(n, make), weights, [value_info("x", [3, 1, 2])], [value_info("y", [3, 1, 2])])


def heads(n):
    """Detector-like: N pairs of a product and its activation, joined."""
    nodes = [node("MatMul", ["x", "w"], ["h"])]
    for i in range(n):
        nodes += [node("Gemm", ["h", "w"], [f"g{i}"]), node("Sigmoid", [f"g{i}"], [f"s{i}"]), node("Reshape", [f"s{i}", "flat"], [f"r{i}"])]
    return plain(nodes + [node("Concat", [f"r{i}" for i in range(n)], ["y"], axis=1)], [EYE, ints("flat", [3], [1, 1, -1])], outputs=[value_info("y", [1, n, 4])])


def attention(n):
    """Blocks with products of values, softmax and normalisation."""
    weights = [EYE, floats("g", [2], [1, 1])]
    def one(i, a, b):
        return [node("MatMul", [a, "w"], [b + "q"]), node("MatMul", [a, "w"], [b + "k"]), node("Transpose", [b + "k"], [b + "t"], perm=[1, 0]), node("MatMul", [b + "q", b + "t"], [b + "p"]),
                node("Softmax", [b + "p"], [b + "s"]), node("MatMul", [b + "s", a], [b + "o"]), node("Add", [a, b + "o"], [b + "r"]), node("LayerNormalization", [b + "r", "g", "g"], [b])]
    return plain(chain_of(n, one), weights)


MODELS = {name: make for name, make in sorted(globals().items()) if callable(make) and getattr(make, "__module__", "") == __name__ and name not in
          ("plain", "chain_of", "graph_attribute", "untyped", "function", "call")}
