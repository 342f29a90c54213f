"""Files that once broke Cameo, one row each: every command ends with a finding, soon, in little memory, and writes nothing.

A row is a file of tests/data/attacks and a command; FILE stands for it, OUT for a name that must not appear, other names
with an ending for files beside it. A file without a test of its own here is an error of this table.
"""
import os
import subprocess
import threading
import time

PROCESSOR_SECONDS = 1.0  # of the processor: other work on the machine must not fail the test
WALL_SECONDS = 10.0
MEMORY_BYTES = 200 << 20
EXPORT = ("export", "FILE", "-o", "OUT", "--input", "x=f32[2,3]")
VERBS = {
    "export": EXPORT,
    "export as recorded": ("export", "FILE", "-o", "OUT"),
    "infer": ("infer", "FILE", "OUT"),
    "simplify": ("simplify", "FILE", "OUT"),
    "convert": ("convert", "FILE", "OUT", "--opset", "20"),
    "convert 7": ("convert", "FILE", "OUT", "--opset", "7"),
    "convert 13": ("convert", "FILE", "OUT", "--opset", "13"),
    "extract": ("extract", "FILE", "OUT"),
    "edit": ("edit", "FILE", "OUT", "--rename", "y=renamed"),
    "check": ("check", "FILE"),
    "explain": ("explain", "FILE"),
    "run": ("run", "FILE", "--random", "0", "-o", "OUT.npz"),
}

# (file, command: a name of VERBS or a tuple of arguments, the finding that names what is wrong or None for any)
ROWS = [
    ("12-while-int.pt", "export", None),
    ("12-maxpool-empty.pt2", "export as recorded", "lower.argument"),
    ("12-cond-noargs.pt2", "export as recorded", None),
    ("13-adaptive-neg.pt", ("export", "FILE", "-o", "OUT", "--input", "x=f32[1,3,16,16]"), None),
    ("14-ts-while_big.pt", "export", "budget.steps"),
    ("14-ts-while_true_py.pt", "export", "budget.steps"),
    ("14-ts-strdouble.pt", "export", "budget.text"),
    ("14-pkl-attr-exp.pt", "export", "file.pickle-damaged"),
    ("14-pkl-attr-explist-eq.pt", "export", None),
    ("14-pkl-attr-explist-ret.pt", "export", None),
    ("14-dimexpr6.onnx", "infer", "budget.text"),
    ("14-dimexpr6.onnx", "simplify", "budget.text"),
    ("14-expfunc40.onnx", "infer", "budget.functions"),
    ("14-expfunc40.onnx", "simplify", "budget.functions"),
    ("14-expfunc40.onnx", "convert", "budget.functions"),
    ("14-expfunc40.onnx", "run", "budget.functions"),
    ("14-loop1e12.onnx", "infer", "budget.turns"),
    ("14-loop1e12.onnx", "simplify", "budget.turns"),
    ("14-loop1e12.onnx", "convert", "budget.turns"),
    ("14-loop1e12.onnx", "run", "budget.turns"),
    ("14-strsplit.onnx", "infer", None),
    ("14-strsplit.onnx", "simplify", None),
    ("14-strsplit.onnx", "run", "budget.strings"),
]
# A command may also succeed on these: only another verb reads the hostile part.
MAY_SUCCEED = {("14-strsplit.onnx", "infer"), ("14-strsplit.onnx", "simplify")}

# Sizes and attributes that kernels would have trusted, in weights, in declarations, in what the caller gives.
MISFITS = {"03-bn.onnx": "infer.mismatch", "04-convbias.onnx": "infer.mismatch", "05-lstm-b.onnx": "infer.mismatch", "06-concat-declared.onnx": "infer.rank",
           "07-attention.onnx": "infer.mismatch", "08-attention-kv0.onnx": "infer.attribute", "08-conv-group0.onnx": "infer.attribute",
           "08-convtranspose.onnx": "infer.shape", "08-matmul.onnx": "infer.mismatch", "13-splitsum.onnx": "infer.mismatch"}
GIVEN = {"01-concat-valid.onnx": ("01-concat-small.npz", "infer.mismatch"), "02-add-valid.onnx": ("02-add-valid.npz", "infer.broadcast"),
         "08-convtranspose.onnx": ("08-convtranspose.npz", "infer.shape")}
ROWS += [(name, verb, finding) for name, finding in MISFITS.items() for verb in ("run", "simplify", "convert 13")]
ROWS += [(name, ("run", "FILE", "--inputs", inputs, "-o", "OUT.npz"), finding) for name, (inputs, finding) in GIVEN.items()]
RUN = {"09-constant.onnx": "model.attribute", "09-sparse.onnx": "value.range", "09-if.onnx": "model.attribute-missing", "09-loop.onnx": "model.attribute-missing",
       "10-softmax-axis.onnx": "infer.axis", "10-reduce-axis.onnx": "infer.axis", "10-transpose.onnx": "infer.perm", "10-shadow.onnx": None,
       "10-split-axis.onnx": "infer.axis", "11-opset99.onnx": None, "13-dims.onnx": "value.range", "13-perm.onnx": "infer.perm"}
ROWS += [(name, "run", finding) for name, finding in RUN.items()]

# What rewrites a model refuses nodes that can never run; what does not understand a node does not change it. `infer` tells
# faults as warnings; `extract` and `edit` take nodes as they are.
REWRITERS = ["simplify", "explain", "convert", "convert 7", "convert 13"]
GENTLE = ["infer", "extract", "edit"]
REFUSED = {"09-constant.onnx": "model.attribute", "10-reduce-axis.onnx": "infer.axis", "10-softmax-axis.onnx": "infer.axis", "10-split-axis.onnx": "infer.axis",
           "10-transpose.onnx": "infer.perm", "13-perm.onnx": "infer.perm"}
UNREADABLE = {"09-if.onnx": "model.attribute-missing", "09-loop.onnx": "model.attribute-missing", "13-convert-max.onnx": "model.operands"}
LEFT_ALONE = ["09-sparse.onnx", "10-shadow.onnx", "11-opset99.onnx", "13-dims.onnx", "15-convert7.onnx"]
ROWS += [(name, verb, finding) for name, finding in REFUSED.items() for verb in REWRITERS] + [(name, "check", None) for name in [*REFUSED, *UNREADABLE]]
ROWS += [(name, verb, finding) for name, finding in UNREADABLE.items() for verb in REWRITERS + GENTLE]
ROWS += [(name, verb, None) for name in REFUSED for verb in GENTLE] + [(name, verb, None) for name in LEFT_ALONE for verb in REWRITERS + GENTLE + ["check"]]
MAY_SUCCEED |= {(name, verb) for name in REFUSED for verb in GENTLE} | {(name, verb) for name in LEFT_ALONE for verb in REWRITERS + GENTLE + ["check"]}

# Nodes of which more is known while a pass goes on than when it began, attributes of another opset, weights without elements,
# values that would be computed by those who read them.
LATE = [("15-scatter-rankless.onnx", ("convert", "FILE", "OUT", "--opset", "10"), None), ("15-stray-attribute.onnx", ("convert", "FILE", "OUT", "--opset", "9"), None),
        ("15-rewire-own-output.onnx", ("edit", "FILE", "OUT", "--rewire", "x1=y0"), "edit.rewire"),
        ("15-split-parts.onnx", ("simplify", "FILE", "OUT", "--overwrite-input-shape", "input:2"), "infer.split")]
LATE_MAY_SUCCEED = [("15-slice-in-dead-branch.onnx", "simplify"), ("15-empty-weights.onnx", "simplify")]
ROWS += LATE + [(name, verb, None) for name, verb in LATE_MAY_SUCCEED]
MAY_SUCCEED |= set(LATE_MAY_SUCCEED)


class Ended:
    """A command that ran to its end, with what it took."""

    def __init__(self, command, folder):
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        timer = threading.Timer(WALL_SECONDS, process.kill)
        timer.start()
        self.text = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        self.wall_seconds = time.monotonic() - started
        self.code = process.returncode = os.waitstatus_to_exitcode(status)
        self.processor_seconds = usage.ru_utime + usage.ru_stime
        self.memory_bytes = usage.ru_maxrss * 1024

    def __str__(self):
        took = f"{self.wall_seconds:.2f} s, {self.processor_seconds:.2f} s of the processor, {self.memory_bytes >> 20} MiB"
        return f"exit {self.code}, {took}\n{self.text[:2000]}"


def faults(t, row):
    name, command, finding = row
    data = t.root / "tests/data/attacks"
    target = t.folder / "out.onnx"
    words = {"FILE": data / name, "OUT": target, "OUT.npz": t.folder / "out.npz"}
    args = [words.get(a, data / a if (data / a).is_file() else a) for a in (VERBS[command] if isinstance(command, str) else command)]
    before = set(os.listdir(t.folder))
    for _ in range(3):  # the best of three: a busy machine makes seconds of the processor longer too
        ended = Ended([t.command, *map(str, args)], t.folder)
        if ended.processor_seconds <= PROCESSOR_SECONDS or ended.wall_seconds > WALL_SECONDS:
            break
    allowed = (0, 1, 3) if (name, command) in MAY_SUCCEED else (1, 3)
    found = []
    if ended.code not in allowed:
        found.append(f"exit {ended.code}")
    if ended.code in (1, 3) and "error[" not in ended.text:
        found.append("no finding")
    if finding and f"error[{finding}]" not in ended.text:
        found.append(f"no error[{finding}]")
    if ended.processor_seconds > PROCESSOR_SECONDS or ended.wall_seconds > WALL_SECONDS:
        found.append("too long")
    if ended.memory_bytes > MEMORY_BYTES:
        found.append("too much memory")
    if ended.code != 0 and set(os.listdir(t.folder)) != before:
        found.append("something was written")
    for left in set(os.listdir(t.folder)) - before:
        os.remove(t.folder / left)
    return [f"{name}, {command if isinstance(command, str) else command[0]}: {', '.join(found)}; {ended}"] if found else []


def make_test(name):
    def test(t):
        found = [fault for row in ROWS if row[0] == name for fault in faults(t, row)]
        assert not found, "\n".join(found)
    return test


for attack in sorted({row[0] for row in ROWS}):
    globals()["test_" + attack.replace("-", "_").replace(".", "_")] = make_test(attack)


def test_every_attack_has_a_row(t):
    named = {row[0] for row in ROWS} | {word for row in ROWS if not isinstance(row[1], str) for word in row[1]}
    assert {p.name for p in (t.root / "tests/data/attacks").iterdir()} <= named
