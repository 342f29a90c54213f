"""The fork server (tests/attack/target): starts it, sends requests, reads replies."""
import os
import shutil
import signal
import struct
import subprocess
from dataclasses import dataclass, field

REQUEST = struct.Struct("<5I")
REPLY = struct.Struct("<iIIIIIIIQQ")
HELLO = struct.Struct("<2I")
BY_ITSELF, OUT_OF_TIME, OUT_OF_MEMORY = range(3)


@dataclass
class Limits:
    seconds: float = 10
    heap_mb: int = 1024      # live heap, counted only by the sanitizer build
    resident_mb: int = 1024  # of the whole process; sanitizers need more for the same


@dataclass
class Result:
    status: int     # exit status, or minus the signal
    seconds: float
    resident_mb: float
    ended: int      # BY_ITSELF, OUT_OF_TIME, OUT_OF_MEMORY
    new_edges: int
    edges: int
    out: bytes
    err: bytes
    out_bytes: int = 0
    err_bytes: int = 0
    left: dict = field(default_factory=dict)  # files that lie in the folder afterwards and were not there before


class Target:
    def __init__(self, program, edges_file="", limits=None):
        self.program, self.edges_file, self.limits = str(program), str(edges_file), limits or Limits()
        self.process = None
        self.edge_count = 0
        self.start()

    def start(self):
        requests, replies = os.pipe(), os.pipe()
        wanted = {3: requests[0], 4: replies[1]}

        def descriptors():
            kept = {number: os.dup2(fd, 100 + number) for number, fd in wanted.items()}
            for number, fd in kept.items():
                os.dup2(fd, number)
                os.close(fd)

        environment = {name: value for name, value in os.environ.items() if not name.endswith("SAN_OPTIONS")}
        # Addresses stay the same from run to run: old sanitizers do not bear much randomness on new kernels.
        fixed = ["setarch", "-R"] if shutil.which("setarch") else []
        self.process = subprocess.Popen([*fixed, self.program, self.edges_file], preexec_fn=descriptors,
                                        pass_fds=(3, 4), env=environment, start_new_session=True)
        os.close(requests[0])
        os.close(replies[1])
        self.to, self.back = os.fdopen(requests[1], "wb", 0), os.fdopen(replies[0], "rb")
        hello = self.back.read(HELLO.size)
        if len(hello) != HELLO.size:
            raise RuntimeError(f"{self.program} does not start")
        self.edge_count, self.edges = HELLO.unpack(hello)

    def run(self, folder, arguments, limits=None):
        limits = limits or self.limits
        words = [os.fsencode(folder), *(a if isinstance(a, bytes) else a.encode("utf-8", "surrogateescape") for a in arguments)]
        text = b"".join(w.replace(b"\0", b"") + b"\0" for w in words)
        head = REQUEST.pack(len(text), int(limits.seconds * 1000), limits.heap_mb, limits.resident_mb, len(words))
        self.to.write(head + text)
        reply = self.back.read(REPLY.size)
        if len(reply) != REPLY.size:
            raise RuntimeError("the fork server ended")
        status, wall_us, kb, ended, fresh, edges, out_kept, err_kept, out_bytes, err_bytes = REPLY.unpack(reply)
        self.edges = edges or self.edges
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        return Result(code, wall_us / 1e6, kb / 1024, ended, fresh, self.edges, self.back.read(out_kept), self.back.read(err_kept),
                      out_bytes, err_bytes)

    def close(self):
        if self.process:
            self.to.close()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.back.close()
            self.process = None


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
