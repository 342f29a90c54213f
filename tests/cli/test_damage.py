"""Damaged files, given to the command: a diagnosis and the right exit status, never a signal, and no file left behind."""
import onnxfile as o

FILE = 3  # the file is damaged, hostile or not a model
OLD = b"what stood here before"


def cuts(data, count=12):
    """The file cut off at `count` places, from nothing to all but the last byte."""
    return [(f"cut to {n} bytes", data[:n]) for n in sorted({(len(data) - 1) * i // (count - 1) for i in range(count)})]


def flips(data, count=24):
    """The file with one bit turned over, at `count` places spread over it."""
    for i in range(count):
        at = len(data) * i // count
        yield f"bit {i % 8} of byte {at} turned over", data[:at] + bytes([data[at] ^ 1 << i % 8]) + data[at + 1:]


def judge(t, what, args, output, allowed):
    """Runs the command over a damaged file. Where it fails, the old output stands and nothing else is there."""
    if output:
        t.path(output).write_bytes(OLD)
    before = {p.name for p in t.folder.iterdir()}
    result = t.attempt(*args)
    words = f"cameo {' '.join(map(str, args))}, {what}: {result}"
    assert result.code in allowed, words
    assert {p.name for p in t.folder.iterdir()} == before, words
    if result.code != 0:
        assert "error" in result.err, words
        assert not output or t.path(output).read_bytes() == OLD, words
    elif output:
        assert t.path(output).read_bytes() != OLD, words


def damage(t, name, data, commands, cut_allowed=(0, 1, FILE)):
    for what, bad in cuts(data):
        t.path(name).write_bytes(bad)
        for args, output in commands:
            judge(t, what, args, output, cut_allowed)
    for what, bad in flips(data):
        t.path(name).write_bytes(bad)
        for args, output in commands:
            judge(t, what, args, output, (0, 1, FILE))


def test_archives(t):
    # A zip ends with its directory, so that nothing shorter is one.
    for sample in ["export/search.pt", "torchscript/mixed_traced.pt"]:
        data = (t.root / "tests/data" / sample).read_bytes()
        commands = [(["export", "bad.pt", "-o", "out.onnx", "--input", "x=f32[b,3]"], "out.onnx"), (["show", "bad.pt"], None)]
        damage(t, "bad.pt", data, commands, cut_allowed=(FILE,))


def test_exported_archives(t):
    for sample in ["branch.pt2", "releases/const_2.1.pt2", "releases/cond_2.6.pt2", "releases/nested_2.8.pt2"]:
        data = (t.root / "tests/data/pt2" / sample).read_bytes()
        damage(t, "bad.pt2", data, [(["export", "bad.pt2", "-o", "out.onnx"], "out.onnx")], cut_allowed=(FILE,))


def test_models(t):
    for sample in ["typed", "branches", "functions"]:
        data = (t.root / f"tests/data/onnx/{sample}.onnx").read_bytes()
        commands = [(["show", "bad.onnx"], None), (["check", "bad.onnx"], None), (["infer", "bad.onnx", "out.onnx"], "out.onnx"),
                    (["convert", "bad.onnx", "out.onnx", "--opset", "21"], "out.onnx")]
        damage(t, "bad.onnx", data, commands)


def test_models_run(t):
    damage(t, "bad.onnx", o.linear(), [(["run", "bad.onnx", "--random", "1", "--dim", "batch=2", "-o", "out.npz"], "out.npz")])


def test_models_as_text(t):
    t.path("net.onnx").write_bytes(o.linear())
    t.run("convert", "net.onnx", "net.onnxtxt")
    commands = [(["check", "bad.onnxtxt"], None), (["convert", "bad.onnxtxt", "out.onnx"], "out.onnx")]
    damage(t, "bad.onnxtxt", t.path("net.onnxtxt").read_bytes(), commands)


def test_arrays(t):
    t.path("net.onnx").write_bytes(o.linear())
    commands = [(["run", "net.onnx", "--inputs", "bad.npz", "-o", "out.npz"], "out.npz")]
    damage(t, "bad.npz", o.npz(x=o.npy([1, 2], [1, 1])), commands, cut_allowed=(FILE,))
