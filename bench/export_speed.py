"""Cameo's whole process against only the torch.onnx.export call, and against cp of the archive.

usage: bench/export_speed.py [--cameo PATH] [--models a,b] [--large a,b] [--repeat N] [--no-dynamo] [--keep FOLDER] [--json FILE]
                             [--before OLDER_CAMEO]

Times are processor time (user and system), which the load of the machine hardly changes; torch has one thread, so on an
idle machine it is the wall clock's, which --json gives as well. Best of --repeat turns; the exporters of torch get one.
  --models   against torch.onnx.export(dynamo=False), 10 times faster is the aim, and (dynamo=True), 50 times
  --large    against cp of the archive, 1.5 times its time is the aim; by the wall clock, because Cameo turns weights
             on one thread and writes them on another
  --before   an older build of the command takes turns with this one: a last column has its processor time over this one's;
             the exporters of torch are left out, and the status is 1 where the sum of all is over 3 % larger
Every export also runs under a limit on its data segment (`prlimit --data`) of 80 MB more than the largest tensor.
Needs torch, onnxscript, torchvision (its Python half is enough), and transformers for bert.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "torch"))
MB = 1_000_000


def processor_time():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def best(ways, repeat, fresh=()):
    """Seconds of processor and of wall clock for each way; the ways take turns, and write to files that are not there."""
    times = {name: [float("inf")] * 2 for name in ways}
    for _ in range(repeat):
        for name, way in ways.items():
            for file in fresh: pathlib.Path(file).unlink(missing_ok=True)
            wall, processor = time.perf_counter(), processor_time()
            way()
            spent = processor_time() - processor, time.perf_counter() - wall
            times[name] = [min(a, b) for a, b in zip(times[name], spent)]
    return {name: t[0] for name, t in times.items()}, {name: t[1] for name, t in times.items()}


def network(name):
    import torch

    from models import import_torchvision
    tv = import_torchvision()
    if name != "bert": return tv.models.get_model(name, weights=None).eval(), torch.randn(1, 3, 224, 224)
    import transformers

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel(transformers.BertConfig(attn_implementation="eager")).eval()

        def forward(self, x): return self.bert(x).last_hidden_state

    return Net(), torch.randint(0, 1000, (2, 16))


def archive(name, net, x, folder):
    import torch
    path = os.path.join(folder, name + ".pt")
    if not os.path.exists(path): torch.jit.trace(net, x).save(path)
    return path


def under_limit(command, limit):
    done = subprocess.run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)), capture_output=True, text=True)
    return done.returncode == 0


def measure(name, folder, args, large):
    import torch
    net, x = network(name)
    path = lambda f: os.path.join(folder, f)
    with torch.no_grad():
        source = archive(name, net, x, folder)
        command = [args.cameo, "-q", "export", source, "-o", path("ours.onnx")]
        ways = {"cameo": lambda: subprocess.run(command, check=True), "cp": lambda: subprocess.run(["cp", source, path("copy.pt")], check=True)}
        if args.before: ways["before"] = lambda: subprocess.run([args.before, *command[1:]], check=True)
        cpu, wall = best(ways, args.repeat, fresh=[path("ours.onnx"), path("copy.pt")])
        peers = {}
        if not large and not args.before:
            peers["dynamo=False"] = lambda: torch.onnx.export(net, (x,), path("a.onnx"), dynamo=False, opset_version=18)
            if not args.no_dynamo: peers["dynamo=True"] = lambda: torch.onnx.export(net, (x,), path("b.onnx"), dynamo=True, verbose=False)
        theirs = best(peers, 1)
        cpu.update(theirs[0])
        wall.update(theirs[1])
    largest = max(t.nbytes for t in net.state_dict().values())
    limit = 80 * MB + largest
    return {"model": name, "archive_bytes": os.path.getsize(source), "ms": {k: round(v * 1000, 1) for k, v in cpu.items()},
            "wall_ms": {k: round(v * 1000, 1) for k, v in wall.items()},
            "ratios": {f"{k} / cameo": round(v / cpu["cameo"], 1) for k, v in cpu.items() if k.startswith("dynamo")} | {"cameo / cp": round(cpu["cameo"] / cpu["cp"], 2)},
            "wall_ratios": {f"{k} / cameo": round(v / wall["cameo"], 1) for k, v in wall.items() if k.startswith("dynamo")} | {"cameo / cp": round(wall["cameo"] / wall["cp"], 2)},
            "data_limit_bytes": limit, "within_data_limit": under_limit(command, limit)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cameo", default=os.environ.get("CAMEO", str(ROOT / "build/release/cameo")))
    parser.add_argument("--models", default="resnet18,mobilenet_v3_large,swin_t")
    parser.add_argument("--large", default="vit_b_16,bert")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--no-dynamo", action="store_true")
    parser.add_argument("--keep", help="make the archives here, and use those that are here already")
    parser.add_argument("--json", help="the results, in full")
    parser.add_argument("--before", help="an older build of the command")
    args = parser.parse_args()
    import torch
    torch.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        print("| model | archive | cameo | wall clock | cp | wall clock | cameo / cp, wall clock "
              "| dynamo=False | / cameo | dynamo=True | / cameo | within 80 MB + largest tensor |" + (" before / now |" if args.before else "")
              + "\n|" + "---|" * (13 if args.before else 12), flush=True)
        for large, names in ((False, args.models), (True, args.large)):
            for name in filter(None, names.split(",")):
                row = measure(name, folder, args, large)
                rows.append(row)
                ms, wall, r = row["ms"], row["wall_ms"], row["ratios"]
                cells = [name, f"{row['archive_bytes'] / MB:.0f} MB"]
                for way in ("cameo", "cp"): cells += [f"{ms[way]:.0f} ms", f"{wall[way]:.0f} ms"]
                cells.append(row["wall_ratios"]["cameo / cp"])
                for peer in ("dynamo=False", "dynamo=True"): cells += [f"{ms[peer] / 1000:.2f} s", r[f"{peer} / cameo"]] if peer in ms else ["", ""]
                cells.append("yes" if row["within_data_limit"] else "NO")
                if args.before: cells.append(f"{ms['before'] / ms['cameo']:.3f}")
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    if args.json: pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    if not all(row["within_data_limit"] for row in rows): sys.exit("an export needs more memory than it may")
    if args.before:
        before, now = (sum(row["ms"][way] for row in rows) for way in ("before", "cameo"))
        print(f"\nprocessor time of all: {before / 1000:.2f} s before, {now / 1000:.2f} s now ({100 * (now / before - 1):+.1f} %)")
        sys.exit(now > 1.03 * before)


if __name__ == "__main__":
    main()
