"""Requests to a desk and settings for the C interface: what programs send, with what they should not send."""
import json
import pathlib
import re

from chance import damage_bytes

FLAGS = ["lossy", "exact", "fuse", "fold", "sizes_may_be_zero", "shapes", "keep_io", "inline_functions", "check", "to_qdq", "exact_rounding", "simplify", "params", "unroll", "asserts",
         "assume", "allow_frozen", "state_outputs", "number_params", "doc_strings", "linger", "initializers_as_inputs", "keep_connected", "verify", "reference", "correct_bias", "equalize"]
NUMBERS = ["opset", "unroll", "check", "rtol", "atol", "max_error", "threads", "min_db", "max_float_macs", "check_samples", "percentile", "random", "seed", "max_drop", "bits", "block",
           "seconds", "memory_bytes", "turns", "steps"]
WORDS = {"float_type": ["f16", "bf16", "mixed", "keep"], "quantized": ["qdq", "qoperator"], "functions": ["automatic", "keep", "inlined"], "weights": ["keep", "embed", "external", "in_place"],
         "target": ["tensorrt", "onnxruntime", "qnn", "generic"], "method": ["forward", "minmax", "entropy", "mse"], "fallback": ["aten", "all_aten",
             "custom"], "training": ["eval", "train", "preserve"],
         "form": ["qdq", "qoperator", "nbits"], "image": ["size=4", "size=8x8,mean=0.5", "picture=rgb,size=8"], "external_name": ["out.onnx.data", "", "../x", "a/b", "out.onnx"],
         "normalise": ["automatic", "fold", "keep", "out"], "detections": ["auto", "score=0.3,max=2", "boxes=x,scores=y", "form=topk", "format=cxcywh,classes=80,iou=nan"],
         "pattern": ["*", "conv", "aten::add", ""],
         "calibrate": ["inputs.npz"], "rules": ["model.onnx"], "example_inputs": ["inputs.npz"]}
LISTS = {"targets": ["onnxruntime", "tensorrt", "all", "rknn"], "only": ["gelu", "add-zero"], "skip": ["gelu"], "inputs": ["x=f32[batch,3]",
    "x=f32[2,3]", "n=3"], "keep_outputs": ["*"], "ignore": ["*"],
         "assumptions": ["t != 1", "2 <= t <= 64"], "types": ["mylib::op=f32[n]"]}
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src" / "api" / "settings_json.cpp"
CALLS = {  # whose settings a call reads, by the name of the C++ struct; one with the wrong settings is a mistake of the caller
    "simplify": "Simplify", "convert": "Convert", "export": "Export", "quantize": "Quantize", "quantize_weights": "Weight", "quantize_dynamic": "Dynamic", "lint": "Lint",
    "fix_lint": "LintFix", "prepare": "Prepare", "watched": "Prepare", "merge": "Merge", "verify": "Verify", "run": "Session", "save": "Save", "save_checked": "Save", "bytes": "Save",
    "check": "Check", "infer": "Infer", "operators": "OperatorQuery", "limited": "Limits",
}


def known_settings():
    """From the tables of the interface itself: a setting that is added is tried from then on."""
    rows = re.findall(r"CAMEO_ROW\((\w+), (\w+)\)", SOURCE.read_text())
    return {call: [member for struct, member in rows if struct in (name, name + "Settings")] for call, name in CALLS.items()}


FOR = known_settings()
EDITS = ["rename", "add_output", "remove_output", "remove_input", "fix_shape", "set_dim", "set_attribute", "set_operator", "insert_node",
    "remove_node", "rewire", "append_nms", "load_weight", "set_metadata", "strip"]
METHODS = (["graph", "picture", "node", "search", "weight", "run", "value", "inputs"] * 2 + ["models", "show", "stats", "text", "simplify", "convert",
    "infer", "extract", "edit", "merge", "rules", "explain",
           "check", "diff", "verify", "save", "close", "export", "open", "nothing"])
C_LINES = {  # functions whose "settings" are lines
    "weight": lambda rng, values, nodes: [rng.choice(values) for _ in range(rng.few(3))],
    "extract": lambda rng, values, nodes: [rng.choice(values) for _ in range(rng.few(4))],
    "convert_weights": lambda rng, values, nodes: [rng.choice(["nbits", "qdq", "", "x"])],
    "page": lambda rng, values, nodes: [rng.name()],
    "run_into": lambda rng, values, nodes: [rng.choice(values) for _ in range(rng.few(4))],
    "run_with": lambda rng, values, nodes: kernels_of_ones_own(rng),
    "verify_with": lambda rng, values, nodes: kernels_of_ones_own(rng),
    "quantize_with": lambda rng, values, nodes: kernels_of_ones_own(rng),
    "ask": lambda rng, values, nodes: desk_requests(rng, values, nodes, ["model.onnx"]).decode("utf-8", "replace").split("\n"),
}
C_FUNCTIONS = ["describe", "text", "findings", "stats", "weight", "load_bytes", "bytes", "save", "save_checked", "simplify", "quantize", "quantize_weights", "quantize_dynamic", "convert_weights",
               "infer", "check", "lint", "fix_lint", "prepare", "prepare", "watched", "limited", "interrupted", "convert", "extract", "edit", "merge", "diff", "explain", "operators", "rules",
               "verify", "picture", "page", "run", "run_into", "run_with", "verify_with", "quantize_with", "ask", "released"]
C_ARCHIVE_FUNCTIONS = ["export"] * 4 + ["prepare"] * 2 + ["stats", "describe", "findings", "quantize", "picture", "page", "load_bytes", "ask", "save_checked", "run"]


def kernels_of_ones_own(rng):
    return [rng.choice(["Relu", "Add", "MatMul", "Identity", "Softmax", "my.domain::Op", "com.microsoft::FusedMatMul", "", "::", "Loop", "Constant"]) for _ in range(rng.few(3))]


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
    if name in ("archive", "quantize") and rng.one_in(2):  # settings inside settings
        return settings("export" if name == "archive" else "quantize", rng, values)
    if name == "connect":
        return {rng.choice(values): rng.choice(values)}
    if name == "dynamic_axes":
        return {"x": rng.choice([[0], {"0": "batch"}, {"9": "n"}, [-1]])}
    return rng.choice([True, False])


def settings(call, rng, values):
    known = FOR.get(call) or FLAGS
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
    if function in C_LINES:
        data = "\n".join(C_LINES[function](rng, values, nodes)).encode("utf-8", "replace")
    else:
        made = changes(rng, values, nodes) if function == "edit" else settings(function, rng, values)
        data = json.dumps(made).encode("utf-8", "replace") if made or rng.one_in(2) else b""
    return damage_bytes(data, rng) if rng.one_in(15) else data.replace(b"\0", b"")
