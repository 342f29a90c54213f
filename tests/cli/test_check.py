"""cameo check: every finding at once, each with its place."""
import onnxfile as o


def findings(result):
    return [line.split("]")[0][6:] for line in result.err.splitlines() if line.startswith("error[")]


def check(t, data, code):
    t.path("m.onnx").write_bytes(data)
    return t.run("check", "m.onnx", code=code)


def test_a_good_model(t):
    assert check(t, o.linear(), 0).out == "m.onnx: no findings\n"
    assert t.run("check", "m.onnx", "--json").json == {"file": "m.onnx", "errors": 0, "warnings": 0}


def test_all_at_once(t):
    nodes = [
        o.node("Relu", ["nobody"], ["a"], "first"),
        o.node("Concat", ["x", "x"], ["b"], "second"),
        o.node("Softmax", ["x"], ["c"], "third", axis="last"),
        o.node("NoSuchThing", ["x"], ["d"], "fourth"),
        o.node("Add", ["x"], ["e"], "fifth"),
    ]
    result = check(t, o.model(nodes, [o.value_info("x", [2, 2])], [o.value_info("e", [2, 2])]), 1)
    assert findings(result) == ["check.undefined-name", "check.attribute", "check.attribute", "check.operator", "check.inputs"], str(result)
    for name in ["first", "second", "third", "fourth", "fifth"]:
        assert f"'{name}'" in result.err
    assert result.out == "m.onnx: 5 errors, 0 warnings\n"


def test_names_and_order(t):
    x, y = [o.value_info("x", [2])], [o.value_info("y", [2])]
    late = [o.node("Relu", ["h"], ["y"]), o.node("Abs", ["x"], ["h"])]
    assert findings(check(t, o.model(late, x, y), 1)) == ["check.order"]
    twice = [o.node("Relu", ["x"], ["y"]), o.node("Abs", ["x"], ["y"])]
    assert findings(check(t, o.model(twice, x, y), 1)) == ["check.duplicate-name"]
    cycle = [o.node("Add", ["x", "y"], ["y"])]
    assert findings(check(t, o.model(cycle, x, y), 1)) == ["check.order"]


def test_the_files_own_opset_judges(t):
    x, y = [o.value_info("x", [2, 3])], [o.value_info("y", [2])]
    axes = [o.node("ReduceSum", ["x"], ["y"], axes=[1], keepdims=0)]
    check(t, o.model(axes, x, y, opset=11), 0)
    assert findings(check(t, o.model(axes, x, y, opset=13), 1))[0] == "check.attribute"
    gelu = [o.node("Gelu", ["x"], ["z"])]
    assert findings(check(t, o.model(gelu, x, [o.value_info("z", [2, 3])], opset=18), 1)) == ["check.operator"]
    check(t, o.model(gelu, x, [o.value_info("z", [2, 3])], opset=20, ir=9), 0)


def test_types_and_shapes(t):
    nodes = [o.node("Add", ["x", "n"], ["y"])]
    result = check(t, o.model(nodes, [o.value_info("x", [2]), o.value_info("n", [2], o.INT64)], [o.value_info("y", [2])]), 1)
    assert "check.type" in findings(result)
    nodes = [o.node("Relu", ["x"], ["y"])]
    assert findings(check(t, o.model(nodes, [o.value_info("x", [2])], [o.value_info("y", [3])]), 1)) == ["infer.declared"]
    nodes = [o.node("Not", ["x"], ["y"])]  # found by turning bits over: the message names sizes that inference made
    result = check(t, o.model(nodes, [o.value_info("x", ["batch", 4])], [o.value_info("y", ["batch", 4])]), 1)
    assert "'x' is float[batch,4]" in result.err, str(result)


def test_json(t):
    t.path("m.onnx").write_bytes(o.model([o.node("Add", ["x"], ["y"], "sum")], [o.value_info("x", [2])], [o.value_info("y", [2])]))
    result = t.run("check", "m.onnx", "--json", code=1)
    import json
    told = [json.loads(line) for line in result.err.splitlines()]
    assert told[0]["code"] == "check.inputs" and told[0]["scope"] == "Add 'sum'" and told[0]["offset"] > 0
