"""Mutations of text models (by token) and of .npz files (headers, names, contents)."""
import io
import re
import struct
import zipfile

from chance import damage_bytes

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|=>|\s+|.', re.S)
WORDS = [b"float", b"int64", b"bool", b"string", b"seq", b"optional", b"map", b"sparse_tensor", b"Relu", b"Add", b"Concat", b"Loop", b"If",
         b"Split", b"Slice", b"Reshape", b"Constant", b"axis", b"axes", b"perm", b"value", b"body", b"N", b"x", b"y", b'""', b'"\xff"',
         b'"\x1b[2J"', b"=>", b"{", b"}", b"(", b")", b"[", b"]", b"<", b">", b",", b"=", b":", b"@", b"#", b"?", b"*", b"/", b"-", b"+",
         b"floor", b"max", b"ir_version", b"opset_import", b"nan", b"inf"]


def other_token(t, rng):
    if re.fullmatch(rb"-?\d.*", t):
        return str(rng.choice([rng.integer(), rng.integer(), rng.size(), rng.real()])).encode()
    if re.fullmatch(rb"[A-Za-z_].*", t):
        return rng.choice(WORDS)
    return rng.choice(WORDS)


def mutate(data, rng):
    tokens = TOKEN.findall(data)
    story = []
    for _ in range(rng.few(6)):
        real = [i for i, t in enumerate(tokens) if not t.isspace()]
        if not real:
            break
        at = rng.choice(real)
        kind = rng.randrange(8)
        story.append(f"token {kind}")
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[at])
        elif kind == 2:
            tokens.insert(at, rng.choice(WORDS))
        elif kind == 3:
            other = rng.choice(real)
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 4 and rng.one_in(4):
            tokens[at:at] = [rng.choice([b"(", b"[", b"{", b"<", b"seq(", b"optional("])] * rng.choice([10, 1000, 100000])
        elif kind == 5:
            span = tokens[at:at + rng.randrange(1, 12)]
            tokens[at:at] = span
        elif kind == 6:
            numbers = [i for i in real if re.fullmatch(rb"-?\d.*", tokens[i])]
            if numbers:
                n = rng.choice(numbers)
                tokens[n] = other_token(tokens[n], rng)
        else:
            tokens[at] = other_token(tokens[at], rng)
    out = b"".join(tokens)
    return (damage_bytes(out, rng), story + ["bytes"]) if rng.one_in(20) else (out, story)


def names(data):
    found = sorted({t.decode() for t in TOKEN.findall(data) if re.fullmatch(rb"[A-Za-z_]\w*", t)})
    return found[:40]


def other_header(npy, rng):
    """The dictionary in an .npy header, with other words."""
    if len(npy) < 12 or npy[:6] != b"\x93NUMPY":
        return damage_bytes(npy, rng)
    size = struct.unpack("<H", npy[8:10])[0]
    head, body = npy[10:10 + size], npy[10 + size:]
    change = rng.randrange(6)
    if change == 0:
        head = re.sub(rb"'[<>|=][a-zA-Z]\d+'", lambda m: b"'" + rng.choice([b"<f8", b"<f4", b">f4", b"|u1", b"<i8", b"|O", b"<U5", b"|V2", b"<c16",
                                                                          b"<f2", b"|b1", b"<U999999999", b"<m8", b"|S0", b"<i3"]) + b"'", head, count=1)
    elif change == 1:
        sizes = b", ".join(str(rng.declared_size()).encode() for _ in range(rng.randrange(6)))
        head = re.sub(rb"\([^)]*\)", lambda m: b"(" + sizes + b",)", head, count=1)
    elif change == 2:
        head = head.replace(b"False", b"True")
    elif change == 3:
        head = head.replace(rng.choice([b"descr", b"shape", b"fortran_order"]), rng.choice([b"descr", b"shape", b"other", b""]))
    elif change == 4:
        head = damage_bytes(head, rng)
    else:
        body = body[:rng.randrange(len(body) + 1)]
    return npy[:8] + struct.pack("<H", min(len(head), 65535)) + head + body


def mutate_npz(data, rng):
    if rng.one_in(4):
        return damage_bytes(data, rng), ["bytes"]
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as z, zipfile.ZipFile(out, "w") as w:
            for info in z.infolist():
                content = z.read(info)
                if rng.one_in(2):
                    content = other_header(content, rng)
                name = rng.name() + ".npy" if rng.one_in(10) else info.filename
                w.writestr(zipfile.ZipInfo(name), content, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
                if rng.one_in(15):
                    w.writestr(zipfile.ZipInfo(info.filename), content)
    except (ValueError, zipfile.BadZipFile, UnicodeError):
        return damage_bytes(data, rng), ["bytes"]
    made = out.getvalue()
    return (damage_bytes(made, rng), ["header", "bytes"]) if rng.one_in(8) else (made, ["header"])
