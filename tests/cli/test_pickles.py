"""What a pickle asks to be called is not called: by no verb, in no place where a pickle may stand."""
import io
import pickle
import struct
import zipfile


class Asks:
    def __init__(self, function, *arguments): self.function, self.arguments = function, arguments
    def __reduce__(self): return self.function, self.arguments


class Sets:
    """An object whose state would be set by a function of the pickle's choosing."""
    def __reduce__(self): return list, (), None, iter([Asks(exec, "open('ran', 'w')")])


def wishes():
    """Pickles that write the file `ran` where they are loaded."""
    import os
    import subprocess
    command = "touch ran"
    for wanted in (Asks(os.system, command), Asks(eval, "open('ran', 'w')"), Asks(exec, "open('ran', 'w')"), Asks(subprocess.call, ["touch", "ran"]), Sets(),
                   {"state": [Asks(os.system, command)]}, Asks(getattr, Asks(__import__, "os"), "system")):
        for protocol in (0, 2, 4):
            yield pickle.dumps(wanted, protocol)
    yield b"(S'touch ran'\nios\nsystem\n."  # INST
    yield b"(cos\nsystem\nS'touch ran'\no."  # OBJ
    yield b"\x80\x02cos\nsystem\nX\x09\x00\x00\x00touch ran\x85\x81."  # NEWOBJ
    yield b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x09touch ran\x85R."  # STACK_GLOBAL
    yield b"\x80\x02cbuiltins\nobject\n)R}X\x0c\x00\x00\x00__setstate__cos\nsystem\nsb."  # BUILD
    yield b"\x80\x02Ptouch ran\n."  # PERSID


def archive(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in entries.items(): z.writestr(name, data)
    return out.getvalue()


def npy(data):
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def test_nothing_that_a_pickle_asks_for_is_called(t):
    model = t.root / "tests/data/attacks/02-add-valid.onnx"
    script = b"class M(Module):\n  def forward(self, x: Tensor) -> Tensor:\n    return x\n"
    for data in wishes():
        files = {"bare.pt": data, "state.pt": archive({"a/data.pkl": data, "a/version": b"3\n"}),
                 "script.pt": archive({"a/data.pkl": data, "a/constants.pkl": data, "a/version": b"3\n", "a/code/__torch__.py": script}),
                 "constants.pt": archive({"a/data.pkl": b"\x80\x02c__torch__\nM\n)\x81}b.", "a/constants.pkl": data, "a/version": b"3\n", "a/code/__torch__.py": script}),
                 "program.pt2": archive({"a/archive_format": b"pt2", "a/models/model.json": b"{}", "a/data/weights/model.pt": data, "a/data/sample_inputs/model.pt": data,
                                         "serialized_state_dict.pt": data, "serialized_exported_program.json": b"{}", "version": b"8.1"}),
                 "x.npy": npy(data), "x.npz": archive({"x.npy": npy(data)})}
        for name, content in files.items():
            t.path(name).write_bytes(content)
            verbs = [("run", model, "--inputs", name)] if name[0] == "x" else [("show", name), ("export", name, "-o", "out.onnx", "--input", "x=f32[2]")]
            for verb in verbs:
                result = t.attempt(*verb)
                assert result.code in (1, 2, 3) and "error[" in result.err, f"{verb}, {data!r}: {result}"
                assert not t.path("ran").exists() and not t.path("out.onnx").exists(), f"{verb}: {data!r} was run"
