"""Operators that published models use, or PyTorch's exporters know, have a lowering or a reason not to."""
import subprocess
import sys


def test_nothing_is_missing(root):
    done = subprocess.run([sys.executable, root / "tests" / "torch" / "coverage.py"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
