#!/usr/bin/env python3
"""Writes down which ONNX operators each torch operator becomes: src/api/generated/lowered_operators.h, the table behind
`cameo ops`, and with a rebuilt command docs/operators.md.

usage: tools/operators.py [--build DIR] [REPORT.json ...]
       tools/operators.py --docs [--build DIR]

What is seen comes from four places: the lowerings called on made-up arguments (tests/operators), the calls of
tests/text/lower, the archives of tests/data/export, and reports that `cameo export --report` wrote (tests/torch/opinfo.py keeps them in $CAMEO_REPORTS).
What the table has already stays while the lowering exists. Nothing in it is kept by hand.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src" / "api" / "generated" / "lowered_operators.h"
DOCS = ROOT / "docs" / "operators.md"
# Archives whose inputs must be given.
SCRIPTED = {"branches": ["x=f32[b,3]"], "search": ["x=f32[b,3]"], "counted": ["x=f32[b,3]", "n=3"], "convolutions_scripted": ["x=f32[b,3,16,16]"],
            "arguments": ["x=f32[b,3]", "n=3"], "state": ["x=f32[b,3]"], "selected": ["x=f32[b,3]"], "custom": None,
            "quantized_recurrent": ["x=f32[t,b,4]"], "half_recurrent": ["x=f32[t,b,4]"],
            "structures": ["images.0=f32[b,3]", "images.1=f32[b,3]", "extra.scale=f32[]"]}


def old_table():
    return {name: (int(opset), set(ops.split())) for name, opset, ops in re.findall(r'\{"([^"]+)", (-?\d+), "([^"]*)"\}', TABLE.read_text())}


def probed(build):
    calls = [line.removeprefix("before: ") for file in sorted((ROOT / "tests/text/lower").glob("*.test"))
             for line in file.read_text().splitlines(True) if line.startswith("before: ")]
    probe = build / "tests" / "probe_operators"
    lines = subprocess.run([probe], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    lines += subprocess.run([probe, "--given"], input="".join(calls), stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    for line in lines:
        name, opset, ops = line.split("\t")
        yield name, int(opset), set(ops.split())


def reported(build, reports):
    with tempfile.TemporaryDirectory() as folder:
        for archive in sorted((ROOT / "tests" / "data" / "export").glob("*.pt")):
            inputs = SCRIPTED.get(archive.stem, [])
            if inputs is None:
                continue
            report = pathlib.Path(folder) / f"{archive.stem}.json"
            flags = [word for spec in inputs for word in ("--input", spec)]
            subprocess.run([build / "cameo", "-q", "export", archive, "-o", f"{folder}/out.onnx", "--report", report, *flags], stderr=subprocess.DEVNULL)
            if report.exists():  # scripted archives that want inputs of their own tell nothing here
                yield from json.loads(report.read_text())["lowered"].items()
    for report in reports:
        yield from json.loads(pathlib.Path(report).read_text())["lowered"].items()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    if options.docs:
        DOCS.write_text(subprocess.run([build / "cameo", "ops", "--markdown"], stdout=subprocess.PIPE, text=True, check=True).stdout)
        return 0
    told = json.loads(subprocess.run([build / "cameo", "ops", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    rows = {op["name"]: [-1, set()] for op in told if op["support"] == "lowered"}  # -1: never seen at work
    for name, (opset, ops) in old_table().items():
        if name in rows:
            rows[name] = [opset, ops]
    for name, opset, ops in probed(build):
        if name in rows:
            known = [o for o in (opset, rows[name][0]) if o > 0]
            rows[name] = [min(known, default=0), rows[name][1] | ops]
    for name, ops in reported(build, options.reports):
        if name in rows:
            rows[name] = [max(rows[name][0], 0), rows[name][1] | {op for op in ops if "::" not in op}]
    lines = [f'    {{"{name}", {opset}, "{" ".join(sorted(o for o in ops if not o.startswith("ai.cameo.")))}"}},\n' for name, (opset, ops) in sorted(rows.items())]
    head, tail = TABLE.read_text().split("seen_table[] = {\n")[0], "};\n\n}  // namespace cameo::api\n"
    TABLE.write_text(head + "seen_table[] = {\n" + "".join(lines) + tail)
    print(f"{len(lines)} overloads, {sum(not ops for _, ops in rows.values())} without a node. Build, then tools/operators.py --docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
