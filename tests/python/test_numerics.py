"""Numbers at the edges (tests/torch/numerics.py), by both engines."""
import os
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "torch"))
import layers  # noqa: E402
import numerics  # noqa: E402


@pytest.mark.parametrize("case", numerics.CASES, ids=lambda c: c.name)
def test_number(case, tmp_path):
    assert layers.judge(case, os.environ.get("CAMEO", str(ROOT / "build" / "release" / "cameo")), tmp_path) == ""
