#!/usr/bin/env python3
"""What cameo.export(module) costs beyond capture itself, for resnet18 and bert-base (random weights).

usage: bench/python_export.py [--repeats 7] [--threads N] [--only TEXT] [--capture trace,export] [--json FILE]

Single captures (torch.jit.trace without and with its own check, torch.export.export) and calls of cameo.export take turns. "result": f=None,
verify=False: the model in memory. "verified": PyTorch's answer against the engine's, which runs the model once more. "saved": not
verified, written to a file and checked by ONNX's rules; `cp` of that file is what writing so many bytes costs here.
Times are the least of all repeats, in ms; "beyond" is what cameo.export takes outside capture, over capture, in the same call.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tables  # noqa: E402

MODELS = ["torchvision/resnet18", tables.BERT_BASE]


def measured(item, capture, repeats, folder):
    import torch

    import cameo
    module, make = tables.built(item)
    module.eval()
    x = make(1)
    path = os.path.join(folder, "m.onnx")
    alone = {"trace": {"capture": lambda: torch.jit.trace(module, (x,), check_trace=False), "capture, checked": lambda: torch.jit.trace(module, (x,))},
             "export": {"capture": lambda: torch.export.export(module, (x,))}}[capture]
    ours = {"result": lambda: cameo.export(module, (x,), None, capture=capture, verify=False),
            "verified": lambda: cameo.export(module, (x,), None, capture=capture),
            "saved": lambda: cameo.export(module, (x,), path, capture=capture, verify=False)}
    calls = alone | ours | {"cp": lambda: shutil.copyfile(path, path + ".copy")}
    times, beyond = {name: [] for name in calls}, {name: [] for name in ours}
    with torch.no_grad():
        for turn in range(repeats + 1):  # the first warms up
            for name, call in calls.items():
                start = time.perf_counter()
                result = call()
                took = time.perf_counter() - start
                if turn:
                    times[name].append(took * 1e3)
                    if name in beyond:
                        beyond[name].append((took - result.seconds["capture"]) / result.seconds["capture"])
    row = {"model": item, "capture": capture, "ms": {n: round(min(t), 1) for n, t in times.items()}}
    row["beyond"] = {n: round(sorted(b)[len(b) // 2], 3) for n, b in beyond.items()}
    row["whole over capture"] = {n: round(min(times[n]) / min(times["capture"]) - 1, 3) for n in ours}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--capture", default="trace,export")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    torch = tables.quiet()
    torch.set_num_threads(options.threads or os.cpu_count())
    rows = []
    for item in MODELS:
        for capture in options.capture.split(","):
            if options.only in item:
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(measured(item, capture, options.repeats, folder))
                print(json.dumps(rows[-1]), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"versions": tables.versions(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
