"""Names from files in what is printed: whatever they hold, both streams are printable UTF-8, no name makes a line of its
own, and JSON is JSON."""
import io
import json
import os
import random
import re
import unicodedata
import warnings
import zipfile

import onnxfile as o

FORGED = "error[forged.finding]: all is lost"
HOSTILE = {
    "screen": b"a\x1b[2J\x1b]0;title\x07b",
    "line": f"a\n{FORGED}\r\n{FORGED}\n".encode(),
    "direction": "a\u202eb\u2066c\u2028d\u0085e\u009b2Jf\u061cg".encode(),
    "not text": b"a\xff\xfe\xc3(\xed\xa0\x80\xf4\x90\x80\x80b",
    "markup": b"<script>alert('1')</script>\"&quot;'\\",
    "nothing": b"a\x00b\x7f\x08c",
}


def is_shown(c):
    return c in "\n\t" or (unicodedata.category(c) not in ("Cc", "Zl", "Zp", "Cs")
                           and unicodedata.bidirectional(c) not in ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI") and c not in "\u200e\u200f\u061c")


def safe_text(data, where):
    text = data.decode()  # strict
    wrong = [c for c in text if not is_shown(c)]
    assert not wrong, f"{where} prints {wrong[:5]}: {text[:2000]}"
    return text


def judged(t, *args, codes=(0, 1, 3)):
    """Runs the command and checks both of its streams."""
    result = t.attempt(*args)
    where = f"cameo {' '.join(map(ascii, map(str, args)))}"
    assert result.code in codes, f"{where}: {result}"
    out, err = safe_text(result.out_bytes, where), safe_text(result.err_bytes, where)
    for line in (out + err).split("\n"):
        assert not line.lstrip().startswith(FORGED), f"{where}: a name made a line of its own:\n{line}"
    if "--json" in args:
        for line in (out + err).splitlines():
            json.loads(line)
    return result


def hostile_model(**names):
    """A model with a name of each kind; those that are given replace the ordinary ones."""
    n = {"node": "first", "value": "h", "input": "x", "output": "y", "domain": "my.domain", "operator": "Custom", "attribute": "alpha", "string": "text", "dim": "batch",
         "key": "key", "entry": "entry", "doc": "doc", "weight": "w", "graph": "g", "function": "twice", "producer": "samples", **names}
    nodes = [o.node("MatMul", [n["input"], n["weight"]], [n["value"]], n["node"]),
             o.node("Relu", [n["value"]], ["r"]) + o.field(6, n["doc"]),
             o.node("Identity", ["r"], ["i"]) + o.field(9, o.field(1, n["key"]) + o.field(2, n["entry"])),
             o.node(n["function"], ["i"], ["f"]) + o.field(7, "functions"),
             o.node(n["operator"], ["f"], ["c"], "custom") + o.field(7, n["domain"]) + o.field(5, o.attribute(n["attribute"], 1))
             + o.field(5, o.field(1, "s") + o.field(4, n["string"]) + o.field(20, 3)),
             o.node("Add", ["c", n["weight"]], [n["output"]])]
    graph = b"".join(o.field(1, node) for node in nodes) + o.field(2, n["graph"]) + o.field(5, o.floats(n["weight"], [2, 2], [1, 2, 3, 4])) + o.field(10, n["doc"])
    shape = o.field(2, o.field(1, o.field(2, n["dim"])) + o.field(1, o.field(1, 2)))
    info = lambda name: o.field(1, name) + o.field(2, o.field(1, o.field(1, o.FLOAT) + shape))
    graph += o.field(11, info(n["input"])) + o.field(12, info(n["output"])) + o.field(13, info(n["value"]))
    function = o.field(1, n["function"]) + o.field(4, "a") + o.field(5, "b") + o.field(7, o.node("Add", ["a", "a"], ["b"])) + o.field(9, o.field(1, "") + o.field(2, 18)) + o.field(10, "functions")
    imports = [("", 18), (n["domain"], 1), ("functions", 1)]
    out = o.field(1, 8) + o.field(2, n["producer"]) + o.field(7, graph) + b"".join(o.field(8, o.field(1, d) + o.field(2, v)) for d, v in imports)
    return out + o.field(6, n["doc"]) + o.field(14, o.field(1, n["key"]) + o.field(2, n["entry"])) + o.field(25, function)


PLACES = ["node", "value", "input", "output", "domain", "operator", "attribute", "string", "dim", "key", "entry", "doc", "weight", "graph", "function", "producer"]


def every_verb(t, name):
    t.path("plain.onnx").write_bytes(o.linear())
    judged(t, "show", name)
    judged(t, "show", name, "--json")
    judged(t, "show", name, "--text")
    judged(t, "check", name)
    judged(t, "infer", name, "out.onnx", "-v")
    judged(t, "simplify", name, "out.onnx", "--ledger", "ledger.json")
    judged(t, "convert", name, "out.onnx", "--opset", "13")
    judged(t, "explain", name)
    judged(t, "run", name, "--random", "0", "--keep-outputs", "*")
    judged(t, "diff", name, "plain.onnx")
    judged(t, "verify", name, "plain.onnx")
    judged(t, "edit", name, "out.onnx", "--remove-node", "nobody")
    judged(t, "extract", name, "out.onnx", "--to", "r")
    judged(t, "merge", name, "plain.onnx", "out.onnx")


def test_every_place_and_verb(t):
    for place in PLACES:
        for kind, text in HOSTILE.items():
            t.path("net.onnx").write_bytes(hostile_model(**{place: text}))
            judged(t, "show", "net.onnx", "--json")
            judged(t, "check", "net.onnx", "--json")
            if kind == "line" or place in ("node", "operator", "value"):
                every_verb(t, "net.onnx")


def test_a_name_makes_no_finding(t):
    """As many findings as without it, told by a broken model whose names are hostile."""
    broken = lambda name: o.model([o.node("Relu", ["x"], ["h"], name), o.node("Softmax", ["h"], ["y"], name, axis=7)], [o.value_info("x", ["n", 2])], [o.value_info("y", ["n", 2])])
    counts = set()
    for name in [b"plain", *HOSTILE.values()]:
        t.path("net.onnx").write_bytes(broken(name))
        plain, machine = judged(t, "check", "net.onnx", codes=[1]), judged(t, "check", "net.onnx", "--json", codes=[1])
        heads = re.findall(r"^(?:error|warning|note)\[", plain.err, re.M)
        assert len(heads) == len(machine.err.splitlines()) > 0
        counts.add(len(heads))
    assert len(counts) == 1


def test_text_files_are_text_and_read_back(t):
    for place in PLACES:
        for kind, text in HOSTILE.items():
            t.path("net.onnx").write_bytes(hostile_model(**{place: text}))
            if t.attempt("convert", "net.onnx", "net.onnxtxt", "--no-provenance").code:
                continue
            safe_text(t.path("net.onnxtxt").read_bytes(), f"the text form with {kind} in {place}")
            t.run("convert", "net.onnxtxt", "back.onnx", "--no-provenance")
            if place != "dim":  # which is written as the expression that means it
                assert text in t.path("back.onnx").read_bytes(), (place, kind)
            t.run("convert", "back.onnx", "again.onnxtxt", "--no-provenance")
            assert t.path("again.onnxtxt").read_bytes() == t.path("net.onnxtxt").read_bytes(), (place, kind)


def test_random_names(t):
    random.seed(7)
    for _ in range(40):
        names = {place: bytes(random.choice([random.randrange(256), random.randrange(32), 27, 10, 0xe2, 0x80]) for _ in range(random.randrange(1, 30))) for place in random.sample(PLACES, 4)}
        t.path("net.onnx").write_bytes(hostile_model(**names))
        for args in (["check", "net.onnx"], ["check", "net.onnx", "--json"], ["show", "net.onnx"], ["simplify", "net.onnx", "out.onnx"]):
            judged(t, *args)


def test_file_names(t):
    for text in HOSTILE.values():
        name = os.fsdecode(text.replace(b"/", b"").replace(b"\0", b"")) + ".onnx"
        t.path(name).write_bytes(o.linear())
        for args in (["show", name], ["show", name, "--json"], ["check", name], ["simplify", name, "out.onnx"], ["check", name + "gone"], ["run", name, "--random", "0", "--dim", name + "=1"]):
            judged(t, *args, codes=(0, 1, 2, 3))
        judged(t, name, codes=[2])
        judged(t, "show", "--" + name, codes=[2])
        t.path(name).write_bytes(b"no model")
        judged(t, "show", name, codes=[3])


def test_external_places(t):
    for text in HOSTILE.values():
        place = o.field(13, o.field(1, "location") + o.field(2, text))
        weight = o.field(1, 2) + o.field(2, o.FLOAT) + o.field(8, "w") + place + o.field(14, 1)
        t.path("net.onnx").write_bytes(o.model([o.node("Add", ["x", "w"], ["y"])], [o.value_info("x", [2])], [o.value_info("y", [2])], [weight]))
        for verb in (["show"], ["check"], ["check", "--json"], ["run", "--random", "0"]):
            judged(t, *verb, "net.onnx")


def test_arrays(t):
    t.path("net.onnx").write_bytes(o.linear())
    for text in HOSTILE.values():
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr(text.decode(errors="replace").replace("\0", "") + ".npy", o.npy([1, 2], [1, 1]))
        data = out.getvalue()
        t.path("x.npz").write_bytes(data)
        judged(t, "run", "net.onnx", "--inputs", "x.npz", codes=(0, 1, 2, 3))
        t.path("x.npz").write_bytes(data.replace(b".npy", b"\xff\x1b\n\x00"))
        judged(t, "run", "net.onnx", "--inputs", "x.npz", codes=(0, 1, 2, 3))


def rezipped(data, change):
    """The archive with every entry's name and bytes changed, and the sums right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that are twice the same are part of it
        for entry in old.infolist():
            new.writestr(change(entry.filename.encode("latin-1")).decode("latin-1"), change(old.read(entry)))
    return out.getvalue()


def same_length(text, size):
    """Hostile bytes of this length."""
    return (text * size)[:size]


def hostile_word(word, text, pickles_only=False):
    """A change for rezipped(): hostile bytes in the place of a word."""
    def change(entry):
        return entry.replace(word, same_length(text, len(word))) if not pickles_only or b"\x80\x02" in entry[:2] else entry
    return change


def test_torchscript(t):
    """Class names, attribute names and keys, methods, files in the archive: bytes of the same length put in their place."""
    sample = (t.root / "tests/data/torchscript/nested.pt").read_bytes()
    words = set(re.findall(rb"[A-Za-z_]{4,20}", b"".join(zipfile.ZipFile(io.BytesIO(sample)).read(n) for n in zipfile.ZipFile(io.BytesIO(sample)).namelist() if n.endswith((".py", ".pkl")))))
    for i, word in enumerate(sorted(words)):
        for text in list(HOSTILE.values())[i % 2::2]:
            for change in (hostile_word(word, text), hostile_word(word, text, pickles_only=True)):
                t.path("net.pt").write_bytes(rezipped(sample, change))
                judged(t, "show", "net.pt")
                judged(t, "show", "net.pt", "--text")
    for sample in ("export/blocks.pt", "export/structures.pt"):
        data = (t.root / "tests/data" / sample).read_bytes()
        for text in HOSTILE.values():
            for word in (b"forward", b"weight", b"training", b"code/", b"constants"):
                t.path("net.pt").write_bytes(rezipped(data, hostile_word(word, text)))
                judged(t, "export", "net.pt", "-o", "net.onnx", "--report", "report.html", codes=(0, 1, 2, 3))
                judged(t, "show", "net.pt", "--text")
    t.path("net.pt").write_bytes(data.replace(b"code", b"\xff\x1b\n\x9b"))
    judged(t, "show", "net.pt", codes=[3])


def test_exported_programs(t):
    sample = (t.root / "tests/data/pt2/linear.pt2").read_bytes()
    with zipfile.ZipFile(io.BytesIO(sample)) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".json") and b'"graph"' in archive.read(n))
        text = archive.read(name).decode()
    strings = sorted({s for s in re.findall(r'"([^"\\]{2,60})"', text) if s not in json.dumps(["graph", "nodes"])})
    escapes = [r"a\u001b[2J\u009b2J", r"a\n" + FORGED.replace('"', '') + r"\n", r"\u202e\u2028\u0000"]
    for i, word in enumerate(strings):
        changed = text.replace(f'"{word}"', f'"{word[:3]}{escapes[i % 3]}"')
        t.path("net.pt2").write_bytes(rezipped(sample, lambda b, changed=changed: changed.encode() if b == text.encode() else b))
        for args in (["show", "net.pt2"], ["show", "net.pt2", "--text"], ["show", "net.pt2", "--json"], ["export", "net.pt2", "-o", "net.onnx", "--report", "report.html"]):
            judged(t, *args)
    t.path("net.pt2").write_bytes(rezipped(sample, lambda b: b.replace(b'"linear', b'"\\ud800') if b == text.encode() else b))
    judged(t, "show", "net.pt2", codes=(0, 1, 3))


def test_reports_and_traces(t):
    for text in HOSTILE.values():
        t.path("net.onnx").write_bytes(o.model([o.node("Relu", ["x"], ["h"], text), o.node("Relu", ["h"], ["k"], text), o.node("Add", ["k", "k"], [text])],
                                               [o.value_info("x", [2])], [o.value_info(text, [2])]))
        judged(t, "run", "net.onnx", "--random", "0", "--profile", "trace.json", codes=[0])
        safe_text(t.path("trace.json").read_bytes(), "the trace")
        json.loads(t.path("trace.json").read_text())
        judged(t, "simplify", "net.onnx", "out.onnx", "--ledger", "ledger.json", codes=[0])
        for line in safe_text(t.path("ledger.json").read_bytes(), "the ledger").splitlines():
            json.loads(line)
    data = (t.root / "tests/data/export/blocks.pt").read_bytes()
    for text in HOSTILE.values():
        name = os.fsdecode(text.replace(b"/", b"").replace(b"\0", b"")) + ".pt"
        t.path(name).write_bytes(data)
        for report in ("report.html", "report.json"):
            judged(t, "export", name, "-o", "net.onnx", "--report", report, codes=[0])
            said = safe_text(t.path(report).read_bytes(), report)
            assert "<script>" not in said or report.endswith("json")
