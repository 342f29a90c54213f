"""Long-lived workers over one folder of state: verdicts are counted, a worker that died is followed by another."""
import collections
import multiprocessing
import shutil
import signal
import sys
import time
import warnings

import torch

from known import Known
from limits import broken, limit_of
from replay import replay_findings, replay_regressions
from state import State, found_places, lines_of, seen, times, write
from verdict import STEPS, Bench, Verdict
from worker import HERE, capture_of, make_case, named, work

STUCK_S = 120


def warm_up():
    """What torch.export loads when it is first used takes seconds: once here, not in every worker."""
    torch.export.export(torch.nn.Identity(), (torch.zeros(2),), dynamic_shapes=({0: torch.export.Dim.AUTO},))


class Session:
    def __init__(self, options, state):
        self.options, self.state = options, state
        self.first = state.figures["next"].get(options.seed, 0)
        last = self.first + options.count
        self.shared = {"stop": multiprocessing.Event(), "next": multiprocessing.Value("q", self.first), "done": multiprocessing.Value("q", 0),
                       "reduced": multiprocessing.Value("q", 0),
                       "doing": multiprocessing.Array("q", options.jobs), "step": multiprocessing.Array("q", options.jobs),
                       "since": multiprocessing.Array("d", options.jobs), "end": last}
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
        """True while the worker of this slot has work; one that died is reported and replaced."""
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
            write(place, case, verdict)
            print(f"new: {place.name}  {case.name}  {verdict.what}", flush=True)

    def run(self):
        start = told = time.monotonic()
        if self.options.export:
            warm_up()
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
        findings, refusals = len(found_places(self.state.findings)), len(found_places(self.state.refusals))
        rate = done / max(seconds, 1e-3)
        print(f"{seconds / 60:5.1f} min  {done} programs ({rate:.1f}/s)  {findings} findings, {refusals} kinds of refusal", flush=True)

    def keep(self, seconds):
        f = self.state.figures
        f["programs"] += self.shared["done"].value
        f["minutes"] += seconds / 60
        f["next"][self.options.seed] = min(self.shared["next"].value, self.shared["end"])
        f["counts"] = dict(collections.Counter(f["counts"]) + self.counts)
        f["seconds"] = dict(collections.Counter(f["seconds"]) + self.seconds)
        self.state.save()

    def refusals(self):
        """How many programs each limit cost."""
        count = collections.Counter()
        for place in found_places(self.state.refusals):
            if limit := limit_of(lines_of(place)["what"]):
                count[limit.why] += times(place)
        return count

    def unexplained(self):
        return [p for p in found_places(self.state.refusals) if not limit_of(lines_of(p)["what"])]

    def tell(self):
        f = self.state.figures
        print("  ".join(f"{k}: {n}" for k, n in sorted(f["counts"].items())))
        print("seconds: " + "  ".join(f"{k} {n:.0f}" for k, n in sorted(f["seconds"].items(), key=lambda kv: -kv[1])))
        for text in self.failed:
            print("a worker failed: " + text, file=sys.stderr)
        for why, count in self.refusals().most_common():
            print(f"refused x{count}  {why}")
        for place in self.unexplained():
            print(f"refused without a limit of ONNX x{times(place)}  {place.name}  {lines_of(place)['what'][:150]}")
        for place in found_places(self.state.findings):
            print(f"{place.name}  x{times(place)}  {lines_of(place)['what'][:150]}")
        unused = [p.pattern for p, _ in self.known.rows if p.pattern not in self.used | self.known.used]
        if unused and self.options.test:
            print("known.txt has lines that match nothing: " + "; ".join(unused))
        counts = collections.Counter()
        for k, n in f["counts"].items():
            if k.startswith(("script ", "export ")):
                counts[k.split(" ")[1].rstrip(":")] += n
        kinds = ", ".join(f"{n} {k}" for k, n in sorted(counts.items()))
        print(f"programs: {f['programs']} in {f['minutes']:.1f} minutes, {kinds}, {len(found_places(self.state.findings))} findings")


def main(options):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    state, known = State(options), Known(HERE / "known.txt")
    regressions = back = open_ones = 0
    if options.replay or options.test:
        bench = Bench(options.cameo, state.folder / "work-replay", library=options.library)
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
    for why in broken():
        print(f"a limit that no longer holds (limits.py): {why}")
        bad += 1
    if options.test:
        bad += len(session.unexplained())
    if options.test:
        skipped = session.counts["known"] + open_ones
        print(f"{regressions + state.figures['programs'] - bad - back - skipped} passed, {bad + back} failed, {skipped} skipped")
    return 1 if bad or back else 0
