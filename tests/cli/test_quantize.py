"""cameo quantize: 8-bit models from samples."""
import json
import random
import struct
import zlib

NET = """<ir_version: 8, opset_import: ["" : 11]>
g (float[n,3,8,8] x) => (float[n,4] y)
<float[4,3,3,3] w = {%s}, float[4] b = {0.1, -0.2, 0.3, 0}, float[4,4] v = {%s}>
{
  a = Conv<pads=[1,1,1,1]>(x, w, b)
  r = Relu(a)
  p = GlobalAveragePool(r)
  f = Flatten(p)
  y = Gemm<transB=1>(f, v)
}
"""


def numbers(count, seed, least=-1.0, most=1.0):
    made = random.Random(seed)
    return [made.uniform(least, most) for _ in range(count)]


def npy(shape, values):
    header = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values)


def png(width, height, seed):
    made = random.Random(seed)
    rows = b"".join(b"\0" + bytes(made.randrange(256) for _ in range(3 * width)) for _ in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def prepared(t):
    t.path("net.onnxtxt").write_text(NET % (", ".join(map(str, numbers(108, 1))), ", ".join(map(str, numbers(16, 2)))))
    t.path("x.npy").write_bytes(npy([6, 3, 8, 8], numbers(6 * 192, 3)))


def test_quantize_for_every_target(t):
    prepared(t)
    for target in ["onnxruntime", "tensorrt", "openvino", "qnn", "generic"]:
        t.run("quantize", "net.onnxtxt", "small.onnx", "--calibrate", "x.npy", "--target", target, "--report", "r.json", "--report", "r.html")
        report = json.loads(t.path("r.json").read_text())
        assert report["target"] == target and report["samples"] == 6 and report["db"] > 20 and report["int8_macs"] == 1, report
        assert all(n["bits"] == 8 for n in report["nodes"] if n["op"] in ("Conv", "Gemm"))
        assert "<h2>Nodes</h2>" in t.path("r.html").read_text()
        found = t.run("stats", "small.onnx", "--json").json
        assert found["opsets"]["ai.onnx"] >= 13 and found["bytes_by_dtype"]["i8"] >= 124  # opset 11 has no scales per channel
        assert found["operators"]["QuantizeLinear"] >= 1
        t.run("check", "small.onnx")


def test_quantize_is_the_same_every_time(t):
    prepared(t)
    for name in ["a.onnx", "b.onnx"]:
        t.run("quantize", "net.onnxtxt", name, "--calibrate", "x.npy", "--no-provenance", "--threads", "1")
    assert t.path("a.onnx").read_bytes() == t.path("b.onnx").read_bytes()


def test_quantize_keeps_nodes_float(t):
    prepared(t)
    found = t.run("quantize", "net.onnxtxt", "small.onnx", "--calibrate", "x.npy", "--undo", "Gemm", "--json").json
    kept = [n for n in found["nodes"] if n["op"] == "Gemm"]
    assert not kept[0]["quantized"] and kept[0]["why"] == "kept float as asked" and found["int8_macs"] < 1
    t.fails("quantize", "net.onnxtxt", "small.onnx", "--calibrate", "x.npy", "--keep", "nobody", code=2, error="use.node-name")


def test_quantize_from_folders_pictures_and_a_stream(t):
    prepared(t)
    folder = t.path("samples")
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.npy").write_bytes(npy([1, 3, 8, 8], numbers(192, i)))
    assert t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "samples", "--json").json["samples"] == 3
    stream = b"".join(npy([1, 3, 8, 8], numbers(192, i)) for i in range(5))
    assert t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "-", "--json", input=stream).json["samples"] == 5
    t.fails("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "samples", "--image", "size=8", code=1, error="quantize.samples")
    pictures = t.path("pictures")
    pictures.mkdir()
    for i in range(4):
        (pictures / f"{i}.png").write_bytes(png(16 + i, 12, i))
    for fit in ["stretch", "crop", "pad"]:
        found = t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "pictures", "--json",
                      "--image", f"mean=0.485/0.456/0.406,std=0.229/0.224/0.225,size=8x8,layout=nchw,fit={fit},order=bgr").json
        assert found["samples"] == 4 and found["db"] > 15, found
    t.fails("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "pictures", code=1, error="quantize.samples")
    t.fails("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "pictures", "--image", "size=0", code=2, error="use.value")
    (pictures / "9.png").write_bytes(b"\x89PNG broken")
    t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "pictures", "--image", "size=8", code=3)


def test_quantize_by_a_metric(t):
    prepared(t)
    t.path("metric.sh").write_text("#!/bin/sh\ntest -s \"$1\" || exit 1\necho accuracy: 0.75\n")
    found = t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "x.npy", "--metric", "sh metric.sh", "--json").json
    assert found["metric"] == 0.75 and found["float_metric"] == 0.75 and found["reached"]
    t.fails("quantize", "net.onnxtxt", "b.onnx", "--calibrate", "x.npy", "--metric", "false", code=1, error="quantize.metric")
    assert not t.path("b.onnx").exists()


def test_quantize_writes_the_best_model_even_if_it_is_not_good_enough(t):
    prepared(t)
    result = t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "x.npy", "--min-db", "150", "--max-float-macs", "0")
    assert "quantize.below" in result.err and t.path("a.onnx").exists()
    found = t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "x.npy", "--min-db", "60", "--max-float-macs", "1", "--json").json
    assert found["db"] > 60 and found["int8_macs"] < 1


def test_quantize_wrong_use(t):
    prepared(t)
    t.fails("quantize", "net.onnxtxt", "a.onnx", code=2, error="use.inputs")
    t.fails("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "x.npy", "--target", "toaster", code=2, error="use.target")
    t.fails("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "x.npy", "--method", "magic", code=2, error="use.value")
    t.path("short.npy").write_bytes(npy([1, 3, 8, 8], numbers(192, 1))[:-8])
    t.run("quantize", "net.onnxtxt", "a.onnx", "--calibrate", "short.npy", code=3)
    t.path("relu.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 18]>\ng (float[2] x) => (float[2] y) { y = Relu(x) }\n')
    t.path("two.npy").write_bytes(npy([2], [1, 2]))
    t.fails("quantize", "relu.onnxtxt", "a.onnx", "--calibrate", "two.npy", code=1, error="quantize.nothing")
    assert not t.path("a.onnx").exists()
