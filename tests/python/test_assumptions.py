"""What one model can do for some sizes only: told, written down, checked, and never against what was declared."""
import numpy as np
import onnx
import pytest
import torch
from torch import nn


class Squeezed(nn.Module):
    def forward(self, x):
        return x.squeeze(1) * 2


class RankBySize(nn.Module):
    def forward(self, x):
        if x.size(1) == 1:
            x = x.squeeze(1)
        return x * 2


class SqueezedInBranch(nn.Module):
    def forward(self, x):
        if x.size(1) == 1:
            return x.squeeze(1)
        return x.sum(1)


class Asserts(nn.Module):
    def forward(self, x):
        assert x.sum() > 0, "the sum must be positive"
        if x.size(0) > 3:
            raise ValueError("too many rows")
        return x * 2, x.sum() > 1


def export(cameo, folder, module, *flags):
    torch.jit.script(module.eval()).save(folder / "m.pt")
    return cameo("export", folder / "m.pt", "-o", folder / "m.onnx", *flags)


def said(folder):
    return {p.key: p.value for p in onnx.load(folder / "m.onnx").metadata_props}.get("cameo.assumptions")


def run(cameo, folder, *shape, flags=(), value=1.0):
    np.savez(folder / "in.npz", x=np.full(shape, value, np.float32))
    return cameo("run", folder / "m.onnx", "--inputs", folder / "in.npz", "-o", folder / "out.npz", *flags)


@pytest.mark.parametrize("module", [Squeezed, RankBySize])
def test_a_guess_is_told_written_and_checked(cameo, tmp_path, module):
    done = export(cameo, tmp_path, module(), "--input", "x=f32[b,t,3]")
    assert done.returncode == 0 and "stage.assumed" in done.stderr and "t != 1" in done.stderr
    assert said(tmp_path) == "t != 1"
    assert run(cameo, tmp_path, 2, 4, 3).returncode == 0
    for flags in ((), ("--reference",)):
        refused = run(cameo, tmp_path, 2, 1, 3, flags=flags)
        assert refused.returncode == 1 and "run.assumption" in refused.stderr and "t = 1" in refused.stderr


@pytest.mark.parametrize("module", [Squeezed, RankBySize])
def test_never_against_a_declared_range(cameo, tmp_path, module):
    done = export(cameo, tmp_path, module(), "--input", "x=f32[b,t:1..9,3]")
    assert done.returncode == 1 and "stage.guess" in done.stderr and "declared range" in done.stderr
    assert not (tmp_path / "m.onnx").exists()
    done = export(cameo, tmp_path, module(), "--input", "x=f32[b,t:2..9,3]")
    assert done.returncode == 0 and "stage.assumed" not in done.stderr and said(tmp_path) is None


def test_guesses_can_be_forbidden_or_stated(cameo, tmp_path):
    done = export(cameo, tmp_path, Squeezed(), "--input", "x=f32[b,t,3]", "--no-assume")
    assert done.returncode == 1 and "stage.guess" in done.stderr
    done = export(cameo, tmp_path, Squeezed(), "--input", "x=f32[b,t,3]", "--no-assume", "--assume", "t != 1", "--rename-dim", "t=time")
    assert done.returncode == 0 and done.stderr.count("warning") == 0 and said(tmp_path) == "time != 1"
    done = export(cameo, tmp_path, Squeezed(), "--input", "x=f32[b,t,3]", "--assume", "2 <= t <= 8")
    assert done.returncode == 0 and said(tmp_path) == "2 <= t; t <= 8"
    assert run(cameo, tmp_path, 2, 9, 3).returncode == 1
    done = export(cameo, tmp_path, Squeezed(), "--input", "x=f32[b,t,3]", "--assume", "q != 1")
    assert done.returncode == 2 and "use.assume" in done.stderr and "b, t" in done.stderr
    done = export(cameo, tmp_path, Squeezed(), "--input", "x=f32[b,t,3]", "--assume", "t is large")
    assert done.returncode != 0


def test_a_branch_needs_no_guess(cameo, tmp_path):
    done = export(cameo, tmp_path, SqueezedInBranch(), "--input", "x=f32[b,t:1..9,3]", "--no-assume")
    assert done.returncode == 0 and said(tmp_path) is None
    for t in (1, 4):
        assert run(cameo, tmp_path, 2, t, 3).returncode == 0
        assert np.array_equal(np.load(tmp_path / "out.npz")["output"], np.full((2, 3), t, np.float32))


def test_assertions_are_dropped_with_a_note_or_kept(cameo, tmp_path):
    done = export(cameo, tmp_path, Asserts(), "--input", "x=f32[b,3]", "-v")
    assert done.returncode == 0 and "the sum must be positive" in done.stderr and "too many rows" in done.stderr and "--asserts keep" in done.stderr
    assert run(cameo, tmp_path, 2, 3, value=-1).returncode == 0
    done = export(cameo, tmp_path, Asserts(), "--input", "x=f32[b,3]", "--asserts", "keep")
    assert done.returncode == 0
    assert run(cameo, tmp_path, 2, 3).returncode == 0
    wrong = run(cameo, tmp_path, 2, 3, value=-1)
    assert wrong.returncode == 1 and "the sum must be positive" in wrong.stderr
    wrong = run(cameo, tmp_path, 5, 3)
    assert wrong.returncode == 1 and "too many rows" in wrong.stderr
    session = pytest.importorskip("onnxruntime").InferenceSession(tmp_path / "m.onnx")
    session.run(None, {"x": np.ones((2, 3), np.float32)})
    with pytest.raises(Exception, match="the sum must be positive"):
        session.run(None, {"x": -np.ones((2, 3), np.float32)})
