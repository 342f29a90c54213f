"""The C interface from another language: Python's ctypes, with nothing but libcameo.so.

usage: carve.py LIBCAMEO.so MODEL.onnx   runs the model on zeros and prints what comes out
"""
import ctypes
import json
import sys


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("rank", ctypes.c_size_t),
                ("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def main(library, path):
    c = ctypes.CDLL(library)
    c.cameo_last_findings.restype = ctypes.c_char_p
    c.cameo_result_count.restype = ctypes.c_size_t
    pointer = ctypes.c_void_p

    def call(function, *arguments):
        if function(*arguments) != 0:
            raise RuntimeError(c.cameo_last_findings().decode())

    model, session, results, text = pointer(), pointer(), pointer(), ctypes.c_char_p()
    call(c.cameo_load, path.encode(), ctypes.byref(model))
    call(c.cameo_describe, model, ctypes.byref(text))
    described = json.loads(text.value)
    c.cameo_release_text(text)
    call(c.cameo_open_session, model, b'{"threads": 1}', ctypes.byref(session))
    inputs = (Array * len(described["inputs"]))()
    kept = []
    for place, given in zip(inputs, described["inputs"]):
        dtype, sizes = given["type"].split("[")
        shape = [int(s) if s.isdigit() else 1 for s in sizes.rstrip("]").split(",") if s]
        count = 1
        for s in shape:
            count *= s
        data = (ctypes.c_float * count)()
        kept.append((data, (ctypes.c_int64 * len(shape))(*shape)))
        place.name, place.dtype, place.shape, place.rank = given["name"].encode(), dtype.encode(), kept[-1][1], len(shape)
        place.data, place.size = ctypes.cast(data, pointer), ctypes.sizeof(data)
    call(c.cameo_run, session, inputs, ctypes.c_size_t(len(inputs)), ctypes.byref(results))
    for i in range(c.cameo_result_count(results)):
        out = Array()
        call(c.cameo_result, results, ctypes.c_size_t(i), ctypes.byref(out))
        values = ctypes.cast(out.data, ctypes.POINTER(ctypes.c_float))[:out.size // 4]
        print(out.name.decode(), out.dtype.decode(), list(out.shape[:out.rank]), [round(v, 4) for v in values[:4]])
    c.cameo_release_results(results)
    c.cameo_release_session(session)
    # A mistake is a status and a finding, not a crash.
    assert c.cameo_load(b"no such file.onnx", ctypes.byref(model)) == 3 and b"file." in c.cameo_last_findings() and not model.value
    assert c.cameo_simplify(None, None, ctypes.byref(model), None) == 2 and b"null pointer" in c.cameo_last_findings()


if __name__ == "__main__":
    main(*sys.argv[1:])
