"""Command lines for a case's files: whole verbs with legal flags, chosen at random."""
from dataclasses import dataclass, field

import faces
import flags

ONNX_VERBS = ["run"] * 8 + ["simplify"] * 6 + ["convert"] * 4 + ["infer", "check", "show", "verify"] * 2 + ["merge", "extract", "diff", "explain", "stats", "view", "onnxsim"]
ONNX_VERBS += ["edit", "quantize"] * 2 + ["lint", "quantize", "convert", "prepare"] + ["desk", "c"] * 2
ARCHIVE_VERBS = ["export"] * 8 + ["show", "desk", "c", "prepare"]
PICTURE_VERBS = ["quantize"] * 3 + ["convert"]
ARRAY_VERBS = ["run"] * 3 + ["verify", "quantize"]
FACES = {"desk", "c"}  # not the command's: of the target itself (tests/attack/target/faces.cpp)
VERBS = sorted(set(ONNX_VERBS + ARCHIVE_VERBS + ["ops"]) - FACES)
BUDGETS = {"--max-memory": "700M", "--max-time": "6"}  # given where the verb has them: the files are hostile


@dataclass
class Command:
    arguments: list
    outputs: list = field(default_factory=list)  # files it may leave
    model_out: str = ""                          # of these, the one that has to be a model
    files: dict = field(default_factory=dict)    # that the command needs beside the case's

    @property
    def verb(self):
        return self.arguments[0]

    @property
    def subject(self):
        """The name of the file that was changed."""
        if "--image" in self.arguments:
            return "picture.png"
        at = 2 if self.verb == "c" else 1
        return self.arguments[at] if len(self.arguments) > at else ""

    def without(self, at):
        """The same command with one argument left out."""
        return Command([a for i, a in enumerate(self.arguments) if i != at], self.outputs, self.model_out, self.files)


def one(rng, *options):
    return list(rng.choice(options))


def maybe(rng, *words, odds=4):
    return list(words) if rng.one_in(odds) else []


class Chooser:
    """Knows what is there to name: the model's values and nodes, the budgets that this build has."""
    export_flags = ()  # that are known to fit the archive

    def __init__(self, rng, model, values=(), nodes=(), dims=(), inputs_file="", second="", budgets=None):
        self.rng, self.model, self.inputs_file, self.second = rng, model, inputs_file, second
        self.values, self.nodes, self.dims = list(values) or ["x"], list(nodes) or ["n"], list(dims)
        self.budgets = budgets or {}

    def value(self):
        return self.rng.choice(self.values)

    def command(self, verb):
        return self.command_of(verb, lambda chooser: getattr(chooser, verb)())

    def command_of(self, verb, make):
        made = make(self)
        if verb in FACES:
            return made
        made.arguments += maybe(self.rng, "--json", odds=6) + maybe(self.rng, "-v", odds=8) + maybe(self.rng, "-q", odds=12)
        own, common = self.budgets.get(verb, ((), ()))
        if own and self.rng.one_in(4):
            for _ in range(self.rng.few(3)):
                made.arguments += flags.stray(self.rng, own, self.value(), made.outputs)
        for flag, value in BUDGETS.items():
            if flag in common:
                made.arguments += [flag, value]
        return made

    def writing(self, arguments, suffix=".onnx"):
        out = "out" + (suffix if not self.rng.one_in(10) else ".onnxtxt")
        extra = maybe(self.rng, "--weights", self.rng.choice(["embed", "external", "keep"]), odds=6) + maybe(self.rng, "--no-provenance", odds=5)
        return Command([*arguments[:1], *arguments[1:], out, *extra], [out, out + ".data"], out)

    def inputs(self):
        rng = self.rng
        if self.inputs_file and not rng.one_in(6):
            return ["--inputs", self.inputs_file]
        return ["--random", str(rng.randrange(3))] + [w for d in self.dims[:3] if rng.one_in(2) for w in ("--dim", f"{d}={rng.choice([0, 1, 2, 3, 5])}")]

    def run(self):
        rng = self.rng
        arguments = ["run", self.model, *self.inputs(), "-o", "out.npz"]
        arguments += maybe(rng, "--reference", odds=3) + maybe(rng, "--threads", rng.choice(["1", "2"]), odds=3) + maybe(rng, "--repeat", "2", odds=8)
        arguments += maybe(rng, "--keep-outputs", "*", odds=10) + maybe(rng, "--profile", "out.trace", odds=20)
        if self.dims and rng.one_in(12):
            arguments += ["--repeat", "3", "--dim", f"{self.dims[0]}={rng.choice(['1..3', '3..1', '0..2', '..', '1..99999999999999999999'])}"]
        return Command(arguments, ["out.npz", "out.trace"])

    def simplify(self):
        rng = self.rng
        c = self.writing(["simplify", self.model])
        c.arguments += maybe(rng, "--check", rng.choice(["1", "2"]), odds=5) + maybe(rng, "--exact", odds=6) + maybe(rng, "--freeze-initializers", odds=6)
        c.arguments += maybe(rng, "--no-fold", odds=10) + maybe(rng, "--no-fuse", odds=10) + maybe(rng, "--unroll", rng.choice(["1", "8", "100"]), odds=6)
        c.arguments += maybe(rng, "--sizes-may-be-zero", odds=8) + maybe(rng, "--functions", rng.choice(["auto", "keep", "inline"]), odds=6)
        c.arguments += maybe(rng, "--no-shapes", odds=8) + maybe(rng, rng.choice(["--only", "--skip"]), rng.choice(["gelu", "layer-norm", "add-zero,mul-one", "nothing"]), odds=12)
        c.arguments += maybe(rng, "--without", f"{rng.choice(['gelu', 'fold', 'x'])}@{self.value()}", odds=16)
        if rng.one_in(6):
            shape = ",".join(rng.choice(["1", "2", "3", "0", "N", "-1", "7"]) for _ in range(rng.randrange(1, 5)))
            c.arguments += [rng.choice(["--overwrite-input-shape", "--test-input-shape"]), f"{self.value()}:{shape}"]
        if rng.one_in(12):
            c.arguments += ["--ledger", "out.ledger"]
            c.outputs.append("out.ledger")
        return c

    def convert(self):
        rng = self.rng
        c = self.writing(["convert", self.model])
        if not rng.one_in(5):
            c.arguments += ["--opset", str(rng.randint(7, 27))]
        c.arguments += maybe(rng, "--lossy") + maybe(rng, "--experimental")
        if rng.one_in(6):
            c.arguments += ["--float", rng.choice(["f16", "bf16", "mixed"])] + maybe(rng, "--keep-io") + maybe(rng, "--no-check", odds=2)
            c.arguments += maybe(rng, "--calibrate", self.inputs_file, odds=2) if self.inputs_file else []
            c.arguments += maybe(rng, "--keep", rng.choice([*self.nodes, "Softmax", "*"]), odds=4) + maybe(rng, "--max-error", rng.choice(["0", "1e-6", "nan", "10"]), odds=5)
            c.arguments += maybe(rng, "--target", "tensorrt", odds=5)
            if rng.one_in(6):
                c.arguments += ["--report", "out.json"]
                c.outputs.append("out.json")
        c.arguments += maybe(rng, "--inline", odds=6) + maybe(rng, "--to-qdq", odds=6) + maybe(rng, "--exact-rounding", odds=12)
        c.arguments += maybe(rng, "--quantized", rng.choice(["qdq", "qoperator"]), odds=6)
        return c

    def infer(self):
        c = self.writing(["infer", self.model])
        c.arguments += maybe(self.rng, "--strict")
        return c

    def check(self):
        return Command(["check", self.model] + maybe(self.rng, "--no-types", odds=6) + maybe(self.rng, "--strict", odds=6))

    def show(self):
        return Command(["show", self.model] + maybe(self.rng, "--text", odds=2))

    def verify(self):
        return Command(["verify", self.model, self.second or self.model, *self.inputs()])

    def merge(self):
        rng = self.rng
        c = self.writing(["merge", self.model, self.second or self.model])
        if not rng.one_in(4):
            c.arguments += ["--connect", ",".join(f"{self.value()}={self.value()}" for _ in range(rng.few(2)))]
        c.arguments += maybe(rng, "--keep-connected")
        return c

    def extract(self):
        c = self.writing(["extract", self.model])
        if not self.rng.one_in(4):
            c.arguments += ["--from", self.value()]
        return Command(c.arguments + ["--to", self.value()], c.outputs, c.model_out) if not self.rng.one_in(4) else c

    def edit(self):
        rng = self.rng
        c = self.writing(["edit", self.model])
        for _ in range(rng.few(3)):
            v, n = self.value(), rng.choice(self.nodes)
            c.arguments += one(rng, ["--add-output", v], ["--remove-output", v], ["--rename", f"{v}={rng.name()}"], ["--set-dim", f"{v}:0=batch"],
                               ["--set-dim", f"{v}:{rng.randint(-1, 3)}={rng.choice(['N', '?', '3', '-1', '2*N'])}"], ["--fix-shape", f"{v}:1,2,3"],
                               ["--set-attr", f"{n}:axis={rng.integer()}"], ["--set-attr", f"{n}:axes=[0, {rng.integer()}]"],
                               ["--set-op", f"{n}={rng.choice(['Relu', 'Add', 'Concat', 'If', 'Loop', 'Nothing'])}"],
                               ["--insert", f"new{rng.randrange(3)} = {rng.choice(['Relu', 'Add', 'Softmax<axis=9>', 'Loop', 'Split'])}({v})"],
                               ["--rewire", f"{v}={self.value()}"], ["--remove-node", n], ["--remove-input", v], ["--set-metadata", "key=value"],
                               ["--strip"], ["--append-nms", f"{v},{self.value()}"], ["--set-initializer", f"{v}={rng.choice(['1.5', '[1, 2]', '[[0.5]]'])}"])
        return c

    def quantize(self):
        rng = self.rng
        c = self.writing(["quantize", self.model])
        kind = rng.randrange(6)
        if kind == 0:
            c.arguments += ["--dynamic"] + maybe(rng, "--per-tensor", odds=2) + maybe(rng, "--target", rng.choice(["onnxruntime", "generic"]), odds=2)
            c.arguments += maybe(rng, "--keep", rng.choice([*self.nodes, "MatMul", "*"]), odds=5)
            return c
        if kind == 1:  # between the two forms of weights in few bits
            c.arguments += ["--form", rng.choice(["nbits", "qdq"])]
            return c
        if kind < 4:
            c.arguments += ["--bits", rng.choice(["8", "4", "2"]), "--block", rng.choice(["16", "32", "64", "256", "15"])]
            c.arguments += maybe(rng, "--asymmetric", odds=2) + maybe(rng, "--form", rng.choice(["nbits", "qdq"]), odds=2) + maybe(rng, "--no-embeddings", odds=4)
            c.arguments += maybe(rng, "--keep", rng.choice([*self.nodes, self.value()]), odds=5)
            c.arguments += ["--method", rng.choice(["rtn", "search", "gptq", "awq"])] + (["--calibrate", self.inputs_file] if self.inputs_file else [])
            return c
        c.arguments += ["--calibrate", self.inputs_file or "inputs.npz", "--check-samples", "1"]
        c.arguments += maybe(rng, "--target", rng.choice(["onnxruntime", "tensorrt", "openvino", "qnn", "generic"]), odds=2)
        c.arguments += maybe(rng, "--method", rng.choice(["minmax", "percentile", "entropy", "mse", "margin"]), odds=2)
        c.arguments += maybe(rng, "--min-db", rng.choice(["-10", "0", "60"]), odds=3) + maybe(rng, rng.choice(["--keep", "--undo"]), rng.choice(self.nodes), odds=5)
        c.arguments += maybe(rng, "--qoperator", odds=3) + maybe(rng, "--no-bias-correction", odds=5) + maybe(rng, "--percentile", rng.choice(["0", "50", "100", "nan"]), odds=8)
        c.arguments += maybe(rng, "--max-float-macs", rng.choice(["0", "1", "-1"]), odds=6) + maybe(rng, "--no-compensation", odds=5)
        c.arguments += maybe(rng, "--no-simplify", odds=4) + maybe(rng, "--no-equalization", odds=4) + maybe(rng, "--opset", str(rng.randint(7, 26)), odds=6)
        if rng.one_in(6):
            report = rng.choice(["out.html", "out.json"])
            c.arguments += ["--report", report]
            c.outputs.append(report)
        return c

    def pictures(self, verb):
        """Over a folder of pictures: the case's own."""
        rng = self.rng
        c = self.writing([verb, self.model])
        c.arguments += ["--float", "f16"] if verb == "convert" else maybe(rng, "--bits", "8", "--method", "awq")
        size = rng.choice(["8", "8x8", "1", "0", "-1", "3x5", "100000", "8x"])
        parts = [f"size={size}", *maybe(rng, "mean=0.5/0.4/0.3", odds=3), *maybe(rng, "std=0", odds=4), *maybe(rng, "divide=255", odds=3), *maybe(rng,
            f"fit={rng.choice(['stretch', 'crop', 'pad'])}", odds=2),
                 *maybe(rng, f"layout={rng.choice(['nchw', 'nhwc'])}", odds=3), *maybe(rng, f"order={rng.choice(['rgb', 'bgr', 'grey'])}", odds=2)]
        c.arguments += ["--calibrate", rng.choice([".", ".", "picture.png"]), "--image", ",".join(parts)]
        return c

    def desk(self):
        rng = self.rng
        requests = faces.desk_requests(rng, self.values, self.nodes, [self.model])
        return Command(["desk", self.model, "requests.json", *([self.inputs_file] if self.inputs_file else []), "--json"], files={"requests.json": requests})

    def c(self):
        rng = self.rng
        function = rng.choice(faces.C_FUNCTIONS if not self.model.endswith((".pt", ".pt2")) else faces.C_ARCHIVE_FUNCTIONS)
        settings = faces.c_settings(function, rng, self.values, self.nodes)
        return Command(["c", function, self.model, "settings.json", "out.onnx", *([self.second] if self.second else [])], ["out.onnx", "out.onnx.data"], files={"settings.json": settings})

    def lint(self):
        rng = self.rng
        targets = ["onnxruntime", "onnxruntime-web", "openvino", "tensorrt", "opencv", "ncnn", "rknn", "qnn", "coreml", "tflite", "all"]
        c = Command(["lint", self.model, "--target", rng.choice(targets)] + maybe(rng, "--sarif"))
        if rng.one_in(3):
            c = Command([*c.arguments[:4], "--fix", "out.onnx"] + maybe(rng, "--no-verify", odds=2), ["out.onnx", "out.onnx.data"], "out.onnx")
            c.arguments += [w for d in self.dims[:3] for w in ("--dim", f"{d}={rng.choice([1, 2, 3, 0, -1])}")]
            c.arguments += maybe(rng, "--overwrite-input-shape", f"{self.value()}:{rng.choice(['1,2,3', '1', '2,3', '0', '-1,4'])}", odds=5)
        c.arguments += maybe(rng, "--ignore", rng.choice(["*", "tensorrt.double", f"*@{rng.choice(self.nodes)}"]), odds=6)
        return c

    def prepare(self):
        rng = self.rng
        c = Command(["prepare", self.model, "out.onnx"], ["out.onnx", "out.onnx.data"], "out.onnx")
        c.arguments += maybe(rng, "--target", rng.choice(["onnxruntime", "openvino", "tensorrt", "opencv", "ncnn", "rknn", "qnn", "coreml", "tflite"]), odds=2)
        flags = list(self.export_flags)
        for i, word in enumerate(flags[:-1]):
            c.arguments += [word, flags[i + 1]] if word == "--input" else []
        for d in self.dims[:3]:
            c.arguments += maybe(rng, "--fix-size", f"{d}={rng.choice([1, 2, 3, 0])}", odds=2)
        c.arguments += maybe(rng, "--opset", str(rng.randint(7, 26)), odds=5) + maybe(rng, "--float", rng.choice(["f16", "bf16", "mixed"]), odds=6)
        c.arguments += maybe(rng, "--quantize", self.inputs_file, odds=5) if self.inputs_file else []
        c.arguments += maybe(rng, "--normalise", rng.choice(["fold", "keep", "out"]), odds=8) + maybe(rng, "--append-nms", rng.choice(["score=0.3,max=100", "iou=2", "max=-1"]), odds=8)
        c.arguments += maybe(rng, "--ignore", "*", odds=10) + maybe(rng, "--no-simplify", odds=8) + maybe(rng, "--no-fix", odds=6) + maybe(rng, "--no-verify", odds=2)
        return c

    def stats(self):
        return Command(["stats", self.model])

    def view(self):
        out = self.rng.choice(["out.svg", "out.html"])
        return Command(["view", self.model, "-o", out] + maybe(self.rng, "--open-all", odds=2), [out])

    def onnxsim(self):
        c = Command(["onnxsim", self.model, "out.onnx"] + maybe(self.rng, "1"), ["out.onnx", "out.onnx.data"], "out.onnx")
        c.arguments += maybe(self.rng, "--skip-fuse-bn") + maybe(self.rng, "--skip-constant-folding") + maybe(self.rng, "--save-as-external-data", odds=6)
        return c

    def diff(self):
        return Command(["diff", self.model, self.second or self.model] + maybe(self.rng, "--limit", "3"))

    def explain(self):
        rule = maybe(self.rng, "--rule", self.rng.choice(["gelu", "mul-one", "reshape-reshape", "squeeze-unsqueeze", "add-zero"]), odds=2)
        return Command(["explain", self.model, *rule, *maybe(self.rng, "--opset", str(self.rng.randint(7, 27)))])

    def export(self):
        rng = self.rng
        c = Command(["export", self.model, "-o", "out.onnx"], ["out.onnx", "out.onnx.data"], "out.onnx")
        if self.export_flags and not rng.one_in(8):
            c.arguments += self.export_flags
        elif self.inputs_file and not rng.one_in(4):
            c.arguments += ["--inputs", self.inputs_file]
        elif not self.model.endswith(".pt2") or rng.one_in(4):
            for i in range(rng.few(3)):
                shape = ",".join(rng.choice(["1", "2", "3", "4", "batch", "n", "8", "0"]) for _ in range(rng.randrange(5)))
                c.arguments += ["--input", f"{rng.choice(['x', 'a', 'input', f'x{i}'])}={rng.choice(['f32', 'f32', 'f32', 'i64', 'bool', 'f64'])}[{shape}]"]
        c.arguments += maybe(rng, "--opset", str(rng.randint(7, 26)), odds=3) + maybe(rng, "--no-simplify") + maybe(rng, "--no-fold", odds=8)
        c.arguments += maybe(rng, "--loops", "unroll") + maybe(rng, "--frozen", "allow", odds=2) + maybe(rng, "--state", "outputs", odds=6)
        c.arguments += maybe(rng, "--fallback", rng.choice(["aten", "all-aten", "custom"])) + maybe(rng, "--training", rng.choice(["eval", "preserve", "train"]), odds=6)
        c.arguments += maybe(rng, "--modules-as-functions", odds=8) + maybe(rng, "--no-params", odds=8) + maybe(rng, "--doc-strings", odds=10)
        c.arguments += maybe(rng, "--lossy") + maybe(rng, "--verbose", odds=12) + maybe(rng, "--keep-outputs", "*", odds=12)
        c.arguments += maybe(rng, "--asserts", "keep", odds=6) + maybe(rng, "--no-assume", odds=8) + maybe(rng, "--assume", rng.choice(["t != 1", "2 <= t <= 64", "b == 2*t", "b // 0 > t"]), odds=8)
        c.arguments += maybe(rng, "--weights", rng.choice(["embed", "external", "in-place"]), odds=6) + maybe(rng, "--number-params", odds=12) + maybe(rng, "--keep-initializers-as-inputs", odds=12)
        c.arguments += maybe(rng, "--dynamic-axes", rng.choice(['{"x": [0]}', '{"x": {"0": "batch"}}', '{"x": {"-9": "a"}, "y": []}', "[", "{}"]), odds=8)
        c.arguments += maybe(rng, "--rename-dim", rng.choice(["t=batch", "s0=n", "b=b"]), odds=8) + maybe(rng, "--type",
            rng.choice(["mylib::op=f32[n]", "aten::foo=arg0", "x=f32[9999999999999]"]), odds=10)
        c.arguments += maybe(rng, "--custom-opset", rng.choice(["my=1", "my=99999999999999999999", "=1"]), odds=16) + maybe(rng, "--method", rng.choice(["forward", "other"]), odds=16)
        c.arguments += maybe(rng, "--input-names", rng.choice(["a", "a,b", "a,a"]), odds=10) + maybe(rng, "--output-names", rng.choice(["y", "y,z", "x"]), odds=10)
        if rng.one_in(12):
            report = rng.choice(["out.html", "out.json"])
            c.arguments += ["--report", report]
            c.outputs.append(report)
        return c

    def ops(self):
        return Command(["ops", self.rng.choice(["conv", "aten::add", "*", "", "Gemm", self.rng.name()])] + maybe(self.rng, "--reverse") + maybe(self.rng, "--missing"))
