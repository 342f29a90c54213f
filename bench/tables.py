#!/usr/bin/env python3
"""The tables of docs/tables: who exports what rightly, and how fast, how large, with how much memory.

  bench/tables.py coverage [--only TEXT] [--limit N] [--seconds 120]   one model per family, and PyTorch's operator samples (sample/...)
  bench/tables.py speed [--only TEXT] [--limit N] [--seconds 300]      the models of SPEED
  bench/tables.py render                                               docs/tables/*.md, .json and .svg of all rows so far

Rows are worked out in processes of their own and appended to build/tables/*.jsonl: a run that is stopped goes on where it was, and
`--limit 20` does the next twenty. Coverage goes through its items in a random order, the same every time, so that any part
of it is a fair sample. `--again` forgets what Cameo did not get right, and does it once more. Needs the package `cameo` and, from PyPI,
torch, onnx, onnxruntime, onnxscript, timm, torchvision, transformers, onnxsim and onnxslim.
"""
import argparse
import collections
import hashlib
import json
import logging
import os
import pathlib
import platform
import queue
import re
import resource
import subprocess
import sys
import threading
import time
import warnings

import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "build" / "tables"
DOCS = ROOT / "docs" / "tables"
sys.path.insert(0, str(ROOT / "tests" / "torch"))
WAYS = ["cameo, .pt", "cameo, .pt2", "torch.onnx, dynamo=False", "torch.onnx, dynamo=True"]
BERT_BASE = "transformers/bert-base"
SPEED = ["torchvision/resnet18", "torchvision/mobilenet_v2", "torchvision/swin_t", "timm/vit_tiny_patch16_224", BERT_BASE, "transformers/gpt2"]
TORCHVISION = ("alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5 mobilenet_v2 "
               "mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet18 resnext50_32x4d shufflenet_v2_x0_5 squeezenet1_0 swin_t swin_v2_t vgg11 "
               "vit_b_32 wide_resnet50_2").split()
MOST_PARAMETERS = 100_000_000  # of a model in the coverage: larger ones are their family's only by chance
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
    names = [f"x{i}" for i in range(len(inputs))]
    if way.startswith("cameo"):
        import cameo
        cameo.export(module, tuple(inputs), path, input_names=names, capture="export" if "pt2" in way else "trace", verify=False)
    elif "True" in way:
        torch.onnx.export(module, tuple(inputs), path, input_names=names, dynamo=True, verbose=False, external_data=False)
    else:
        torch.onnx.export(module, tuple(inputs), path, input_names=names, dynamo=False)


def judged(way, module, inputs, folder, values=True):
    """right, wrong or refused, and why; without `values` only by shape."""
    import numpy as np
    import torch

    import opinfo
    with torch.no_grad():
        expected = opinfo.flatten(module(*[t.clone() for t in inputs]))
    path = os.path.join(folder, "m.onnx")
    try:
        exported(way, module, [t.clone() for t in inputs], path)
    except Exception as e:
        return "refused", f"{type(e).__name__}: {str(e).strip().splitlines()[0][:160] if str(e).strip() else ''}"
    try:
        session = opinfo.session_of(path)
        given = {f"x{i}": opinfo.as_numpy(t) for i, t in enumerate(inputs)}
        got = session.run(None, {i.name: given[i.name] for i in session.get_inputs()})
    except Exception as e:
        return "wrong", "onnxruntime: " + str(e).splitlines()[0][:160]
    for a, t in zip(got, expected):
        b = opinfo.as_numpy(t)
        if a.shape != b.shape:
            return "wrong", f"shape {a.shape} instead of {b.shape}"
        if values and b.size and not np.allclose(a.astype("f8"), b.astype("f8"), rtol=1e-3, atol=1e-3 * max(1e-3, float(np.nan_to_num(np.abs(b.astype("f8")), posinf=0).max())), equal_nan=True):
            return "wrong", f"error {np.nanmax(np.abs(a.astype('f8') - b.astype('f8'))):.2g}"
    return ("right", "") if len(got) >= len(expected) else ("wrong", "outputs are missing")


def built(item):
    import models
    models.import_torchvision()  # transformers wants it, in whatever shape it is
    if item == BERT_BASE:
        import torch
        from transformers import BertConfig, BertModel

        class First(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = BertModel(BertConfig(), add_pooling_layer=False)

            def forward(self, x):
                return self.inner(x, return_dict=False)[0]
        return First(), lambda b: torch.randint(3, 300, (b, 128))
    return models.build(item)


def coverage_row(item, way, folder):
    torch = quiet()
    if item.startswith("sample/"):
        import opinfo
        op, dtype = next((o, d) for o, d in opinfo.operators() if "sample/" + opinfo.label(o) == item)
        samples = [s for s, _ in zip(op.sample_inputs("cpu", dtype, requires_grad=False), range(opinfo.SAMPLES)) if opinfo.tensors_of(s)]
        if not samples or any(opinfo.label(op).startswith(r) for r in opinfo.RANDOM):
            return {"verdict": "unusable", "why": "no tensors, or random"}
        verdicts = [judged(way, opinfo.Call(op, s).eval(), [t.detach().clone() for t in opinfo.tensors_of(s)], folder, not opinfo.is_uninitialized(op)) for s in samples]
        verdict, why = next((v for v in verdicts if v[0] != "right"), verdicts[0])
        return {"verdict": verdict, "why": why}
    module, make = built(item)
    if sum(p.numel() for p in module.parameters()) > MOST_PARAMETERS:
        return {"verdict": "unusable", "why": f"more than {MOST_PARAMETERS} parameters"}
    module.eval()
    import models
    models.add_noise(module)
    models.settle(module, make(2))
    with torch.no_grad():
        x = make(2)
        verdict, why = judged(way, module, [x], folder)
        if verdict == "wrong" and why.startswith("error") and models.own_movement(module, x) > models.TOLERANCE:
            return {"verdict": "unusable", "why": "the model's own numbers move as far when its input does in the last digits"}
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
    per_process = 200 if table == "coverage" else 1  # peaks of memory are measured: one row per process
    while todo:
        part = todo[:per_process]
        worker = subprocess.Popen([sys.executable, __file__, "row", table, json.dumps(part)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = lines_of(worker)
        for item, way in part:
            count += 1
            print(f"\r{count}/{total} {item} {way}".ljust(100), end="", file=sys.stderr, flush=True)
            row = next_row(lines, worker, seconds)
            todo.pop(0)
            with open(ROWS / f"{table}.jsonl", "a") as out:
                out.write(json.dumps({"item": item, "way": way} | (row or {"verdict": "no end", "why": f"the process died, or took more than {seconds} s"})) + "\n")
            if row is None:
                break
        worker.kill()
        worker.wait()
    print(file=sys.stderr)


def next_row(lines, worker, seconds):
    """Its limit is processor time, so that a busy machine does not count against a row; a process that sleeps is given up too."""
    used, started = processor_s(worker), time.monotonic()
    while processor_s(worker) - used < seconds and time.monotonic() - started < 30 * seconds:
        try:
            line = lines.get(timeout=2)
        except queue.Empty:
            continue
        if line is None or line.startswith("ROW "):
            return line and json.loads(line[4:])
    return None


def processor_s(worker):
    try:
        fields = pathlib.Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:  # another system, or it is gone: the wall's clock
        return time.monotonic()


def lines_of(worker):
    """Its output, line by line; None at its end."""
    lines = queue.Queue()

    def read():
        for line in worker.stdout:
            lines.put(line)
        lines.put(None)
    threading.Thread(target=read, daemon=True).start()
    return lines


def coverage_items():
    """One model per family, and every operator of OpInfo, in a random order."""
    quiet()
    import models
    import opinfo
    found, seen = ["sample/" + opinfo.label(op) for op, _ in opinfo.operators()], set()
    for name in models.names():
        kind = name.split("/")[1]
        if name.startswith("timm/"):
            import timm
            family = timm.models.model_entrypoint(kind).__module__
        else:
            family = name if kind in TORCHVISION or not name.startswith("torchvision/") else None
        if family and family not in seen:
            seen.add(family)
            found.append(name)
    return sorted(found, key=lambda item: hashlib.sha256(item.encode()).digest())


def versions():
    import importlib.metadata as metadata
    names = ["cameo-onnx", "torch", "onnx", "onnxruntime", "onnxscript", "onnxsim", "onnxslim", "timm", "torchvision", "transformers"]
    out = {"python": platform.python_version()}
    for name in names:
        try:
            out[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    if "cameo-onnx" not in out:  # not installed, but on the path
        import cameo
        out["cameo-onnx"] = cameo.__version__
    return out


def plain(why):
    """Fit for a table: no colours of a terminal, no names of temporary files."""
    why = re.sub(r"\x1b?\[\d+m|Load model from \S+ failed: ?", "", why.replace("\x1b", ""))
    return why[:110].replace("|", "/").strip()


def render_coverage(note):
    rows = done("coverage")
    text = ["# Coverage", "", *([note, ""] if note else []),
            "Right: onnxruntime runs the export and gives PyTorch's numbers, within a thousandth of the largest. Of operators, both of OpInfo's first two samples.",
            "`bench/tables.py coverage` works through its items in a random order; `bench/tables.py render` writes this page from the finished ones.", "",
            "Versions: " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".", "", "| of | " + " | ".join(WAYS) + " |", "|---|" + "---|" * len(WAYS)]
    every = coverage_items()
    for kind, title in (("", "models"), ("sample/", "operator samples")):
        mine = [r for r in rows if r["item"].startswith("sample/") == bool(kind)]
        by_item = collections.defaultdict(dict)
        for r in mine:
            by_item[r["item"]][r["way"]] = r["verdict"]
        usable = [ways for ways in by_item.values() if len(ways) == len(WAYS) and "unusable" not in ways.values()]
        if not usable:
            continue
        right = [sum(ways[w] == "right" for ways in usable) for w in WAYS]
        total = sum(i.startswith("sample/") == bool(kind) for i in every)
        text.append(f"| {len(usable)} {title} of {total}: right | " + " | ".join(map(str, right)) + " |")
        for verdict, said in (("wrong", "wrong, no error"), ("refused", "refused"), ("no end", "died, or took too long")):
            text.append(f"| {said} | " + " | ".join(str(sum(ways[w] == verdict for ways in usable)) for w in WAYS) + " |")
    text += ["", "What is not right, by Cameo and by the others:", "", "| | by | |", "|---|---|---|"]
    text += [f"| {r['item']} | {r['way']} | {r['verdict']}: {plain(r['why'])} |" for r in sorted(rows, key=lambda r: (not r["way"].startswith("cameo"), r["item"], r["way"]))
             if r["verdict"] in ("wrong", "refused", "no end")]
    (DOCS / "coverage.md").write_text("\n".join(text) + "\n")
    (DOCS / "coverage.json").write_text(json.dumps({"versions": versions(), "rows": [r | {"why": plain(r["why"])} for r in rows]}, indent=0))


def render_speed(note):
    rows = [r for r in done("speed") if r["verdict"] == "done"]
    text = ["# Speed, memory, size", "", *([note, ""] if note else []),
            "Best of seven, one process per row; for exports: growth of peak memory in MiB. `bench/tables.py speed`, then `bench/tables.py render`.",
            "Simplifying and running start from what `torch.onnx.export(dynamo=False)` writes; runs take one thread on either side.", "",
            "Versions: " + ", ".join(f"{k} {v}" for k, v in versions().items()) + f". {os.cpu_count()} processors.", ""]
    for task, ways in TASKS.items():
        text += [f"## {task}", "", "| model | " + " | ".join(ways) + " |", "|---|" + "---|" * len(ways)]
        for item in SPEED:
            found = {r["way"].split(": ")[1]: r for r in rows if r["item"] == item and r["way"].startswith(task + ":")}
            if not found:
                continue
            cells = [f"{r['ms']:g} ms" + (f", {r['mib']:g} MiB" if task == "export" else "") + (f", {r['nodes']} nodes, {r['bytes'] / 1e6:.1f} MB" if "nodes" in r else "")
                     if (r := found.get(w)) else "" for w in ways]
            text.append(f"| {item} | " + " | ".join(cells) + " |")
        text.append("")
    (DOCS / "speed.md").write_text("\n".join(text) + "\n")
    (DOCS / "speed.json").write_text(json.dumps({"versions": versions(), "rows": rows}, indent=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["coverage", "speed", "render", "row"])
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--note", default="", help="a sentence that render puts on top: how the rows came about")
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
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
        if options.again:
            kept = [r for r in done("coverage") if not (r["way"].startswith("cameo") and r["verdict"] in ("wrong", "refused", "no end"))]
            (ROWS / "coverage.jsonl").write_text("".join(json.dumps(r) + "\n" for r in kept))
        items = [i for i in coverage_items() if options.only in i]
        work_through("coverage", [(i, w) for i in items for w in WAYS], options.limit, options.seconds)
    elif options.what == "speed":
        work_through("speed", [(i, f"{task}: {w}") for i in SPEED if options.only in i for task, ways in TASKS.items() for w in ways], options.limit, options.seconds)
    else:
        DOCS.mkdir(parents=True, exist_ok=True)
        render_coverage(options.note)
        render_speed(options.note)
        plots.speed()
        plots.coverage()


if __name__ == "__main__":
    main()
