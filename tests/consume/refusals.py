"""The C interface beside what examples/c shows: wrong calls end with a status and a finding, never with a crash.

usage: refusals.py LIBCAMEO.SO ARCHIVE.pt     an archive with one input x of two axes, 6 the last
"""
import ctypes
import json
import pathlib
import sys
import tempfile
from ctypes import byref, c_char_p, c_float, c_int64, c_size_t, c_void_p


class Array(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("shape", ctypes.POINTER(c_int64)), ("rank", c_size_t),
                ("data", c_void_p), ("size", c_size_t)]


class Kernel(ctypes.Structure):
    FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p)
    _fields_ = [("op", c_char_p), ("run", FUNCTION), ("user", c_void_p)]


class Blob(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


TEXT = b"""<ir_version: 8, opset_import: ["" : 18, "my.domain" : 1]>
g (float[n] x) => (float[n] y) { y = my.domain.Op<by=3, names=["a", "b"]>(x, , x) }"""


def kernels(lib, accepted, refused, wrong):
    """Kernels that fail, give nothing, or ask for what there is not."""
    lib.cameo_kernel_output.restype = c_void_p
    lib.cameo_kernel_attributes.restype = c_char_p
    lib.cameo_kernel_input_count.restype = lib.cameo_kernel_output_count.restype = c_size_t
    lib.cameo_kernel_integer.restype = c_int64
    lib.cameo_kernel_number.restype = ctypes.c_double
    for name in ("input", "integer", "number", "attributes", "output", "input_count", "output_count", "fail"):
        getattr(lib, f"cameo_kernel_{name}").argtypes = {"input": [c_void_p, c_size_t, c_void_p], "integer": [c_void_p, c_char_p, c_int64],
                                                         "number": [c_void_p, c_char_p, ctypes.c_double], "fail": [c_void_p, c_char_p],
                                                         "output": [c_void_p, c_size_t, c_char_p, c_void_p, c_size_t]}.get(name, [c_void_p])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnxtxt"
        path.write_bytes(TEXT)
        model, session, out, text = c_void_p(), c_void_p(), c_void_p(), c_void_p()
        accepted(lib.cameo_load(str(path).encode(), byref(model)))

    def run(function, op=b"my.domain::Op"):
        kept = Kernel.FUNCTION(function)
        status = lib.cameo_open_session_with(model, None, byref(Kernel(op, kept, None)), 1, byref(session))
        if status == 0:
            numbers, sizes = (c_float * 2)(1, 2), (c_int64 * 1)(2)
            status = lib.cameo_run(session, byref(Array(None, b"f32", sizes, 1, ctypes.cast(numbers, c_void_p), 8)), 1, byref(out))
            lib.cameo_release_session(session)
        return status

    def good(user, call):
        x, absent, sizes = Array(), Array(), (c_int64 * 1)(2)
        seen = (lib.cameo_kernel_input_count(call), lib.cameo_kernel_output_count(call), lib.cameo_kernel_integer(call, b"by", 0),
                lib.cameo_kernel_number(call, b"by", 0), lib.cameo_kernel_number(call, b"names", 7), json.loads(lib.cameo_kernel_attributes(call)))
        if seen != (3, 1, 3, 3.0, 7.0, {"by": 3, "names": ["a", "b"]}):
            wrong.append(f"kernel: {seen}")
        refused("kernel.input", lib.cameo_kernel_input(call, 9, byref(x)))
        if lib.cameo_kernel_output(call, 4, b"f32", sizes, 1) or lib.cameo_kernel_output(call, 0, b"f3", sizes, 1) or lib.cameo_kernel_output(call, 0, b"f32", None, 1):
            wrong.append("kernel: memory for an output that there is not")
        if lib.cameo_kernel_input(call, 1, byref(absent)) or absent.dtype is not None or lib.cameo_kernel_input(call, 0, byref(x)):
            wrong.append("kernel: inputs")
        ctypes.memmove(lib.cameo_kernel_output(call, 0, b"f32", x.shape, x.rank), x.data, x.size)
        return 0

    accepted(run(good))
    lib.cameo_release_results(out)
    refused("kernel.failed", run(lambda user, call: 5))
    refused("kernel.failed", run(lambda user, call: lib.cameo_kernel_fail(call, b"no") or 0))
    refused("kernel.result", run(lambda user, call: 0))
    refused("use.kernel", run(good, b"Loop"))
    refused("use.null", run(good, None))
    refused("use.null", lib.cameo_open_session_with(model, None, None, 1, byref(session)))
    kept = Kernel.FUNCTION(good)
    accepted(lib.cameo_verify_with(model, model, b'{"sizes": {"n": 2}, "rtol": 0.1}', byref(Kernel(b"my.domain::Op", kept, None)), 1, byref(text)))
    lib.cameo_release_text(text)
    refused("eval.no-kernel", lib.cameo_verify(model, model, None, byref(text)))
    lib.cameo_release_model(model)


def views(lib, model, accepted, refused, wrong):
    """Pictures need no page; a build without one says so."""
    lib.cameo_view_address.restype = c_char_p
    lib.cameo_blob_count.restype = c_size_t
    text, view, desk, blobs, blob = c_void_p(), c_void_p(), c_void_p(), c_void_p(), Blob()
    accepted(lib.cameo_picture(model, 1, byref(text)))
    if not ctypes.string_at(text).startswith(b"<svg"):
        wrong.append("picture")
    lib.cameo_release_text(text)
    refused("use.null", lib.cameo_picture(None, 0, byref(text)))
    refused("use.null", lib.cameo_page(model, None, byref(text)))
    refused("use.settings", lib.cameo_open_view(model, b"m", b'{"port": 70000}', byref(view)))
    refused("use.model", lib.cameo_open_view(None, None, None, byref(view)))
    if lib.cameo_page(model, b"m.onnx", byref(text)) == 0:
        lib.cameo_release_text(text)
        accepted(lib.cameo_open_view(model, b"m.onnx", None, byref(view)))
        if not lib.cameo_view_address(view).startswith(b"http://127.0.0.1:"):
            wrong.append("address")
        lib.cameo_stop_view(view)
        accepted(lib.cameo_run_view(view))
        lib.cameo_release_view(view)
    else:
        refused("use.page", 1)
    refused("use.null", lib.cameo_run_view(None))
    accepted(lib.cameo_open_desk(None, byref(desk)))
    accepted(lib.cameo_offer(desk, b"m", model))

    def ask(request, given=None):
        accepted(lib.cameo_ask(desk, json.dumps(request).encode(), given, 1 if given else 0, byref(text), byref(blobs)))
        reply = json.loads(ctypes.string_at(text))
        lib.cameo_release_text(text)
        return reply

    if ask({"method": "open", "params": {"file": "m"}})["result"]["model"] != 1 or ask({"method": "open", "params": {"file": "/etc/passwd"}})["ok"]:
        wrong.append("desk")
    ask({"method": "save", "params": {"model": 1}})
    if lib.cameo_blob_count(blobs) != 1 or lib.cameo_blob_at(blobs, 0, byref(blob)) or not blob.size:
        wrong.append("blobs")
    if not ask({"method": "open", "params": {"file": "again.onnx", "blob": 0}}, byref(blob))["ok"]:
        wrong.append("a blob that is opened")
    refused("use.index", lib.cameo_blob_at(blobs, 9, byref(blob)))
    refused("use.null", lib.cameo_ask(desk, None, None, 0, byref(text), None))
    lib.cameo_release_blobs(blobs)
    lib.cameo_release_desk(desk)


def quantized(lib, model, accepted, refused):
    """What needs no samples; and what is wrong."""
    out, report = c_void_p(), c_void_p()
    for call in (lambda: lib.cameo_quantize_weights(model, None, None, b'{"bits": 8, "form": "qdq", "block": 16}', byref(out), byref(report)),
                 lambda: lib.cameo_quantize_dynamic(model, b'{"target": "generic"}', byref(out), byref(report))):
        accepted(call())
        json.loads(ctypes.string_at(report))
        lib.cameo_release_text(report)
        lib.cameo_release_model(out)
    refused("use.value", lib.cameo_quantize_weights(model, None, None, b'{"bits": 3}', byref(out), None))
    refused("use.settings", lib.cameo_quantize_weights(model, None, None, b'{"bit": 4}', byref(out), None))
    refused("use.target", lib.cameo_quantize_dynamic(model, b'{"target": "qnn"}', byref(out), None))
    refused("use.null", lib.cameo_convert_weights(model, None, byref(out), None))
    refused("use.value", lib.cameo_convert_weights(model, b"q", byref(out), None))
    refused("use.null", lib.cameo_quantize(model, None, None, None, byref(out), None))
    refused("use.null", lib.cameo_quantize_with(model, b"x.npz", None, None, None, 1, byref(out), None))


class Output(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("data", c_void_p), ("size", c_size_t)]


def run_into(lib, session, name, accepted, refused, wrong):
    """Results in memory of the caller's, and the steps of a run."""
    out, profile, result = c_void_p(), c_void_p(), Array()
    numbers, sizes = (c_float * 6)(*range(6)), (c_int64 * 2)(1, 6)
    x = Array(None, b"f32", sizes, 2, ctypes.cast(numbers, c_void_p), 24)
    accepted(lib.cameo_run_into(session, byref(x), 1, None, 0, byref(profile), byref(out)))
    if not json.loads(ctypes.string_at(profile)):
        wrong.append("no profile")
    lib.cameo_release_text(profile)
    accepted(lib.cameo_result(out, 0, byref(result)))
    wanted, size = ctypes.string_at(result.data, result.size), result.size
    lib.cameo_release_results(out)
    memory = (ctypes.c_char * size)()

    def into(called=name, data=memory, length=size, count=1):
        one = Output(called, ctypes.cast(data, c_void_p) if data is not None else None, length)
        return lib.cameo_run_into(session, byref(x), 1, (Output * 2)(one, one), count, None, byref(out))

    accepted(into())
    lib.cameo_release_results(out)
    if memory.raw != wanted:
        wrong.append("results in the caller's memory differ")
    refused("use.output-name", into(b"nope"))
    refused("use.output-name", into(count=2))
    refused("run.size", into(length=size - 1))
    refused("use.null", into(data=None))
    refused("use.null", into(None))
    refused("use.null", lib.cameo_run_into(session, byref(x), 1, None, 1, None, byref(out)))


def watched(lib, model, accepted, refused, wrong):
    """Limits, and a question now and then whether to go on."""
    out, seen = c_void_p(), []
    function = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_char_p, ctypes.c_uint64, ctypes.c_uint64)
    for answer in (0, 1):
        kept = function(lambda user, what, done, every, stop=answer: seen.append(what) or stop)
        lib.cameo_watch(kept, None)
        status = lib.cameo_simplify(model, b'{"check": 1}', byref(out), None)
        if answer:
            refused("budget.interrupted", status)
        else:
            accepted(status)
            lib.cameo_release_model(out)
    lib.cameo_watch(function(), None)
    if not seen:
        wrong.append("progress was not called")
    accepted(lib.cameo_limit(b'{"seconds": 1e-9}'))
    refused("budget.time", lib.cameo_simplify(model, None, byref(out), None))
    refused("use.settings", lib.cameo_limit(b'{"second": 1}'))
    accepted(lib.cameo_limit(None))
    accepted(lib.cameo_simplify(model, None, byref(out), None))
    lib.cameo_release_model(out)


def released(lib, model, gone, session, accepted, refused):
    """Handles that were released, or are of another kind."""
    out, text = c_void_p(), c_void_p()
    refused("use.handle", lib.cameo_simplify(gone, None, byref(out), None))
    refused("use.handle", lib.cameo_run(session, None, 0, byref(out)))
    refused("use.handle", lib.cameo_run(model, None, 0, byref(out)))
    refused("use.null", lib.cameo_load(None, byref(out)))
    lib.cameo_release_model(model)  # the finding of the call before stays
    refused("use.null", 1)
    for release in (lambda: lib.cameo_release_model(model), lambda: lib.cameo_release_session(session), lambda: lib.cameo_release_text(model)):
        accepted(lib.cameo_rules(byref(text)))
        lib.cameo_release_text(text)
        release()
        refused("use.handle", 1)
    if lib.cameo_result_count(model) != 0 or lib.cameo_view_address(model) != b"":
        refused("a handle of another kind", 0)


def nothing_is_left(lib, gone, wrong):
    """After a refusal, what was to be given is null, whatever the caller's pointer was before."""
    calls = {name: lambda f, out: f(gone, out) for name in ("describe", "text", "findings", "stats")}
    calls |= {name: lambda f, out: f(gone, None, out) for name in ("check", "lint", "export", "infer", "edit", "open_session")}
    calls |= {name: lambda f, out: f(gone, None, out, None) for name in ("simplify", "fix_lint", "prepare", "quantize_dynamic", "convert_weights")}
    calls |= {"diff": lambda f, out: f(gone, gone, out), "explain": lambda f, out: f(gone, None, 0, out), "verify": lambda f, out: f(gone, gone, None, out),
              "picture": lambda f, out: f(gone, 0, out), "page": lambda f, out: f(gone, b"m", out), "operators": lambda f, out: f(b"[", out),
              "load": lambda f, out: f(None, out), "load_bytes": lambda f, out: f(None, c_size_t(1), out), "save_checked": lambda f, out: f(gone, b"m", None, out),
              "bytes": lambda f, out: f(gone, None, out, byref(c_size_t())), "weight": lambda f, out: f(gone, b"w", out, byref(c_size_t())),
              "merge": lambda f, out: f(gone, gone, None, out), "convert": lambda f, out: f(gone, 0, None, out, None), "run": lambda f, out: f(gone, None, 0, out),
              "extract": lambda f, out: f(gone, None, 0, None, 0, out), "open_desk": lambda f, out: f(b"[", out), "open_view": lambda f, out: f(gone, b"m", None, out),
              "ask": lambda f, out: f(gone, b"{}", None, 0, byref(c_void_p()), out), "quantize_weights": lambda f, out: f(gone, None, None, None, byref(c_void_p()), out),
              "run_into": lambda f, out: f(gone, None, 0, None, 0, out, byref(c_void_p()))}
    for name, call in calls.items():
        out = c_void_p(0x1234)
        if call(getattr(lib, f"cameo_{name}"), byref(out)) == 0 or out.value is not None:
            wrong.append(f"cameo_{name} leaves a pointer after a refusal")
        if name in ("describe", "text", "stats", "check", "lint", "diff", "explain", "rules", "picture", "load", "simplify") and call(getattr(lib, f"cameo_{name}"), None) == 0:
            wrong.append(f"cameo_{name} takes no pointer for its result")


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
    refused("use.opset", lib.cameo_convert(exported, 999, None, byref(out), None))
    refused("use.opset", lib.cameo_save(exported, b"no.onnx", b'{"opset": 999}'))
    refused("use.null", lib.cameo_save(exported, None, None))
    refused("use.null", lib.cameo_save_checked(exported, None, None, None))
    refused("use.settings", lib.cameo_save_checked(exported, b"no.onnx", b'{"opset": "18"}', None))
    refused("use.null", lib.cameo_simplify(None, None, byref(out), None))
    refused("use.rule", lib.cameo_simplify(exported, b'{"skip": ["nope"]}', byref(out), None))
    refused("use.archive", lib.cameo_simplify(model, None, byref(out), None))
    refused("edit.no-value", lib.cameo_weight(exported, b"nope", byref(text), byref(size)))
    refused("edit.no-value", lib.cameo_extract(exported, (c_char_p * 1)(b"nope"), 1, (c_char_p * 1)(b"output"), 1, byref(out)))
    refused("use.null", lib.cameo_extract(exported, None, 1, None, 1, byref(out)))
    for code, changes in (("use.settings", "[["), ("use.settings", "{}"), ("use.settings", "[[]]"), ("use.settings", '[["renmae", "x", "y"]]'),
                          ("use.settings", '[["rename", "x"]]'), ("use.settings", '[["rename", "x", {}]]'), ("use.settings", '[{"change": "strip"}]'),
                          ("use.settings", '[["set_dim", "x", "first", "n"]]'),
                          ("edit.no-value", '[["rename", "nope", "y"]]')):
        refused(code, lib.cameo_edit(exported, changes.encode(), byref(out)))
    refused("use.null", lib.cameo_edit(exported, None, byref(out)))
    accepted(lib.cameo_edit(exported, b'[["rename", "x", "image"], ["set_dim", "image", 0, "n"], ["strip"]]', byref(edited)))
    accepted(lib.cameo_describe(edited, byref(text)))
    if json.loads(ctypes.string_at(text))["inputs"] != [{"name": "image", "type": "f32[n,6]"}]:
        wrong.append(f"edited: {ctypes.string_at(text)!r}")
    lib.cameo_release_text(text)
    refused("use.rule", lib.cameo_explain(exported, b"nope", 0, byref(text)))
    for call in (lambda: lib.cameo_explain(exported, None, 0, byref(text)), lambda: lib.cameo_rules(byref(text)),
                 lambda: lib.cameo_operators(None, byref(text)), lambda: lib.cameo_operators(b'{"pattern": "conv2d"}', byref(text))):
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
    kernels(lib, accepted, refused, wrong)
    views(lib, exported, accepted, refused, wrong)
    for release in (lib.cameo_release_view, lib.cameo_release_desk, lib.cameo_release_blobs, lib.cameo_release_model, lib.cameo_release_session, lib.cameo_release_results, lib.cameo_release_text):
        release(None)
    quantized(lib, exported, accepted, refused)
    run_into(lib, session, b"output", accepted, refused, wrong)
    watched(lib, exported, accepted, refused, wrong)
    refused("use.settings", lib.cameo_check(exported, b'{"strikt": true}', byref(text)))
    refused("use.settings", lib.cameo_infer(exported, b'{"strict": 1}', byref(out)))
    refused("use.no-match", lib.cameo_operators(b'{"pattern": "nothing_like_this"}', byref(text)))
    lib.cameo_release_session(session)
    lib.cameo_release_model(edited)
    lib.cameo_release_model(exported)
    released(lib, model, edited, session, accepted, refused)
    nothing_is_left(lib, edited, wrong)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
