"""Requests to a desk and settings for the C interface: what programs send, with what they should not send."""
import json

from chance import damage_bytes

FLAGS = ["lossy", "exact", "fuse", "fold", "sizes_may_be_zero", "shapes", "keep_io", "inline_functions", "check", "to_qdq", "exact_rounding", "simplify", "params", "unroll", "asserts",
         "assume", "allow_frozen", "state_outputs", "number_params", "doc_strings", "linger", "initializers_as_inputs", "keep_connected", "verify", "reference", "correct_bias", "equalize"]
NUMBERS = ["opset", "unroll", "check", "rtol", "atol", "max_error", "threads", "min_db", "max_float_macs", "check_samples", "percentile", "random", "seed"]
WORDS = {"float_type": ["f16", "bf16", "mixed", "keep"], "quantized": ["qdq", "qoperator"], "functions": ["automatic", "keep", "inlined"], "weights": ["keep", "embed", "external", "in_place"],
         "target": ["tensorrt", "onnxruntime", "qnn", "generic"], "method": ["forward", "minmax", "entropy", "mse"], "fallback": ["aten", "all_aten",
             "custom"], "training": ["eval", "train", "preserve"],
         "form": ["qdq", "qoperator"], "image": ["size=4"], "calibrate": ["inputs.npz"], "rules": ["model.onnx"], "example_inputs": ["inputs.npz"]}
LISTS = {"targets": ["onnxruntime", "tensorrt", "all", "rknn"], "only": ["gelu", "add-zero"], "skip": ["gelu"], "inputs": ["x=f32[batch,3]",
    "x=f32[2,3]", "n=3"], "keep_outputs": ["*"], "ignore": ["*"],
         "assumptions": ["t != 1", "2 <= t <= 64"], "types": ["mylib::op=f32[n]"]}
FOR = {  # settings that a call knows; others are mistakes of the caller
    "simplify": "exact fuse fold sizes_may_be_zero shapes unroll check rtol atol functions only skip without input_shapes",
    "convert": "opset lossy float_type keep_io keep inline_functions check max_error target threads to_qdq exact_rounding quantized",
    "export": "inputs opset training fold simplify params unroll fallback functions keep_outputs lossy doc_strings linger assume asserts state_outputs "
        "dynamic_axes",
    "quantize": "target method percentile simplify correct_bias equalize min_db check_samples threads opset form",
    "lint": "targets ignore",
    "fix_lint": "targets ignore verify sizes input_shapes",
    "merge": "connect keep_connected",
    "verify": "random sizes rtol atol",
    "run": "threads reference seed keep_outputs",
}
EDITS = ["rename", "add_output", "remove_output", "remove_input", "fix_shape", "set_dim", "set_attribute", "set_operator", "insert_node",
    "remove_node", "rewire", "append_nms", "load_weight", "set_metadata", "strip"]
METHODS = (["graph", "picture", "node", "search", "weight", "run", "value", "inputs"] * 2 + ["models", "show", "stats", "text", "simplify", "convert",
    "infer", "extract", "edit", "merge", "rules", "explain",
           "check", "diff", "verify", "save", "close", "export", "open", "nothing"])
C_FUNCTIONS = ["describe", "text", "stats", "simplify", "quantize", "infer", "check", "lint", "fix_lint", "convert", "edit", "merge", "diff", "explain", "verify", "picture", "run"]


def setting(name, rng, values):
    if rng.one_in(10):
        return rng.choice([None, [], {}, "", -1, 1e300, True, "x", [[]], {"x": []}, rng.integer()])
    if name in WORDS:
        return rng.choice(WORDS[name])
    if name in LISTS:
        return [rng.choice(LISTS[name]) for _ in range(rng.few(2))]
    if name in NUMBERS and (name not in FLAGS or rng.one_in(2)):
        return rng.choice([0, 1, 2, 3, 13, 17, 21, 0.5, -1, 99.9, rng.integer()])
    if name in ("sizes", "check_sizes"):
        return {rng.choice(["N", "batch", "n"]): rng.choice([0, 1, 2, 3, -1, 1 << 40])}
    if name in ("keep", "without"):
        return [rng.choice(values)]
    if name == "input_shapes":
        return {rng.choice(values): [rng.choice([1, 2, 3, 0, -1, "N"]) for _ in range(rng.randrange(5))]} if rng.one_in(2) else [f"{rng.choice(values)}:1,2,3"]
    if name == "connect":
        return {rng.choice(values): rng.choice(values)}
    if name == "dynamic_axes":
        return {"x": rng.choice([[0], {"0": "batch"}, {"9": "n"}, [-1]])}
    return rng.choice([True, False])


def settings(call, rng, values):
    known = FOR.get(call, "").split() or FLAGS
    names = [rng.choice(known if not rng.one_in(15) else FLAGS + NUMBERS + sorted(WORDS)) for _ in range(rng.randrange(4))]
    return {name: setting(name, rng, values) for name in names}


def changes(rng, values, nodes):
    out = []
    for _ in range(rng.few(3)):
        word = rng.choice([rng.choice(values), rng.choice(nodes), rng.name()])
        call = rng.choice(EDITS)
        arguments = {"fix_shape": [rng.choice(values), 1, 2, 3], "set_dim": [rng.choice(values), rng.randint(-2, 4), rng.choice(["N", "3", "?", 5])],
                     "set_attribute": [rng.choice(nodes), "axis", str(rng.integer())], "set_operator": [rng.choice(nodes), rng.choice(["Relu", "Loop", "Concat", "Nothing"])],
                     "insert_node": [f"new = {rng.choice(['Relu', 'Split', 'Loop', 'Softmax<axis=9>'])}({rng.choice(values)})"], "strip": []}.get(call)
        out.append([call, *(arguments if arguments is not None else [word, rng.choice(values)][:rng.randint(1, 2)])])
    return out


def params(method, rng, values, nodes, files):
    p = {"model": rng.choice([1, 1, 1, 1, 2, 3, 0, -1, 1 << 40, "1", None]) if rng.one_in(5) else 1}
    if method in ("graph", "picture"):
        p |= rng.choice([{}, {"all": True}, {"open": [rng.randrange(8) for _ in range(3)]}, {"show": rng.randrange(40)}, {"open": [rng.integer()]}, {"show": rng.integer()}])
    elif method in ("node", "weight"):
        p |= {"item": rng.randrange(12) if not rng.one_in(5) else rng.integer(), "value": rng.choice(values)}
    elif method == "search":
        p |= {"text": rng.choice([*values, *nodes, "", "*", "."]), "limit": rng.choice([0, 1, 50, -1])}
    elif method in ("run", "inputs"):
        p |= {"seed": rng.integer(), "sizes": {"N": rng.choice([0, 1, 2, 3, -1])}, "keep": ["*"] if rng.one_in(2) else []} if rng.one_in(2) else {"npz": rng.choice([0, 0, 0, 1, -1])}
        if rng.one_in(4):
            p["inputs"] = [{"name": rng.choice(values), "dtype": rng.choice(["f32", "i64", "bool", "f99"]), "shape": [rng.choice([0, 1, 2, 3, -1,
                1 << 62]) for _ in range(rng.randrange(4))], "blob": rng.choice([0, 1, -1])}]
        elif rng.one_in(8):
            p["inputs"] = [{"name": rng.choice(values), "npy": 0}]
    elif method == "value":
        p |= {"run": rng.randrange(2, 6), "value": rng.choice(values)}
    elif method == "extract":
        p |= {"inputs": [rng.choice(values)] if rng.one_in(2) else [], "outputs": [rng.choice(values)]}
    elif method == "edit":
        p |= {"changes": changes(rng, values, nodes)}
    elif method == "open":
        p |= rng.choice([{"file": files[0]}, {"file": "/etc/passwd"}, {"file": "model.onnx", "blob": 0}, {"file": "inputs.npz"}, {}])
    elif method == "explain":
        p |= {"rule": rng.choice(["gelu", "", "add-zero", "nothing"])}
    if method in ("merge", "diff", "verify"):
        p |= {"second": 1, "reference": 1, "limit": 5}
    if method in FOR or method == "save":
        p |= {"settings": settings(method, rng, values)}
    if rng.one_in(6):
        p["preview"] = True
    if rng.one_in(20):
        p[rng.choice(sorted(p))] = rng.choice([None, [], {}, "x", 1.5, rng.integer(), {"x": [1]}])
    return p


def desk_requests(rng, values, nodes, files):
    lines = [{"method": "open", "params": {"file": files[0]}}]
    for _ in range(rng.randint(2, 8)):
        method = rng.choice(METHODS)
        lines.append({"method": method, "params": params(method, rng, values, nodes, files)})
    data = "\n".join(json.dumps(line) for line in lines).encode("utf-8", "replace")
    return damage_bytes(data, rng) if rng.one_in(15) else data


def c_settings(function, rng, values, nodes):
    made = changes(rng, values, nodes) if function == "edit" else settings(function, rng, values)
    data = json.dumps(made).encode("utf-8", "replace") if made or rng.one_in(2) else b""
    return damage_bytes(data, rng) if rng.one_in(15) else data.replace(b"\0", b"")
