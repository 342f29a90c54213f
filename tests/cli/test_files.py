"""What is in a folder after a command, whatever happened to it: one whole version, and nothing else. storms.py has the machinery, `make kills` the long form."""
import fcntl
import os
import sys

import onnxfile as onnx
from storms import Storm, make_model


def test_killed_writers_leave_one_whole_version(t):
    Storm(t.command, t.folder, seed=11).kills(25)


def test_two_writers_at_once_leave_one_whole_version(t):
    Storm(t.command, t.folder, seed=12).pairs(8)


def test_inputs_that_are_cut_short_are_errors(t):
    if sys.platform != "linux": raise t.skip("tells from /proc what is mapped")
    Storm(t.command, t.folder, seed=13).cuts(15)


def data_files(t):
    return sorted(n for n in os.listdir(t.folder) if n.endswith(".data"))


def versions(t, floats=1000):
    for version in "AB": make_model(t.path(f"{version}.onnx"), version, floats)


def test_data_files_are_named_by_their_contents(t):
    versions(t)
    t.run("convert", "A.onnx", "out.onnx", "--weights", "external")
    first = data_files(t)
    assert len(first) == 1 and first[0].startswith("out.onnx.") and len(first[0]) == len("out.onnx..data") + 16, first
    t.run("convert", "A.onnx", "out.onnx", "--weights", "external")
    assert data_files(t) == first
    t.run("convert", "B.onnx", "out.onnx", "--weights", "external")
    second = data_files(t)
    assert len(second) == 1 and second != first, "the old data file goes"
    t.run("convert", "A.onnx", "out.onnx", "--weights", "embed")
    assert data_files(t) == []


def test_data_files_that_others_refer_to_stay(t):
    versions(t)
    t.run("convert", "A.onnx", "out.onnx", "--weights", "external")
    first = data_files(t)
    t.path("backup.bak").write_bytes(t.path("out.onnx").read_bytes())
    t.run("convert", "B.onnx", "out.onnx", "--weights", "external")
    assert len(data_files(t)) == 2 and set(first) < set(data_files(t))
    t.run("verify", "A.onnx", "backup.bak", "--random", "1")
    t.path("backup.bak").unlink()
    t.run("convert", "B.onnx", "out.onnx", "--weights", "external")
    assert len(data_files(t)) == 1
    # Where a neighbour cannot be read nothing is removed: it may refer to it.
    t.path("broken.onnx").write_bytes(b"\x08\x08\x3a\xff")
    t.run("convert", "A.onnx", "out.onnx", "--weights", "external")
    assert len(data_files(t)) == 2


def test_files_that_only_look_like_ours_stay(t):
    versions(t)
    names = ["out.onnx.0123456789abcdef.data", "out.onnx.data", "other.onnx.0123456789abcdef.data", "out.onnx.123-0.tmp", "a.cameo-12345.tmp"]
    for name in names: t.path(name).write_bytes(b"precious")
    t.run("convert", "A.onnx", "out.onnx", "--weights", "external")
    t.run("convert", "B.onnx", "out.onnx", "--weights", "external")
    assert all(t.path(name).read_bytes() == b"precious" for name in names)


def test_a_model_over_its_own_input(t):
    versions(t)
    t.run("convert", "A.onnx", "out.onnx", "--weights", "external")
    before = data_files(t)
    t.run("convert", "out.onnx", "out.onnx")
    assert data_files(t) == before, "weights that stay are not written again"
    t.run("convert", "out.onnx", "out.onnx", "--float", "f16", "--weights", "external")
    assert data_files(t) != before and len(data_files(t)) == 1
    t.run("check", "out.onnx")
    t.run("convert", "out.onnx", "out.onnx", "--weights", "embed")
    assert data_files(t) == []


def test_temporary_files_of_the_dead_are_removed_and_those_of_the_living_stay(t):
    versions(t)
    dead, living = t.path("x.onnx.cameo-00000000000000aa.tmp"), t.path("x.onnx.cameo-00000000000000bb.tmp")
    dead.write_bytes(b"half")
    living.write_bytes(b"half")
    with open(living) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        t.run("convert", "A.onnx", "out.onnx")
        assert not dead.exists() and living.exists()
    t.run("convert", "A.onnx", "out.onnx")
    assert not living.exists()


def test_every_output_is_opened_before_the_work(t):
    versions(t)
    script = t.root / "tests/data/export/blocks.pt"
    before = sorted(os.listdir(t.folder))
    for args in (["simplify", "A.onnx", "out.onnx", "--ledger", "no/such/ledger.json"],
                 ["run", "A.onnx", "--random", "1", "-o", "out.npz", "--profile", "no/such/trace.json"],
                 ["run", "A.onnx", "--random", "1", "-o", "no/such/out.npz", "--profile", "trace.json"],
                 ["simplify", "missing.onnx", "out.onnx", "--ledger", "ledger.json"]):
        done = t.attempt(*args)
        assert done.code in (1, 3), done
        assert sorted(os.listdir(t.folder)) == before, f"{args} left {os.listdir(t.folder)}"
    t.fails("export", script, "-o", "out.onnx", "--report", "no/such/report.html", code=1, error="write.failed")
    t.fails("export", script, "-o", "out.onnx", "--report", "report.txt", code=2, error="use.value")
    t.fails("export", script, "-o", "report.json", "--report", "report.json", code=2, error="use.output")
    assert sorted(os.listdir(t.folder)) == before
    t.fails("simplify", "A.onnx", "out.onnx", "--ledger", "out.onnx", code=2, error="use.output")
    t.fails("simplify", "A.onnx", "out.onnx", "--ledger", "./out.onnx", code=2, error="use.output")
    t.run("simplify", "A.onnx", "out.onnx", "--ledger", "ledger.json")
    assert t.path("ledger.json").exists()
    t.run("run", "A.onnx", "--random", "1", "-o", "out.npz", "--profile", "trace.json")
    assert t.path("trace.json").exists() and onnx.read_npz(t.path("out.npz"))
