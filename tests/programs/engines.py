"""Our side: export and run by the command, a process for each, or by the library in this process (cameo/c.h), which costs a tenth."""
import ctypes
import json
import pathlib
import subprocess
from ctypes import byref, c_char_p, c_int64, c_size_t, c_void_p

import numpy as np

LIMIT_S = 20
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_,
          **{f"{k}{n}": np.dtype(f"{t}{n}") for k, t in (("i", "int"), ("u", "uint")) for n in (8, 16, 32, 64)}}
NAMES = {np.dtype(t): name for name, t in DTYPES.items()}


class Answer:
    """How a call ended: an exit code, what it said, and arrays by name where it ran a model. None: it took too long."""

    def __init__(self, status, said="", arrays=None):
        self.status, self.said, self.arrays = status, said, arrays

    def findings(self):
        return [f for f in map(parsed, self.said.splitlines()) if f]


def parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


class Command:
    def __init__(self, path, folder):
        self.path, self.folder, self.target = str(path), folder, folder / "program.onnx"

    def call(self, *words):
        try:
            done = subprocess.run([self.path, *map(str, words), "--json"], capture_output=True, timeout=LIMIT_S, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return Answer(None)
        return Answer(done.returncode, done.stderr)

    def export(self, archive, flags):
        return self.call("export", archive, "-o", self.target, *(a for f in flags for a in ("--input", f)))

    def run(self, feeds):
        given, results = self.folder / "in.npz", self.folder / "out.npz"
        np.savez(given, **feeds)
        answer = self.call("run", self.target, "--inputs", given, "-o", results, "--threads", "1")
        if answer.status == 0:
            answer.arrays = dict(np.load(results))
        return answer


class Array(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("shape", ctypes.POINTER(c_int64)), ("rank", c_size_t), ("data", c_void_p), ("size", c_size_t)]

    @classmethod
    def of(cls, name, a):
        return cls(name.encode(), NAMES[a.dtype].encode(), (c_int64 * a.ndim)(*a.shape), a.ndim, a.ctypes.data, a.nbytes)

    def copied(self):
        shape = [self.shape[k] for k in range(self.rank)]
        return np.frombuffer(ctypes.string_at(self.data, self.size) if self.size else b"", DTYPES[self.dtype.decode()]).reshape(shape)


class Failed(Exception):
    """A call of the library that did not work: its status is the exit code that the command would have."""


class Library:
    """The same calls with the same answers. A model that gives a sequence is run by the command: C has arrays only."""

    def __init__(self, path, folder):
        self.lib = ctypes.CDLL(str(path))
        self.lib.cameo_last_findings.restype = c_char_p
        self.lib.cameo_result_count.restype = c_size_t
        for release in ("model", "session", "results", "text"):
            getattr(self.lib, f"cameo_release_{release}").argtypes = [c_void_p]
        self.folder, self.target, self.session = folder, folder / "program.onnx", None

    def made(self, call, *args):
        """The handle that a function gives through its last argument."""
        out = c_void_p()
        if status := getattr(self.lib, f"cameo_{call}")(*args, byref(out)):
            raise Failed(status)
        return out

    def text(self, call, *args):
        made = self.made(call, *args)
        out = ctypes.string_at(made).decode(errors="replace")
        self.lib.cameo_release_text(made)
        return out

    def answered(self, work):
        try:
            return work()
        except Failed as why:
            return Answer(why.args[0], self.lib.cameo_last_findings().decode(errors="replace"))

    def export(self, archive, flags):
        self.close()
        return self.answered(lambda: self.exported(archive, flags))

    def exported(self, archive, flags):
        loaded = self.made("load", str(archive).encode())
        try:
            model = self.made("export", loaded, json.dumps({"inputs": flags}).encode())
        finally:
            self.lib.cameo_release_model(loaded)
        try:
            said = self.text("findings", model)
            return Answer(0, said + self.text("save_checked", model, str(self.target).encode(), None))
        finally:
            self.lib.cameo_release_model(model)

    def opened(self):
        """A session of the written file, kept until the next export."""
        if self.session is None:
            model = self.made("load", str(self.target).encode())
            try:
                self.session = self.made("open_session", model, b'{"threads": 1}')
            finally:
                self.lib.cameo_release_model(model)
        return self.session

    def run(self, feeds):
        return self.answered(lambda: self.ran({n: np.require(a, requirements="C") for n, a in feeds.items()}))

    def ran(self, feeds):
        given = (Array * len(feeds))(*[Array.of(n, a) for n, a in feeds.items()])
        results, one, arrays = self.made("run", self.opened(), given, c_size_t(len(feeds))), Array(), {}
        try:
            for k in range(self.lib.cameo_result_count(results)):
                self.lib.cameo_result(results, c_size_t(k), byref(one))
                arrays[one.name.decode()] = one.copied()
        finally:
            self.lib.cameo_release_results(results)
        return Answer(0, "", arrays)

    def close(self):
        if self.session is not None:
            self.lib.cameo_release_session(self.session)
            self.session = None


def library_beside(command):
    """libcameo.so of the same build, unless parts of it are newer: then it was not built with the command."""
    folder = pathlib.Path(command).parent
    parts = [p.stat().st_mtime for p in folder.glob("libcameo_*.a")]
    whole = [p for p in sorted(folder.glob("libcameo.so*")) if p.is_file() and p.stat().st_mtime >= max(parts, default=0)]
    return whole[0] if whole else None
