"""Mutations of PyTorch archives: source tokens and pickles of TorchScript, JSON of torch.export, weights, the zip itself."""
import copy
import io
import json
import pickletools
import re
import struct
import warnings
import zipfile

from chance import damage_bytes

SOURCE_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|->|==|<=|>=|!=|\n|[ ]+|.', re.S)
CALLS = [b"torch.add", b"torch.sub", b"torch.mul", b"torch.div", b"torch.matmul", b"torch.cat", b"torch.stack", b"torch.relu", b"torch.softmax",
         b"torch.reshape", b"torch.view", b"torch.permute", b"torch.transpose", b"torch.slice", b"torch.select", b"torch.sum", b"torch.mean",
         b"torch.max", b"torch.conv2d", b"torch._convolution", b"torch.linear", b"torch.size", b"torch.len", b"torch.gt", b"torch.lt", b"torch.eq",
         b"torch.max_pool2d", b"torch.adaptive_avg_pool2d", b"torch.unsqueeze", b"torch.squeeze", b"torch.expand", b"torch.index", b"torch.gather",
         b"torch.arange", b"torch.zeros", b"torch.ones", b"torch.full", b"torch.split", b"torch.chunk", b"torch.unbind", b"torch.clone", b"torch.add_",
         b"torch.copy_", b"torch.fill_", b"torch.where", b"torch.item", b"torch.append", b"torch.__getitem__", b"torch.remainder", b"torch.floordiv",
         b"torch.neg", b"torch.pow", b"torch.einsum", b"torch.batch_norm", b"torch.lstm", b"torch.embedding", b"torch.dropout", b"torch.format",
         b"torch.mul_", b"torch.repeat", b"torch.flatten", b"torch.to", b"int", b"float", b"bool", b"str", b"ops.prim.RaiseException", b"uninitialized",
         b"annotate", b"unchecked_cast", b"torch.tensor", b"torch.upsample_nearest2d", b"torch.topk", b"torch.sort", b"torch.nonzero"]
SOURCE_WORDS = [b"None", b"True", b"False", b"self", b"x", b"[]", b"0", b"1", b"-1", b"(", b")", b"[", b"]", b":", b",", b"=", b"return", b"if", b"else",
                b"while", b"for", b"in", b"range", b"Tensor", b"int", b"List", b"Optional", b"Dict", b"Tuple", b"+", b"-", b"*", b"//", b"%", b"and", b"or", b"not",
                b'"text"', b"1e400", b"inf", b"nan", b"9223372036854775807", b"-9223372036854775808"]


def unpacked(data):
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        return [(i.filename, z.read(i)) for i in z.infolist()]


def packed(entries, rng):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as z:
        warnings.simplefilter("ignore")  # names that appear twice are meant
        for name, content in entries:
            z.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED if rng.one_in(12) else zipfile.ZIP_STORED)
    return out.getvalue()


def mutate_source(text, rng):
    story = []
    for _ in range(rng.few(5)):
        lines = text.split(b"\n")
        kind = rng.randrange(10)
        story.append(f"source {kind}")
        if kind == 0:
            del lines[rng.randrange(len(lines))]
        elif kind == 1:
            at = rng.randrange(len(lines))
            lines[at:at] = [lines[at]] * rng.choice([1, 1, 1, 50])
        elif kind == 2 and len(lines) > 2:
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == 3 and rng.one_in(3):
            at = rng.randrange(len(lines))
            indent = re.match(rb" *", lines[at]).group(0)
            loop = rng.choice([b"while True:", b"for i in range(1000000000000):", b"while bool(x):", b"if bool(torch.sum(x)):", b"if torch.gt(1, 2):"])
            lines[at:at + 1] = [indent + loop, b"  " + lines[at]]
        if kind < 4:
            text = b"\n".join(lines)
            continue
        tokens = SOURCE_TOKEN.findall(text)
        real = [i for i, t in enumerate(tokens) if not t.isspace()]
        if not real:
            break
        calls = [i for i in real if tokens[i].startswith((b"torch.", b"ops."))]
        numbers = [i for i in real if re.fullmatch(rb"-?\d.*", tokens[i])]
        names = [i for i in real if re.fullmatch(rb"[a-z_]\w*", tokens[i])]
        if kind in (4, 5) and calls:
            at = rng.choice(calls)
            tokens[at] = rng.choice(CALLS) if rng.one_in(2) else tokens[rng.choice(calls)]
        elif kind in (6, 7) and numbers:
            tokens[rng.choice(numbers)] = str(rng.integer() if not rng.one_in(4) else rng.real()).encode()
        elif kind == 8 and len(names) > 1:
            tokens[rng.choice(names)] = tokens[rng.choice(names)]
        else:
            at = rng.choice(real)
            tokens[at:at + 1] = rng.choice([[], [rng.choice(SOURCE_WORDS)], [tokens[at], tokens[at]], [rng.choice(SOURCE_WORDS), tokens[at]]])
        text = b"".join(tokens)
    return text, story


def mutate_pickle(data, rng):
    """At the level of opcodes: arguments changed, opcodes dropped, doubled, moved."""
    try:
        starts = [at for _, _, at in pickletools.genops(data)]
    except Exception:
        return damage_bytes(data, rng)
    pieces = [data[a:b] for a, b in zip(starts, starts[1:] + [len(data)])]
    for _ in range(rng.few(5)):
        if len(pieces) < 4:
            break
        at = rng.randrange(2, len(pieces) - 1)
        piece, kind = pieces[at], rng.randrange(6)
        if kind == 0:
            del pieces[at]
        elif kind == 1:
            pieces.insert(at, piece)
        elif kind == 2:
            pieces.insert(at, pieces[rng.randrange(2, len(pieces) - 1)])
        elif kind == 3:
            pieces[at:at] = pieces[at:at + rng.randrange(2, 9)]
        elif piece[:1] in (b"K", b"M", b"J"):
            pieces[at] = b"J" + struct.pack("<i", max(-(1 << 31), min((1 << 31) - 1, rng.integer())))
        elif piece[:1] == b"\x8a":
            pieces[at] = b"\x8a\x08" + struct.pack("<q", rng.integer())
        elif piece[:1] == b"G":
            pieces[at] = b"G" + struct.pack(">d", rng.real())
        elif piece[:1] == b"X" and len(piece) > 5:
            other = rng.choice([p for p in pieces if p[:1] == b"X"]) if rng.one_in(2) else None
            new = rng.name().encode()
            pieces[at] = other or b"X" + struct.pack("<I", len(new)) + new
        elif piece[:1] in (b"h", b"q"):
            pieces[at] = piece[:1] + bytes([rng.randrange(256)])
        elif piece[:1] == b"c":
            pieces[at] = rng.choice([b"cos\nsystem\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"ccollections\nOrderedDict\n", b"ctorch\nFloatStorage\n",
                                     b"ctorch\nLongStorage\n", b"ctorch.jit._pickle\nbuild_intlist\n", b"c\n\n"])
        else:
            pieces[at] = rng.choice([b"0", b"2", b"(", b"t", b"l", b"]", b"}", b")", b"a", b"e", b"u", b"s", b"R", b"b", b"Q", b"N", b"\x88", b"\x85", b"\x86", b"\x87"])
    return b"".join(pieces)


def changed_entries(entries, rng, change):
    """`change` one entry at least; seldom names and order too."""
    story = []
    for _ in range(rng.few(3)):
        at = rng.randrange(len(entries))
        name, content = entries[at]
        new, how = change(name, content)
        entries[at] = (name, new)
        story += [f"{name}: {h}" for h in how]
    if rng.one_in(15):
        at = rng.randrange(len(entries))
        kind = rng.randrange(4)
        if kind == 0:
            del entries[at]
        elif kind == 1:
            entries.append(entries[at])
        elif kind == 2:
            entries[at] = (rng.choice([entries[at][0] + "x", "../" + entries[at][0], rng.name() or "x"]), entries[at][1])
        else:
            rng.shuffle(entries)
        story.append(f"entries {kind}")
    return story


def archive(data, rng, change, likely):
    if rng.one_in(25):
        return damage_bytes(data, rng), ["bytes"]
    try:
        entries = unpacked(data)
    except Exception:
        return damage_bytes(data, rng), ["bytes"]
    # What is looked at most often is changed most often.
    main = [i for i, (name, _) in enumerate(entries) if likely(name)]
    story = []
    if main and not rng.one_in(6):
        for _ in range(rng.few(2)):
            at = rng.choice(main)
            new, how = change(*entries[at])
            entries[at] = (entries[at][0], new)
            story += how
    if not story or rng.one_in(4):
        story += changed_entries(entries, rng, change)
    try:
        return packed(entries, rng), story
    except (ValueError, UnicodeError):
        return damage_bytes(data, rng), ["bytes"]


def mutate_torchscript(data, rng):
    def change(name, content):
        if name.endswith(".py"):
            return mutate_source(content, rng)
        if name.endswith(".pkl"):
            return mutate_pickle(content, rng), ["pickle"]
        return damage_bytes(content, rng), ["bytes"]
    return archive(data, rng, change, lambda name: name.endswith(".py") or name.endswith("data.pkl") and rng.one_in(3))


# torch.export

def places(value, path=()):
    """Every place of a JSON value, as (holder, key)."""
    if isinstance(value, dict):
        for key in value:
            yield value, key
            yield from places(value[key])
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value, i
            yield from places(value[i])


TARGETS = ["torch.ops.aten.add.Tensor", "torch.ops.aten.cat.default", "torch.ops.aten.view.default", "torch.ops.aten.max_pool2d.default",
           "torch.ops.aten.convolution.default", "torch.ops.aten.slice.Tensor", "torch.ops.aten.select.int", "torch.ops.aten.index.Tensor",
           "torch.ops.aten.permute.default", "torch.ops.aten.sym_size.int", "_operator.getitem", "_operator.mul", "_operator.floordiv",
           "torch.ops.higher_order.cond", "torch.ops.higher_order.while_loop", "torch.ops.aten.linear.default", "torch.ops.aten.sum.dim_IntList",
           "torch.ops.aten.split.Tensor", "torch.ops.aten.expand.default", "torch.ops.aten.copy_.default", "torch.ops.aten._softmax.default",
           "torch.ops.aten.native_layer_norm.default", "torch.ops.aten.embedding.default", "torch.ops.aten.arange.start_step", "", "os.system"]


def mutate_json(content, rng):
    try:
        document = json.loads(content)
    except ValueError:
        return damage_bytes(content, rng), ["bytes"]
    story = []
    for _ in range(rng.few(5)):
        everywhere = list(places(document))
        if not everywhere:
            break
        leaves = [(h, k) for h, k in everywhere if not isinstance(h[k], (dict, list))]
        kind = rng.randrange(10)
        holder, key = rng.choice(leaves if kind < 4 and leaves else everywhere)
        value = holder[key]
        story.append(f"json {kind} at {key}")
        if kind == 9:
            targets = [(h, k) for h, k in everywhere if k == "target"]
            if targets:
                holder, key = rng.choice(targets)
                holder[key] = rng.choice(TARGETS) if rng.one_in(2) else rng.choice(targets)[0]["target"]
        elif kind == 8:
            other_holder, other_key = rng.choice(everywhere)
            holder[key] = copy.deepcopy(other_holder[other_key])
        elif kind == 7 and isinstance(value, list) and value:
            if rng.one_in(2):
                value.append(copy.deepcopy(rng.choice(value)))
            else:
                rng.shuffle(value)
        elif kind == 6:
            if isinstance(holder, dict):
                new = rng.choice(["as_int", "as_ints", "as_tensor", "as_tensors", "as_none", "as_float", "as_bool", "as_string", "as_sym_int",
                                  "as_sym_ints", "as_graph", "as_optional_tensors", "as_scalar_type", "other"])
                holder[new] = holder.pop(key)
            else:
                del holder[key]
        elif kind == 5:
            del holder[key]
        elif isinstance(value, bool):
            holder[key] = rng.choice([not value, None, 1])
        elif isinstance(value, int):
            holder[key] = rng.integer()
        elif isinstance(value, float):
            holder[key] = rng.choice([rng.real() if rng.real() == rng.real() else 0.0, 1e308, 0])
        elif isinstance(value, str):
            texts = [h[k] for h, k in leaves if isinstance(h[k], str)]
            holder[key] = rng.choice(texts) if not rng.one_in(3) else rng.name()
        elif value is None:
            holder[key] = rng.choice([0, "x", [], {}, False])
        else:
            holder[key] = rng.choice([None, [], {}, 0, "x"])
    return json.dumps(document).encode("utf-8", "replace"), story


def mutate_pt2(data, rng):
    def change(name, content):
        if name.endswith(".json"):
            return mutate_json(content, rng)
        if name.endswith(".pkl"):
            return mutate_pickle(content, rng), ["pickle"]
        if content[:2] == b"PK":
            return mutate_torchscript(content, rng)
        return damage_bytes(content, rng), ["bytes"]
    return archive(data, rng, change, lambda name: name.endswith("model.json") or "/models/" in name and name.endswith(".json"))
