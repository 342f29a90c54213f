"""Layers with all their options, in-place and out= forms, complex numbers (tests/torch/layers.py), by both engines."""
import os
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "torch"))
import layers  # noqa: E402


@pytest.mark.parametrize("case", layers.CASES, ids=lambda c: c.name)
def test_layer(case, tmp_path):
    assert layers.judge(case, os.environ.get("CAMEO", str(ROOT / "build" / "release" / "cameo")), tmp_path) == ""
