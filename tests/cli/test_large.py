"""A model of 6 GiB whose weights lie beside it, as a sparse file: what only needs the graph takes moments, little memory,
and leaves the weights alone. `make large` runs these alone and shows the times."""
import os
import resource
import subprocess
import time

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


def limited(t, *args):
    """Runs the command under the limit and returns its standard output."""
    start = time.perf_counter()
    done = subprocess.run([t.command, *args], cwd=t.folder, capture_output=True, text=True, timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (DATA_LIMIT, DATA_LIMIT)))
    spent = time.perf_counter() - start
    assert done.returncode == 0, f"cameo {' '.join(args)}: {done.stderr}"
    assert spent < SECONDS, f"cameo {' '.join(args)} took {spent:.1f} s"
    print(f"  6 GiB: cameo {' '.join(args)}: {spent * 1000:.0f} ms")
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
