"""Arrays that fit an ONNX model's declared inputs, and the same damaged."""
import io
import zipfile

import numpy as np
import onnx

# What numpy's files can hold; the rest (bfloat16, 8-bit floats, 4-bit integers) is left to `run --random`.
PLAIN = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.DOUBLE: np.float64, onnx.TensorProto.FLOAT16: np.float16,
         onnx.TensorProto.INT8: np.int8, onnx.TensorProto.INT16: np.int16, onnx.TensorProto.INT32: np.int32,
         onnx.TensorProto.INT64: np.int64, onnx.TensorProto.UINT8: np.uint8, onnx.TensorProto.UINT16: np.uint16,
         onnx.TensorProto.UINT32: np.uint32, onnx.TensorProto.UINT64: np.uint64, onnx.TensorProto.BOOL: np.bool_,
         onnx.TensorProto.COMPLEX64: np.complex64, onnx.TensorProto.COMPLEX128: np.complex128,
         onnx.TensorProto.STRING: np.str_}
MOST_ELEMENTS = 1 << 16


def array_of(dtype, shape, rng):
    """Small numbers; the same seed gives the same ones."""
    n = int(np.prod(shape, dtype=np.int64))
    source = np.random.default_rng(rng.getrandbits(32))
    if dtype is np.str_:
        return np.array([rng.choice(["", "a", "b c", "☃", "42", "-1.5"]) for _ in range(n)], dtype=np.str_).reshape(shape)
    if dtype is np.bool_:
        return source.integers(0, 2, n).astype(np.bool_).reshape(shape)
    if np.issubdtype(dtype, np.integer):
        low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -3
        return source.integers(low, 9, n).astype(dtype).reshape(shape)
    values = source.standard_normal(n)
    if rng.one_in(8) and n:
        values[rng.randrange(n)] = rng.real()
    with np.errstate(over="ignore"):
        return values.astype(dtype).reshape(shape)


def declared_shape(tensor_type, named, rng):
    shape = []
    for d in tensor_type.shape.dim:
        if d.WhichOneof("value") == "dim_value":
            shape.append(d.dim_value)
        else:
            key = d.dim_param or f"?{len(named)}"
            if key not in named:
                named[key] = rng.size()
            shape.append(named[key])
    return shape


def fitting_inputs(graph, rng):
    """A name-to-array map for the inputs that have no initializer; None where one cannot be made."""
    weights = {t.name for t in graph.initializer}
    named, out = {}, {}
    for value in graph.input:
        if value.name in weights:
            continue
        t = value.type.tensor_type
        if value.type.WhichOneof("value") != "tensor_type" or t.elem_type not in PLAIN:
            return None
        shape = declared_shape(t, named, rng) if t.HasField("shape") else [rng.size() for _ in range(rng.randrange(4))]
        if any(d < 0 for d in shape) or np.prod([float(d) for d in shape]) > MOST_ELEMENTS:
            return None
        out[value.name] = array_of(PLAIN[t.elem_type], shape, rng)
    return out


def other_array(a, rng):
    """The same array with another size, rank or type."""
    kind = rng.randrange(6)
    shape = list(a.shape)
    if kind == 0 and shape:
        shape[rng.randrange(len(shape))] = rng.choice([0, 1, 2, 3, 5, 9, 40, 300])
    elif kind == 1:
        shape.insert(rng.randint(0, len(shape)), rng.choice([1, 1, 2, 0]))
    elif kind == 2 and shape:
        del shape[rng.randrange(len(shape))]
    elif kind == 3:
        return a.astype(rng.choice([np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_, np.float16])) if a.dtype.kind != "U" else a
    elif kind == 4:
        b = a.copy()
        if b.size and b.dtype.kind in "iuf":
            flat = b.reshape(-1)
            with np.errstate(all="ignore"):
                flat[rng.randrange(b.size)] = np.array(rng.real() if b.dtype.kind == "f" else rng.integer() % 128).astype(b.dtype)
        return b
    else:
        rng.shuffle(shape)
    if np.prod([float(d) for d in shape]) > MOST_ELEMENTS:
        return a
    dtype = np.str_ if a.dtype.kind == "U" else a.dtype.type
    return array_of(dtype, shape, rng)


def damaged_inputs(arrays, rng):
    out = dict(arrays)
    for _ in range(rng.few(3)):
        if not out:
            break
        key = rng.choice(sorted(out))
        if rng.one_in(12):
            del out[key]
        elif rng.one_in(12):
            out[rng.name() or "x0"] = out.pop(key)
        else:
            out[key] = other_array(out[key], rng)
    return out


def npz_bytes(arrays):
    out = io.BytesIO()
    # Names may hold anything; savez would take some of them for its own parameters.
    with zipfile.ZipFile(out, "w") as z:
        for key, a in arrays.items():
            one = io.BytesIO()
            np.lib.format.write_array(one, np.asanyarray(a), allow_pickle=False)
            z.writestr(zipfile.ZipInfo(key.replace("\0", "") + ".npy"), one.getvalue())
    return out.getvalue()


def npz_arrays(data):
    with np.load(io.BytesIO(data), allow_pickle=False) as z:
        return {key: z[key] for key in z.files}
