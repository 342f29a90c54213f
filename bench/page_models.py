"""Models for bench/page_tab.mjs, with made-up weights: ResNet-18 and -50, MobileNetV3-Large, a small BERT, each traced; and
two models of 6 GB (files with holes): an .onnx with external data, a .pt2.

usage: bench/page_models.py FOLDER CAMEO
"""
import pathlib
import struct
import subprocess
import sys
import zipfile
import zlib

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, c, inner, out, stride, basic):
        super().__init__()
        def norm(n): return nn.BatchNorm2d(n)
        if basic:
            self.way = nn.Sequential(nn.Conv2d(c, inner, 3, stride, 1, bias=False), norm(inner), nn.ReLU(),
                                     nn.Conv2d(inner, out, 3, 1, 1, bias=False), norm(out))
        else:
            self.way = nn.Sequential(nn.Conv2d(c, inner, 1, bias=False), norm(inner), nn.ReLU(),
                                     nn.Conv2d(inner, inner, 3, stride, 1, bias=False), norm(inner), nn.ReLU(),
                                     nn.Conv2d(inner, out, 1, bias=False), norm(out))
        self.down = nn.Sequential(nn.Conv2d(c, out, 1, stride, bias=False), norm(out)) if stride != 1 or c != out else nn.Identity()

    def forward(self, x): return torch.relu(self.way(x) + self.down(x))


def resnet(depths, basic):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    c = 64
    for i, depth in enumerate(depths):
        inner = 64 << i
        out = inner if basic else inner * 4
        for k in range(depth):
            layers.append(Bottleneck(c, inner, out, 2 if k == 0 and i else 1, basic))
            c = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 1000))


class Inverted(nn.Module):
    def __init__(self, c, kernel, inner, out, squeeze, hard, stride):
        super().__init__()
        act = nn.Hardswish if hard else nn.ReLU
        way = [] if inner == c else [nn.Conv2d(c, inner, 1, bias=False), nn.BatchNorm2d(inner), act()]
        way += [nn.Conv2d(inner, inner, kernel, stride, kernel // 2, groups=inner, bias=False), nn.BatchNorm2d(inner), act()]
        self.way = nn.Sequential(*way)
        small = max(8, inner // 4 // 8 * 8)
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, small, 1), nn.ReLU(), nn.Conv2d(small, inner, 1),
                                     nn.Hardsigmoid()) if squeeze else None
        self.out = nn.Sequential(nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out))
        self.add = stride == 1 and c == out

    def forward(self, x):
        y = self.way(x)
        if self.squeeze is not None: y = y * self.squeeze(y)
        y = self.out(y)
        return x + y if self.add else y


def mobilenet():
    rows = [(3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1),
            (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
            (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)]
    layers, c = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()], 16
    for kernel, inner, out, squeeze, hard, stride in rows:
        layers.append(Inverted(c, kernel, inner, out, squeeze, hard, stride))
        c = out
    return nn.Sequential(*layers, nn.Conv2d(c, 960, 1, bias=False), nn.BatchNorm2d(960), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))


class Bert(nn.Module):
    def __init__(self, words=30522, width=128, layers=2, heads=2):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(words, width), nn.Embedding(512, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(nn.ModuleDict({"q": nn.Linear(width, width), "k": nn.Linear(width, width), "v": nn.Linear(width, width),
                                                   "o": nn.Linear(width, width), "n1": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width),
                                                   "down": nn.Linear(4 * width, width), "n2": nn.LayerNorm(width)}) for _ in range(layers))
        self.heads = heads

    def forward(self, ids):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        b, t, w = x.shape
        for m in self.layers:
            q, k, v = (m[n](x).view(b, t, self.heads, w // self.heads).transpose(1, 2) for n in "qkv")
            a = torch.softmax(q @ k.transpose(2, 3) / (w // self.heads) ** 0.5, -1) @ v
            x = m["n1"](x + m["o"](a.transpose(1, 2).reshape(b, t, w)))
            x = m["n2"](x + m["down"](nn.functional.gelu(m["up"](x))))
        return x


def settled(model):
    """Batch norms with statistics, so that outputs neither vanish nor grow."""
    model.train()
    with torch.no_grad():
        for _ in range(2): model(torch.randn(4, 3, 96, 96))
    return model.eval()


TENSORS, SIDE = 60, 5120  # 100 MB each


def large_onnx(folder):
    import onnx
    from onnx import TensorProto, helper
    bytes_each = SIDE * SIDE * 4
    nodes, weights, last = [], [], "x"
    for i in range(TENSORS):
        t = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[SIDE, SIDE], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "large.data"), ("offset", i * bytes_each), ("length", bytes_each)): t.external_data.add(key=key, value=str(value))
        weights.append(t)
        nodes += [helper.make_node("MatMul", [last, f"w{i}"], [f"m{i}"], f"layers.{i}/MatMul"),
                  helper.make_node("Identity", [f"m{i}"], [f"i{i}"], f"layers.{i}/Identity"), helper.make_node("Relu", [f"i{i}"], [f"y{i}"], f"layers.{i}/Relu")]
        last = f"y{i}"
    value = helper.make_tensor_value_info
    g = helper.make_graph(nodes, "large", [value("x", 1, [1, SIDE])], [value(last, 1, [1, SIDE])], weights)
    onnx.save(helper.make_model(g, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), folder / "large.onnx")
    with open(folder / "large.data", "wb") as f:
        for i in range(TENSORS):  # tensors that differ, with holes in between
            f.seek(i * bytes_each)
            f.write(i.to_bytes(4, "little"))
        f.truncate(TENSORS * bytes_each)


class Wide(nn.Module):
    """Weights of one number each that only look large: capturing it takes no memory."""
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(TENSORS):
            with torch.device("meta"): one = nn.Linear(SIDE, SIDE, bias=False)
            one.weight = nn.Parameter(torch.zeros(1).expand(SIDE, SIDE), requires_grad=False)
            self.layers.append(one)

    def forward(self, x):
        for one in self.layers: x = torch.relu(one(x))
        return x


def with_holes(path, entries):
    """A zip archive of stored entries; numbers stand for so many bytes, of which all but the first four are holes."""
    directory = b""
    with open(path, "wb") as f:
        for k, (name, data) in enumerate(entries):
            name, at = name.encode(), f.tell()
            head = data if isinstance(data, bytes) else k.to_bytes(4, "little")
            size = data if isinstance(data, int) else len(data)
            crc = zlib.crc32(head)
            block = bytes(1 << 20)
            left = size - len(head)
            while left > 0:
                crc = zlib.crc32(block[:min(left, len(block))], crc)
                left -= len(block)
            extra = -(at + 30 + len(name) + 4) % 64
            common = struct.pack("<HHHHHIII", 20, 0x800, 0, 0, 0x21, crc, size, size)
            f.write(b"PK\3\4" + common + struct.pack("<HH", len(name), extra + 4) + name + struct.pack("<HH", 0x4246, extra) + bytes(extra) + head)
            f.seek(size - len(head), 1)
            wide = struct.pack("<HHQ", 1, 8, at)
            directory += b"PK\1\2" + struct.pack("<H", 45) + common + struct.pack("<HHHHHII", len(name), len(wide), 0, 0, 0, 0, 0xFFFFFFFF) + name + wide
        at = f.tell()
        f.write(directory)
        end = f.tell()
        n, size = len(entries), len(directory)
        f.write(b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, n, n, size, at) + b"PK\6\7" + struct.pack("<IQI", 0, end, 1))
        f.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, min(n, 65535), min(n, 65535), size, 0xFFFFFFFF, 0))


def large_pt2(folder):
    small = folder / "small.pt2"
    torch.export.save(torch.export.export(Wide(), (torch.zeros(1, SIDE),)), small)
    entries = []
    with zipfile.ZipFile(small) as z:
        for name in z.namelist():
            if "/data/weights/weight_" in name: entries.append((name, SIDE * SIDE * 4))
            elif name.endswith(".json"):
                flat = '"strides": [{"as_int": 0}, {"as_int": 0}]'
                entries.append((name, z.read(name).decode().replace(flat, flat.replace("0}", f"{SIDE}}}", 1).replace("0}]", "1}]")).encode()))
            else: entries.append((name, z.read(name)))
    with_holes(folder / "large.pt2", entries)
    small.unlink()


def main():
    folder, cameo = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    image, ids = torch.randn(1, 3, 224, 224), torch.randint(0, 30522, (1, 128))
    for name, make, x in (("resnet18", lambda: settled(resnet([2, 2, 2, 2], True)), image), ("resnet50", lambda: settled(resnet([3, 4, 6, 3], False)), image),
                          ("mobilenet_v3_large", lambda: settled(mobilenet()), image), ("bert_tiny", lambda: Bert().eval(), ids)):
        if (folder / f"{name}.onnx").exists(): continue
        with torch.no_grad(): torch.jit.trace(make(), x).save(str(folder / f"{name}.pt"))
        subprocess.run([cameo, "export", folder / f"{name}.pt", "-o", folder / f"{name}.onnx", "-q"], check=True)
    if not (folder / "large.data").exists(): large_onnx(folder)
    if not (folder / "large.pt2").exists(): large_pt2(folder)


if __name__ == "__main__":
    main()
