"""A fixed sample of what `make referee` judges in full."""
import collections
import json
import os

import pytest

import convert_referee


@pytest.fixture(scope="session")
def verdicts(root, node_cases):
    index = json.loads((node_cases / "index.json").read_text())
    newest = convert_referee.newest_opset()
    names = sorted(index)[3::20]
    return {n: convert_referee.work((node_cases, n, index[n], os.environ.get("CAMEO", str(root / "build/release/cameo")), convert_referee.OPSETS + [newest], newest))[1] for n in names}


def pairs(verdicts):
    return [(f"{name} at {opset}", row) for name, rows in verdicts.items() for opset, row in (rows or {}).items()]


def test_converted_models_compute_the_same(verdicts):
    bad = [(what, row) for what, row in pairs(verdicts) if row["verdict"] in convert_referee.BAD]
    assert not bad


def test_and_so_they_do_converted_back_up(verdicts):
    assert not [(what, row) for what, row in pairs(verdicts) for up in ("own", "newest") if row.get(up, "right") not in ("right", "not judged")]


def test_what_the_target_lacks_is_mostly_expressed(verdicts):
    count = collections.Counter(row["verdict"] for _, row in pairs(verdicts) if row["lacking"])
    assert count["right"] >= 0.8 * count.total() > 0
