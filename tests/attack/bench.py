"""One worker's bench: puts a case's files into a folder, runs commands there, judges what happened."""
import os
import pathlib
import shutil
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

import oracle
import target as server
from commands import Command
from flags import flags_in_help
from judge import Finding, Judge, normalised
from onnx_mutate import bodies
from onnx_values import npz_arrays

CHECK_LIMITS = server.Limits()
RANDOM = ("Random", "Bernoulli", "Multinomial", "Dropout")  # every engine has its own numbers


class Bench:
    def __init__(self, program, edges_file, sanitized, known):
        self.sanitized, self.known = sanitized, known
        self.limits = server.Limits(seconds=10, heap_mb=1024, resident_mb=3072 if sanitized else 1024)
        self.target = server.Target(program, edges_file, self.limits)
        self.judge = Judge(program)
        self.referee = oracle.Referee()
        room = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cameo-attack-", dir=room))
        self.counts = {}
        self.new_edges = 0
        self.runs = 0

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def place(self, files):
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for name, data in files.items():
            (self.folder / name).write_bytes(data)

    def go(self, command, files):
        """Runs in the folder as it stands; notes what lies there afterwards."""
        for name in command.outputs:
            (self.folder / name).unlink(missing_ok=True)
        before = set(os.listdir(self.folder))
        result = self.target.run(str(self.folder), command.arguments, self.limits)
        self.runs += 1
        self.new_edges += result.new_edges
        result.left = {name: (self.folder / name).stat().st_size for name in os.listdir(self.folder) if name not in before}
        return result

    def budgets(self, verbs):
        return {verb: flags_in_help(self.target.run(str(self.folder), [verb, "--help"], CHECK_LIMITS).out.decode()) for verb in verbs}

    # What can be found out about a case, one way each; every one returns a Finding or None.

    def run_once(self, case):
        self.place(case.files)
        result = self.go(case.command, case.files)
        self.count(f"exit {result.status}")
        finding = self.judge.run(result, case.command, case.files)
        if finding and finding.kind == "memory" and self.known.covers(finding):
            self.count("known needs of memory")
            finding = None
        return finding, result

    def plain_run(self, case):
        return self.run_once(case)[0]

    def output_is_valid(self, case):
        """What comes of a model that passes the check passes it too, ours and onnx's."""
        finding, result = self.run_once(case)
        if finding or result.status != 0 or not (self.folder / case.command.model_out).is_file():
            return finding
        return self.judge_output(case)

    def judge_output(self, case):
        source = case.command.arguments[1]
        sources = [a for a in case.command.arguments[1:3] if a.endswith((".onnx", ".onnxtxt")) and a != case.command.model_out]
        if "--fallback" in case.command.arguments:  # unknown operators have results of unknown types
            return None
        if "in-place" in case.command.arguments:  # the weights stay in the archive, which onnx.checker is not given
            return None
        made = self.folder / case.command.model_out
        if any(self.go(Command(["check", given]), {}).status != 0 for given in sources):
            return None
        after = self.go(Command(["check", made.name]), {})
        finding = self.judge.ended_badly(after, after.err.decode("utf-8", "replace"), Command(["check"]))
        if finding:
            return finding
        if after.status != 0:
            message = first_error(after.err)
            return Finding("invalid", f"{case.command.verb} made what check rejects: {message}", f"invalid {case.command.verb} {normalised(message)}",
                           detail=after.err.decode("utf-8", "replace")[:2000])
        if made.suffix == ".onnx" and made.stat().st_size < 1 << 20 and "BAD8" not in str(case.story):
            return self.valid_for_onnx(case, source, made)
        return None

    def valid_for_onnx(self, case, source, made):
        if any(name.endswith("data") or ".data" in name for name in os.listdir(self.folder)):
            return None
        how, why = self.referee.ask("check", made.read_bytes())
        if how != "refused":
            return None
        if not source.endswith(".onnx"):  # text: what onnx says of the same model as it is
            self.go(Command(["convert", source, "as_it_is.onnx"]), {})
            source = "as_it_is.onnx"
        if (self.folder / source).is_file() and self.referee.ask("check", (self.folder / source).read_bytes())[0] != "ok":
            return None
        self.count("onnx.checker refuses our output")
        found = Finding("invalid", f"{case.command.verb} made what onnx.checker rejects: {why[:160]}", f"invalid onnx {case.command.verb} {normalised(why[:120])}", detail=why)
        return None if self.known.covers(found) else found

    def engines_agree(self, case):
        """Fast kernels, reference kernels and onnxruntime on the same model and inputs."""
        model = case.files["model.onnx"]
        self.place(case.files)
        results = {}
        for name, flags in (("fast", []), ("reference", ["--reference"])):
            c = Command(["run", "model.onnx", "--inputs", "inputs.npz", "-o", "out.npz", "--threads", "1", *flags], ["out.npz"])
            r = self.go(c, case.files)
            finding = self.judge.run(r, c, case.files)
            if finding:
                case.command = c
                return finding
            if r.status == 0:
                try:
                    results[name] = npz_arrays((self.folder / "out.npz").read_bytes())
                except Exception as e:
                    return Finding("files", f"numpy cannot read out.npz: {e}", f"files out.npz {normalised(str(e))}")
        if len(results) == 1:
            self.count(f"only {next(iter(results))} runs")
        if not results:
            self.count("neither engine runs")
            return None
        how, answer = self.referee.ask("run", model, case.arrays)
        self.count(f"onnxruntime {how}")
        if how == "ok":
            if oracle.flags_are_plain(model):
                results["onnxruntime"] = answer
        elif how == "refused" and oracle.about_sizes(answer) and len(results) == 2:
            self.count("lenient")
            return Finding("lenient", f"{operators(model)}: onnxruntime says {answer[:200]}", f"lenient {operators(model)} {normalised(strip_names(answer))}", detail=answer)
        return self.disagreement(results, case)

    def disagreement(self, results, case):
        model = case.files["model.onnx"]
        if any(word in operators(model, 1000) for word in RANDOM):
            return None
        pairs = [("fast", "reference"), ("fast", "onnxruntime"), ("reference", "onnxruntime")]
        for a, b in pairs:
            if a in results and b in results:
                found = oracle.compare(results[a], results[b], numbers_are_tame(case))
                if found:
                    name, how = found
                    ops = operators(model)
                    f = Finding("difference", f"{a} and {b} differ on {ops}: {name}: {how}", f"difference {a}/{b} {how.split(' ')[0]} {ops}", detail=spelt(model))
                    if self.known.covers(f):
                        self.count("known differences")
                        return None
                    if how.startswith("value") and self.may_differ(results[a], results[b], model):
                        return None
                    return f
        return None

    def may_differ(self, first, second, model):
        """Whether values of two engines differ for a reason that lies in the model."""
        if oracle.rounds_data(model):
            self.count("data rounded to bytes")
        elif oracle.steps_apart(first, second, model):
            self.count("a step of a grid apart")
        elif self.leaves_f32():
            self.count("sums that leave f32's range")
        else:
            return False
        return True

    def leaves_f32(self):
        """Whether inner values are so large that squares and sums of f32 overflow, as the order of additions has it: the case's
        model and inputs lie in the folder."""
        c = Command(["run", "model.onnx", "--inputs", "inputs.npz", "-o", "inner.npz", "--reference", "--keep-outputs", "*"], ["inner.npz"])
        if self.go(c, {}).status != 0:
            return False
        try:
            inner = npz_arrays((self.folder / "inner.npz").read_bytes())
        except Exception:
            return False
        return any(a.dtype.kind == "f" and a.dtype != np.float16 and (np.abs(a[np.isfinite(a)]) > 1e18).any() for a in inner.values())

    def rewrite_keeps_values(self, case):
        """A model before and after simplify or convert, on the same inputs."""
        finding, result = self.run_once(case)
        if finding or result.status != 0 or case.command.model_out != "out.onnx":
            return finding
        if any(0 in a.shape for a in case.arrays.values()) and "--sizes-may-be-zero" not in case.command.arguments:
            return None  # by default, simplify assumes that named sizes are at least 1
        before = self.outputs_of("model.onnx")
        if before is None:
            return None
        after = self.outputs_of("out.onnx")
        if after is None:
            self.count("rewritten model does not run")
            return None
        found = oracle.compare(after, before, numbers_are_tame(case))
        if not found or any(word in operators(case.files["model.onnx"], 1000) for word in RANDOM):
            return None
        f = Finding("difference", f"{case.command.verb} changes {found[0]} of {operators(case.files['model.onnx'])}: {found[1]}",
                    f"difference {case.command.verb} {found[1].split(' ')[0]} {operators(case.files['model.onnx'])}", detail=spelt(case.files["model.onnx"]))
        return None if self.known.covers(f) or (found[1].startswith("value") and self.may_differ(after, before, case.files["model.onnx"])) else f

    def outputs_of(self, model):
        c = Command(["run", model, "--inputs", "inputs.npz", "-o", "values.npz", "--reference"], ["values.npz"])
        r = self.go(c, {})
        try:
            return npz_arrays((self.folder / "values.npz").read_bytes()) if r.status == 0 else None
        except Exception:
            return None

    def close(self):
        self.target.close()
        self.referee.close()
        self.judge.symbols.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def operators(data, most=4):
    """The operators of a model, for keys: few and sorted."""
    try:
        m = onnx.load_from_string(data)
    except Exception:
        return "?"
    places = [*bodies(m.graph), *m.functions]
    ops = sorted({str(n.op_type) for place in places for n in place.node})  # bytes where the name is not UTF-8
    shadow = "shadow:" if any(f.domain in ("", "ai.onnx") for f in m.functions) else ""
    return shadow + "+".join(ops[:most]) + ("+…" if len(ops) > most else "")


def spelt(data):
    """The nodes with their attributes, on one line."""
    try:
        return " ".join(onnx.printer.to_text(onnx.load_from_string(data)).split("{", 1)[-1].split())
    except Exception:
        return ""


def numbers_are_tame(case):
    try:
        m = onnx.load_from_string(case.files["model.onnx"])
        weights = [numpy_helper.to_array(t) for g in bodies(m.graph) for t in g.initializer]
        weights += [numpy_helper.to_array(a.t) for g in bodies(m.graph) for n in g.node for a in n.attribute if a.type == a.TENSOR]
    except Exception:
        return False
    return oracle.tame([*case.arrays.values(), *weights])


def strip_names(text):
    text = text.split("Status Message:")[-1]
    return text.replace("\n", " ")[:160]


def first_error(err):
    for line in err.decode("utf-8", "replace").splitlines():
        if line.startswith("error") or '"severity":"error"' in line:
            return line[:240]
    return err[:200].decode("utf-8", "replace")
