"""What is wrong with a run, and a key that is the same for the same fault."""
import functools
import json
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass, field

import target as server

FINE = {0, 1, 2, 3, 130}
EXIT_HANG, EXIT_MEMORY, EXIT_SANITIZER = 96, 97, 99


@dataclass
class Finding:
    kind: str        # signal, sanitizer, bug, exit, hang, memory, files, utf8, json, invalid, difference, lenient
    what: str        # one line for people
    key: str         # equal for the same fault
    stack: list = field(default_factory=list)  # names of our functions, innermost first
    detail: str = ""

    @property
    def area(self):
        return area_of(self)


class Symbols:
    """Names for offsets into the target, from llvm-symbolizer or addr2line: started at the first crash, asked once for each offset."""

    def __init__(self, program):
        self.program, self.known, self.process = str(program), {}, None

    def names(self, offsets):
        return [frame for o in offsets for frame in self.known.get(o) or self.ask(o)]

    def start(self):
        llvm = next((t for t in ("llvm-symbolizer-14", "llvm-symbolizer") if shutil.which(t)), None)
        # llvm-symbolizer ends an answer with an empty line; after addr2line's comes that for an address without code.
        command = [llvm, "--obj=" + self.program, "--inlines", "--demangle"] if llvm else ["addr2line", "-Cfie", self.program]
        self.ends = None if llvm else "??"
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)

    def ask(self, offset):
        if self.process is None:
            self.start()
        self.process.stdin.write(f"{hex(offset)}\n" + (f"{hex(1)}\n" if self.ends else ""))
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line or not line.strip():
                break
            lines.append(line.strip())
            if self.ends and len(lines) >= 4 and lines[-2:] == ["??", "??:0"] and len(lines) % 2 == 0:
                del lines[-2:]
                break
        self.known[offset] = [f"{short(name)} {pathlib.PurePath(place.split(' ')[0]).name}" for name, place in zip(lines[::2], lines[1::2])] or ["??"]
        return self.known[offset]

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()


def short(name):
    """cameo::(anonymous namespace)::f(int, std::vector<...>) to f."""
    name = re.sub(r"\(anonymous namespace\)::", "", name)
    name = re.sub(r"\[clone [^]]*\]|\[abi:[^]]*\]", "", name)
    depth, out = 0, []
    for c in name:
        if c in "<(":
            depth += 1
        if depth == 0:
            out.append(c)
        if c in ">)":
            depth -= 1
    words = "".join(out).split()
    return (words[-1] if words else name).replace("cameo::", "")


OURS = re.compile(r"^(?!std::|__|_start|main |command_main|print_stack|crashed|out_of_time|on_malloc|_end "
                  r"|.*(?:stl_|basic_string|invoke\.h|unique_ptr|shared_ptr|allocator\.h|alloc_traits|libasan|asan_|ubsan_|sanitizer_))")


def offsets_in(text, program):
    base = pathlib.Path(program).name
    found = [(int(n), int(o, 16)) for n, o in re.findall(r"^\s*#(\d+) +(?:0x[0-9a-f]+ +)?\(?(?:\S*/" + re.escape(base) + r")?\+(0x[0-9a-f]+)\)?", text, re.M)]
    out, last = [], -1
    for n, offset in found:
        if n <= last:
            break  # only the first stack; others say where memory came from
        out.append(offset - 1 if n else offset)
        last = n
    return out


def normalised(text):
    text = re.sub(r"'[^']*'", "'…'", text)
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    return re.sub(r"-?\d[\d.e+-]*", "N", text).strip()[:200]


class Judge:
    def __init__(self, program):
        self.program = pathlib.Path(program)
        self.symbols = Symbols(program)

    def stack(self, text):
        size = self.program.stat().st_size  # what lies beyond is another library
        names = self.symbols.names(tuple(o for o in offsets_in(text, self.program) if o < size))
        ours = [n for n in names if OURS.match(n) and n != "??" and not n.startswith("?")]
        return ours

    def run(self, result, command, inputs):
        """The finding of a single run, or None."""
        err = result.err.decode("utf-8", "replace")
        return self.ended_badly(result, err, command) or self.left_badly(result, command, inputs) or self.printed_badly(result, command)

    def ended_badly(self, r, err, command):
        if r.ended == server.OUT_OF_TIME or r.status == EXIT_HANG and r.ended != server.OUT_OF_MEMORY:
            return self.slow("hang", f"over {r.seconds:.0f} s", err, command)
        if r.ended == server.OUT_OF_MEMORY or r.status == EXIT_MEMORY:
            return self.slow("memory", f"{r.resident_mb:.0f} MB", err, command)
        if r.status == EXIT_SANITIZER:
            return self.sanitizer(err, command)
        if r.status < 0:
            stack = self.stack(err)
            name = server.signal_name(-r.status)
            return Finding("signal", f"{name} in {top(stack)}", f"signal {name} {functions(stack[:3]) or command.verb}", stack, err[-2000:])
        if r.status == 4:
            found = re.search(r'(bug\.[\w-]+)(?:\]: |","what":")(?:this is a bug in Cameo: )?([^"\n]*)', err)
            line = normalised(f"{found.group(1)}: {found.group(2)}" if found else err[:200])
            return Finding("bug", line, f"bug {line}", [], err[-2000:])
        if r.status not in FINE:
            return Finding("exit", f"exit {r.status}", f"exit {r.status} {command.verb}", [], err[-2000:])
        return None

    def slow(self, kind, what, err, command):
        stack = self.stack(err)
        # Where it is at the moment is chance; how it got there is not.
        outer = [s for s in stack if not re.match(r"(guarded|dispatch|serve|run_child)\b", s)][-5:]
        return Finding(kind, f"{what} in {top(outer)}", f"{kind} {command.verb} {functions(outer[-4:])}", stack, err[-3000:])

    def sanitizer(self, err, command):
        at = max(err.find("ERROR: AddressSanitizer"), 0)
        ub = re.search(r"runtime error: ([^\n]*)", err)
        asan = re.search(r"AddressSanitizer: ([\w-]+)[^\n]*", err)
        text = err[ub.start():] if ub and not asan else err[at:]
        stack = self.stack(text)
        kind = normalised(ub.group(1)) if ub and not asan else asan.group(1) if asan else "unknown"
        if kind in ("out-of-memory", "allocation-size-too-big", "calloc-overflow", "requested"):
            return Finding("memory", f"too large an allocation in {top(stack)}", f"memory {functions(stack[:3]) or command.verb}", stack, text[:3000])
        assertion = re.search(r"Assertion '([^']*)' failed|Assertion `([^']*)' failed", err)
        if kind == "ABRT" and assertion:
            kind = f"assertion {assertion.group(1) or assertion.group(2)}"
        return Finding("sanitizer", f"{kind} in {top(stack)}", f"sanitizer {kind} {functions(stack[:3]) or command.verb}", stack, text[:3000])

    def left_badly(self, r, command, inputs):
        strange = sorted(set(r.left) - set(command.outputs))
        # Data beside a model may have a name that its content decides.
        strange = [s for s in strange if r.status != 0 or not re.fullmatch(r"out\.[\w.-]*data[\w.-]*", s)]
        if strange:
            return Finding("files", f"exit {r.status} leaves {strange[0]}", f"files {command.verb} {normalised(strange[0])}")
        if r.status not in (0, 1) and r.left:
            return Finding("files", f"exit {r.status} leaves {sorted(r.left)[0]}", f"files {command.verb} exit {r.status}")
        # lint --fix and prepare write what they could mend, and say with status 1 that something is left.
        if r.status == 1 and r.left and command.verb not in ("verify", "diff", "check", "lint", "prepare"):
            return Finding("files", f"exit 1 leaves {sorted(r.left)[0]}", f"files {command.verb} exit 1")
        return None

    @staticmethod
    def printed_badly(r, command):
        for stream, data, whole in (("stdout", r.out, r.out_bytes), ("stderr", r.err, r.err_bytes)):
            if len(data) < whole:
                data = data[:data.rfind(b"\n") + 1]
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError as e:
                return Finding("utf8", f"{stream} is not UTF-8: {data[max(0, e.start - 20):e.start + 20]!r}", f"utf8 {command.verb} {stream}")
            raw = re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", text)
            if raw:
                return Finding("utf8", f"{stream} holds a raw control character {raw.group(0)!r}", f"control {command.verb} {stream}",
                               detail=text[max(0, raw.start() - 200):raw.start() + 100])
        if "--json" in command.arguments and r.status in (0, 1):
            for line in r.out.decode("utf-8").splitlines():
                if line.strip() and r.out_bytes == len(r.out):
                    try:
                        json.loads(line)
                    except ValueError:
                        return Finding("json", f"--json prints {line[:80]!r}", f"json {command.verb} stdout")
        return None


def functions(stack):
    """Without lines, which every change of a file moves."""
    return " < ".join(s.split(" ")[0] for s in stack)


def top(stack):
    return functions(stack[:2]) or "?"


AREAS = [("engine", r"engine|session|simd|onednn|prepare|planner|plan\."), ("staging", r"staging|stager|stage_|loops|branches"),
         ("lowering", r"lowering|aten"), ("frontends", r"frontends|reader|lexer|parser"), ("passes", r"passes|simplify|fold|rule|cse|dce"),
         ("backends", r"backends|legalise|expand|encode|writer"), ("formats", r"formats|zip|pickle|npy|json|protobuf")]


@functools.cache
def folders():
    """Which layer a source file belongs to."""
    root = pathlib.Path(__file__).resolve().parents[2]
    out = {}
    for path in [*root.glob("src/**/*.cpp"), *root.glob("src/**/*.h"), *root.glob("cli/*")]:
        out.setdefault(path.name, "/".join(path.relative_to(root).parts[:-1]).removeprefix("src/"))
    return out


def area_of(finding):
    for frame in finding.stack:
        file = frame.split(" ")[-1].split(":")[0]
        where = folders().get(file)
        if where and not where.startswith(("support", "kernels", "ir")):
            return where
    for frame in finding.stack:
        where = folders().get(frame.split(" ")[-1].split(":")[0])
        if where:
            return where
    return "?"
