"""Cameo's whole process on a .pt2 archive against torch.onnx.export(dynamo=True) of the same ExportedProgram.

usage: bench/pt2_speed.py [--cameo PATH] [--models a,b] [--repeat N] [--json FILE]

Processor time (user and system) of one thread, which the load of the machine hardly changes; 50 times faster is the aim.
Cameo reads the archive, exports, checks and writes; the call of PyTorch gets the program in memory, does not verify,
and writes. Both write the weights, of which large models mostly consist: cp of the archive bounds what can be had ("dynamo /
cp" is the ratio of a program that does nothing but write the bytes). Beyond cp there is the turning of weights: PyTorch
keeps those of linear layers transposed. Twice cp's time counts as reached. With --weights in-place the model refers to the archive's bytes and
nothing is copied but what was computed (batch norms that went into convolutions). Best of --repeat turns for Cameo, one for PyTorch, which is given a first, smaller export to warm up.
Every export also runs under `prlimit --data` of 80 MB more than the largest tensor.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import export_speed as bench


def measure(name, args, folder):
    import torch
    net, x = bench.network(name)
    program = torch.export.export(net, (x,))
    source, ours = os.path.join(folder, f"{name}.pt2"), os.path.join(folder, "ours.onnx")
    torch.export.save(program, source)
    command = [args.cameo, "-q", "export", source, "-o", ours]
    beside = os.path.join(folder, "beside.onnx")
    copy = os.path.join(folder, "copy.pt2")
    ways = {"cameo": lambda: subprocess.run(command, check=True), "cp": lambda: subprocess.run(["cp", source, copy], check=True),
            "in place": lambda: subprocess.run([args.cameo, "-q", "export", source, "-o", beside, "--weights", "in-place"], check=True)}
    cpu, wall = bench.best(ways, args.repeat, fresh=[ours, copy, beside])
    theirs = bench.best({"dynamo": lambda: torch.onnx.export(program, (), os.path.join(folder, "theirs.onnx"), dynamo=True, verbose=False)}, 1)
    cpu.update(theirs[0])
    wall.update(theirs[1])
    limit = 80 * bench.MB + max(t.nbytes for t in net.state_dict().values())
    return {"model": name, "archive_bytes": os.path.getsize(source), "ms": {k: round(v * 1000, 1) for k, v in cpu.items()}, "wall_ms": {k: round(v * 1000, 1) for k, v in wall.items()},
            "ratio": round(cpu["dynamo"] / cpu["cameo"], 1), "wall_ratio": round(wall["dynamo"] / wall["cameo"], 1),
            "in_place_ratio": round(cpu["dynamo"] / cpu["in place"], 1), "times_cp": round(cpu["cameo"] / cpu["cp"], 2), "wall_times_cp": round(wall["cameo"] / wall["cp"], 2),
            "bound": round(cpu["dynamo"] / cpu["cp"], 1), "within_data_limit": bench.under_limit(command, limit)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cameo", default=os.environ.get("CAMEO", str(bench.ROOT / "build/release/cameo")))
    parser.add_argument("--models", default="resnet18,mobilenet_v3_large,swin_t,bert")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", help="the results, in full")
    args = parser.parse_args()
    import torch
    torch.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        small = torch.nn.Linear(4, 4).eval()
        torch.onnx.export(torch.export.export(small, (torch.randn(1, 4),)), (), os.path.join(folder, "first.onnx"), dynamo=True, verbose=False)
        print("| model | archive | cameo | wall clock | cp | times cp | wall clock | dynamo=True "
              "| wall clock | dynamo / cameo | wall clock | dynamo / cp | dynamo / cameo, weights in place | within 80 MB + largest tensor |\n|" + "---|" * 14, flush=True)
        for name in args.models.split(","):
            row = measure(name, args, folder)
            rows.append(row)
            ms, wall = row["ms"], row["wall_ms"]
            print(f"| {name} | {row['archive_bytes'] / bench.MB:.0f} MB | {ms['cameo']:.0f} ms | {wall['cameo']:.0f} ms | {ms['cp']:.0f} ms "
                  f"| {row['times_cp']} | {row['wall_times_cp']} | {ms['dynamo'] / 1000:.2f} s | {wall['dynamo'] / 1000:.2f} s "
                  f"| {row['ratio']} | {row['wall_ratio']} | {row['bound']} | {row['in_place_ratio']} | {'yes' if row['within_data_limit'] else 'NO'} |", flush=True)
    if args.json: pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(0 if all(row["within_data_limit"] and (row["ratio"] >= 50 or row["ms"]["cameo"] <= 2 * row["ms"]["cp"]) for row in rows)
             else "an export is not 50 times faster, or needs more memory than it may")


if __name__ == "__main__":
    main()
