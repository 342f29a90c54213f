"""Exports of published architectures, traced and scripted, by this build and by an older one: nodes and processor time.

usage: bench/against_before.py OLDER_CAMEO [--cameo PATH] [--models a,b] [--folder DIR] [--repeat N] [--simplify FILE.onnx|FOLDER...]
Random weights; the models of node_counts.py. Archives stay in --folder. Status 1 where a model has more nodes than before, does not export
any more, or the sum of the times is over 3 % larger. Needs torch, torchvision (its Python half is enough) and transformers.
--simplify: `cameo simplify` of these files instead, which needs none of them.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import warnings

import node_counts
import onnx_nodes
from export_speed import best

warnings.filterwarnings("ignore")


def archive_of(name, capture, folder):
    """The archive, made on the first call; None where PyTorch cannot make it."""
    import torch
    path = folder / f"{name}.{capture}.pt"
    if path.exists():
        return path if path.stat().st_size else None
    torch.manual_seed(0)
    model, inputs = node_counts.build(name)
    try:
        with torch.no_grad():
            (torch.jit.trace(model, inputs, check_trace=False) if capture == "traced" else torch.jit.script(model)).save(str(path))
    except Exception:
        path.write_bytes(b"")
        return None
    return path


def told(label, folder, times, sums):
    """Prints a row for before.onnx and now.onnx in the folder, adds the times; whether there are more nodes than before."""
    counts = {w: sum(onnx_nodes.in_file(str(folder / f"{w}.onnx")).values()) for w in times}
    for w in times:
        sums[w] += times[w]
    more = counts["now"] > counts["before"]
    print(f"{label}{counts['before']:14}{counts['now']:7}{times['before']:16.3f}{times['now']:8.3f}{'  LARGER' if more else ''}", flush=True)
    return more


def simplify(args):
    files = [f for path in args.simplify for f in (sorted(path.glob("**/*.onnx")) if path.is_dir() else [path])]
    sums, bad = {"before": 0.0, "now": 0.0}, 0
    print(f"{'model':44}{'nodes before':>14}{'now':>7}{'seconds before':>16}{'now':>8}")
    with tempfile.TemporaryDirectory() as made:
        for file in files:
            done = {}

            def run(which, cameo, file=file, done=done):
                out = pathlib.Path(made) / f"{which}.onnx"
                done[which] = subprocess.run([cameo, "-q", "simplify", str(file), str(out)], capture_output=True).returncode
            times, _ = best({"before": lambda: run("before", args.before), "now": lambda: run("now", args.cameo)}, args.repeat)
            if any(done.values()):
                bad += done["now"] != 0 and done["before"] == 0
                print(f"{file.name:44}  status {done['before']} before, {done['now']} now")
                continue
            bad += told(f"{file.name:44}", pathlib.Path(made), times, sums)
    return verdict(sums, bad)


def verdict(sums, bad):
    ratio = sums["now"] / sums["before"]
    print(f"processor time of all: {sums['before']:.2f} s before, {sums['now']:.2f} s now ({100 * (ratio - 1):+.1f} %)")
    return 1 if bad or ratio > 1.03 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("--cameo", default=str(node_counts.ROOT / "build/release/cameo"))
    parser.add_argument("--models", default=",".join(node_counts.VISION + node_counts.TEXT))
    parser.add_argument("--folder")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--simplify", nargs="+", type=pathlib.Path, default=[])
    args = parser.parse_args()
    if args.simplify:
        return simplify(args)
    folder = pathlib.Path(args.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    sums, bad = {"before": 0.0, "now": 0.0}, 0
    print(f"{'model':28}{'nodes before':>14}{'now':>7}{'seconds before':>16}{'now':>8}")
    for name in args.models.split(","):
        for capture in ("traced", "scripted"):
            archive = archive_of(name, capture, folder)
            if archive is None:
                continue
            done = {}

            def export(which, cameo, done=done, name=name, archive=archive):
                done[which] = node_counts.export_ours(cameo, name, archive, folder / f"{which}.onnx")

            times, _ = best({"before": lambda: export("before", args.before), "now": lambda: export("now", args.cameo)}, args.repeat)
            if done["before"].returncode:
                print(f"{name + ' ' + capture:28}  before: {done['before'].stderr.strip().splitlines()[0][:90]}; now: status {done['now'].returncode}")
                continue
            if done["now"].returncode:
                bad += 1
                print(f"{name + ' ' + capture:28}  NO MORE: {done['now'].stderr.strip()[:200]}")
                continue
            bad += told(f"{name + ' ' + capture:28}", folder, times, sums)
    return verdict(sums, bad)


if __name__ == "__main__":
    sys.exit(main())
