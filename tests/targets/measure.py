#!/usr/bin/env python3
"""What engines take, tried operator by operator: every ONNX operator, each version of it, each element type.

usage: measure.py [ENGINE ...] [--place build/targets] [--cameo build/release/cameo] [--check] [--fresh] [--quick] [--forms] [--only OP,...]

Engines: onnxruntime, openvino, opencv, ncnn (with pnnx), onnxruntime-web (npm; CAMEO_ORT_WEB is the package's folder), tflite (onnx2tf and ai-edge-litert;
CAMEO_TFLITE_PYTHON is an interpreter that has them); those whose package is installed. Outcomes are kept in
PLACE/ENGINE.jsonl: a run goes on where the last one stopped. The facts go to src/api/lint/facts/ENGINE.txt, which `cameo lint` reads; --check tries
everything and writes nothing: it ends with status 1 where the facts of the repository are not those that were measured. --quick leaves out rare element types,
types at older versions of an operator, and forms with constants where the form with inputs works. --only tries these operators, and leaves the other lines as they are.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

import form_rules
import pool
import variants

import cases
import engines

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FACTS = ROOT / "src" / "api" / "lint" / "facts"


COMBINED = {"OneHot", "Loop", "If", "Scan"}  # engines support combinations of their types, which one variable at a time does not show
# What ONNX's cases do not show: operators that work in the form that models have them in.
WORK_IN_MODELS = {
    "opencv": {"PRelu"},  # with one slope per channel
    # Converters drop some of these, and want others with layers around them.
    "ncnn": {"LayerNormalization", "Einsum", "Identity", "Dropout", "Constant", "Cast", "LSTM", "GRU", "RNN", "InstanceNormalization", "ReduceMax", "ReduceMin", "ReduceLogSumExp"},
    "tflite": {"Identity", "Dropout", "Constant"},
}


def version_of(engine):
    if engine == "onnxruntime-web":
        return json.loads((pathlib.Path(os.environ["CAMEO_ORT_WEB"]) / "package.json").read_text())["version"]
    if engine == "tflite":
        code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import engines; print(engines.version('tflite'))"
        return subprocess.run([pool.python_of(engine), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    return engines.version(engine)


QUICK_TYPES = {"f16", "f64", "i32", "i64", "u8", "bool"}


def quick(jobs, newest=26):
    """The jobs that tell most."""
    latest = {}
    for job in jobs:
        fact = job["fact"]
        if fact["form"] == "type" and fact["version"] <= newest:
            latest[fact["op"]] = max(latest.get(fact["op"], 0), fact["version"])
    return [j for j in jobs if j["fact"]["version"] <= newest and
            (j["fact"]["form"] != "type" or (j["fact"]["version"] == latest[j["fact"]["op"]] and j["fact"]["type"] in {*QUICK_TYPES, j["fact"]["native"]}))]


# Engines whose models are converted for each run, by converters that decide the batch axis by the layers around: of each operator the two plainest cases, in
# its newest version. Only refusals count, as a lone node may be computed along another axis than in a network.
CONVERTED = {"ncnn", "tflite"}


def plain(jobs):
    by_op = {}
    for job in jobs:
        if job["fact"]["form"] in ("inputs", "constants"):
            by_op.setdefault(job["fact"]["op"], {}).setdefault(job["fact"]["version"], {}).setdefault(job["fact"]["case"], []).append(job)
    for versions in by_op.values():
        cases = versions[max(v for v in versions if v <= 26)] if any(v <= 26 for v in versions) else {}
        for name in sorted(cases, key=lambda n: (len(n), n))[:2]:
            yield from cases[name]


def refused(outcome):
    return {"wrong": "right", "crash": "run", "hang": "run"}.get(outcome, outcome)


def tried(engine, jobs, record, is_quick):
    if engine in CONVERTED:
        jobs = list(plain(jobs))
        found = pool.outcomes(engine, jobs, record)
        return jobs, {i: {**e, "outcome": refused(e["outcome"])} for i, e in found.items()}
    if not is_quick:
        return jobs, pool.outcomes(engine, jobs, record)
    chosen = quick(jobs)
    first = pool.outcomes(engine, [j for j in chosen if j["fact"]["form"] != "constants"], record)
    failed = {j["fact"]["case"] for j in chosen if j["fact"]["form"] == "inputs" and first[j["id"]]["outcome"] != "right"}
    left = [j for j in chosen if j["fact"]["form"] != "constants" or j["fact"]["case"] in failed]
    return left, pool.outcomes(engine, left, record)


def unsupported(entries, works_elsewhere):
    """It fails in every form; where other versions work, one case that fails may be a special one: at least three, which cannot be loaded."""
    if any(outcome == "right" for _, outcome in entries):
        return False
    return not works_elsewhere or (len(entries) > 2 and all(outcome == "load" for _, outcome in entries))


def facts_of(jobs, outcomes, work=frozenset()):
    """Lines of a facts file: an operator that is not supported, else per type variable what worked and what did not."""
    tried = {}
    for job in jobs:
        fact = job["fact"]
        tried.setdefault((fact["op"], fact["version"]), []).append((fact, outcomes[job["id"]]["outcome"]))
    working = {op for (op, _), entries in tried.items() if any(outcome == "right" for _, outcome in entries)}
    for (op, version), entries in sorted(tried.items()):
        if unsupported(entries, op in working) and op not in work:
            yield f"{op} {version} none"
            continue
        if not any(outcome == "right" for _, outcome in entries):
            continue
        types = {}
        natives = {}
        for fact, outcome in entries:
            # Engines without f64 compute in f32: other digits, which is no refusal.
            if fact["form"] == "type" and op not in COMBINED and not (fact["type"] == "f64" and outcome == "wrong"):
                types.setdefault(fact["variable"], {})[fact["type"]] = outcome == "right"
                natives[fact["variable"]] = fact["native"]
        plain = any(fact["form"] != "type" and outcome == "right" for fact, outcome in entries)
        for variable, found in sorted(types.items()):
            if not found.get(natives[variable], plain):
                continue  # the case itself fails in this form: its types say nothing
            yes, no = (" ".join(sorted(t for t, right in found.items() if right == wanted)) for wanted in (True, False))
            yield f"{op} {version} {variable}" + (f" yes {yes}" if yes else "") + (f" no {no}" if no else "")


def text_of(engine, jobs, outcomes, date):
    lines = list(facts_of(jobs, outcomes, WORK_IN_MODELS.get(engine, ())))
    if engine in CONVERTED:  # converters know names of operators, not versions
        lines = [re.sub(r" \d+ none$", " 1 none", line) for line in lines]
    how = "was refused" if engine in CONVERTED else "failed"
    return (f"# Tried with {engine} by tests/targets/measure.py: operator, version of its schema, type variable, element types. `none`: it {how} in every form.\n"
            f"engine {version_of(engine)} {date}\n" + "\n".join(lines) + "\n")


def merged(text, before, only):
    """Lines of these operators anew; the others, the date and the lines of forms as they were."""
    head = [line for line in before.splitlines() if line.startswith(("#", "engine "))]
    lines = [line for line in text.splitlines() if line.split()[0] in only]
    kept = [line for line in before.splitlines() if line not in head and not line.startswith("when ") and line.split()[0] not in only]
    forms = [line for line in before.splitlines() if line.startswith("when ")]
    return "\n".join([*head, *sorted([*kept, *lines], key=lambda line: (line.split()[0], int(line.split()[1]), line)), *forms]) + "\n"


def form_lines(engine, jobs, outcomes):
    """`when` lines: conditions under which forms of an operator fail, and what none explains."""
    unsupported = {line.split()[0] for line in (FACTS / f"{engine}.txt").read_text().splitlines() if line.endswith(" none")}
    by_op = {}
    for job in jobs:
        by_op.setdefault(job["op"], []).append((job["features"], outcomes[job["id"]]["outcome"] != "right"))
    for op, tried in sorted(by_op.items()):
        rules, left = form_rules.rules_of(tried)
        fails = sum(bad for _, bad in tried)
        if fails:
            print(f"{engine} {op}: {fails} of {len(tried)} fail, {len(rules)} rules, {len(left)} unexplained", flush=True)
        if op in unsupported or op in WORK_IN_MODELS.get(engine, ()):
            continue
        if rules == [()] and not all(outcomes[j["id"]]["outcome"] == "load" for j in jobs if j["op"] == op):
            continue  # it is computed, otherwise than in these forms perhaps
        for rule in rules:
            yield f"when {op} {'; '.join(rule) or 'always'}"


def write_forms(engine, place, recorded):
    """Puts the `when` lines of an engine into its facts, in place of older ones."""
    made = variants.jobs(place / "forms", converted=engine in CONVERTED)
    if engine in CONVERTED:
        for job in made:  # not a condition where nothing else was tried
            job["features"] = [f for f in job["features"] if f != "in 0 made-by Conv"]
    print(f"{len(made)} forms of {len({j['op'] for j in made})} operators", flush=True)
    record = place / f"{engine}.forms.jsonl"
    if recorded:
        there = {json.loads(line)["id"] for line in record.read_text().splitlines()}
        made = [job for job in made if job["id"] in there]
        print(f"{len(made)} of them were tried", flush=True)
    outcomes = pool.outcomes(engine, made, record)
    file = FACTS / f"{engine}.txt"
    worked = {job["op"] for job in made if outcomes[job["id"]]["outcome"] == "right"}  # in a form that networks have, if not in that of ONNX's cases
    kept = [line for line in file.read_text().splitlines() if not line.startswith("when ") and not (line.endswith(" none") and line.split()[0] in worked)]
    file.write_text("\n".join(kept) + "\n")
    file.write_text("\n".join([*kept, *form_lines(engine, made, outcomes)]) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", nargs="*")
    parser.add_argument("--place", default=ROOT / "build" / "targets", type=pathlib.Path)
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo", type=pathlib.Path)
    parser.add_argument("--shared", default=os.environ.get("CAMEO_SHARED", ROOT.parent / "shared"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--forms", action="store_true", help="forms that networks have operators in (variants.py), in place of ONNX's cases")
    parser.add_argument("--recorded", action="store_true", help="with --forms: only those that were tried already")
    parser.add_argument("--only", default="")
    parser.add_argument("--fresh", action="store_true", help="forget what was tried")
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    if args.forms:
        for engine in args.engine:
            write_forms(engine, args.place, args.recorded)
        return
    only = set(filter(None, args.only.split(",")))
    made = [job for job in cases.Cases(cases.conformance_folder(args.shared, args.place), args.place / "cases", args.cameo).all(only) if job]
    print(f"{len(made)} models of {len({j['fact']['op'] for j in made})} operators", flush=True)
    stale = False
    for engine in args.engine or ["onnxruntime", "openvino", "opencv", "onnxruntime-web"]:
        record = args.place / f"{engine}.jsonl"
        if args.fresh and record.exists():
            record.unlink()
        done, outcomes = tried(engine, made, record, args.quick)
        file = FACTS / f"{engine}.txt"
        date = datetime.date.today().isoformat()
        before = file.read_text() if file.exists() else ""
        if args.check and before:
            date = next(line.split()[2] for line in before.splitlines() if line.startswith("engine "))
        text = text_of(engine, done, outcomes, date)
        text = merged(text, before, only) if only else text
        counts = {o: sum(e["outcome"] == o for e in outcomes.values()) for o in ("right", "wrong", "load", "run", "crash", "hang")}
        print(engine, version_of(engine), counts, flush=True)
        if args.check:
            stale |= before != text
        else:
            file.write_text(text)
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
