"""Where the campaign starts: valid files of every kind, gathered from the project, ONNX's node cases and shared/attacks."""
import pathlib
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field

import onnx
from onnx import numpy_helper

import foreign_seeds

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 1 << 19


@dataclass
class Seed:
    kind: str       # onnx, text, pt, pt2, npz, picture
    name: str
    data: bytes
    arrays: dict = field(default_factory=dict)   # recorded inputs, where numpy can hold them
    beside: dict = field(default_factory=dict)   # other files that belong to it
    flags: list = field(default_factory=list)    # what `export` needs to take it


def node_case_seeds(folder):
    for model in sorted(folder.glob("*/model.onnx")):
        data = model.read_bytes()
        if len(data) > LARGEST:
            continue
        arrays = {}
        try:
            names = [v.name for v in onnx.load_from_string(data).graph.input]
            for i, name in enumerate(names):
                file = model.parent / "test_data_set_0" / f"input_{i}.pb"
                a = numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))
                if a.dtype.kind not in "fiubcU" and a.dtype.kind != "O":
                    raise ValueError("numpy cannot save it")
                arrays[name] = a.astype("U") if a.dtype.kind == "O" else a
        except Exception:  # sequences, 8-bit floats: such cases are run with made-up inputs
            arrays = {}
        yield Seed("onnx", model.parent.name, data, arrays)


def text_seeds():
    for page in sorted((ROOT / "tests" / "text").rglob("*.test")):
        for i, found in enumerate(re.findall(r"^before:(.*?)(?=^(?:after|refused|run|error|ledger)\b|\Z)", page.read_text(), re.M | re.S)):
            yield Seed("text", f"{page.stem}-{i}", found.strip().encode())


def file_seeds(shared):
    beside = {}
    for path in sorted((ROOT / "tests" / "data").rglob("*.bin")):
        beside[path.name] = path.read_bytes()
    places = [ROOT / "tests" / "data", ROOT / "tests" / "attack" / "regressions", shared / "attacks", shared / "fixtures"]
    for path in (p for place in places if place.is_dir() for p in sorted(place.rglob("*"))):
        kind = {".onnx": "onnx", ".pt": "pt", ".pt2": "pt2", ".onnxtxt": "text", ".npz": "npz", ".npy": "npz"}.get(path.suffix)
        if not kind or not path.is_file() or path.stat().st_size > LARGEST:
            continue
        data = path.read_bytes()
        others = {name: beside[name] for name in beside if name.encode() in data} if kind == "onnx" else {}
        inputs = [path.with_suffix(".npz"), path.with_name(path.stem + "_in.npz"), path.with_name("inputs.npz")]
        arrays = {}
        for candidate in inputs:
            if kind in ("pt", "pt2", "onnx") and candidate.is_file() and candidate.stat().st_size < LARGEST:
                others["inputs.npz"] = candidate.read_bytes()
        yield Seed(kind, path.name, data, arrays, others)


def unpacked_cases(shared, build):
    for ready in (build / "conformance" / "onnx-node-tests", ROOT / "build" / "release" / "conformance" / "onnx-node-tests"):
        if ready.is_dir():
            return ready
    archive = shared / "conformance" / "onnx-node-tests.tar.xz"
    if not archive.is_file():
        return None
    target = build / "conformance"
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as a:
        a.extractall(target)
    return target / "onnx-node-tests"


def scripted_seeds(build, make):
    """Scripted models, written once by torch; none where there is no torch."""
    folder = build / "seeds" / "scripted"
    if make and not (folder / "done").is_file():
        print("writing scripted models as seeds (once)", flush=True)
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name("torch_seeds.py"), folder], stderr=subprocess.DEVNULL)
    for path in sorted(p for p in folder.glob("*.pt") if p.with_suffix(".flags").is_file()):
        yield Seed("pt", path.name, path.read_bytes(), flags=path.with_suffix(".flags").read_text().splitlines())


def foreign_seeds_of_each():
    for name, data, arrays in foreign_seeds.seeds():
        yield Seed("onnx", name, data, arrays)


def gather(shared, build, make=False):
    seeds = list(file_seeds(shared)) + list(text_seeds()) + list(scripted_seeds(build, make)) + list(foreign_seeds_of_each())
    cases = unpacked_cases(shared, build)
    if cases:
        of_nodes = list(node_case_seeds(cases))
        seeds += of_nodes
        seeds += [Seed("picture", s.name, next(iter(s.arrays.values())).tobytes()) for s in of_nodes if "image_decoder" in s.name and s.arrays]
    by_kind = {}
    for s in seeds:
        by_kind.setdefault(s.kind, []).append(s)
    return by_kind
