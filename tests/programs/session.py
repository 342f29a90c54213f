"""Long-lived workers over one folder of state: programs by number, verdicts counted, findings reduced and kept."""
import collections
import json
import logging
import multiprocessing
import os
import shlex
import shutil
import signal
import sys
import time
import traceback
import warnings
from dataclasses import replace

import case as cases
import feeds
import program as programs
import reduce
import torch
from chance import Chance
from known import Known
from verdict import STEPS, Bench, Verdict

HERE = cases.pathlib.Path(__file__).resolve().parent
LIFE = 400  # programs per worker: torch.jit forgets nothing that it compiled
STUCK_S = 120


def capture_of(number, every):
    """Which programs go through torch.export: every so many; it is slow."""
    return "export" if every and number % every == every - 1 else "script"


def make_case(seed, number, every):
    capture = capture_of(number, every)
    made = programs.make(seed, number, capture)
    used = made.used_inputs()
    least = 2 if capture == "export" else 0  # torch.export takes 0 and 1 for special
    calls = feeds.calls(Chance(f"{seed}/{number}/inputs"), used, made.source(), least=least)
    flags = [i.flag for i in used] if capture == "script" else []
    return made, cases.Case(f"{seed}/{number}", capture, made.source(), flags, calls)


class State:
    """build/programs: survives sessions."""

    def __init__(self, options):
        self.folder = options.state
        if options.fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.findings, self.refusals = self.folder / "findings", self.folder / "refusals"
        for d in (self.findings, self.refusals):
            d.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "state.json"
        self.figures = {"programs": 0, "minutes": 0.0, "next": {}, "counts": {}, "seconds": {}}
        if self.file.is_file():
            self.figures.update(json.loads(self.file.read_text()))

    def save(self):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.figures))
        new.replace(self.file)

    def place(self, verdict, source):
        return (self.refusals if verdict.kind == "refused" else self.findings) / reduce.name_of(verdict, source)


def seen(place, name):
    """Counts one more of this kind; True for the first."""
    try:
        place.mkdir()
        new = True
    except FileExistsError:
        new = False
    with open(place / "seen", "a") as f:
        f.write(name + "\n")
    return new


def write(place, case, verdict, bench):
    (place / "program.py").write_text(case.text())
    archive = "program.pt" if case.capture == "script" else "program.pt2"
    (place / "command.txt").write_text(shlex.join(["cameo", *bench.command(case, archive)[1:2], archive, "-o", "program.onnx", *(a for f in case.flags for a in ("--input", f))]) + "\n")
    (place / "report.txt").write_text("\n".join([f"kind: {verdict.kind}", f"what: {verdict.what}", f"key: {verdict.key}", f"from: {case.name}", "", verdict.detail]))


class Worker:
    def __init__(self, options, state, shared, slot):
        self.options, self.state, self.shared, self.slot = options, state, shared, slot
        self.bench = Bench(options.cameo, state.folder / f"work-{os.getpid()}", self.at_step)
        self.known = Known(HERE / "known.txt")
        self.counts = collections.Counter()

    def at_step(self, step):
        self.shared["step"][self.slot], self.shared["since"][self.slot] = step, time.time()

    def take(self):
        """What was counted since the last time."""
        taken = (dict(self.counts + self.bench.counts), dict(self.bench.seconds), sorted(self.known.used))
        for counter in (self.counts, self.bench.counts, self.bench.seconds, self.known.used):
            counter.clear()
        return taken

    def loop(self, answers):
        parent = os.getppid()
        for _ in range(LIFE):
            with self.shared["next"].get_lock():
                number = self.shared["next"].value
                if self.shared["stop"].is_set() or number >= self.shared["end"] or os.getppid() != parent:
                    return
                self.shared["next"].value += 1
            self.shared["doing"][self.slot] = number
            self.one(number)
            answers.put((*self.take(), ""))
            with self.shared["done"].get_lock():
                self.shared["done"].value += 1

    def one(self, number):
        made, case = make_case(self.options.seed, number, self.options.export)
        verdict = self.bench.judge(case)
        self.counts[f"{case.capture} {verdict.kind}" if verdict.kind != "skipped" else f"{case.capture} skipped: {verdict.key}"] += 1
        if verdict.kind == "refused":
            self.counts["refused " + verdict.key.split(" ")[0]] += 1
            place = self.state.place(verdict, case.source)
            if seen(place, case.name):
                write(place, case, verdict, self.bench)
        elif verdict.kind in ("wrong", "crash"):
            self.found(made, case, verdict)

    def found(self, made, case, verdict):
        if self.known.covers(named(verdict, case, "")):
            self.counts["known"] += 1
            return
        with self.shared["reduced"].get_lock():
            self.shared["reduced"].value += 1
            reducing = self.shared["reduced"].value <= self.options.reduce
        if not reducing:
            self.counts["not reduced"] += 1
            with open(self.state.folder / "not-reduced.txt", "a") as f:
                f.write(f"{case.name} {verdict.key}\n")
            return
        seconds = self.options.reduce_s * (4 if case.capture == "export" else 1)  # torch.export is that slow
        case, verdict = reduce.Reducer(self.bench, made, case, verdict, seconds).run()
        if self.known.covers(named(verdict, case, body_of(case.source))):
            self.counts["known"] += 1
            return
        place = self.state.place(verdict, case.source)
        if seen(place, case.name):
            write(place, case, verdict, self.bench)
            print(f"new: {place.name}  {case.name}  {verdict.what[:140]}", file=self.options.out, flush=True)


def named(verdict, case, source):
    """What known.txt is matched with: number, message, and the source once it is reduced."""
    return replace(verdict, key=f"program {case.name} {verdict.key}", detail=source)


def body_of(source):
    return source[source.index("    def forward"):]


def work(options, state, shared, slot, answers):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    torch.set_num_threads(1)
    options.out = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # torch.export prints whole graphs where it fails
    os.dup2(quiet, 2)
    worker = Worker(options, state, shared, slot)
    try:
        worker.loop(answers)
    except BaseException:
        answers.put(({}, {}, [], f"program {shared['doing'][slot]}: {traceback.format_exc()}"))
    shutil.rmtree(worker.bench.folder, ignore_errors=True)


def found_places(folder):
    return sorted((p for p in folder.iterdir() if (p / "report.txt").is_file()), key=lambda p: (-times(p), p.name))


def times(place):
    return (place / "seen").read_text().count("\n")


class Session:
    def __init__(self, options, state):
        self.options, self.state = options, state
        self.first = state.figures["next"].get(options.seed, 0)
        last = self.first + options.count
        self.shared = {"stop": multiprocessing.Event(), "next": multiprocessing.Value("q", self.first), "done": multiprocessing.Value("q", 0), "reduced": multiprocessing.Value("q", 0),
                       "doing": multiprocessing.Array("q", options.jobs), "step": multiprocessing.Array("q", options.jobs), "since": multiprocessing.Array("d", options.jobs), "end": last}
        self.answers = multiprocessing.SimpleQueue()
        self.counts, self.seconds, self.used, self.failed = collections.Counter(), collections.Counter(), set(), []
        self.workers = {}
        self.known = Known(HERE / "known.txt")

    def start(self, slot):
        self.shared["since"][slot] = time.time()
        self.workers[slot] = multiprocessing.Process(target=work, args=(self.options, self.state, self.shared, slot, self.answers))
        self.workers[slot].start()

    def listen(self):
        while not self.answers.empty():
            counts, seconds, used, failed = self.answers.get()
            self.counts.update(counts)
            self.seconds.update(seconds)
            self.used.update(used)
            self.failed += [failed] if failed else []

    def tend(self, slot):
        """True while the worker of this slot has work; one that died is told and followed by another."""
        worker = self.workers[slot]
        if worker.is_alive():
            if time.time() - self.shared["since"][slot] > STUCK_S:
                worker.kill()
                worker.join()
            return True
        if worker.exitcode:
            self.died(slot, worker.exitcode)
        if self.shared["stop"].is_set() or self.shared["next"].value >= self.shared["end"]:
            return False
        self.start(slot)
        return True

    def died(self, slot, status):
        """A library took the worker with it. In PyTorch that is no fault of ours; in onnxruntime it may be."""
        number, step = self.shared["doing"][slot], STEPS[self.shared["step"][slot]]
        how = "does not end" if status == -signal.SIGKILL else f"ends with {status}"
        shutil.rmtree(self.state.folder / f"work-{self.workers[slot].pid}", ignore_errors=True)
        if step in ("capture", "pytorch"):
            self.counts[f"{capture_of(number, self.options.export)} skipped: pytorch {how}"] += 1
            return
        _, case = make_case(self.options.seed, number, self.options.export)
        verdict = Verdict("crash", f"{step} {how}", f"{step} {how}")
        self.counts[f"{case.capture} crash"] += 1
        place = self.state.place(verdict, case.source)
        if not self.known.covers(named(verdict, case, "")) and seen(place, case.name):
            write(place, case, verdict, Bench(self.options.cameo, self.state.folder))
            print(f"new: {place.name}  {case.name}  {verdict.what}", flush=True)

    def run(self):
        start = told = time.monotonic()
        for slot in range(self.options.jobs):
            self.start(slot)
        try:
            while any([self.tend(slot) for slot in self.workers]):
                time.sleep(0.1)
                self.listen()
                if time.monotonic() - told > 15:
                    told = time.monotonic()
                    self.progress(start)
        except KeyboardInterrupt:
            self.shared["stop"].set()
        for worker in self.workers.values():
            worker.join(timeout=30)
        self.listen()
        self.progress(start)
        self.keep(time.monotonic() - start)

    def progress(self, start):
        done, seconds = self.shared["done"].value, time.monotonic() - start
        print(f"{seconds / 60:5.1f} min  {done} programs ({done / max(seconds, 1e-3):.1f}/s)  {len(found_places(self.state.findings))} findings, {len(found_places(self.state.refusals))} kinds of refusal", flush=True)

    def keep(self, seconds):
        f = self.state.figures
        f["programs"] += self.shared["done"].value
        f["minutes"] += seconds / 60
        f["next"][self.options.seed] = min(self.shared["next"].value, self.shared["end"])
        f["counts"] = dict(collections.Counter(f["counts"]) + self.counts)
        f["seconds"] = dict(collections.Counter(f["seconds"]) + self.seconds)
        self.state.save()

    def tell(self):
        f = self.state.figures
        print("  ".join(f"{k}: {n}" for k, n in sorted(f["counts"].items())))
        print("seconds: " + "  ".join(f"{k} {n:.0f}" for k, n in sorted(f["seconds"].items(), key=lambda kv: -kv[1])))
        for text in self.failed:
            print("a worker failed: " + text, file=sys.stderr)
        for place in found_places(self.state.refusals)[:12]:
            print(f"refused x{times(place)}  {lines_of(place)['what'][:150]}")
        for place in found_places(self.state.findings):
            print(f"{place.name}  x{times(place)}  {lines_of(place)['what'][:150]}")
        unused = [p.pattern for p, _ in self.known.rows if p.pattern not in self.used | self.known.used]
        if unused and self.options.test:
            print("known.txt has lines that match nothing: " + "; ".join(unused))
        counts = collections.Counter()
        for k, n in f["counts"].items():
            if k.startswith(("script ", "export ")):
                counts[k.split(" ")[1].rstrip(":")] += n
        print(f"programs: {f['programs']} in {f['minutes']:.1f} minutes, " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items())) + f", {len(found_places(self.state.findings))} findings")


def lines_of(place):
    return dict(text.split(": ", 1) for text in (place / "report.txt").read_text(errors="replace").splitlines()[:4] if ": " in text)


def judged(path, bench):
    """A kept case once more: what it is now, and whether that is what its file expects."""
    case = cases.read(path)
    verdict = bench.judge(case)
    right = case.expect == verdict.kind if verdict.kind != "refused" else case.expect == f"refused {verdict.key.split(' ')[0]}"
    return case, verdict, right


def replay_regressions(bench, known):
    """How many there are, how many are back, and how many of those known.txt has."""
    back = open_ones = 0
    paths = sorted((HERE / "regressions").glob("*.py"))
    for path in paths:
        _, verdict, right = judged(path, bench)
        if right:
            continue
        if known.covers(replace(verdict, key=f"regression {path.stem} {verdict.key}", detail="")):
            open_ones += 1
            continue
        back += 1
        print(f"back: {path.name}: {verdict.kind}: {verdict.what[:160]}")
    return len(paths), back, open_ones


def replay_findings(bench, state):
    """Findings that are gone are removed; gives how many are still there."""
    still = 0
    for place in [*found_places(state.findings), *found_places(state.refusals)]:
        _, verdict, _ = judged(place / "program.py", bench)
        if verdict.kind in ("right", "skipped") or place.parent == state.findings and verdict.kind == "refused":
            print(f"gone: {place.name}: {verdict.kind} {verdict.what[:100]}")
            shutil.rmtree(place)
        elif place.parent == state.findings:
            still += 1
            print(f"still: {place.name}: {verdict.what[:150]}")
    return still


def main(options):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    state, known = State(options), Known(HERE / "known.txt")
    regressions = back = open_ones = 0
    if options.replay or options.test:
        bench = Bench(options.cameo, state.folder / "work-replay")
        regressions, back, open_ones = replay_regressions(bench, known)
        if options.replay:
            still = replay_findings(bench, state)
            print(f"{back} regressions are back, {open_ones} are known to be open, {still} findings are there")
            return 1 if back or still else 0
    session = Session(options, state)
    session.used |= known.used
    session.run()
    session.tell()
    bad = len(found_places(state.findings)) + len(session.failed)
    if options.test:
        skipped = session.counts["known"] + open_ones
        print(f"{regressions + state.figures['programs'] - bad - back - skipped} passed, {bad + back} failed, {skipped} skipped")
    return 1 if bad or back else 0
