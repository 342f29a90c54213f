"""Makes a finding's files small while the same fault stays."""
import copy
import io
import time
import zipfile

import onnx

import onnx_values
from commands import Command


def same(a, b):
    if a is None or b is None or a.kind != b.kind:
        return False
    if a.kind == "difference":
        return a.key.split(" ")[1:3] == b.key.split(" ")[1:3]
    if a.kind in ("lenient", "invalid"):
        return a.key.split(" ")[:3] == b.key.split(" ")[:3]
    return a.key == b.key


class Minimiser:
    def __init__(self, probe, case, finding, seconds=20):
        self.probe, self.finding, self.best = probe, finding, case
        self.deadline = time.monotonic() + seconds

    def late(self):
        return time.monotonic() > self.deadline

    def accept(self, **changes):
        """Keeps the changed case if it fails in the same way."""
        if self.late():
            return False
        tried = copy.copy(self.best)
        for name, value in changes.items():
            setattr(tried, name, value)
        found = self.probe(tried)
        if not same(found, self.finding):
            return False
        self.best, self.finding = tried, found
        return True

    def run(self):
        self.fewer_arguments()
        self.fewer_files()
        model = self.best.command.subject
        if model in self.best.files:
            if model.endswith(".onnx"):
                self.smaller_onnx(model)
            elif model.endswith(".onnxtxt"):
                self.fewer_pieces(model, b"\n")
                self.fewer_pieces(model, b" ")
            else:
                self.smaller_archive(model)
        self.fewer_arguments()
        return self.best, self.finding

    def fewer_arguments(self):
        at = 2
        while at < len(self.best.command.arguments) and not self.late():
            words = self.best.command.arguments
            if words[at].startswith("-"):
                pair = at + 1 < len(words) and not words[at + 1].startswith("-")
                if pair and self.accept(command=Command(words[:at] + words[at + 2:], self.best.command.outputs, self.best.command.model_out)):
                    continue
                if self.accept(command=self.best.command.without(at)):
                    continue
            at += 1

    def fewer_files(self):
        used = set(self.best.command.arguments)
        for name in sorted(self.best.files):
            if name not in used:
                self.accept(files={k: v for k, v in self.best.files.items() if k != name})

    def with_model(self, name, message):
        files = {**self.best.files, name: message.SerializeToString()}
        return self.accept(files=files)

    def smaller_onnx(self, name):
        try:
            message = onnx.load_from_string(self.best.files[name])
        except Exception:
            return
        if not self.with_model(name, message):
            return  # damaged bytes: what they spell is not what matters
        for _ in range(3):
            size = len(self.best.files[name])
            self.smaller_message(name)
            if len(self.best.files[name]) >= size or self.late():
                break
        self.smaller_inputs(name)

    def smaller_message(self, name):
        for path in (("graph", "node"), ("graph", "initializer"), ("graph", "value_info"), ("graph", "output"), ("graph", "input"),
                     ("functions",), ("opset_import",), ("metadata_props",), ("graph", "sparse_initializer"), ("graph", "quantization_annotation")):
            self.drop_each(name, lambda m, path=path: follow(m, path))
        for text in ("doc_string", "producer_name", "producer_version", "domain"):
            self.clear(name, text)
        count = len(onnx.load_from_string(self.best.files[name]).graph.node)
        for i in range(min(count, 30)):
            self.drop_each(name, lambda m, i=i: m.graph.node[i].attribute if i < len(m.graph.node) else [])
            self.drop_each(name, lambda m, i=i: m.graph.node[i].input if i < len(m.graph.node) else [], from_end=True)
            for a in range(4):
                self.drop_each(name, lambda m, i=i, a=a: inner_nodes(m, i, a))

    def drop_each(self, name, where, from_end=False):
        """Halves first, then one by one, from the end."""
        def attempt(low, high):
            m = onnx.load_from_string(self.best.files[name])
            items = where(m)
            if high > len(items):
                return False
            del items[low:high]
            return self.with_model(name, m)
        n = len(where(onnx.load_from_string(self.best.files[name])))
        step = n // 2 if n > 3 and not from_end else 1
        while step >= 1 and n and not self.late():
            at = len(where(onnx.load_from_string(self.best.files[name])))
            while at > 0 and not self.late():
                attempt(max(0, at - step), at)
                at -= step
                if from_end and step == 1 and at <= 0:
                    break
            step //= 2

    def clear(self, name, field):
        m = onnx.load_from_string(self.best.files[name])
        if m.HasField(field):
            m.ClearField(field)
            self.with_model(name, m)

    def smaller_inputs(self, name):
        """Arrays that the model no longer takes go."""
        if "inputs.npz" not in self.best.files or self.best.arrays is None:
            return
        wanted = {v.name for v in onnx.load_from_string(self.best.files[name]).graph.input}
        arrays = {k: v for k, v in self.best.arrays.items() if k in wanted}
        if len(arrays) < len(self.best.arrays):
            self.accept(arrays=arrays, files={**self.best.files, "inputs.npz": onnx_values.npz_bytes(arrays)})

    def fewer_pieces(self, name, separator):
        pieces = self.best.files[name].split(separator)
        step = max(1, len(pieces) // 2)
        while step and not self.late():
            at = 0
            while at < len(pieces) and not self.late():
                rest = pieces[:at] + pieces[at + step:]
                if rest and self.accept(files={**self.best.files, name: separator.join(rest)}):
                    pieces = rest
                else:
                    at += step
            step //= 2

    def smaller_archive(self, name):
        """Whole entries, then lines of source."""
        try:
            with zipfile.ZipFile(io.BytesIO(self.best.files[name])) as z:
                entries = [(i.filename, z.read(i)) for i in z.infolist()]
        except Exception:
            return
        def attempt(new):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as z:
                for entry, content in new:
                    z.writestr(zipfile.ZipInfo(entry), content)
            return self.accept(files={**self.best.files, name: out.getvalue()})
        if not attempt(entries):
            return
        for at in reversed(range(len(entries))):
            if attempt(entries[:at] + entries[at + 1:]):
                del entries[at]
        for at, (entry, content) in enumerate(entries):
            if not entry.endswith(".py"):
                continue
            lines = content.split(b"\n")
            step = max(1, len(lines) // 2)
            while step and not self.late():
                i = 0
                while i < len(lines) and not self.late():
                    rest = lines[:i] + lines[i + step:]
                    if attempt(entries[:at] + [(entry, b"\n".join(rest))] + entries[at + 1:]):
                        lines = rest
                        entries[at] = (entry, b"\n".join(rest))
                    else:
                        i += step
                step //= 2


def follow(message, path):
    for name in path:
        message = getattr(message, name)
    return message


def inner_nodes(m, i, a):
    if i < len(m.graph.node) and a < len(m.graph.node[i].attribute):
        return m.graph.node[i].attribute[a].g.node
    return []
