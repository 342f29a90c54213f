"""docs/builtins.md tells what the binary does, for every builtin in PyTorch's own list."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "torch"))
import torch_builtins  # noqa: E402


def test_every_builtin_has_a_row():
    assert torch_builtins.not_covered() == []


def test_page_is_up_to_date():
    page = torch_builtins.page(os.environ.get("CAMEO", ROOT / "build" / "release" / "cameo"))
    assert "WRONG" not in page
    assert page == torch_builtins.PAGE.read_text(), "python tests/torch/torch_builtins.py --update"
