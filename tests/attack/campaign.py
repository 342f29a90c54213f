"""Many workers, each with its fork server, over one folder of state: corpus, edges, findings, figures."""
import collections
import hashlib
import json
import multiprocessing
import os
import shlex
import signal
import sys
import time
import traceback
import warnings
from dataclasses import replace

import seeds as seed_files
from bench import Bench
from cases import Case, Maker
from commands import VERBS, Command
from known import Known
from minimise import Minimiser

LISTED_APART = {"lenient"}  # to be looked at, not failures


def finding_name(f):
    return f"{f.kind}-{hashlib.sha1(f.key.encode()).hexdigest()[:8]}"


class State:
    """build/attack: survives sessions."""

    def __init__(self, options):
        self.folder = options.state
        self.findings, self.lenient, self.corpus = self.folder / "findings", self.folder / "lenient", self.folder / "corpus"
        for d in (self.findings, self.lenient, self.corpus):
            d.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "state.json"
        self.figures = {"runs": 0, "minutes": 0.0, "next": {}}
        if self.file.is_file() and not options.fresh:
            self.figures.update(json.loads(self.file.read_text()))
        self.fresh = options.fresh
        build = hashlib.sha1(options.target.read_bytes()).hexdigest()[:12]
        self.edges = self.folder / f"edges-{build}"
        for old in self.folder.glob("edges-*"):  # of another build: other edges have these numbers
            if old != self.edges:
                old.unlink()

    def first(self, seed):
        return 0 if self.fresh else self.figures["next"].get(seed, 0)

    def save(self):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.figures))
        new.replace(self.file)

    def learn(self, case):
        """A file that reached something new is a seed from now on."""
        data = case.files.get(case.command.subject)
        if data is None or len(data) > 1 << 16:
            return
        folder = self.corpus / case.kind
        folder.mkdir(exist_ok=True)
        path = folder / hashlib.sha1(data).hexdigest()[:16]
        if not path.exists():
            if case.flags:
                path.with_suffix(".flags").write_text("\n".join(case.flags))
            elif "inputs.npz" in case.files and case.kind in ("pt", "pt2"):
                path.with_suffix(".npz").write_bytes(case.files["inputs.npz"])
            path.write_bytes(data)

    def grown(self):
        out = {}
        for folder in self.corpus.iterdir():
            kind = "onnx" if folder.name == "npz" else folder.name
            out.setdefault(kind, []).extend(LazySeed(kind, p) for p in sorted(folder.iterdir()) if not p.suffix)
        return out

    def keep(self, case, finding, way, first):
        """Writes a finding down; counts it where it is known. True for a new one."""
        place = (self.lenient if finding.kind in LISTED_APART else self.findings) / finding_name(finding)
        try:
            place.mkdir()
            new = True
        except FileExistsError:
            new = False
        with open(place / "seen", "a") as f:
            f.write("x")
        if new or not first:
            write_case(place, case, finding, way)
        return place, new


class LazySeed:
    """A file of the corpus, read when it is asked for: there are many."""
    arrays = {}

    def __init__(self, kind, path):
        self.kind, self.path, self.name = kind, path, f"corpus/{path.name}"

    @property
    def beside(self):
        inputs = self.path.with_suffix(".npz")
        return {"inputs.npz": inputs.read_bytes()} if inputs.is_file() else {}

    @property
    def flags(self):
        flags = self.path.with_suffix(".flags")
        return flags.read_text().splitlines() if flags.is_file() else []

    @property
    def data(self):
        return self.path.read_bytes()


def write_case(place, case, finding, way):
    files = place / "files"
    files.mkdir(exist_ok=True)
    for old in files.iterdir():
        if old.name not in case.files:
            old.unlink()
    for name, data in case.files.items():
        (files / name).write_bytes(data)
    (place / "command.txt").write_text(shlex.join(["cameo", *map(str, case.command.arguments)]) + "\n")
    lines = [f"kind: {finding.kind}", f"what: {finding.what}", f"key: {finding.key}", f"area: {finding.area}", f"way: {way}", f"from: {case.name}",
             f"changes: {', '.join(case.story)}", "", *finding.stack[:12], "", finding.detail]
    (place / "report.txt").write_text("\n".join(lines), errors="replace")


def read_case(place):
    words = shlex.split((place / "command.txt").read_text())[1:]
    files = {p.name: p.read_bytes() for p in (place / "files").iterdir()}
    outputs = [w for w in words if w.startswith("out.") or w == "out.onnxtxt"]
    model_out = next((o for o in outputs if o.endswith((".onnx", ".onnxtxt"))), "")
    case = Case("onnx", place.name, files, Command(words, outputs + [o + ".data" for o in outputs], model_out))
    if "inputs.npz" in files:
        from onnx_values import npz_arrays
        try:
            case.arrays = npz_arrays(files["inputs.npz"])
        except Exception:
            pass
    report = (place / "report.txt").read_text(errors="replace") if (place / "report.txt").is_file() else ""
    found = dict(line.split(": ", 1) for line in report.splitlines()[:6] if ": " in line)
    return case, found.get("way", "plain_run"), found.get("key", "")


def changes_numbers(arguments):
    """As documented: half precision, and halves that QuantizeLinear rounds to even (docs/linger.md)."""
    return "--float" in arguments or ("--to-qdq" in arguments and "--exact-rounding" not in arguments)


def ways_for(case, number, options, result):
    """Which further questions a case that ended well is worth."""
    if not options.oracle or number % options.oracle:
        return
    if case.command.model_out and result.status == 0:
        yield "output_is_valid"
    if case.kind == "onnx" and case.arrays is not None and "inputs.npz" in case.files:
        if case.command.verb == "run" and result.status == 0:
            yield "engines_agree"
        elif case.command.verb in ("simplify", "convert", "onnxsim") and result.status == 0 and not changes_numbers(case.command.arguments):
            yield "rewrite_keeps_values"


class Worker:
    def __init__(self, options, state, seeds, shared):
        self.options, self.state, self.shared = options, state, shared
        self.known = Known()
        self.bench = Bench(options.target, "" if options.release else state.edges, not options.release, self.known)
        self.maker = Maker(seeds, {} if options.fresh else state.grown(), set(options.kinds.split(",")), set(filter(None, options.verbs.split(","))),
                           self.bench.budgets(VERBS))
        self.refreshed = time.monotonic()

    def loop(self):
        shared = self.shared
        parent = os.getppid()
        while not shared["stop"].is_set() and os.getppid() == parent:
            with shared["next"].get_lock():
                number = shared["next"].value
                if number == shared["end"]:
                    return
                shared["next"].value += 1
            try:
                cases = self.maker.make(self.options.seed, number)
            except Exception as why:  # what onnx's own helpers refuse to write is no case
                print(f"case {number} cannot be made: {type(why).__name__}: {why}"[:200], flush=True)
                continue
            for case in cases:
                self.one(case, number)
                if shared["stop"].is_set():
                    return
            if not self.options.fresh and time.monotonic() - self.refreshed > 60:
                self.maker.corpus, self.refreshed = self.state.grown(), time.monotonic()

    def one(self, case, number):
        before = self.bench.runs
        finding, result = self.bench.run_once(case)
        if result.new_edges and not self.options.fresh:
            self.state.learn(case)
        ways = [("plain_run", finding)] if finding else ((way, None) for way in ways_for(case, number, self.options, result))
        for way, found in ways:
            found = found or getattr(self.bench, way)(case)
            if found:
                self.note(case, found, way)
                break
        with self.shared["runs"].get_lock():
            self.shared["runs"].value += self.bench.runs - before
        if result.new_edges:
            self.shared["edges"].value = max(self.shared["edges"].value, result.edges)

    def note(self, case, finding, way):
        place, new = self.state.keep(case, finding, way, True)
        if not new:
            return
        print(f"new: {place.name}  {finding.what[:150]}  ({case.command.verb}, {finding.area})", flush=True)
        # What takes over 10 s is made small by what takes over 3 s; what a machine under load makes of that is tried again.
        whole = self.bench.limits
        if finding.kind == "hang":
            self.bench.limits = replace(whole, seconds=3)
        least, last = Minimiser(getattr(self.bench, way), case, finding, 60 if finding.kind == "hang" else 20).run()
        self.bench.limits = whole
        if finding.kind == "hang" and getattr(self.bench, way)(least) is None:
            return
        if finding_name(last) == finding_name(finding):
            write_case(place, least, last, way)
        else:  # smaller, it has another key: both lead here from now on
            write_case(place, least, last, way)
            other = place.with_name(finding_name(last))
            if not other.exists():
                other.symlink_to(place.name)


def work(options, state, seeds, shared, failures):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    worker = None
    try:
        worker = Worker(options, state, seeds, shared)
        worker.loop()
        failures.put(("counts", worker.bench.counts, sorted(worker.known.used)))
    except BaseException:
        failures.put(("failed", traceback.format_exc(), []))
        raise
    finally:
        if worker:
            worker.bench.close()


def found_places(folder):
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and (p / "report.txt").is_file())


def by_kind(folder):
    return collections.Counter(p.name.split("-")[0] for p in found_places(folder))


def progress(state, shared, start, first):
    runs, seconds = shared["runs"].value, time.monotonic() - start
    kinds = ", ".join(f"{n} {k}" for k, n in sorted(by_kind(state.findings).items())) or "none"
    print(f"{seconds / 60:5.1f} min  {runs} runs ({runs / max(seconds, 1e-3):.0f}/s)  {shared['next'].value - first} cases  "
          f"{shared['edges'].value} edges  findings: {kinds}", flush=True)


def campaign(options, state):
    seeds = seed_files.gather(options.shared, options.state, make=not options.fresh)
    first = state.first(options.seed)
    shared = {"stop": multiprocessing.Event(), "next": multiprocessing.Value("q", first), "runs": multiprocessing.Value("q", 0),
              "edges": multiprocessing.Value("q", 0), "end": first + options.cases if options.cases else -1}
    answers = multiprocessing.Queue()
    start = time.monotonic()

    def worker():
        w = multiprocessing.Process(target=work, args=(options, state, seeds, shared, answers))
        w.start()
        return w
    limit = options.seconds or options.minutes * 60 or (1e9 if options.runs or options.cases else 600)
    workers = [worker() for _ in range(options.jobs)]
    told, ended_by_protobuf, failures = start, 0, 0
    try:
        while time.monotonic() - start < limit and (not options.runs or shared["runs"].value < options.runs):
            time.sleep(0.5)
            for i, w in enumerate(workers):
                if (w.exitcode or 0) < 0:  # Python's protobuf takes deep messages on its own stack
                    workers[i] = worker()
                    ended_by_protobuf += 1
                elif w.exitcode:  # a fault of the campaign: it is told at the end, and the others go on
                    workers[i] = worker()
                    failures += 1
            if ended_by_protobuf > 20 or failures > 20 or all(w.exitcode == 0 for w in workers):
                break
            if time.monotonic() - told > 30:
                told = time.monotonic()
                progress(state, shared, start, first)
    except KeyboardInterrupt:
        pass
    shared["stop"].set()
    counts, used, failed = collections.Counter(), set(), []
    for _ in range(len(workers) + failures):
        try:
            kind, what, known = answers.get(timeout=60)
        except Exception:
            failed.append("a worker does not answer")
            continue
        if kind == "counts":
            counts.update(what)
            used.update(known)
        else:
            failed.append(what)
    for w in workers:
        w.join(timeout=30)
    progress(state, shared, start, first)
    state.figures["runs"] += shared["runs"].value
    state.figures["minutes"] += (time.monotonic() - start) / 60
    state.figures["edges"] = shared["edges"].value or state.figures.get("edges", 0)
    state.figures["next"][options.seed] = shared["next"].value
    state.save()
    if ended_by_protobuf:
        counts["workers that protobuf ended"] = ended_by_protobuf
    tell(options, state, counts, used, failed)
    return 1 if failed or found_places(state.findings) else 0


def tell(options, state, counts, used, failed):
    print("  ".join(f"{k}: {n}" for k, n in sorted(counts.items())))
    for text in failed:
        print("a worker failed:", text, file=sys.stderr)
    unused = [p.pattern for p, _ in Known().rows if p.pattern not in used]
    if unused and state.figures["runs"] > 100000:
        print("known.txt, not met in this session: " + "; ".join(unused))
    print(f"lenient (we answer what onnxruntime refuses because of sizes): {len(found_places(state.lenient))}")
    for place in found_places(state.findings):
        report = (place / "report.txt").read_text(errors="replace").splitlines()
        print(f"{place.name}  x{(place / 'seen').stat().st_size}  {report[1][6:][:140]}  [{report[3][6:]}]  {(place / 'command.txt').read_text().strip()[:120]}")
    f = state.figures
    print(f"attack: {f['runs']} runs in {f['minutes']:.1f} minutes, {f.get('edges', 0)} edges, {len(found_places(state.findings))} findings")


def replay(options, state):
    """Findings that are gone are removed; regressions that are back fail."""
    bench = Bench(options.target, "" if options.release else state.edges, not options.release, Known())
    bad = 0
    regressions = sorted(p.parent for p in (seed_files.ROOT / "tests" / "attack" / "regressions").glob("*/command.txt"))
    for place in regressions:
        case, way, _ = read_case(place)
        found = getattr(bench, way)(case)
        if found:
            bad += 1
            print(f"back: {place.name}: {found.what}")
    for place in [*found_places(state.findings), *found_places(state.lenient)]:
        case, way, key = read_case(place)
        found = getattr(bench, way)(case)
        if found is None:
            print(f"gone: {place.name}")
            remove(place)
        elif place.parent == state.findings:
            bad += 1
            write_case(place, case, found, way)
            print(f"still: {place.name}: {found.what[:150]}{'' if found.key == key else '  (was: ' + key[:80] + ')'}")
    bench.close()
    for link in [p for d in (state.findings, state.lenient) for p in d.iterdir() if p.is_symlink() and not p.exists()]:
        link.unlink()
    return len(regressions), bad


def remove(place):
    for path in sorted(place.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    place.rmdir()


def test(options, state):
    """Mended findings once more, then a seeded sample; for tests/run."""
    regressions, back = replay(options, state)
    status = campaign(options, state)
    found = len(found_places(state.findings))
    failed = back + found + (status and not found)
    print(f"{regressions - back + state.figures['runs']} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def main(options):
    warnings.simplefilter("ignore")
    if options.fresh and options.state.is_dir():
        for name in ("findings", "lenient"):
            for place in (options.state / name).glob("*"):
                place.unlink() if place.is_symlink() or place.is_file() else remove(place)
    state = State(options)
    if options.replay:
        _, bad = replay(options, state)
        print(f"{bad} findings are there")
        return 1 if bad else 0
    return test(options, state) if options.test else campaign(options, state)
