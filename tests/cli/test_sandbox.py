"""What a verb touches: the files that were named, what the system's libraries need, and nothing else; no network, no other
processes. strace tells."""
import os
import pathlib
import re
import shutil
import subprocess

import onnxfile as onnx
from storms import make_model

CALLS = "trace=%file,%network,fork,vfork,clone,clone3,ptrace,kill,tgkill"
# What else may be opened or asked for, and why. All of it only read.
SYSTEM = [
    (r"/etc/ld\.so\.(cache|preload)", "the dynamic linker"),
    (r"(/usr)?/lib(64)?/.*\.so(\.[\d.]+)?", "shared libraries: C, C++, libgomp, oneDNN, zlib"),
    (r"(/usr)?/lib(64)?(/[\w-]+)*/?", "folders where the linker looks for them"),
    (r"/opt/.*\.so(\.[\d.]+)?", "shared libraries"),
    (r"/proc/self/(status|maps|cgroup|mountinfo)", "the peak memory that simplify tells of; limits that oneDNN and libgomp honour"),
    (r"/proc/self/fd(/\d+)?", "a file without a name gets its name through its descriptor"),
    (r"/proc/(cpuinfo|meminfo|stat)", "how large the machine is"),
    (r"/proc/sys/vm/overcommit_memory", "the C library's memory"),
    (r"/sys/devices/system/(cpu|node)(/.*)?", "how many processors and caches there are"),
    (r"/sys/(fs/cgroup|kernel/mm/(transparent_)?hugepages?)(/.*)?", "limits of a container; large pages"),
]
THREAD = "CLONE_THREAD"


def traced(t, *args, reads=(), writes=(), code=0):
    """Runs a verb under strace and compares every call with what is allowed: `reads` and `writes` are the named files."""
    if not shutil.which("strace"): raise t.skip("STRACE IS NOT INSTALLED (Debian: strace): what verbs open is not tested")
    log = pathlib.Path(str(t.folder) + ".strace")
    try:
        done = subprocess.run(["strace", "-f", "-qq", "-s", "4096", "-o", str(log), "-e", CALLS, t.command, *map(str, args)],
                              cwd=t.folder, capture_output=True, timeout=300)
        if b"ptrace" in done.stderr and b"PTRACE" in done.stderr.upper() and b"not permitted" in done.stderr:
            raise t.skip("PTRACE IS NOT ALLOWED HERE: what verbs open is not tested")
        assert done.returncode == code, f"cameo {' '.join(map(str, args))}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}"
        lines = log.read_text(errors="replace").splitlines()
    finally:
        log.unlink(missing_ok=True)
    assert len(lines) > 5, "strace told nothing"
    judged = [problem for i, line in enumerate(lines) if (problem := judge(t, line, set(map(str, reads)), set(map(str, writes)), first=i == 0))]
    assert not judged, f"cameo {' '.join(map(str, args))} did what it should not:\n" + "\n".join(judged)


def judge(t, line, reads, writes, first):
    """None, or the line with what is wrong about it."""
    line = re.sub(r"^\d+\s+", "", line)
    call = re.match(r"(?:<\.\.\. )?(\w+)", line)
    if not call or line.startswith(("+++", "---", "<... ")): return None  # ends, signals; the second half of a call
    name = call.group(1)
    if name == "execve": return None if first else f"a process: {line}"
    if name in ("fork", "vfork", "clone", "clone3"): return None if THREAD in line else f"a process: {line}"
    if name in ("socket", "connect", "bind", "sendto", "socketpair", "listen", "accept", "sendmsg", "recvfrom"): return f"the network: {line}"
    if name in ("kill", "tgkill", "ptrace"): return f"another process: {line}"
    for path in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
        problem = judge_path(t, name, path, line, reads, writes)
        if problem: return f"{problem}: {line}"
    return None


def judge_path(t, call, path, line, reads, writes):
    changes = re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", line) or call in ("rename", "renameat", "renameat2", "unlink", "unlinkat",
                                                                                   "linkat", "link", "symlink", "mkdir", "chmod", "fchmodat", "truncate")
    if path == "": return None  # the descriptor itself
    whole = os.path.normpath(os.path.join(t.folder, path))
    in_folder = os.path.relpath(whole, t.folder)
    if path in reads or in_folder in reads: return "it writes what it was to read" if changes and in_folder not in writes else None
    if path in writes or in_folder in writes: return None
    if whole == str(t.folder) or str(t.folder).startswith(whole.rstrip("/") + "/"):  # the folder and those above it
        return None if not changes or "O_TMPFILE" in line else "it changes the folder"
    # The result on its way: a name of its own for a moment; and its data file, named by the contents.
    if any(re.fullmatch(re.escape(w) + r"(\.[0-9a-f]{16}\.data)?(\.cameo-[0-9a-f]{16}\.tmp)?", in_folder) for w in writes): return None
    if any(re.fullmatch(pattern, path) for pattern, _ in SYSTEM): return "it writes to the system" if changes and "/proc/self/fd" not in path else None
    return "not a file that was named"


def models(t):
    t.path("m.onnx").write_bytes(onnx.linear())
    t.path("n.onnx").write_bytes(onnx.linear())
    t.path("x.npz").write_bytes(onnx.npz(x=onnx.npy([1, 2], [1, 2])))
    t.path("secret.onnx").write_bytes(b"nobody named this one")


def test_sandbox_reading_verbs(t):
    models(t)
    for args in (["check", "m.onnx"], ["show", "m.onnx"], ["explain", "m.onnx"], ["ops"], ["completion", "bash"], ["--version"], ["--help"]):
        traced(t, *args, reads=["m.onnx"])
    for verb in ("diff", "verify"): traced(t, verb, "m.onnx", "n.onnx", reads=["m.onnx", "n.onnx"])


def test_sandbox_run(t):
    models(t)
    traced(t, "run", "m.onnx", "--inputs", "x.npz", "-o", "y.npz", "--profile", "trace.json", reads=["m.onnx", "x.npz"], writes=["y.npz", "trace.json"])
    make_model(t.path("large.onnx"), "A", 1 << 16)  # enough for threads
    traced(t, "run", "large.onnx", "--random", "1", "--threads", "4", reads=["large.onnx"])


def test_sandbox_writing_verbs(t):
    models(t)
    for args in (["simplify", "--check", "2", "--ledger", "ledger.json"], ["infer"], ["convert", "--opset", "13"], ["edit", "--rename", "h=hidden"], ["extract", "--to", "h"],
                 ["convert", "--weights", "external"], ["simplify"]):
        traced(t, args[0], "m.onnx", "out.onnx", *args[1:], reads=["m.onnx"], writes=["out.onnx", "ledger.json"])
    traced(t, "merge", "m.onnx", "n.onnx", "out.onnx", reads=["m.onnx", "n.onnx"], writes=["out.onnx"])


def test_sandbox_export(t):
    data = t.root / "tests/data"
    script, program = data / "export" / "blocks.pt", next((data / "pt2").glob("*.pt2"))
    traced(t, "export", script, "-o", "out.onnx", "--report", "report.html", reads=[script], writes=["out.onnx", "report.html"])
    traced(t, "show", script, reads=[script])
    traced(t, "show", program, reads=[program])


def test_sandbox_old_data_is_removed_with_a_look_at_the_neighbours(t):
    """The one case in which files are read that were not named: whether another model in the folder needs the old data file."""
    for version in "AB": make_model(t.path(f"{version}.onnx"), version, 1000)
    t.run("convert", "A.onnx", "out.onnx", "--weights", "external")
    t.path("neighbour.txt").write_bytes(b"no model")
    traced(t, "convert", "B.onnx", "out.onnx", "--weights", "external", reads=["A.onnx", "B.onnx", "neighbour.txt"], writes=["out.onnx"])
