"""The road of the one engine that the test environment has (examples/roads); `make roads` travels all of them."""
import json
import os
import subprocess
import sys


def test_from_pytorch_to_onnxruntime(root, tmp_path):
    environment = {**os.environ, "ROADS": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", root / "examples" / "roads" / "to_onnxruntime.py", "--json"], capture_output=True, text=True, env=environment)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["outcome"] for row in rows] == ["right"] * 12, done.stdout + done.stderr


def test_the_targets_of_the_roads_are_those_of_lint(cameo, root):
    listed = subprocess.run([root / "examples" / "roads" / "run", "--list"], capture_output=True, text=True, check=True).stdout.split()
    targets = cameo("lint", "--list-targets").stdout
    for name in listed:
        assert name.removesuffix("-cpp") in targets
        assert (root / "examples" / "roads" / f"to_{name.replace('-', '_')}.py").is_file()
