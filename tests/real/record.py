"""What was done and how it ended, one JSON line for each model and verb."""
import collections
import json
import subprocess
import time


class Record:
    def __init__(self, path, fresh, only):
        self.path, self.only, self.done = path, only, {}
        if fresh and path.exists():
            path.write_text("".join(line for line in path.read_text().splitlines(True) if only not in json.loads(line)["model"]))
        if path.exists():
            for line in path.read_text().splitlines():
                r = json.loads(line)
                self.done[r["model"], r["verb"]] = r

    def has(self, model, verb):
        return (model, verb) in self.done and self.done[model, verb]["ended"] != "skipped"

    def add(self, model, verb, ended, why="", seconds=0.0):
        r = {"model": model, "verb": verb, "ended": ended, "why": why[:2000], "seconds": round(seconds, 2)}
        self.done[model, verb] = r
        with open(self.path, "a") as f:
            f.write(json.dumps(r) + "\n")
        if ended != "passed":
            print(f"{ended:7} {verb:12} {model}: {why.strip().splitlines()[0] if why.strip() else ''}", flush=True)

    def skip(self, model, verb, why):
        self.add(model, verb, "skipped", why)

    def step(self, model, verb, work):
        """Runs `work` unless it was done; what it raises is a failure, what it gives is said beside a success."""
        if self.has(model, verb):
            return self.done[model, verb]["ended"] == "passed"
        started = time.time()
        try:
            said = work() or ""
        except Exception as e:
            self.add(model, verb, "failed", f"{e}" if isinstance(e, Wrong) else f"{type(e).__name__}: {e}", time.time() - started)
            return False
        self.add(model, verb, "passed", said, time.time() - started)
        return True

    def report(self):
        counts = collections.Counter(r["ended"] for (model, _), r in self.done.items() if self.only in model)
        by_verb = collections.Counter((r["verb"], r["ended"]) for (model, _), r in self.done.items() if self.only in model)
        for verb in sorted({v for v, _ in by_verb}):
            print(f"{verb:14}" + ", ".join(f"{by_verb[verb, e]} {e}" for e in ("passed", "failed", "skipped") if by_verb[verb, e]))
        print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
        return 1 if counts["failed"] else 0


class Wrong(Exception):
    """A verb that failed, or numbers that differ."""


def command(*words, timeout=300):
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Wrong(f"no end after {timeout} s") from None
    if done.returncode:
        raise Wrong(done.stderr or f"status {done.returncode}")
    return done
