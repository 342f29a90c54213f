"""Budgets of every verb, and signals: what is stopped ends soon, says why, and leaves nothing behind."""
import os
import signal
import subprocess
import time

import onnxfile

SOON = 0.1  # seconds from a signal to the end of the process, on a machine that has nothing else to do
SLACK = 1.0  # what a busy one may add


def attack(t, name):
    return t.root / "tests/data/attacks" / name


def endless_export(t):
    return ["export", attack(t, "14-ts-while_true_py.pt"), "-o", "out.onnx", "--input", "x=f32[2,3]", "--max-steps", "1000000000000"]


def endless_run(t):
    return ["run", attack(t, "14-loop1e12.onnx"), "-o", "out.npz", "--max-turns", "10000000000000"]


def long_simplify(t):
    """A chain of so many nodes that their simplification takes seconds."""
    count = 200_000
    nodes = [onnxfile.node("Sigmoid", [f"v{i}" if i else "x"], [f"v{i + 1}" if i + 1 < count else "y"]) for i in range(count)]
    data = onnxfile.model(nodes, [onnxfile.value_info("x", [2, 3])], [onnxfile.value_info("y", [2, 3])])
    (t.folder / "chain.onnx").write_bytes(data)
    return ["simplify", "chain.onnx", "out.onnx"]


def test_reading_and_writing_are_stopped(t):
    """Verbs that do little but read and print."""
    long_simplify(t)
    before = set(os.listdir(t.folder))
    for args in (["check", "chain.onnx"], ["show", "chain.onnx"], ["show", "chain.onnx", "--text"], ["convert", "chain.onnx", "out.onnxtxt"]):
        t.fails(*args, "--max-time", "0.03", code=1, error="budget.time")
        found = t.fails(*args, "--max-memory", "20M", code=1, error="budget.memory")
        assert "more memory than 20 MiB" in found.err, found.err
        assert set(os.listdir(t.folder)) == before


def stopped(t, args, signals, after=0.3):
    """The exit status and the seconds that the last signal took to have its effect."""
    before = set(os.listdir(t.folder))
    # Whoever runs the tests in the background has Ctrl-C ignored, and programs inherit that.
    process = subprocess.Popen([t.command, *map(str, args)], cwd=t.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(after)
    assert process.poll() is None, f"it ended by itself: {process.stdout.read().decode()}"
    for s in signals:
        process.send_signal(s)
    sent = time.monotonic()
    try:
        text = process.communicate(timeout=20)[0].decode()
    finally:
        process.kill()
    took = time.monotonic() - sent
    assert took < SOON + SLACK, f"{took:.3f} s: {text}"
    assert set(os.listdir(t.folder)) == before, os.listdir(t.folder)
    return process.returncode, took, text


def test_ctrl_c_stops_export(t):
    code, _, text = stopped(t, endless_export(t), [signal.SIGINT])
    assert code == 130 and "error[budget.interrupted]" in text, text


def test_ctrl_c_stops_a_loop(t):
    code, _, text = stopped(t, endless_run(t), [signal.SIGINT])
    assert code == 130, text


def test_ctrl_c_stops_simplify(t):
    args = long_simplify(t)
    code, _, text = stopped(t, args, [signal.SIGINT], after=0.2)
    assert code == 130, text


def test_sigterm_stops_too(t):
    code, _, text = stopped(t, endless_run(t), [signal.SIGTERM])
    assert code == 143, text


def test_a_second_ctrl_c_kills(t):
    code, _, _ = stopped(t, endless_run(t), [signal.SIGINT, signal.SIGINT])
    assert code in (130, -signal.SIGINT), code


def test_max_time(t):
    for args in (endless_run(t), endless_export(t)):
        started = time.monotonic()
        t.fails(*args, "--max-time", "0.2", code=1, error="budget.time")
        assert time.monotonic() - started < 0.2 + SOON + SLACK
        assert os.listdir(t.folder) == []


def test_max_memory(t):
    # y = x expanded to a quarter of a gigabyte
    nodes = [onnxfile.node("Expand", ["x", "s"], ["w"]), onnxfile.node("Relu", ["w"], ["y"])]
    data = onnxfile.model(nodes, [onnxfile.value_info("x", [1])], [onnxfile.value_info("y", [1 << 26])], [onnxfile.ints("s", [1], [1 << 26])])
    (t.folder / "wide.onnx").write_bytes(data)
    t.fails("run", "wide.onnx", "--random", "0", "-o", "out.npz", "--max-memory", "100M", code=1, error="budget.memory")
    t.run("run", "wide.onnx", "--random", "0", "-o", "out.npz", "--max-memory=2G")


def test_wrong_values(t):
    for flag, value in (("max-memory", "much"), ("max-memory", "-1G"), ("max-time", "0"), ("max-time", "soon"), ("max-turns", "0"), ("max-steps", "x")):
        t.fails("show", "net.onnx", f"--{flag}", value, code=2, error="use.value")
    t.fails("show", "net.onnx", "--max-time", code=2, error="use.missing-value")


def test_the_finding_names_the_flag(t):
    result = t.fails("run", attack(t, "14-loop1e12.onnx"), code=1, error="budget.turns")
    assert "--max-turns" in result.err
    result = t.fails("export", attack(t, "14-ts-while_big.pt"), "-o", "out.onnx", "--input", "x=f32[2,3]", code=1, error="budget.steps")
    assert "--max-steps" in result.err


def quantize_with(t, metric):
    (t.folder / "net.onnx").write_bytes(onnxfile.linear())
    (t.folder / "in.npz").write_bytes(onnxfile.npz(x=onnxfile.npy([3, 2], [1, 2, 3, 4, 5, 6])))
    return ["quantize", "net.onnx", "out.onnx", "--calibrate", "in.npz", "--metric", metric]


def test_a_metric_that_never_ends_is_stopped(t):
    """Silent, or printing for ever."""
    for metric in ("exec 2>&-; sleep 20; true", "yes; true", "true"):
        args = [*quantize_with(t, metric), "--max-time", "1"]
        if metric == "true":
            assert "the command printed no number" in t.run(*args, code=1).err
            continue
        start = time.monotonic()
        result = t.run(*args, code=1)
        assert "error[budget.time]" in result.err and time.monotonic() - start < 10 + SLACK, result
        assert not (t.folder / "out.onnx").exists()


def test_a_folder_of_samples_holds_files(t):
    """A pipe in it is not waited for."""
    args = quantize_with(t, "")[:-2]
    (t.folder / "samples").mkdir()
    (t.folder / "in.npz").rename(t.folder / "samples" / "a.npz")
    os.mkfifo(t.folder / "samples" / "b.npz")
    args[4] = "samples"
    t.run(*args)
