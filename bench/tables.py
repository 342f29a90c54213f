#!/usr/bin/env python3
"""The tables of docs/tables: who exports what rightly, and how fast, how large, with how much memory.

  bench/tables.py coverage [--only TEXT] [--samples] [--limit N] [--seconds 120]   rows for models, or for PyTorch's operator samples
  bench/tables.py speed [--only TEXT] [--seconds 300]                              rows for the models of SPEED
  bench/tables.py render                                                           docs/tables/*.md, .json and .svg of all rows so far

Rows are worked out in processes of their own and appended to build/tables/*.jsonl: a run that is stopped goes on where it was, and
`--limit 20` does the next twenty. Needs the package `cameo` and, from PyPI, torch, onnx, onnxruntime, onnxscript, timm, transformers,
onnxsim and onnxslim; what is not installed is left out of the tables, and they say so.
"""
import argparse
import collections
import json
import logging
import os
import pathlib
import platform
import queue
import resource
import subprocess
import sys
import threading
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "build" / "tables"
DOCS = ROOT / "docs" / "tables"
sys.path.insert(0, str(ROOT / "tests" / "torch"))
WAYS = ["cameo, .pt", "cameo, .pt2", "torch.onnx, dynamo=False", "torch.onnx, dynamo=True"]
SPEED = ["torchvision/resnet18", "torchvision/mobilenet_v2", "torchvision/swin_t", "timm/vit_tiny_patch16_224", "transformers/bert", "transformers/gpt2"]
TASKS = {"export": WAYS[:1] + WAYS[2:], "simplify": ["cameo", "onnxsim", "onnxslim"], "run": ["cameo", "onnxruntime"]}


def quiet():
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    os.environ["CAMEO_QUIET"] = "1"
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return torch


def exported(way, module, inputs, path):
    """Exports in one of the ways."""
    import torch
    if way.startswith("cameo"):
        import cameo
        cameo.export(module, tuple(inputs), path, capture="export" if "pt2" in way else "trace", verify=False)
    elif "True" in way:
        torch.onnx.export(module, tuple(inputs), path, dynamo=True, verbose=False, external_data=False)
    else:
        torch.onnx.export(module, tuple(inputs), path, dynamo=False)


def judged(way, module, inputs, folder):
    """right, wrong or refused, and why."""
    import numpy as np
    import onnxruntime as ort
    import opinfo
    import torch
    with torch.no_grad():
        expected = opinfo.flatten(module(*[t.clone() for t in inputs]))
    path = os.path.join(folder, "m.onnx")
    try:
        exported(way, module, [t.clone() for t in inputs], path)
    except Exception as e:
        return "refused", f"{type(e).__name__}: {str(e).strip().splitlines()[0][:160] if str(e).strip() else ''}"
    try:
        session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        by_place = dict(zip([i.name for i in session.get_inputs()], map(opinfo.as_numpy, inputs)))
        got = session.run(None, by_place)
    except Exception as e:
        return "wrong", "onnxruntime: " + str(e).splitlines()[0][:160]
    for a, t in zip(got, expected):
        b = opinfo.as_numpy(t)
        if a.shape != b.shape:
            return "wrong", f"shape {a.shape} instead of {b.shape}"
        if b.size and not np.allclose(a.astype("f8"), b.astype("f8"), rtol=1e-3, atol=1e-3 * max(1e-3, float(np.nan_to_num(np.abs(b.astype("f8")), posinf=0).max())), equal_nan=True):
            return "wrong", f"error {np.nanmax(np.abs(a.astype('f8') - b.astype('f8'))):.2g}"
    return ("right", "") if len(got) >= len(expected) else ("wrong", "outputs are missing")


def built(item):
    import models
    models.import_torchvision()  # transformers wants it, in whatever shape it is
    return models.build(item)


def coverage_row(item, way, folder):
    torch = quiet()
    if item.startswith("sample/"):
        import opinfo
        op, dtype = next((o, d) for o, d in opinfo.operators() if "sample/" + opinfo.label(o) == item)
        samples = [s for s, _ in zip(op.sample_inputs("cpu", dtype, requires_grad=False), range(opinfo.SAMPLES)) if opinfo.tensors_of(s)]
        if not samples or any(opinfo.label(op).startswith(r) for r in opinfo.RANDOM):
            return {"verdict": "unusable", "why": "no tensors, or random"}
        verdicts = [judged(way, opinfo.Call(op, s).eval(), [t.detach().clone() for t in opinfo.tensors_of(s)], folder) for s in samples]
        verdict, why = next((v for v in verdicts if v[0] != "right"), verdicts[0])
        return {"verdict": verdict, "why": why}
    module, make = built(item)
    module.eval()
    import models
    models.add_noise(module)
    with torch.no_grad():
        verdict, why = judged(way, module, [make(2)], folder)
    return {"verdict": verdict, "why": why}


def speed_row(item, way, folder):
    torch = quiet()
    task, way = way.split(": ")
    module, make = built(item)
    module.eval()
    x = make(1)
    path, source = os.path.join(folder, "m.onnx"), os.path.join(folder, "source.onnx")
    if task != "export":
        torch.onnx.export(module, (x,), source, dynamo=False)
        import onnx
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def work():
        if task == "export":
            exported(way, module, [x], path)
        elif task == "simplify" and way == "cameo":
            import cameo
            cameo.load(source).simplify().save(path)
        elif task == "simplify" and way == "onnxsim":
            import onnxsim
            onnx.save(onnxsim.simplify(source)[0], path)
        elif task == "simplify":
            import onnxslim
            onnx.save(onnxslim.slim(source), path)

    if task == "run":
        if way == "cameo":
            import cameo
            session = cameo.InferenceSession(source, one_thread(cameo.SessionOptions()))
        else:
            import onnxruntime as ort
            session = ort.InferenceSession(source, one_thread(ort.SessionOptions()), providers=["CPUExecutionProvider"])
        feeds = {session.get_inputs()[0].name: x.numpy()}
        work = lambda: session.run(None, feeds)
    times = []
    deadline = time.perf_counter() + 20
    while len(times) < 7 and (len(times) < 2 or time.perf_counter() < deadline):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    row = {"verdict": "done", "ms": round(min(times) * 1e3, 2), "load": round(os.getloadavg()[0], 1)}
    if task == "export":  # the others' source was written by this process, whose peak that may be
        row["mib"] = round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1)
    if task != "run":
        proto = onnx.load(path) if task == "simplify" else __import__("onnx").load(path)
        row |= {"nodes": len(proto.graph.node), "bytes": os.path.getsize(path)}
    return row


def one_thread(options):
    """Two threads on a busy machine measure its scheduler."""
    options.intra_op_num_threads = 1
    return options


def done(table):
    path = ROWS / f"{table}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def work_through(table, wanted, limit, seconds):
    """Rows in a worker process; one that hangs or dies loses its row, and another process goes on."""
    ROWS.mkdir(parents=True, exist_ok=True)
    known = {(r["item"], r["way"]) for r in done(table)}
    todo = [w for w in wanted if w not in known][:limit]
    count, total = 0, len(todo)
    per_process = 40 if table == "coverage" else 1  # peaks of memory are measured: one row per process
    while todo:
        part = todo[:per_process]
        worker = subprocess.Popen([sys.executable, __file__, "row", table, json.dumps(part)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = lines_of(worker)
        for item, way in part:
            count += 1
            print(f"\r{count}/{total} {item} {way}".ljust(100), end="", file=sys.stderr, flush=True)
            row = next_row(lines, seconds)
            todo.pop(0)
            with open(ROWS / f"{table}.jsonl", "a") as out:
                out.write(json.dumps({"item": item, "way": way} | (row or {"verdict": "refused", "why": f"the process died, or took more than {seconds} s"})) + "\n")
            if row is None:
                break
        worker.kill()
        worker.wait()
    print(file=sys.stderr)


def next_row(lines, seconds):
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        try:
            line = lines.get(timeout=left)
        except queue.Empty:
            return None
        if line is None or line.startswith("ROW "):
            return line and json.loads(line[4:])
    return None


def lines_of(worker):
    """Its output, line by line; None at its end."""
    lines = queue.Queue()

    def read():
        for line in worker.stdout:
            lines.put(line)
        lines.put(None)
    threading.Thread(target=read, daemon=True).start()
    return lines


def coverage_items(samples):
    quiet()
    if samples:
        import opinfo
        return ["sample/" + opinfo.label(op) for op, _ in opinfo.operators()]
    import models
    return list(models.names())


def versions():
    import importlib.metadata as metadata
    names = ["cameo-onnx", "torch", "onnx", "onnxruntime", "onnxscript", "onnxsim", "onnxslim", "timm", "torchvision", "transformers"]
    out = {"python": platform.python_version()}
    for name in names:
        try:
            out[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return out


def bars(title, values, unit):
    """Bars as SVG: [(label, value)]."""
    high = max([v for _, v in values] or [1])
    lines = [f"<text x='10' y='20' font-weight='bold'>{title}</text>"]
    for i, (label, value) in enumerate(values):
        y = 36 + 24 * i
        colour = "#2b6cb0" if label.startswith("cameo") else "#a0aec0"
        lines.append(f"<text x='10' y='{y + 13}'>{label}</text><rect x='230' y='{y}' width='{max(1, 330 * value / high):.0f}' height='17' fill='{colour}'/>"
                     f"<text x='{238 + 330 * value / high:.0f}' y='{y + 13}'>{value:g}{unit}</text>")
    return f"<svg xmlns='http://www.w3.org/2000/svg' width='660' height='{48 + 24 * len(values)}' font-family='sans-serif' font-size='13'>{''.join(lines)}</svg>\n"


def render_coverage(note):
    rows = done("coverage")
    text = ["# Coverage", "", *([note, ""] if note else []), "Right: onnxruntime runs the export and gives PyTorch's numbers. `bench/tables.py coverage [--samples]`, then `bench/tables.py render`.",
            "", "Versions: " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".", "", "| of | " + " | ".join(WAYS) + " |", "|---|" + "---|" * len(WAYS)]
    share = {}
    for kind, title in (("", "models"), ("sample/", "operator samples")):
        mine = [r for r in rows if r["item"].startswith("sample/") == bool(kind)]
        by_item = collections.defaultdict(dict)
        for r in mine:
            by_item[r["item"]][r["way"]] = r["verdict"]
        usable = [ways for ways in by_item.values() if len(ways) == len(WAYS) and "unusable" not in ways.values()]
        if not usable:
            continue
        right = [sum(ways[w] == "right" for ways in usable) for w in WAYS]
        share[title] = right
        text.append(f"| {len(usable)} {title}, right | " + " | ".join(map(str, right)) + " |")
        text.append("| wrong, without a word | " + " | ".join(str(sum(ways[w] == "wrong" for ways in usable)) for w in WAYS) + " |")
        (DOCS / f"coverage-{title.split()[0]}.svg").write_text(bars(f"{len(usable)} {title}: exported rightly", list(zip(WAYS, right)), ""))
        text += []
    text += ["", "What is not right:", "", "| | by | |", "|---|---|---|"]
    text += [f"| {r['item']} | {r['way']} | {r['verdict']}: {r['why'][:110].replace('|', '/')} |" for r in sorted(rows, key=lambda r: (r["item"], r["way"]))
             if r["verdict"] in ("wrong", "refused") and r["way"].startswith("cameo")]
    (DOCS / "coverage.md").write_text("\n".join(text) + "\n")
    (DOCS / "coverage.json").write_text(json.dumps({"versions": versions(), "rows": rows}, indent=0))


def render_speed(note):
    rows = [r for r in done("speed") if r["verdict"] == "done"]
    text = ["# Speed, memory, size", "", *([note, ""] if note else []), "Best of seven, one process per row; of exports, this many MiB more at the peak than before. `bench/tables.py speed`, then `bench/tables.py render`.",
            "Simplifying and running start from what `torch.onnx.export(dynamo=False)` writes; runs take one thread on either side.", "",
            "Versions: " + ", ".join(f"{k} {v}" for k, v in versions().items()) + f". {os.cpu_count()} processors.", ""]
    for task, ways in TASKS.items():
        text += [f"## {task}", "", "| model | " + " | ".join(ways) + " |", "|---|" + "---|" * len(ways)]
        ratios = collections.defaultdict(list)
        for item in SPEED:
            found = {r["way"].split(": ")[1]: r for r in rows if r["item"] == item and r["way"].startswith(task + ":")}
            if not found:
                continue
            cells = [f"{r['ms']:g} ms" + (f", {r['mib']:g} MiB" if task == "export" else "") + (f", {r['nodes']} nodes, {r['bytes'] / 1e6:.1f} MB" if "nodes" in r else "") if (r := found.get(w)) else "" for w in ways]
            text.append(f"| {item} | " + " | ".join(cells) + " |")
            for w in ways:
                if w in found and ways[0] in found:
                    ratios[w].append(found[w]["ms"] / found[ways[0]]["ms"])
        text.append("")
        medians = [(w, round(sorted(ratios[w])[len(ratios[w]) // 2], 2)) for w in ways if ratios[w]]
        if medians:
            (DOCS / f"speed-{task}.svg").write_text(bars(f"{task}: time, cameo = 1 (median of {len(ratios[ways[0]])} models)", medians, "x"))
    (DOCS / "speed.md").write_text("\n".join(text) + "\n")
    (DOCS / "speed.json").write_text(json.dumps({"versions": versions(), "rows": rows}, indent=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["coverage", "speed", "render", "row"])
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--note", default="", help="a sentence that render puts on top: how the rows came about")
    parser.add_argument("--only", default="")
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("--limit", type=int, default=10**6)
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()
    if options.what == "row":
        import tempfile
        table, part = options.rest
        for item, way in json.loads(part):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    row = (coverage_row if table == "coverage" else speed_row)(item, way, folder)
                except Exception as e:
                    row = {"verdict": "unusable", "why": f"{type(e).__name__}: {e}"[:200]}
            print("\nROW " + json.dumps(row), flush=True)
    elif options.what == "coverage":
        items = [i for i in coverage_items(options.samples) if options.only in i]
        work_through("coverage", [(i, w) for i in items for w in WAYS], options.limit, options.seconds)
    elif options.what == "speed":
        work_through("speed", [(i, f"{task}: {w}") for i in SPEED if options.only in i for task, ways in TASKS.items() for w in ways], options.limit, options.seconds)
    else:
        DOCS.mkdir(parents=True, exist_ok=True)
        render_coverage(options.note)
        render_speed(options.note)


if __name__ == "__main__":
    main()
