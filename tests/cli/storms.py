#!/usr/bin/env python3
"""Storms over files: writers that are killed, writers that write at once, inputs that are cut short while they are mapped.
test_files.py runs a little of each; `make kills` runs

  tests/cli/storms.py build/release/cameo --kills 1000 --pairs 500 --cuts 200 [--seed 1]

Needs only Python's standard library. The judge reads the files by itself: no Cameo judges Cameo."""
import argparse
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import onnxfile as onnx

WEIGHTS, FLOATS = 6, 1 << 20  # 24 MiB: writing takes long enough to be caught at it
MODES = (("--weights", "embed"), ("--weights", "external"))


def make_model(path, version, floats=FLOATS):
    """y = x + w0 + w1 + ...; every weight is named after the version and full of its own bytes."""
    nodes, weights, last = [], [], "x"
    for i in range(WEIGHTS):
        name = f"{version}{i}"
        raw = hashlib.sha256(name.encode()).digest()[:4] * floats
        raw = bytes(b & 0x3F if k % 4 == 3 else b for k, b in enumerate(raw[:4])) * floats  # numbers, none of them huge or NaN
        weights.append(onnx.field(1, floats) + onnx.field(2, onnx.FLOAT) + onnx.field(8, name) + onnx.field(9, raw))
        out = "y" if i + 1 == WEIGHTS else f"s{i}"
        nodes.append(onnx.node("Add", [last, name], [out], f"add_{name}"))
        last = out
    path.write_bytes(onnx.model(nodes, [onnx.value_info("x", [1])], [onnx.value_info("y", [floats])], weights))


def digest(path):
    """Of all weights with their names: None while a data file is gone, as it is for a reader whose model was just replaced."""
    all_of_it = hashlib.sha256()
    try:
        weights = onnx.weights_of(path)
    except FileNotFoundError:
        return None
    for name in sorted(weights): all_of_it.update(name.encode() + b":" + hashlib.sha256(weights[name]).digest())
    return all_of_it.hexdigest()


class Storm:
    def __init__(self, command, folder, seed, floats=FLOATS):
        self.command, self.folder, self.random = command, pathlib.Path(folder), random.Random(seed)
        self.out = self.folder / "out.onnx"
        self.versions = {}
        for version in "AB":
            make_model(self.folder / f"{version}.onnx", version, floats)
            self.versions[digest(self.folder / f"{version}.onnx")] = version
        start = time.perf_counter()
        self.complete("A", MODES[1])
        self.typical = time.perf_counter() - start

    def start(self, *args):
        return subprocess.Popen([self.command, "-q", *map(str, args)], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def write(self, source, mode):
        return self.start("convert", f"{source}.onnx", "out.onnx", *mode)

    def complete(self, source, mode):
        process = self.write(source, mode)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()

    def judge(self):
        """Which version out.onnx is; fails where it is none, or a mixture."""
        found = digest(self.out)
        assert found is not None, "the model refers to a data file that is not there"
        assert found in self.versions, f"out.onnx is neither version: {sorted(os.listdir(self.folder))}"
        return self.versions[found]

    def judge_while(self, processes):
        """Reads again and again as long as they write; how often it saw a whole version."""
        seen = 0
        while any(p.poll() is None for p in processes):
            found = digest(self.out)
            assert found is None or found in self.versions, "a reader saw a mixture"
            seen += found is not None
        return seen

    def leftovers(self):
        """What lies about beyond the versions, the result and the data file it refers to."""
        wanted = {"A.onnx", "B.onnx", "out.onnx"}
        model = self.out.read_bytes() if self.out.exists() else b""
        return [n for n in os.listdir(self.folder) if n not in wanted and not (n.endswith(".data") and n.encode() in model)]

    def kills(self, count):
        """Kills `count` writers at random moments. How many of them were at work, and how often something was left for the next."""
        landed = left = done = 0
        while landed < count:
            done += 1
            assert done < 5 * count + 100, "the kills come too late: most writers are done by then"
            process = self.write(self.random.choice("AB"), self.random.choice(MODES))
            time.sleep(self.random.uniform(0, self.typical))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            landed += process.returncode == -signal.SIGKILL
            self.judge()
            if not self.leftovers(): continue
            left += 1
            self.complete(self.random.choice("AB"), self.random.choice(MODES))
            assert not self.leftovers(), f"the next run left {self.leftovers()}"
        self.judge()
        return {"kills": landed, "cleaned by the next run": left, "writers": done}

    def pairs(self, count):
        """Two writers at once, and a reader that looks all the time."""
        won, seen = {"A": 0, "B": 0}, 0
        for _ in range(count):
            mode = self.random.choice(MODES), self.random.choice(MODES)
            pair = [self.write("A", mode[0]), self.write("B", mode[1])]
            seen += self.judge_while(pair)
            for process in pair:
                _, said = process.communicate()
                assert process.returncode == 0, said.decode()
            won[self.judge()] += 1
            assert not self.leftovers(), self.leftovers()
        return {"pairs": count, "won by": won, "versions seen meanwhile": seen}

    def cuts(self, count):
        """Cuts the input short while it is mapped: exit 3 and file.changed, and the old output stays."""
        verbs = [("convert", "in.onnx", "out.onnx", "--weights", "embed"), ("convert", "in.onnx", "out.onnx", "--weights", "external"),
                 ("simplify", "in.onnx", "out.onnx"), ("run", "in.onnx", "--random", "1", "-o", "out.npz"), ("check", "in.onnx"),
                 ("verify", "in.onnx", "B.onnx", "--random", "1"), ("infer", "in.onnx", "out.onnx")]
        cut = late = 0
        by_verb = {}
        self.complete("B", MODES[1])
        whole = self.npz_of("A.onnx")
        while cut < count:
            verb = self.random.choice(verbs)
            made = self.folder / "in.onnx"
            made.write_bytes((self.folder / "A.onnx").read_bytes())
            (self.folder / "out.npz").write_bytes(b"old")
            process = self.start(*verb)
            if not self.stop_while_mapped(process, "in.onnx", self.random.uniform(0, self.typical)):
                process.communicate()
                late += 1
                assert late < 5 * count + 100, "the cuts come too late"
                self.complete("B", MODES[1])
                continue
            os.truncate(made, self.random.choice((0, 1, 4096, self.random.randrange(made.stat().st_size))))
            process.send_signal(signal.SIGCONT)
            _, said = process.communicate(timeout=120)
            published = self.judge() == "A" if verb[2:3] == ("out.onnx",) else verb[0] == "run" and (self.folder / "out.npz").read_bytes() == whole
            if process.returncode == 0 and published:  # it had done its work, and was only about to end
                late += 1
                made.unlink()  # beside a file that cannot be read, the next writer would keep all old data
                self.complete("B", MODES[1])
                continue
            assert process.returncode == 3 and b"file.changed" in said, f"{verb}: exit {process.returncode}, {said.decode()}"
            assert self.judge() == "B" and (self.folder / "out.npz").read_bytes() == b"old", f"{verb}: the old output is gone"
            cut += 1
            by_verb[verb[0]] = by_verb.get(verb[0], 0) + 1
        for name in ("in.onnx", "out.npz"): (self.folder / name).unlink()
        assert not self.leftovers(), self.leftovers()
        return {"cuts": cut, "too late": late, "by verb": by_verb}

    def npz_of(self, model):
        process = self.start("run", model, "--random", "1", "-o", "whole.npz")
        assert process.wait(timeout=120) == 0
        whole = (self.folder / "whole.npz").read_bytes()
        (self.folder / "whole.npz").unlink()
        return whole

    @staticmethod
    def stop_while_mapped(process, name, seconds):
        """Stops the process at a random moment after it has mapped the file; false where it ended or let go before."""
        maps = pathlib.Path(f"/proc/{process.pid}/maps")

        def mapped():
            try:
                return f"/{name}\n" in maps.read_text()
            except OSError:
                return False

        while process.poll() is None and not mapped(): pass
        time.sleep(seconds)
        process.send_signal(signal.SIGSTOP)
        while process.poll() is None:
            state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if state in "TtZX": break
        if process.poll() is None and mapped(): return True
        process.send_signal(signal.SIGCONT)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=lambda p: str(pathlib.Path(p).resolve()))
    for name in ("kills", "pairs", "cuts"): parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in ("kills", "pairs", "cuts"):
        count = getattr(options, name)
        if not count: continue
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            told = getattr(Storm(options.command, folder, options.seed), name)(count)
            print(", ".join(f"{k}: {v}" for k, v in told.items()) + f" ({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
