"""A case through PyTorch, Cameo, onnxruntime and our engine: right, wrong, refused, crash or skipped, and why."""
import collections
import re
import time
from dataclasses import dataclass

import numpy as np
import onnxruntime

import oracle
from engines import LIMIT_S, Command, Library

onnxruntime.set_default_logger_severity(4)
# All inputs are small multiples of 1/4: without these, float32 is exact and there is nothing to excuse.
INEXACT = re.compile(r"tanh|sigmoid|softmax|sin\(|cos\(|exp\(|log|sqrt|mean|pow|\*\*|/|linear|fmod")
GUESS = re.compile(r"assert: assumed that")  # a guess about a size that only a run knows, checked by the model
STEPS = ["capture", "pytorch", "export", "onnxruntime", "engine"]


@dataclass
class Verdict:
    kind: str  # right, wrong, refused, crash, skipped
    key: str = ""  # equal for the same fault, before it is reduced
    what: str = ""  # one line for people
    detail: str = ""
    call: int = -1  # the input at which it was found
    judge: str = ""  # onnxruntime or engine

    @property
    def signature(self):
        return (self.kind, self.key)


def normalised(text):
    """A message without names, numbers and places."""
    text = re.sub(r" \((?:used \d+ times?|[^()]*!code[^()]*)\)", "", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'…'", text)
    text = re.sub(r"\b[a-z]{1,3}\d+\b|\?\w+", "v", text)
    return re.sub(r"-?\d[\d.e+-]*", "N", text).strip()[:160]


def excused(session, call):
    """Whether the model wrote down an assumption about named sizes that this input breaks."""
    said = session.get_modelmeta().custom_metadata_map.get("cameo.assumptions", "")
    sizes = {}
    for i in session.get_inputs():
        shape = np.shape(call.get(i.name)) if call.get(i.name) is not None else ()
        sizes.update({d: n for d, n in zip(i.shape, shape) if isinstance(d, str)})
    for condition in filter(None, said.split(";")):
        try:
            if not eval(condition, {"__builtins__": {}}, sizes):
                return True
        except NameError:
            continue  # a size that only a run knows
    return False


class Bench:
    """One folder, used again for every case."""

    def __init__(self, cameo, folder, tell=lambda step: None, library=None):
        self.folder, self.tell = folder, tell
        folder.mkdir(parents=True, exist_ok=True)
        self.command = Command(cameo, folder)
        self.cameo = self.library = Library(library, folder) if library else self.command
        self.counts = collections.Counter()
        self.seconds = collections.Counter()

    def timed(self, name, call, *args):
        start = time.monotonic()
        self.tell(STEPS.index(name))
        try:
            return call(*args)
        finally:
            self.seconds[name] += time.monotonic() - start

    def use_command(self, whether):
        """The next cases go through the command's processes, or through the library where there is one."""
        self.cameo = self.command if whether else self.library

    def judge(self, case, only=None, judges=("onnxruntime", "engine")):
        """The first thing that is wrong; `only` is one call."""
        try:
            archive = self.timed("capture", oracle.save, case, self.folder)
        except oracle.Refused as why:
            return Verdict("skipped", "pytorch refuses", str(why)[:300])
        program = self.timed("pytorch", oracle.load, archive)
        wanted = {}
        for k, call in enumerate(case.calls):
            if only is not None and k != only:
                continue
            want = self.timed("pytorch", oracle.run, program, call)
            self.counts["inputs"] += 1
            if want is None:
                self.counts["inputs that PyTorch refuses"] += 1
            elif not oracle.tame(want):
                self.counts["inputs with numbers out of range"] += 1
            else:
                wanted[k] = want
        if not wanted:
            return Verdict("skipped", "pytorch raises on every input")
        done = self.timed("export", self.export, case, archive)
        if done.kind != "right":
            return done
        for k, want in wanted.items():
            for name in judges:
                found = self.timed(name, getattr(self, name), case, case.calls[k], want)
                if found and GUESS.search(found[1]):
                    self.counts["inputs that the model itself refuses"] += 1
                    break
                if found and not self.is_excused(case.calls[k]):
                    if INEXACT.search(case.source) and self.timed("pytorch", self.unstable, program, case.calls[k], want):
                        self.counts["inputs on the edge of a branch"] += 1
                        break
                    if self.timed("pytorch", oracle.order_decides, program, case.calls[k], want):
                        self.counts["inputs where a write reads what it wrote"] += 1
                        break
                    return Verdict("wrong", f"{name} {found[0]}", f"{name}: {found[1]}", f"{found[2]}\nexport said:\n{self.said[-2000:]}", k, name)
        return Verdict("right")

    @staticmethod
    def unstable(program, call, want):
        """PyTorch itself answers otherwise when inputs or rounded results change in the fifth digit: no runtime can be held to that."""
        for nudge in (1e-6, -1e-6, 1e-5, -1e-5):
            again = oracle.run(program, call, nudge)
            if again is None or oracle.same(again, want):
                return True
        return oracle.rounding_decides(program, call, want)

    def is_excused(self, call):
        return self.session is not None and excused(self.session, call)

    def export(self, case, archive):
        self.session = None
        done = self.cameo.export(archive, case.flags)
        if done.status is None:
            return Verdict("crash", "export over time", f"export takes over {LIMIT_S} s")
        self.said = done.said
        if done.status == 0:
            return Verdict("right")
        findings = [f for f in done.findings() if f.get("severity") == "error"]
        if done.status == 1 and findings:
            first = findings[0]
            what = first["what"].replace(str(self.folder) + "/", "")
            return Verdict("refused", f"{first['code']} {normalised(first['what'])}", f"{first['code']}: {what}", done.said[-3000:])
        code = findings[0]["code"] + " " + normalised(findings[0]["what"]) if findings else ""
        return Verdict("crash", f"export exit {done.status} {code}", f"export ends with {done.status} {code}", done.said[-3000:])

    def feeds(self, call):
        return {n: np.asarray(v) for n, v in call.items() if v is not None}

    def onnxruntime(self, case, call, want):
        try:
            if self.session is None:
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = options.inter_op_num_threads = 1
                options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
                self.session = onnxruntime.InferenceSession(str(self.folder / "program.onnx"), options, providers=["CPUExecutionProvider"])
                self.outputs = [o.name for o in self.session.get_outputs()]
                self.inputs = {i.name for i in self.session.get_inputs()}
                self.types = [o.type for o in self.session.get_outputs()]
            got = self.session.run(None, {n: v for n, v in self.feeds(call).items() if n in self.inputs})
        except Exception as why:
            text = re.sub(r"\S*/(\w+\.\w+:\d+)", r"\1", str(why))
            return f"fails {normalised(reason(text))}", reason(text)[:300], text[:3000]
        difference = oracle.same([a for g in got for a in (g if isinstance(g, list) else [g])], want)
        return (f"{difference.split(' ')[0]}", difference, "") if difference else None

    def engine(self, case, call, want):
        arrays_only = all(t.startswith("tensor(") for t in self.types)
        done = (self.cameo if arrays_only else self.command).run({n: v for n, v in self.feeds(call).items() if n in self.inputs})
        if done.status is None:
            return "run over time", f"run takes over {LIMIT_S} s", ""
        if done.status != 0:
            findings = done.findings()
            what = f"{findings[0]['code']} {findings[0]['what']}" if findings else f"exit {done.status}"
            return f"fails {normalised(what)}", what, done.said[-3000:]
        difference = oracle.same([a for n in self.outputs for a in listed(done.arrays, n)], want)
        return (difference.split(" ")[0], difference, "") if difference else None


def listed(arrays, name):
    """An output by name; a sequence's elements are NAME.0, NAME.1, ..."""
    if name in arrays:
        return [arrays[name]]
    out = []
    while f"{name}.{len(out)}" in arrays:
        out.append(arrays[f"{name}.{len(out)}"])
    return out


def reason(text):
    """onnxruntime's message without where in onnxruntime it was thrown."""
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : ", "", text)
    return text.split("\n")[0]
