"""The models of bench/run_speed.py: random weights, traced, exported by Cameo, with one example input each."""
import pathlib
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "torch"))
NAMES = "resnet18 mobilenet_v3_large efficientnet_b0 vit_b_16 bert_base lstm yolo".split()
NARROW = "resnet18_f16 resnet18_bf16 resnet18_int8 mobilenet_v3_large_int8 bert_base_int8".split()  # made of those above


def settle(model):
    """Running statistics and scales that differ per channel: a fresh batch norm would be the identity."""
    import torch
    torch.manual_seed(1)
    for tensor in list(model.parameters()) + list(model.buffers()):
        if tensor.dtype == torch.float32 and tensor.numel() > 1 and bool((tensor == tensor.flatten()[0]).all()):
            tensor.data.add_(torch.rand_like(tensor) * 0.1)
    return model.eval()


def detector():
    """YOLO's building blocks at a small size: CSP stages with SiLU, pooled pyramid, two-way neck, three heads, decoded boxes."""
    import torch
    from torch import nn

    class Unit(nn.Sequential):
        def __init__(self, a, b, k=1, s=1):
            super().__init__(nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b), nn.SiLU())

    class Stage(nn.Module):
        def __init__(self, a, b, n, shortcut=True):
            super().__init__()
            self.shortcut, half = shortcut, b // 2
            self.enter, self.leave = Unit(a, b), Unit((2 + n) * half, b)
            self.blocks = nn.ModuleList(nn.Sequential(Unit(half, half, 3), Unit(half, half, 3)) for _ in range(n))

        def forward(self, x):
            parts = list(self.enter(x).chunk(2, 1))
            for block in self.blocks:
                y = block(parts[-1])
                parts.append(parts[-1] + y if self.shortcut else y)
            return self.leave(torch.cat(parts, 1))

    class Pyramid(nn.Module):
        def __init__(self, a):
            super().__init__()
            self.enter, self.leave, self.pool = Unit(a, a // 2), Unit(a * 2, a), nn.MaxPool2d(5, 1, 2)

        def forward(self, x):
            x = self.enter(x)
            a = self.pool(x)
            b = self.pool(a)
            return self.leave(torch.cat([x, a, b, self.pool(b)], 1))

    class Detector(nn.Module):
        def __init__(self, classes=80, w=16):
            super().__init__()
            c = [w, 2 * w, 4 * w, 8 * w, 16 * w]
            self.stem = nn.Sequential(Unit(3, c[0], 3, 2), Unit(c[0], c[1], 3, 2), Stage(c[1], c[1], 1))
            self.p3 = nn.Sequential(Unit(c[1], c[2], 3, 2), Stage(c[2], c[2], 2))
            self.p4 = nn.Sequential(Unit(c[2], c[3], 3, 2), Stage(c[3], c[3], 2))
            self.p5 = nn.Sequential(Unit(c[3], c[4], 3, 2), Stage(c[4], c[4], 1), Pyramid(c[4]))
            self.up = nn.Upsample(scale_factor=2, mode="nearest")
            self.n4, self.n3 = Stage(c[4] + c[3], c[3], 1, False), Stage(c[3] + c[2], c[2], 1, False)
            self.d4, self.m4 = Unit(c[2], c[2], 3, 2), Stage(c[2] + c[3], c[3], 1, False)
            self.d5, self.m5 = Unit(c[3], c[3], 3, 2), Stage(c[3] + c[4], c[4], 1, False)
            self.heads = nn.ModuleList(nn.Sequential(Unit(x, 64, 3), Unit(64, 64, 3), nn.Conv2d(64, 4 + classes, 1)) for x in c[2:])

        def forward(self, x):
            a = self.p3(self.stem(x))
            b = self.p4(a)
            c = self.p5(b)
            b2 = self.n4(torch.cat([self.up(c), b], 1))
            a2 = self.n3(torch.cat([self.up(b2), a], 1))
            b3 = self.m4(torch.cat([self.d4(a2), b2], 1))
            c3 = self.m5(torch.cat([self.d5(b3), c], 1))
            boxes = []
            for head, level, stride in zip(self.heads, (a2, b3, c3), (8, 16, 32)):
                y = head(level)
                h, w = y.shape[2], y.shape[3]
                gy, gx = torch.meshgrid(torch.arange(h, dtype=torch.float32), torch.arange(w, dtype=torch.float32), indexing="ij")
                grid = torch.stack([gx, gy], 0).reshape(1, 2, -1)
                y = y.flatten(2)
                lt, rb = grid + 0.5 - y[:, :2], grid + 0.5 + y[:, 2:4]
                boxes.append(torch.cat([(lt + rb) / 2 * stride, (rb - lt) * stride, y[:, 4:].sigmoid()], 1))
            return torch.cat(boxes, 2)

    return Detector()


def recurrent():
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.head = nn.LSTM(128, 256, 2, batch_first=True), nn.Linear(256, 64)

        def forward(self, x):
            return self.head(self.lstm(x)[0])

    return Tagger()


def make(name):
    import torch
    torch.manual_seed(0)
    if name == "yolo": return detector(), torch.rand(1, 3, 640, 640)
    if name == "small":  # about 100 microseconds: what a run costs besides its kernels shows here
        layers = [layer for _ in range(3) for layer in (torch.nn.Linear(512, 512), torch.nn.GELU())]
        return torch.nn.Sequential(*layers), torch.rand(4, 512)
    if name == "lstm": return recurrent(), torch.rand(1, 100, 128)
    from models import import_torchvision
    if name.startswith("bert_base"):
        import_torchvision()  # transformers looks at it
        import transformers
        config = transformers.BertConfig(return_dict=False)
        return transformers.BertModel(config), torch.randint(0, 30000, (1, 128))
    return import_torchvision().models.get_model(name, weights=None), torch.rand(1, 3, 224, 224)


def quantize(source, target, example):
    """Bytes for activations and weights, as onnxruntime's own tool writes them: QuantizeLinear and DequantizeLinear around operators."""
    import numpy
    import onnx
    from onnxruntime import quantization as q

    class Samples(q.CalibrationDataReader):
        def __init__(self):
            name = onnx.load(str(source), load_external_data=False).graph.input[0].name
            generator = numpy.random.default_rng(0)
            some = [example] + [(generator.permutation(example.ravel())).reshape(example.shape) for _ in range(3)]
            self.rest = iter([{name: x} for x in some])

        def get_next(self):
            return next(self.rest, None)

    q.quantize_static(str(source), str(target), Samples(), quant_format=q.QuantFormat.QDQ, per_channel=True,
                      activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)


def narrowed(name, folder, cameo):
    """A model of another one, in fewer bits."""
    import numpy
    base, kind = name.rsplit("_", 1)
    source, target = export(base, folder, cameo), folder / f"{name}.onnx"
    x = numpy.load(folder / f"{base}.npz")["x0"]
    if kind == "int8": quantize(source, target, x)
    else: subprocess.run([cameo, "-q", "convert", str(source), str(target), "--float", kind, "--keep-io"], check=True)
    numpy.savez(folder / f"{name}.npz", x0=x)
    return target


def export(name, folder, cameo):
    """Writes NAME.onnx and NAME.npz into the folder, unless they are there; gives the model's path."""
    import numpy
    import torch
    folder = pathlib.Path(folder)
    target, archive = folder / f"{name}.onnx", folder / f"{name}.pt"
    if target.exists() and (folder / f"{name}.npz").exists(): return target
    if name in NARROW: return narrowed(name, folder, cameo)
    model, x = make(name)
    with torch.no_grad():
        torch.jit.trace(settle(model), x, check_trace=False, strict=False).save(str(archive))
    any_length = ["--input", "x=i64[1,seq]"] if name == "bert_base_any" else []  # any number of tokens
    subprocess.run([cameo, "-q", "export", str(archive), "-o", str(target), *any_length], check=True)
    archive.unlink()
    numpy.savez(folder / f"{name}.npz", x0=x.numpy())
    return target


if __name__ == "__main__":
    for each in sys.argv[2:] or NAMES: print(export(each, sys.argv[1], str(ROOT / "build/release/cameo")), flush=True)
