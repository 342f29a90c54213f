"""Every command and every piece of Python in the documentation is run (tests/docs/blocks.py)."""
import pathlib
import shlex
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

import blocks  # noqa: E402  (after the path is set)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of."""
    torch = pytest.importorskip("torch")
    import numpy

    import cameo

    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.GELU()).eval()
    cameo.export(net, (torch.zeros(1, 3, 8, 8),), "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "batch", 2: "h", 3: "w"}})
    numpy.savez("samples.npz", x=numpy.random.default_rng(0).random((4, 3, 8, 8), dtype=numpy.float32))
    shutil.copy("net.onnx", "before.onnx")
    shutil.copy("net.onnx", "after.onnx")
    return tmp_path


def commands(block):
    """The calls of `cameo`: continued lines joined, comments taken off."""
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "cameo":
            yield words


def cases(language, wanted=bool):
    found = [b for b in blocks.blocks(language) if wanted(b)]
    return pytest.mark.parametrize("block", found, ids=[b.name for b in found])


@cases("sh", lambda b: any(commands(b)))
def test_command(block, place):
    command = pathlib.Path(sys.executable).with_name("cameo")
    if block.before:
        exec(block.before, {})
    for words in commands(block):
        done = subprocess.run([command, *words[1:]], capture_output=True, text=True)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"


@cases("python")
def test_python(block, place):
    names = {"__name__": "documented"}
    exec(block.before, names)
    exec(compile(block.code, block.name, "exec"), names)
