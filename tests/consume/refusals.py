"""The C interface beside what examples/c shows: wrong calls end with a status and a finding, never with a crash.

usage: refusals.py LIBCAMEO.SO ARCHIVE.pt     an archive with one input x of two axes, 6 the last
"""
import ctypes
import json
import sys
from ctypes import byref, c_char_p, c_float, c_int64, c_size_t, c_void_p


class Array(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("shape", ctypes.POINTER(c_int64)), ("rank", c_size_t),
                ("data", c_void_p), ("size", c_size_t)]


def main(library, archive):
    lib = ctypes.CDLL(library)
    lib.cameo_last_findings.restype = c_char_p
    wrong = []

    def refused(code, status):
        found = lib.cameo_last_findings().decode().splitlines()
        if status == 0 or not found or json.loads(found[0])["code"] != code:
            wrong.append(f"{code}: status {status}, {found}")

    def accepted(status):
        if status:
            wrong.append(lib.cameo_last_findings().decode())

    out, text, size = c_void_p(), c_void_p(), c_size_t()
    model, exported, edited, session = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    accepted(lib.cameo_load(archive.encode(), byref(model)))
    refused("use.null", lib.cameo_load(None, byref(out)))
    refused("use.null", lib.cameo_load(b"x", None))
    refused("file.missing", lib.cameo_load(b"/no/such/file", byref(out)))
    for code, settings in (("use.settings", '{"inputs": ['), ("use.settings", '{"inptus": []}'), ("use.settings", '{"inputs": 3}'),
                           ("use.settings", '{"opset": 17, "opset": 18}'), ("use.input", '{"inputs": ["x=f3[b,6"]}'),
                           ("use.input", '{"inputs": ["x=f32[b,6]", "x=f32[b,6]"]}'),
                           ("use.input-name", '{"inputs": ["x=f32[b,6]", "nope=f32[b,6]"]}'),
                           ("use.output-names", '{"inputs": ["x=f32[b,6]"], "output_names": ["x"]}'),
                           ("use.opset", '{"inputs": ["x=f32[b,6]"], "opset": 999}')):
        refused(code, lib.cameo_export(model, settings.encode(), byref(out)))
    accepted(lib.cameo_export(model, b'{"inputs": ["x=f32[b,6]"]}', byref(exported)))
    refused("use.opset", lib.cameo_convert(exported, 999, None, byref(out)))
    refused("use.opset", lib.cameo_save(exported, b"no.onnx", b'{"opset": 999}'))
    refused("use.null", lib.cameo_save(exported, None, None))
    refused("use.null", lib.cameo_simplify(None, None, byref(out), None))
    refused("use.rule", lib.cameo_simplify(exported, b'{"skip": ["nope"]}', byref(out), None))
    refused("use.archive", lib.cameo_simplify(model, None, byref(out), None))
    refused("edit.no-value", lib.cameo_weight(exported, b"nope", byref(text), byref(size)))
    refused("edit.no-value", lib.cameo_extract(exported, (c_char_p * 1)(b"nope"), 1, (c_char_p * 1)(b"output"), 1, byref(out)))
    refused("use.null", lib.cameo_extract(exported, None, 1, None, 1, byref(out)))
    for code, changes in (("use.settings", "[["), ("use.settings", "{}"), ("use.settings", "[[]]"), ("use.settings", '[["renmae", "x", "y"]]'),
                          ("use.settings", '[["rename", "x"]]'), ("use.settings", '[["set_dim", "x", "first", "n"]]'),
                          ("edit.no-value", '[["rename", "nope", "y"]]')):
        refused(code, lib.cameo_edit(exported, changes.encode(), byref(out)))
    refused("use.null", lib.cameo_edit(exported, None, byref(out)))
    accepted(lib.cameo_edit(exported, b'[["rename", "x", "image"], ["set_dim", "image", "0", "n"], ["strip"]]', byref(edited)))
    accepted(lib.cameo_describe(edited, byref(text)))
    if json.loads(ctypes.string_at(text))["inputs"] != [{"name": "image", "type": "f32[n,6]"}]:
        wrong.append(f"edited: {ctypes.string_at(text)!r}")
    lib.cameo_release_text(text)
    refused("use.rule", lib.cameo_explain(exported, b"nope", 0, byref(text)))
    for call in (lambda: lib.cameo_explain(exported, None, 0, byref(text)), lambda: lib.cameo_rules(byref(text)),
                 lambda: lib.cameo_operators(byref(text))):
        accepted(call())
        json.loads(ctypes.string_at(text))
        lib.cameo_release_text(text)
    refused("use.value", lib.cameo_open_session(exported, b'{"threads": -1}', byref(out)))
    accepted(lib.cameo_open_session(exported, None, byref(session)))
    numbers, sizes = (c_float * 12)(), (c_int64 * 2)(2, 6)
    good = {"name": b"x", "dtype": b"f32", "shape": sizes, "rank": 2, "data": ctypes.cast(numbers, c_void_p), "size": 48}

    def run(count=1, **other):
        array = Array(**(good | other))
        return lib.cameo_run(session, (Array * count)(*[array] * count), count, byref(out))

    accepted(run())
    lib.cameo_release_results(out)
    refused("use.input-name", run(name=b"nope"))
    refused("use.array", run(dtype=b"f3"))
    refused("use.null", run(dtype=None))
    refused("use.null", run(shape=None))
    refused("use.array", run(data=None))
    refused("use.array", run(size=40))
    refused("use.array", run(shape=(c_int64 * 2)(-2, 6)))
    refused("value.range", run(shape=(c_int64 * 2)(1 << 62, 6)))
    refused("run.input-count", run(count=2))
    refused("use.null", lib.cameo_run(session, None, 1, byref(out)))
    for release in (lib.cameo_release_model, lib.cameo_release_session, lib.cameo_release_results, lib.cameo_release_text):
        release(None)
    lib.cameo_release_session(session)
    lib.cameo_release_model(edited)
    lib.cameo_release_model(exported)
    lib.cameo_release_model(model)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
