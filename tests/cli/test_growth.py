"""Time grows with a model, not with its square: four times the nodes take about four times the work, in every verb.

A row is a kind of model (growth_models.py), the command and the smaller number of parts. Rows with a comment were quadratic once.
"""
import resource

import growth_models

TIMES = 4
MOST = 8.0      # times the processor's seconds of the smaller model; a square would be 16
ALWAYS = 0.7    # seconds of the processor that are no matter
INFER, CHECK, VIEW = ("infer", "m.onnx", "out.onnx"), ("check", "m.onnx"), ("view", "m.onnx", "-o", "out.svg", "--open-all")
SIMPLIFY, HALF = ("simplify", "m.onnx", "out.onnx"), ("convert", "m.onnx", "out.onnx", "--float", "f16")
RUN, FIX = ("run", "m.onnx", "--random", "0", "-o", "out.npz"), ("lint", "m.onnx", "--target", "all", "--fix", "out.onnx")
ROWS = [
    ("attention", HALF, 1500),          # observed values were looked for after every node
    ("equal_weights", HALF, 1500),
    ("cast_chain", FIX, 1500),          # a target was asked once for each node that it had found
    ("growing_size", SIMPLIFY, 1500),   # Concat of Concat, one after the other
    ("long_sequence", SIMPLIFY, 1500),  # appends to a list, one after the other
    ("copied_branches", SIMPLIFY, 5000),
    ("many_functions", SIMPLIFY, 1500),
    ("shape_arithmetic", SIMPLIFY, 1500),
    ("fan", RUN, 5000),                 # every output looked through all buffers
    ("fan_of_products", RUN, 5000),     # buffers were compared each with each
    ("large_body", RUN, 5000),
    ("many_branches", RUN, 3000),       # each body was planned over a copy of the whole graph
    ("many_loops", RUN, 3000),
    ("many_scans", ("run", "m.onnx", "--random", "0", "--reference", "-o", "out.npz"), 3000),
    ("many_sizes", INFER, 3000),
    ("sum_of_sizes", INFER, 3000),
    ("nested_branches", INFER, 3000),
    ("backwards", CHECK, 5000),
    ("chained_functions", CHECK, 3000),  # each round took one more away
    ("named_chain", VIEW, 3000),
    ("numbered_modules", ("view", "m.onnx", "-o", "out.svg"), 15000),        # each stack looked through all its neighbours
    ("taken_names", ("edit", "m.onnx", "out.onnx", "--append-nms", "b,s"), 10000),  # each number was looked up in all names
    ("equal_names", ("convert", "m.onnx", "out.onnx", "--inline"), 5000),
    ("heads", ("prepare", "m.onnx", "out.onnx", "--no-verify"), 1000),
    ("unary_chain", ("merge", "m.onnx", "m.onnx", "out.onnx", "--connect", "y=x"), 5000),
    ("weighted_chain", ("quantize", "m.onnx", "out.onnx", "--dynamic"), 1500),
]


def seconds(t, make, command, count):
    """Of the processor; the least of two, since other work on the machine costs caches."""
    t.path("m.onnx").write_bytes(make(count))

    def once():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = t.attempt(*command)
        assert result.code in (0, 1), result
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    first = once()
    return min(first, once()) if first > ALWAYS else first


def test_work_grows_with_the_model(t):
    slow = []
    for name, command, count in ROWS:
        make = growth_models.MODELS[name]
        more = seconds(t, make, command, TIMES * count)
        if more <= ALWAYS:
            continue
        less = seconds(t, make, command, count)
        if more > MOST * less:
            slow.append(f"{name}: cameo {' '.join(command)}: {count} parts {less:.2f} s, {TIMES * count} parts {more:.2f} s")
    assert not slow, "\n".join(slow)


def test_a_function_that_calls_itself_costs_nothing(t):
    body = growth_models.graph_attribute("then_branch", [growth_models.call("R", "a", "t")], outputs=[growth_models.untyped("t")])
    other = growth_models.graph_attribute("else_branch", [growth_models.call("R", "a", "t")], outputs=[growth_models.untyped("t")])
    choice = growth_models.node("If", ["a"], ["b"]) + body + other

    def make(count):
        calls = growth_models.chain_of(count, lambda i, a, b: growth_models.call("R", a, b))
        return growth_models.plain(calls) + growth_models.field(8, growth_models.field(1, "f") + growth_models.field(2, 1)) + growth_models.function("R", [choice])
    assert seconds(t, make, INFER, 1) < ALWAYS
