"""torch.export archives whose schema differs from ours: newer versions, unknown fields, parts that are missing."""
import json
import zipfile


def changed(t, sample, change=None, without=()):
    """A copy of a sample with its program changed, or with records left out."""
    with zipfile.ZipFile(t.root / "tests/data/pt2" / sample) as z: records = {name: z.read(name) for name in z.namelist()}
    with zipfile.ZipFile(t.path("net.pt2"), "w", zipfile.ZIP_STORED) as z:
        for name, data in records.items():
            if any(part in name for part in without): continue
            if change and name.endswith("models/model.json"):
                program = json.loads(data)
                change(program)
                data = json.dumps(program).encode()
            z.writestr(name, data)
    return t.path("net.pt2")


def refused(t, code, *words, **how):
    result = t.run("export", changed(t, "linear.pt2", **how), "-o", "out.onnx", code=code)
    assert not t.path("out.onnx").exists()
    for word in words: assert word in result.err, result.err


def test_a_schema_of_the_future_is_refused_with_its_version(t):
    def newer(program): program["schema_version"] = {"major": 9, "minor": 1}
    refused(t, 3, "file.version", "9.1", "PyTorch 2.1 to", change=newer)


def test_unknown_fields_are_passed_over(t):
    def more(program):
        program["novelty"] = {"deep": [1, 2]}
        program["schema_version"]["minor"] = 99
        program["graph_module"]["graph"]["novelty"] = None
        for node in program["graph_module"]["graph"]["nodes"]: node["novelty"] = "x"
        for meta in program["graph_module"]["graph"]["tensor_values"].values(): meta["novelty"] = 5
    t.run("export", changed(t, "linear.pt2", change=more), "-o", "out.onnx")
    plain = t.run("export", t.root / "tests/data/pt2/linear.pt2", "-o", "plain.onnx", "--no-provenance")
    t.run("export", t.path("net.pt2"), "-o", "out.onnx", "--no-provenance")
    assert plain.code == 0 and t.path("out.onnx").read_bytes() == t.path("plain.onnx").read_bytes()


def test_an_unknown_kind_of_argument_is_named(t):
    def strange(program): program["graph_module"]["graph"]["nodes"][0]["inputs"][0]["arg"] = {"as_novelty": 1}
    refused(t, 3, "as_novelty", change=strange)


def test_a_name_that_nothing_defines_is_told(t):
    def unknown(program): program["graph_module"]["graph"]["nodes"][0]["inputs"][0]["arg"] = {"as_tensor": {"name": "nobody"}}
    refused(t, 3, "nobody", change=unknown)


def test_missing_weights_are_told_by_name(t):
    refused(t, 3, "file.missing-data", "weight", without=("weights/weight_0",))
    refused(t, 3, "file.missing-data", without=("weights_config",))


def test_signature_and_graph_must_agree(t):
    def fewer(program): program["graph_module"]["signature"]["input_specs"].pop()
    refused(t, 3, "unequal numbers of inputs", change=fewer)


def test_several_weights_in_one_record(t):
    """Two names that view one storage at different places."""
    import struct
    with zipfile.ZipFile(t.root / "tests/data/pt2/linear.pt2") as z: records = {name: z.read(name) for name in z.namelist()}
    config_name = next(n for n in records if n.endswith("weights_config.json"))
    config = json.loads(records[config_name])
    folder = config_name.rsplit("/", 1)[0]
    store, at = b"", 0
    for entry in config["config"].values():
        data = records.pop(f"{folder}/{entry['path_name']}")
        entry["path_name"], entry["tensor_meta"]["storage_offset"] = "weight_0", {"as_int": at}
        store, at = store + data, at + len(data) // struct.calcsize("<f")
    records[f"{folder}/weight_0"] = store
    records[config_name] = json.dumps(config).encode()
    with zipfile.ZipFile(t.path("shared.pt2"), "w", zipfile.ZIP_STORED) as z:
        for name, data in records.items(): z.writestr(name, data)
    t.run("export", t.path("shared.pt2"), "-o", "shared.onnx", "--no-provenance")
    t.run("export", t.root / "tests/data/pt2/linear.pt2", "-o", "plain.onnx", "--no-provenance")
    assert t.path("shared.onnx").read_bytes() == t.path("plain.onnx").read_bytes()
