"""A case: the files and the command line of one run. Made from a number, so that the same number is the same case."""
import io
from dataclasses import dataclass, field

import numpy as np
import onnx

import archives
import onnx_bytes
import onnx_compose
import onnx_generate
import onnx_mutate
import onnx_values
import texts
from chance import Chance, damage_bytes, spoil_marked_names
from commands import ARCHIVE_VERBS, ARRAY_VERBS, ONNX_VERBS, PICTURE_VERBS, Chooser, Command

KINDS = {"onnx": 24, "text": 4, "pt": 8, "pt2": 6, "npz": 4, "picture": 1}


@dataclass
class Case:
    kind: str
    name: str
    files: dict
    command: Command
    story: list = field(default_factory=list)
    arrays: dict = None       # what the model's inputs are, for the referees
    flags: list = ()          # that fit the archive before it was changed

    def model(self):
        return self.files.get(self.command.subject)


class Maker:
    def __init__(self, seeds, corpus, kinds, verbs, budgets):
        self.seeds, self.corpus, self.budgets = seeds, corpus, budgets
        self.kinds = [k for k, weight in KINDS.items() if k in kinds and (seeds.get(k) or k == "onnx") for _ in range(weight)]
        self.verbs = verbs

    def allowed(self, verbs):
        return [v for v in verbs if not self.verbs or v in self.verbs]

    def make(self, seed, number):
        """The cases of one number: a file and one to three commands over it."""
        rng = Chance(f"{seed}/{number}")
        kind = rng.choice(self.kinds)
        try:
            return list(getattr(self, f"make_{kind}")(rng))
        except (onnx.onnx_cpp2py_export.checker.ValidationError, UnicodeDecodeError):
            return []

    def pick(self, kind, rng):
        grown = self.corpus.get(kind)
        return rng.choice(grown) if grown and rng.one_in(2) else rng.choice(self.seeds[kind])

    def parsed(self, kind, rng):
        """A seed's message; None for one that protobuf's own reader does not take."""
        seed = self.pick(kind, rng)
        try:
            return seed, onnx.load_from_string(seed.data)
        except Exception:
            return seed, None

    def make_onnx(self, rng):
        arrays = None
        made = rng.choice([None, None, None, onnx_generate.generate, onnx_compose.compose, onnx_bytes.compose_bytes])
        if made:
            model, arrays = made(rng)
            name, beside, story = made.__name__, {}, []
            if model is None:
                return
        else:
            seed, model = self.parsed("onnx", rng)
            name, beside, story, arrays = seed.name, seed.beside, [], dict(seed.arrays) or None
        if model is None:
            files = {"model.onnx": damage_bytes(seed.data, rng), **beside}
            yield from self.onnx_commands(rng, name, files, None, None, ["bytes"])
            return
        if not rng.one_in(3 if made else 12):
            rng.recorded = arrays or {}
            others = [lambda: self.parsed("onnx", rng)[1] or onnx.ModelProto()]
            story = onnx_mutate.mutate(model, rng, others)
        data = spoil_marked_names(model.SerializeToString(), rng)
        if rng.one_in(25):
            data, story = damage_bytes(data, rng), story + ["bytes"]
        yield from self.onnx_commands(rng, name, {"model.onnx": data, **beside}, model, arrays, story)

    def onnx_commands(self, rng, name, files, model, arrays, story):
        verbs = self.allowed(ONNX_VERBS)
        if not verbs:
            return
        files = {k: v for k, v in files.items() if k != "inputs.npz"}
        values, nodes, dims, second = [], [], [], ""
        if model is not None:
            values, nodes = onnx_mutate.value_names(model), [n.name or (n.output[0] if n.output else "") for n in model.graph.node]
            dims = sorted({str(d.dim_param) for v in model.graph.input for d in v.type.tensor_type.shape.dim if d.dim_param})
            arrays = self.arrays_for(model, arrays, rng)
            if arrays is not None:
                files["inputs.npz"] = onnx_values.npz_bytes(arrays)
        for _ in range(rng.few(3)):
            verb = rng.choice(verbs)
            case_files = dict(files)
            if verb in ("verify", "merge", "diff") and rng.one_in(2):
                case_files["second.onnx"] = self.pick("onnx", rng).data
                second = "second.onnx"
            c = Chooser(rng, "model.onnx", values, nodes, dims, "inputs.npz" if "inputs.npz" in files else "", second, self.budgets).command(verb)
            yield Case("onnx", name, case_files | c.files, c, story, arrays)

    @staticmethod
    def arrays_for(model, recorded, rng):
        """Recorded where they still fit the names, made up otherwise; sometimes of the wrong size."""
        weights = {t.name for t in model.graph.initializer}
        wanted = [v.name for v in model.graph.input if v.name not in weights]
        arrays = None
        if recorded and all(w in recorded for w in wanted) and not rng.one_in(3):
            arrays = {w: recorded[w] for w in wanted}
        if arrays is None:
            arrays = onnx_values.fitting_inputs(model.graph, rng)
        if arrays is not None and rng.one_in(3):
            arrays = onnx_values.damaged_inputs(arrays, rng)
        return arrays

    def make_text(self, rng):
        seed = self.pick("text", rng)
        data, story = texts.mutate(seed.data, rng)
        for _ in range(rng.few(3)):
            verbs = self.allowed(ONNX_VERBS)
            if verbs:
                c = Chooser(rng, "model.onnxtxt", texts.names(data), [], [], "", "", self.budgets).command(rng.choice(verbs))
                yield Case("text", seed.name, {"model.onnxtxt": data} | c.files, c, story)

    def make_archive(self, rng, kind):
        seed = self.pick(kind, rng)
        data, story = (archives.mutate_torchscript if kind == "pt" else archives.mutate_pt2)(seed.data, rng)
        files = {f"model.{kind}": data, **seed.beside}
        if "inputs.npz" in files and rng.one_in(4):
            try:
                files["inputs.npz"] = onnx_values.npz_bytes(onnx_values.damaged_inputs(onnx_values.npz_arrays(files["inputs.npz"]), rng))
            except ValueError:
                pass
        for _ in range(rng.few(2)):
            verbs = self.allowed(ARCHIVE_VERBS)
            if verbs:
                chooser = Chooser(rng, f"model.{kind}", [], [], [], "inputs.npz" if "inputs.npz" in files else "", "", self.budgets)
                chooser.export_flags = seed.flags
                c = chooser.command(rng.choice(verbs))
                yield Case(kind, seed.name, files | c.files, c, story, flags=seed.flags)

    def make_picture(self, rng):
        """Pictures that are not sound; often a model that is none either."""
        seed, picture = self.pick("picture", rng), self.pick("picture", rng)
        model = next(s for s in self.seeds["onnx"] if s.name == "float convolutions")
        data, story = model.data, []
        if rng.one_in(2):
            changed = onnx.load_from_string(data)
            story = onnx_mutate.mutate(changed, rng, [lambda: self.parsed("onnx", rng)[1] or onnx.ModelProto()])
            data = changed.SerializeToString()
        damaged = damage_bytes(picture.data, rng) if not rng.one_in(8) else picture.data
        files = {"model.onnx": data, "picture.png": damaged, **({"second.bmp": seed.data} if rng.one_in(3) else {})}
        verbs = self.allowed(PICTURE_VERBS)
        if verbs:
            verb = rng.choice(verbs)
            c = Chooser(rng, "model.onnx", [], [], [], "", "", self.budgets).command_of(verb, lambda chooser: chooser.pictures(verb))
            yield Case("picture", picture.name, files, c, [f"picture {picture.name}", *story])

    def make_pt(self, rng):
        return self.make_archive(rng, "pt")

    def make_pt2(self, rng):
        return self.make_archive(rng, "pt2")

    def make_npz(self, rng):
        """A model that is sound, with arrays that are not."""
        seed, model = self.parsed("onnx", rng)
        arrays = model is not None and (dict(seed.arrays) or onnx_values.fitting_inputs(model.graph, rng))
        verbs = self.allowed(ARRAY_VERBS)
        if not arrays or not verbs:
            return
        data, story = texts.mutate_npz(onnx_values.npz_bytes(arrays), rng)
        files = {"model.onnx": seed.data, **seed.beside, "inputs.npz": data}
        if rng.one_in(4):
            one = io.BytesIO()
            np.save(one, rng.choice(list(arrays.values())))
            files = {"model.onnx": seed.data, **seed.beside, "inputs.npy": damage_bytes(one.getvalue(), rng)}
        name = "inputs.npz" if "inputs.npz" in files else "inputs.npy"
        c = Chooser(rng, "model.onnx", onnx_mutate.value_names(model), [], [], name, "", self.budgets).command(rng.choice(verbs))
        yield Case("npz", seed.name, files, c, story)
