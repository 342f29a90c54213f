"""Writes the small archives and recorded outputs that the C++ tests export and run. Needs torch and numpy.

usage: make_samples.py FOLDER [NAME...]
Those whose names begin with old_ are written by PyTorch 1.13.1 (Debian's python3-torch), all others by PyTorch 2.13.
"""
import pathlib
import sys
import zipfile
from typing import List, Optional

import numpy as np
import torch
from torch import nn

OUT = pathlib.Path(sys.argv[1])
WANTED = sys.argv[2:]
OLD = torch.__version__.startswith("1.")


def with_version(path, version):
    """The archive as an older PyTorch would have marked it: operators then have their older meaning."""
    with zipfile.ZipFile(path) as old:
        members = {i.filename: old.read(i) for i in old.infolist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, data in members.items():
            if name.endswith("/version"):
                name, data = name.split("/")[0] + "/version", f"{version}\n".encode()
            new.writestr(name, data)


def save(name, module, *inputs, script=False, fixed=(), version=None):
    if name.startswith("old_") != OLD or (WANTED and name not in WANTED):
        return
    module = module.eval()
    with torch.no_grad():
        program = torch.jit.script(module) if script else torch.jit.trace(module, tuple(x.clone() for x in inputs))
        program.save(str(OUT / f"{name}.pt"))
        if version:
            with_version(OUT / f"{name}.pt", version)
        outputs = torch.jit.load(str(OUT / f"{name}.pt"))(*[x.clone() for x in inputs], *fixed)
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    arrays = {f"x{i}": x.numpy() for i, x in enumerate(inputs)} | {f"y{i}": y.numpy() for i, y in enumerate(outputs)}
    np.savez(OUT / f"{name}.npz", **arrays)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Conv2d(8, 12, 3, groups=2),
                                      nn.BatchNorm2d(12), nn.SiLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(12, 5)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                nn.init.uniform_(m.running_mean, -1, 1)
                nn.init.uniform_(m.running_var, 0.5, 1.5)

    def forward(self, x):
        return self.head(torch.flatten(self.features(x), 1))


class Shapes(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        y = x.view(b, c * h, w).permute(0, 2, 1).reshape(b, -1)
        y[:, 0] = 0
        return y * 2.5, x[:, 1:, :, -1]


class Counted(nn.Module):
    def forward(self, x, n: int):
        for i in range(n):
            x = torch.add(x, i) * 2
        return x


class Branches(nn.Module):
    def forward(self, x):
        if bool(x.sum() > 0):
            y = x + 1
        else:
            y = x - 1
        y[0] = 3.0
        return y


class Search(nn.Module):
    """A loop whose count depends on data."""

    def forward(self, x):
        n = 0
        while bool(x.sum() < 100.0) and n < 50:
            x = x * 2
            n += 1
        return x


class Indices(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[torch.tensor([[1, 2], [2, 3]]), torch.tensor([2, 3])] = 7.0
        return x[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])], y, x[:, :, torch.tensor([0, 1])]


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.lstm = nn.LSTM(16, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(12, 5)

    def forward(self, x):
        y, _ = self.attention(x, x, x, need_weights=False)
        z, _ = self.lstm(self.norm(x + y))
        return self.gru(z)[0]


class Collected(nn.Module):
    """Lists of unknown length: stacked, of different sizes, of numbers; an Optional that a loop may set."""

    def forward(self, x):
        rows: List[torch.Tensor] = []
        heads: List[torch.Tensor] = []
        sums: List[int] = []
        best: Optional[torch.Tensor] = None
        for i in range(x.size(0)):
            rows.append(torch.tanh(x[i]))
            heads.append(x[: i + 1, 0])
            sums.append(i * 2)
            if x[i].sum() > 0:
                best = x[i]
        if best is None:
            best = x[0]
        return torch.stack(rows, 1), torch.cat(heads), torch.tensor(sums), best


class OldOperators(nn.Module):
    """What div and full meant before versions 4 and 5."""

    def forward(self, x, y):
        z = x.clone()
        z /= 3
        return x / y, x / 2, y.float() / x, torch.full([2], 3), z


def quantized_net(engine):
    import torch.ao.quantization as quantization
    from torch.ao.nn import quantized

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.dequant, self.sum = quantization.QuantStub(), quantization.DeQuantStub(), quantized.FloatFunctional()
            self.conv, self.relu = nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.ReLU()
            self.deep = nn.Conv2d(6, 6, 3, padding=1, groups=2)
            self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(6, 5)

        def forward(self, x):
            x = self.relu(self.conv(self.quant(x)))
            x = self.sum.add(x, self.deep(x))
            return self.dequant(self.fc(torch.flatten(self.pool(x), 1)))

    torch.backends.quantized.engine = engine
    net = Net().eval()
    net.qconfig = quantization.get_default_qconfig(engine)
    prepared = quantization.prepare(quantization.fuse_modules(net, [["conv", "relu"]]))
    for _ in range(4):
        prepared(torch.randn(2, 3, 12, 12))
    return quantization.convert(prepared)


def dynamic_net():
    import torch.ao.quantization as quantization
    return quantization.quantize_dynamic(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)).eval(), {nn.Linear}, dtype=torch.qint8)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.cell = nn.LSTM(4, 5, num_layers=2, bidirectional=True), nn.GRU(10, 6), nn.LSTMCell(6, 3)

    def forward(self, x):
        y, _ = self.lstm(x)
        z, h = self.gru(y)
        return z, self.cell(h[0])[1]


def recurrent_net(dtype):
    import torch.ao.quantization as quantization
    return quantization.quantize_dynamic(Recurrent().eval(), {nn.LSTM, nn.GRU, nn.LSTMCell}, dtype=dtype)


def main():
    torch.manual_seed(0)
    if not OLD:
        torch.backends.mha.set_fastpath_enabled(False)
    engine = "qnnpack" if OLD else "fbgemm"
    save("collected", Collected(), torch.randn(5, 3), script=True)
    save("upgraded", OldOperators(), torch.tensor([7, -7, 5]), torch.tensor([2, 2, -3]), script=True, version=3)
    save("quantized", quantized_net(engine), torch.randn(2, 3, 12, 12), script=True)
    save("quantized_dynamic", dynamic_net(), torch.randn(3, 6), script=True)
    save("quantized_recurrent", recurrent_net(torch.qint8), torch.randn(7, 2, 4), script=True)
    save("half_recurrent", recurrent_net(torch.float16), torch.randn(7, 2, 4), script=True)
    save("old_convolutions", Convolutions(), torch.randn(2, 3, 16, 16), script=True)
    save("old_quantized", quantized_net(engine), torch.randn(2, 3, 12, 12), script=True)
    save("old_collected", Collected(), torch.randn(5, 3), script=True)
    save("old_layers", Layers(), torch.randn(2, 7, 16))
    save("convolutions", Convolutions(), torch.randn(2, 3, 16, 16))
    save("convolutions_scripted", Convolutions(), torch.randn(2, 3, 16, 16), script=True)
    save("shapes", Shapes(), torch.randn(2, 3, 4, 5))
    save("counted", Counted(), torch.randn(4, 3), script=True, fixed=(3,))
    save("branches", Branches(), torch.randn(4, 3), script=True)
    save("search", Search(), torch.rand(4, 3), script=True)
    save("indices", Indices(), torch.randn(4, 5, 3))
    save("layers", Layers(), torch.randn(2, 7, 16))


main()
