"""Models of one operator each: ONNX's node cases as they are, with constants, at every older version of the operator, and on every element type.

What a model should give comes from ONNX's recorded outputs, or, for versions and types that ONNX has no case of, from `cameo run`.
"""
import pathlib
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f32": (TensorProto.FLOAT, np.float32), "f64": (TensorProto.DOUBLE, np.float64), "f16": (TensorProto.FLOAT16, np.float16), "bf16": (TensorProto.BFLOAT16, np.float32),
         "i8": (TensorProto.INT8, np.int8), "i16": (TensorProto.INT16, np.int16), "i32": (TensorProto.INT32, np.int32), "i64": (TensorProto.INT64, np.int64),
         "u8": (TensorProto.UINT8, np.uint8), "u16": (TensorProto.UINT16, np.uint16), "u32": (TensorProto.UINT32, np.uint32), "u64": (TensorProto.UINT64, np.uint64),
         "bool": (TensorProto.BOOL, np.bool_)}
SCHEMA_NAMES = {"tensor(float)": "f32", "tensor(double)": "f64", "tensor(float16)": "f16", "tensor(bfloat16)": "bf16", "tensor(int8)": "i8", "tensor(int16)": "i16",
                "tensor(int32)": "i32", "tensor(int64)": "i64", "tensor(uint8)": "u8", "tensor(uint16)": "u16", "tensor(uint32)": "u32", "tensor(uint64)": "u64", "tensor(bool)": "bool"}
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout"}
OLDEST, NEWEST = 7, 26  # opsets; cases of newer ones are converted where that is the same node


class Cases:
    """Writes models and arrays below `place`; each is a job of worker.py, with what is tried in `facts`."""

    def __init__(self, corpus, place, cameo):
        self.corpus, self.place, self.cameo = pathlib.Path(corpus), pathlib.Path(place), cameo
        self.place.mkdir(parents=True, exist_ok=True)

    def all(self, only=()):
        by_op = {}
        for folder in sorted(self.corpus.iterdir()):
            if folder.is_dir() and "_expanded" not in folder.name and (base := self._base(folder)):
                op = base[0].graph.node[0].op_type
                if only and op not in only:
                    continue
                if (_since(op, base[0]) or 0) > NEWEST:
                    base = (self._converted(folder.name, base[0], NEWEST, op) or base[0], *base[1:])
                by_op.setdefault(op, []).append((folder.name, *base))
        for op, bases in sorted(by_op.items()):
            for name, model, feeds, wanted in bases:
                yield from self._forms(name, op, model, feeds, wanted)
            yield from self._versions(op, *min(bases, key=_plainness))

    def _base(self, folder):
        model = onnx.load(folder / "model.onnx")
        if len(model.graph.node) != 1 or model.graph.node[0].domain not in ("", "ai.onnx"):
            return None
        data = folder / "test_data_set_0"
        try:
            feeds = {i.name: _array(data / f"input_{k}.pb") for k, i in enumerate(model.graph.input)}
            wanted = [_array(data / f"output_{k}.pb") for k in range(len(model.graph.output))]
        except (TypeError, FileNotFoundError, ValueError):
            return None
        if any(a is None for a in [*feeds.values(), *wanted]):
            return None
        return model, feeds, wanted

    def _forms(self, name, op, model, feeds, wanted):
        """As recorded, and with all inputs but the first as constants."""
        model = _lowest(model)
        if (version := _since(op, model)) is None:
            return
        fact = {"op": op, "version": version, "case": name}
        yield self._job(f"{name}.inputs", model, feeds, wanted, {**fact, "form": "inputs"})
        if len(feeds) > 1:
            fixed, rest = frozen(model, feeds)
            yield self._job(f"{name}.constants", fixed, rest, wanted, {**fact, "form": "constants"})

    def _versions(self, op, name, model, feeds, wanted):
        model, feeds = frozen(_lowest(model), feeds)
        newest = _since(op, model)
        for schema in sorted((s for s in onnx.defs.get_all_schemas_with_history() if s.name == op and s.domain == ""), key=lambda s: -s.since_version):
            version = schema.since_version
            if newest is None or version > newest or schema.deprecated:
                continue
            at = model if version == newest else self._converted(f"{op}.{version}", model, max(version, OLDEST), op)
            if at is None or _since(op, at) != version:
                continue
            fact = {"op": op, "version": version, "case": name}
            if version != newest:
                yield self._computed(f"{op}.{version}.version", at, feeds, {**fact, "form": "version"})
            yield from self._types(op, version, schema, at, feeds, fact)

    def _types(self, op, version, schema, model, feeds, fact):
        for constraint in schema.type_constraints:
            for text in constraint.allowed_type_strs:
                kind = SCHEMA_NAMES.get(text)
                made = kind and retyped(model, feeds, schema, constraint.type_param_str, kind)
                if made:
                    yield self._computed(f"{op}.{version}.{constraint.type_param_str}.{kind}", *made,
                                         {**fact, "form": "type", "variable": constraint.type_param_str, "type": kind, "native": _native(model, schema, constraint.type_param_str)})

    def _converted(self, name, model, opset, op):
        source, target = self.place / f"{name}.from.onnx", self.place / f"{name}.to.onnx"
        if not target.exists():
            onnx.save(model, source)
            if subprocess.run([self.cameo, "convert", source, target, "--opset", str(opset), "--no-provenance"], capture_output=True).returncode:
                return None
        made = onnx.load(target)
        return made if [n.op_type for n in made.graph.node if n.op_type != "Constant"] == [op] else None

    def _computed(self, name, model, feeds, fact):
        path = self.place / f"{name}.onnx"
        recorded, answer = path.with_suffix(".in.npz"), path.with_suffix(".out.npz")
        if not path.with_suffix(".npz").exists():
            onnx.save(model, path)
            np.savez(recorded, **feeds)
            done = subprocess.run([self.cameo, "run", path, "--inputs", recorded, "-o", answer], capture_output=True)
            if done.returncode:
                return None
            with np.load(answer) as z:
                wanted = [z[o.name] for o in model.graph.output]
            return self._job(name, model, feeds, wanted, fact)
        return {"id": name, "model": str(path), "io": str(path.with_suffix(".npz")), "fact": fact}

    def _job(self, name, model, feeds, wanted, fact):
        path = self.place / f"{name}.onnx"
        io = path.with_suffix(".npz")
        if not io.exists():
            onnx.save(model, path)
            arrays = {f"in{i}": a for i, a in enumerate(feeds.values())} | {f"out{i}": a for i, a in enumerate(wanted)}
            np.savez(io, names=np.array(list(feeds), dtype=str), outputs=np.array(len(wanted)), loose=np.array(fact["op"] in RANDOM), **arrays)
        return {"id": name, "model": str(path), "io": str(io), "fact": fact}


def _plainness(base):
    """The case that says most about an operator: ordinary numbers, f32, few outputs, nothing special in its name."""
    name, _, feeds, wanted = base
    first = next(iter(feeds.values()), None)
    special = any(a.dtype.kind == "f" and not np.isfinite(a).all() for a in [*feeds.values(), *wanted])
    return special, first is not None and first.dtype != np.float32, len(wanted), len(name), name


def _array(path):
    tensor = TensorProto()
    tensor.ParseFromString(path.read_bytes())
    array = numpy_helper.to_array(tensor)
    return array if array.dtype.name in {d.__name__ for _, d in TYPES.values()} | {"bool"} else None


def _lowest(model):
    """The same node at the oldest opset that has this version of the operator: newer ones say nothing more."""
    version = _since(model.graph.node[0].op_type, model)
    if version is None:
        return model
    out = onnx.ModelProto()
    out.CopyFrom(model)
    opset = max(version, OLDEST)
    del out.opset_import[:]
    out.opset_import.append(helper.make_operatorsetid("", opset))
    out.ir_version = min(helper.find_min_ir_version_for(out.opset_import, ignore_unknown=True), 13)
    out.ir_version = max(out.ir_version, 4)
    return out


def _since(op, model):
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)
    try:
        return onnx.defs.get_schema(op, opset).since_version
    except onnx.defs.SchemaError:
        return None


def frozen(model, feeds):
    """All inputs but the first become constants."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    first = out.graph.input[0].name if out.graph.input else None
    for name, array in feeds.items():
        if name != first:
            out.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    kept = [i for i in out.graph.input if i.name == first]
    del out.graph.input[:]
    out.graph.input.extend(kept)
    return out, {n: a for n, a in feeds.items() if n == first}


def _formal(formals, i):
    if not formals:
        return None
    return formals[i] if i < len(formals) else formals[-1] if formals[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic else None


def _native(model, schema, variable):
    """The element type that a type variable has in the model as it is."""
    node = next(n for n in model.graph.node if n.op_type == schema.name)
    types = {i.name: i.data_type for i in model.graph.initializer} | {i.name: i.type.tensor_type.elem_type for i in [*model.graph.input, *model.graph.output]}
    operands = [(n, _formal(schema.inputs, i)) for i, n in enumerate(node.input)] + [(n, _formal(schema.outputs, i)) for i, n in enumerate(node.output)]
    number = next((types[n] for n, f in operands if n in types and f and f.type_str == variable), 0)
    return next((kind for kind, (code, _) in TYPES.items() if code == number), "")


def retyped(model, feeds, schema, variable, kind):
    """The model with everything of a type variable in another type. None where that is no model."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    node = next(n for n in out.graph.node if n.op_type == schema.name)
    number, dtype = TYPES[kind]
    if schema.name == "Cast" and variable == "T2":
        if kind == "bf16":
            return None
        next(a for a in node.attribute if a.name == "to").i = number
        out.graph.output[0].type.tensor_type.elem_type = number
        return out, {n: np.clip(np.nan_to_num(a), 0, 100).astype(a.dtype) for n, a in feeds.items()}  # beyond the type's range anything may come
    if schema.name == "CastLike" and variable == "T2":
        return None
    bound = {n for i, n in enumerate(node.input) if n and (f := _formal(schema.inputs, i)) and f.type_str == variable}
    made = {n for i, n in enumerate(node.output) if n and (f := _formal(schema.outputs, i)) and f.type_str == variable}
    if not bound:
        return None
    fed = dict(feeds)
    for value in out.graph.initializer:
        if value.name in bound:
            array = _clipped(numpy_helper.to_array(value), dtype)
            value.CopyFrom(helper.make_tensor(value.name, number, array.shape, array.flatten().tolist()) if kind == "bf16" else numpy_helper.from_array(array, value.name))
    for value in out.graph.input:
        if value.name in bound and value.name not in feeds:  # a constant that old files list as input too
            value.type.tensor_type.elem_type = number
        elif value.name in bound:
            fed[value.name] = _clipped(feeds[value.name], dtype)
            value.type.tensor_type.elem_type = number if kind != "bf16" else TensorProto.FLOAT
            if kind == "bf16":
                _cast_input(out, node, value.name)
    for value in out.graph.output:
        if value.name in made:
            value.type.tensor_type.elem_type = number if kind != "bf16" else TensorProto.FLOAT
            if kind == "bf16":
                _cast_output(out, node, value.name)
    return out, fed


def _clipped(array, dtype):
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        array = np.clip(np.nan_to_num(array.astype("f8")), max(info.min, -100), min(info.max, 100))
    return np.ascontiguousarray(array).astype(dtype)


def _cast_input(model, node, name):
    inner = f"{name}_bf16"
    for i, n in enumerate(node.input):
        if n == name:
            node.input[i] = inner
    model.graph.node.insert(0, helper.make_node("Cast", [name], [inner], to=TensorProto.BFLOAT16))


def _cast_output(model, node, name):
    inner = f"{name}_bf16"
    for i, n in enumerate(node.output):
        if n == name:
            node.output[i] = inner
    model.graph.node.append(helper.make_node("Cast", [inner], [name], to=TensorProto.FLOAT))


def conformance_folder(shared, place):
    """The unpacked corpus of node cases."""
    import tarfile
    target = pathlib.Path(place) / "onnx-node-tests"
    if not target.exists():
        with tarfile.open(pathlib.Path(shared) / "conformance" / "onnx-node-tests.tar.xz") as t:
            t.extractall(place, filter="data")
    return target


