"""What the Python tests share: the command under test and the project's folder."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def cameo():
    """Calls the command: cameo("show", path) returns the finished process with text output; it never raises."""
    command = os.environ.get("CAMEO", ROOT / "build" / "release" / "cameo")

    def call(*arguments, **options):
        return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, timeout=600, **options)

    return call


@pytest.fixture(scope="session")
def node_cases():
    """The folder of ONNX's own node cases; tests that want it are skipped where it is absent."""
    folder = os.environ.get("CAMEO_CONFORMANCE")
    if not folder:
        pytest.skip("the conformance corpus (../shared/conformance) is not there")
    return pathlib.Path(folder)
