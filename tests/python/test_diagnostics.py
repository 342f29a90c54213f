"""What export says when a model cannot be done as asked, or only under assumptions."""
import torch
from torch import nn


def export(cameo, tmp_path, program, *flags):
    program.save(tmp_path / "m.pt")
    return cameo("export", tmp_path / "m.pt", "-o", tmp_path / "m.onnx", *flags)


class Pins(nn.Module):
    def forward(self, x):
        assert x.size(1) == 3, "three channels"
        return x * 2


def test_a_pinned_size_is_an_error_with_its_line(cameo, tmp_path):
    done = export(cameo, tmp_path, torch.jit.script(Pins()), "--input", "x=f32[b,c]")
    assert done.returncode == 1
    assert "export.frozen-dim" in done.stderr and "'c' at 3" in done.stderr and "test_diagnostics.py" in done.stderr
    done = export(cameo, tmp_path, torch.jit.script(Pins()), "--input", "x=f32[b,c]", "--frozen", "allow")
    assert done.returncode == 0 and "export.frozen-dim" in done.stderr


def test_numbers_that_tracing_froze(cameo, tmp_path):
    class Traced(nn.Module):
        def forward(self, x):
            return x.reshape(len(x), -1) * 2
    done = export(cameo, tmp_path, torch.jit.trace(Traced(), torch.randn(7, 3, 2), check_trace=False), "--input", "x=f32[batch,3,2]")
    assert "export.frozen-number" in done.stderr and "7" in done.stderr and "test_diagnostics.py" in done.stderr
    done = export(cameo, tmp_path, torch.jit.trace(Traced(), torch.randn(7, 3, 2), check_trace=False))
    assert done.returncode == 0 and "export.frozen-number" not in done.stderr


class Raises(nn.Module):
    def forward(self, x):
        if bool(x.isnan().any()):
            raise ValueError("not a number")
        return x + 1


def test_a_dropped_guard_is_told(cameo, tmp_path):
    done = export(cameo, tmp_path, torch.jit.script(Raises()), "--input", "x=f32[b,3]", "-v")
    assert done.returncode == 0 and "stage.assumed" in done.stderr and "not a number" in done.stderr


class AlwaysRaises(nn.Module):
    def forward(self, x):
        if x.dim() != 4:
            raise ValueError("four dimensions are needed")
        return x


def test_a_model_that_raises(cameo, tmp_path):
    done = export(cameo, tmp_path, torch.jit.script(AlwaysRaises()), "--input", "x=f32[b,3]")
    assert done.returncode == 1 and "four dimensions are needed" in done.stderr


class RaisesBeforeALoop(nn.Module):
    def forward(self, x):
        if x.dim() != 4:
            raise ValueError("four dimensions are needed")
        for i in range(3):
            x = x * float(i) + x
        return x


def test_what_follows_a_raise_is_not_run(cameo, tmp_path):
    done = export(cameo, tmp_path, torch.jit.script(RaisesBeforeALoop()), "--input", "x=f32[b,3]")
    assert done.returncode == 1 and "four dimensions are needed" in done.stderr and "test_diagnostics.py" in done.stderr


class TrainsInALoop(nn.Module):
    def forward(self, x):
        for _ in range(4):
            x = torch.dropout(x, 0.5, True)
        return x


def test_a_warning_of_an_attempt_that_was_taken_back_is_given_again(cameo, tmp_path):
    done = export(cameo, tmp_path, torch.jit.script(TrainsInALoop()), "--input", "x=f32[b,3]")
    assert done.returncode == 0 and done.stderr.count("export.training") == 1


class Unsupported(nn.Module):
    def forward(self, x):
        a = torch.linalg.eigvals(x)
        b = torch.linalg.eig(x)[0]
        return a.real, b.real + torch.linalg.eig(x)[1].real.sum(), x + 1


def test_everything_missing_at_once(cameo, tmp_path):
    done = export(cameo, tmp_path, torch.jit.script(Unsupported()), "--input", "x=f32[4,4]")
    assert done.returncode == 1
    assert "aten::linalg_eigvals" in done.stderr and "aten::linalg_eig " in done.stderr and "2 times" in done.stderr and "nearest" in done.stderr
    assert "test_diagnostics.py" in done.stderr


class KeysDiffer(nn.Module):
    def forward(self, x):
        d = {"a": x}
        if bool(x.sum() > 0):
            d["b"] = x * 2
        return d


def test_what_cannot_be_joined(cameo, tmp_path):
    done = export(cameo, tmp_path, torch.jit.script(KeysDiffer()), "--input", "x=f32[b,3]")
    assert done.returncode == 1 and "keys" in done.stderr


def test_files_of_the_wrong_kind(cameo, tmp_path):
    net = nn.Linear(2, 3)
    torch.save(net.state_dict(), tmp_path / "state.pt")
    torch.save(net, tmp_path / "module.pt")
    torch.save(net.state_dict(), tmp_path / "legacy.pt", _use_new_zipfile_serialization=False)
    for name, code, advice in [("state.pt", "file.state-dict", "trace"), ("module.pt", "file.pickled-module", "trace"), ("legacy.pt", "file.legacy", "trace")]:
        done = cameo("export", tmp_path / name, "-o", tmp_path / "m.onnx")
        assert done.returncode == 3 and code in done.stderr and advice in done.stderr, done.stderr
