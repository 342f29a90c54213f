"""A case through PyTorch, the command, onnxruntime and our engine: right, wrong, refused, crash or skipped, and why."""
import collections
import json
import re
import subprocess
import time
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime

import oracle

onnxruntime.set_default_logger_severity(4)
LIMIT_S = 20
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


def excused(model, call):
    """Whether the model wrote down an assumption about named sizes that this input breaks."""
    m = onnx.load(model, load_external_data=False)
    said = next((p.value for p in m.metadata_props if p.key == "cameo.assumptions"), "")
    sizes = {}
    for i in m.graph.input:
        shape = np.shape(call.get(i.name)) if call.get(i.name) is not None else ()
        sizes.update({d.dim_param: n for d, n in zip(i.type.tensor_type.shape.dim, shape) if d.dim_param})
    for condition in filter(None, said.split(";")):
        try:
            if not eval(condition, {"__builtins__": {}}, sizes):
                return True
        except NameError:
            continue  # a size that only a run knows
    return False


class Bench:
    """One folder, used again for every case."""

    def __init__(self, cameo, folder, tell=lambda step: None):
        self.cameo, self.folder, self.tell = str(cameo), folder, tell
        folder.mkdir(parents=True, exist_ok=True)
        self.counts = collections.Counter()
        self.seconds = collections.Counter()

    def timed(self, name, call, *args):
        start = time.monotonic()
        self.tell(STEPS.index(name))
        try:
            return call(*args)
        finally:
            self.seconds[name] += time.monotonic() - start

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
                if found and not excused(self.folder / "program.onnx", case.calls[k]):
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

    def command(self, case, archive):
        flags = [a for f in case.flags for a in ("--input", f)]
        return [self.cameo, "export", str(archive), "-o", str(self.folder / "program.onnx"), "--json", *flags]

    def run_command(self, command):
        try:
            return subprocess.run(command, capture_output=True, timeout=LIMIT_S, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return None

    def export(self, case, archive):
        self.session = None
        done = self.run_command(self.command(case, archive))
        if done is None:
            return Verdict("crash", "export over time", f"export takes over {LIMIT_S} s")
        self.said = done.stderr
        if done.returncode == 0:
            return Verdict("right")
        findings = [f for f in map(parsed, done.stderr.splitlines()) if f and f.get("severity") == "error"]
        if done.returncode == 1 and findings:
            first = findings[0]
            what = first["what"].replace(str(self.folder) + "/", "")
            return Verdict("refused", f"{first['code']} {normalised(first['what'])}", f"{first['code']}: {what}", done.stderr[-3000:])
        code = findings[0]["code"] + " " + normalised(findings[0]["what"]) if findings else ""
        return Verdict("crash", f"export exit {done.returncode} {code}", f"export ends with {done.returncode} {code}", done.stderr[-3000:])

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
            got = self.session.run(None, {n: v for n, v in self.feeds(call).items() if n in self.inputs})
        except Exception as why:
            text = re.sub(r"\S*/(\w+\.\w+:\d+)", r"\1", str(why))
            return f"fails {normalised(reason(text))}", reason(text)[:300], text[:3000]
        difference = oracle.same([a for g in got for a in (g if isinstance(g, list) else [g])], want)
        return (f"{difference.split(' ')[0]}", difference, "") if difference else None

    def engine(self, case, call, want):
        given, answer = self.folder / "in.npz", self.folder / "out.npz"
        np.savez(given, **{n: v for n, v in self.feeds(call).items() if n in self.inputs})
        done = self.run_command([self.cameo, "run", str(self.folder / "program.onnx"), "--inputs", str(given), "-o", str(answer), "--threads", "1",
                                 "--json"])
        if done is None:
            return "run over time", f"run takes over {LIMIT_S} s", ""
        if done.returncode != 0:
            findings = [f for f in map(parsed, done.stderr.splitlines()) if f]
            what = f"{findings[0]['code']} {findings[0]['what']}" if findings else f"exit {done.returncode}"
            return f"fails {normalised(what)}", what, done.stderr[-3000:]
        arrays = np.load(answer)
        difference = oracle.same([a for n in self.outputs for a in listed(arrays, n)], want)
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


def parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return None
