"""Large files under a limit on memory. A model of 6 GiB whose weights lie beside it, as a sparse file: what only needs the graph takes moments, little memory,
and does not touch the weights. An exported program of 100 MB of JSON. `make large` runs only these and shows the times."""
import os
import resource
import subprocess
import time

import pt2file

MATRIX = 8192  # a weight is MATRIX * MATRIX floats: 256 MiB
WEIGHTS = 24
LARGEST = MATRIX * MATRIX * 4
DATA_LIMIT = LARGEST + (80 << 20)  # what `prlimit --data` would say
SECONDS = 10  # each takes well below one on an idle machine


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    if isinstance(value, int): return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def entry(number, key, value):
    return field(number, field(1, key) + field(2, value))


def external_weight(name, offset):
    where = entry(13, "location", "large.data") + entry(13, "offset", str(offset)) + entry(13, "length", str(LARGEST))
    return field(1, MATRIX) + field(1, MATRIX) + field(2, 1) + field(8, name) + where + field(14, 1)


def tensor_info(name, dims):
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def make(t):
    """x[n, 8192] times 24 matrices."""
    graph, last = b"", "x"
    for i in range(WEIGHTS):
        name = f"h{i}" if i + 1 < WEIGHTS else "y"
        graph += field(1, field(1, last) + field(1, f"w{i}") + field(2, name) + field(4, "MatMul"))
        last = name
    graph += field(2, "large")
    for i in range(WEIGHTS): graph += field(5, external_weight(f"w{i}", i * LARGEST))
    graph += field(11, tensor_info("x", ["n", MATRIX])) + field(12, tensor_info("y", ["n", MATRIX]))
    t.path("large.onnx").write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))
    with open(t.path("large.data"), "wb") as data: data.truncate(WEIGHTS * LARGEST)
    if os.stat(t.path("large.data")).st_blocks * 512 > 1 << 20: raise t.skip("this file system keeps no sparse files")


def limited(t, *args, limit=DATA_LIMIT, what="6 GiB"):
    """Runs the command under the limit and returns its standard output."""
    start = time.perf_counter()
    done = subprocess.run([t.command, *args], cwd=t.folder, capture_output=True, text=True, timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    spent = time.perf_counter() - start
    assert done.returncode == 0, f"cameo {' '.join(args)}: {done.stderr}"
    assert spent < SECONDS, f"cameo {' '.join(args)} took {spent:.1f} s"
    print(f"  {what}: cameo {' '.join(args)}: {spent * 1000:.0f} ms")
    return done.stdout


def test_large_model_show(t):
    make(t)
    out = limited(t, "show", "large.onnx")
    assert "MatMul" in out, out


def test_large_model_check(t):
    make(t)
    limited(t, "check", "large.onnx")


def test_large_model_infer(t):
    make(t)
    limited(t, "infer", "large.onnx", "inferred.onnx")
    assert b"h7" in t.path("inferred.onnx").read_bytes()


def test_large_model_edit_leaves_the_weights_alone(t):
    make(t)
    before = os.stat(t.path("large.data"))
    limited(t, "edit", "large.onnx", "renamed.onnx", "--rename", "h3=hidden")
    after = os.stat(t.path("large.data"))
    same = ("st_ino", "st_size", "st_mtime_ns", "st_blocks")
    assert all(getattr(before, a) == getattr(after, a) for a in same), "the data file was written"
    renamed = t.path("renamed.onnx").read_bytes()
    assert len(renamed) < 1 << 16 and b"hidden" in renamed and renamed.count(b"large.data") == WEIGHTS
    assert sorted(os.listdir(t.folder)) == ["large.data", "large.onnx", "renamed.onnx"], "the edit left other files behind"
    limited(t, "edit", "large.onnx", "large.onnx", "--rename", "h3=hidden")  # in place
    assert os.stat(t.path("large.data")).st_mtime_ns == before.st_mtime_ns


def test_large_exported_program(t):
    length = pt2file.write(t.path("deep.pt2"), 6000)
    assert length >= 100_000_000, length
    limit = 80_000_000 + pt2file.WIDTH * pt2file.WIDTH * 4
    limited(t, "export", "deep.pt2", "-o", "deep.onnx", limit=limit, what="100 MB of JSON")
    out = limited(t, "show", "deep.pt2", limit=limit, what="100 MB of JSON")
    assert "24000 calls of 4" in out and "s77  1..512  axis 0 of x" in out, out


def test_exported_program_made_here(t):
    """The small brother of the large one."""
    pt2file.write(t.path("small.pt2"), 2, depth=2)
    t.run("export", "small.pt2", "-o", "small.onnx")
    told = t.run("show", "small.onnx", "--json").json
    assert told["operators"] == {"Add": 2, "Gemm": 2, "LayerNormalization": 2, "Relu": 2}, told
    assert told["inputs"][0]["type"] == "f32[x_dim0,64]", told
