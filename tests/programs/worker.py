"""A worker: programs by number, each made, judged, and reduced where it is wrong."""
import collections
import logging
import os
import pathlib
import shutil
import signal
import time
import traceback
import warnings
from dataclasses import replace

import torch

import case as cases
import feeds
import program as programs
import reduce
from chance import Chance
from known import Known
from state import seen, write
from verdict import Bench

HERE = pathlib.Path(__file__).resolve().parent
LIFE = 400  # programs per worker: torch.jit forgets nothing that it compiled
COMMAND_EVERY = 10  # every so many programs go through the command; the others through the library, which starts no process


def capture_of(number, every):
    """Which programs go through torch.export: every so many; it is slow."""
    return "export" if every and number % every == every - 1 else "script"


def make_case(seed, number, every):
    capture = capture_of(number, every)
    made = programs.make(seed, number, capture)
    used = made.used_inputs()
    least = 1 if capture == "export" else 0  # archives run at 1 too, unless a guard of theirs says otherwise
    calls = feeds.calls(Chance(f"{seed}/{number}/inputs"), used, made.source(), least=least)
    flags = [i.flag for i in used] if capture == "script" else []
    return made, cases.Case(f"{seed}/{number}", capture, made.source(), flags, calls)


class Worker:
    def __init__(self, options, state, shared, slot):
        self.options, self.state, self.shared, self.slot = options, state, shared, slot
        self.bench = Bench(options.cameo, state.folder / f"work-{os.getpid()}", self.at_step, options.library)
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
        self.bench.use_command(number % COMMAND_EVERY == 0)
        verdict = self.bench.judge(case)
        self.counts[f"{case.capture} {verdict.kind}" if verdict.kind != "skipped" else f"{case.capture} skipped: {verdict.key}"] += 1
        if verdict.kind == "refused":
            self.counts["refused " + verdict.key.split(" ")[0]] += 1
            place = self.state.place(verdict, case.source)
            if seen(place, case.name):
                write(place, case, verdict)
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
            write(place, case, verdict)
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
