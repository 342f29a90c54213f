"""ONNX files and NumPy archives by hand, with only the standard library: enough for the command's tests."""
import io
import struct
import zipfile

FLOAT, INT64, STRING = 1, 7, 8


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def value_info(name, dims, elem=FLOAT):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, elem) + field(2, shape)))


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


def node(op, inputs, outputs, name="", **attributes):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    if name:
        out += field(3, name)
    out += field(4, op)
    return out + b"".join(field(5, attribute(k, v)) for k, v in attributes.items())


def floats(name, dims, values):
    return b"".join(field(1, d) for d in dims) + field(2, FLOAT) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def ints(name, dims, values):
    return b"".join(field(1, d) for d in dims) + field(2, INT64) + field(8, name) + field(9, struct.pack(f"<{len(values)}q", *values))


def model(nodes, inputs, outputs, weights=(), opset=18, ir=8, infos=()):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "g")
    graph += b"".join(field(5, w) for w in weights)
    graph += b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs) + b"".join(field(13, i) for i in infos)
    return field(1, ir) + field(7, graph) + field(8, field(1, "") + field(2, opset))


def linear():
    """y = Relu(x @ w + b), x is [batch, 2]."""
    nodes = [node("MatMul", ["x", "w"], ["h"], "product"), node("Add", ["h", "b"], ["s"], "sum"), node("Relu", ["s"], ["y"], "positive")]
    weights = [floats("w", [2, 3], [1, 2, 3, 4, 5, 6]), floats("b", [3], [0.5, -100, 0])]
    return model(nodes, [value_info("x", ["batch", 2])], [value_info("y", ["batch", 3])], weights)


def npy(shape, values, descr="<f4"):
    shape_text = "(" + "".join(f"{d}," for d in shape) + ")"
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape_text}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    letter = {"<f4": "f", "<i8": "q", "<f8": "d"}[descr]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{letter}", *values)


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in arrays.items():
            archive.writestr(name + ".npy", data)
    return out.getvalue()


def read_npz(path):
    """Name to (shape, values), floats and 64-bit ints."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            length = struct.unpack("<H", data[8:10])[0]
            header = eval(data[10:10 + length])
            letter = {"<f4": "f", "<i8": "q", "<f8": "d"}[header["descr"]]
            body = data[10 + length:]
            found[name[:-4]] = (header["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body)))
    return found


def fields(data):
    """(number, value) of a message's fields: ints, and bytes for everything of a length."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128: return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
            continue
        length = {1: 8, 2: None, 5: 4}[tag & 7]
        if length is None: length = number()
        assert at + length <= len(data), "the message ends early"
        yield tag >> 3, data[at:at + length]
        at += length


def weights_of(path):
    """Name to bytes of a model's initializers, wherever they lie, read as any reader would: the model, then its data files."""
    with open(path, "rb") as file: whole = memoryview(file.read())
    found, files = {}, {}
    for number, graph in fields(whole):
        if number != 7: continue
        for part, tensor in fields(graph):
            if part != 5: continue
            name, raw, where = "", None, {}
            for key, value in fields(tensor):
                if key == 8: name = bytes(value).decode()
                elif key == 9: raw = value
                elif key == 13:
                    pair = dict(fields(value))
                    where[bytes(pair[1]).decode()] = bytes(pair[2]).decode()
            if where:
                location = where["location"]
                if location not in files:
                    with open(path.parent / location, "rb") as file: files[location] = memoryview(file.read())
                start = int(where["offset"])
                raw = files[location][start:start + int(where["length"])]
                assert len(raw) == int(where["length"]), f"{location} ends before {name}"
            found[name] = raw
    return found
