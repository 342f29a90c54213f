"""The semantic traps between PyTorch and ONNX (tests/torch/traps.py), each exported and run by both engines."""
import os
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "torch"))
import traps  # noqa: E402


@pytest.mark.parametrize("trap", traps.TRAPS, ids=lambda t: f"{t.number}-{t.name}")
def test_trap(trap, tmp_path):
    if trap.elsewhere: pytest.skip(trap.elsewhere)
    assert traps.judge(trap, os.environ.get("CAMEO", str(ROOT / "build" / "release" / "cameo")), tmp_path) == ""


def test_every_trap_is_there():
    assert {t.number for t in traps.TRAPS} == set(range(1, 85))
