"""cameo run against onnxruntime, in one run on one machine: medians of interleaved rounds.

usage: bench/run_speed.py [--models a,b] [--threads 1,2] [--rounds N] [--repeat N] [--folder DIR] [--start-up] [--cpu] [--lengths A..B]
                          [--before OLDER_CAMEO]
Needs torch, onnxruntime, transformers and torchvision (its Python half is enough). The ratio is onnxruntime's time over
Cameo's: above 1, Cameo is faster. Outputs are compared as well. --start-up times the whole way from the file to the
first output instead. --before: a last column has the older command's time over this one's, in the same rounds. --models narrow:
f16, bf16 and bytes. --lengths: BERT, where every run has another number of tokens.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import onnxruntime

from run_models import NAMES, NARROW, ROOT, export


def peer_session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def ours(cameo, path, inputs, threads, repeat, out):
    told = subprocess.run([cameo, "run", str(path), "--inputs", str(inputs), "--threads", str(threads), "--repeat", str(repeat), "--json", "-o", str(out)],
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(told.stdout)


def compare(cameo, path, inputs, threads, rounds, repeat, cpu, before=None):
    clock, key = (time.process_time, "cpu_ms") if cpu else (time.perf_counter, "median_ms")
    try: session = peer_session(path, threads)
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented: session = None  # it has no kernels for bf16
    if not session: return math.nan, ours(cameo, path, inputs, threads, repeat + 1, os.devnull)[key], math.nan, math.nan
    feed = {i.name: a for i, a in zip(session.get_inputs(), numpy.load(inputs).values())}
    wanted = session.run(None, feed)
    mine, theirs, older = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "y.npz")
        for _ in range(rounds):
            mine.append(ours(cameo, path, inputs, threads, repeat + 1, out)[key])
            if before: older.append(ours(before, path, inputs, threads, repeat + 1, out)[key])
            session.run(None, feed)
            times = []
            for _ in range(repeat):
                start = clock()
                session.run(None, feed)
                times.append((clock() - start) * 1000)
            theirs.append(statistics.median(times))
        got = list(numpy.load(out).values())
    error = max(float(numpy.abs(a - b).max() / max(1e-9, numpy.abs(b).max())) for a, b in zip(got, wanted))
    return statistics.median(theirs), statistics.median(mine), error, statistics.median(older) if older else math.nan


def lengths(cameo, path, threads, sizes, rounds, cpu):
    """Every run has another number of tokens, on either side."""
    clock, key = (time.process_time, "cpu_ms") if cpu else (time.perf_counter, "median_ms")
    first, last = map(int, sizes.split(".."))
    session = peer_session(path, threads)
    mine, theirs = [], []
    for _ in range(rounds):
        told = subprocess.run([cameo, "run", str(path), "--random", "0", "--dim", f"seq={sizes}", "--threads", str(threads), "--repeat", str(last - first + 1), "--json"],
                              check=True, stdout=subprocess.PIPE, text=True)
        mine.append(json.loads(told.stdout)[key])
        times = []
        for n in range(first, last + 1):
            x = numpy.ones((1, n), numpy.int64)
            start = clock()
            session.run(None, {"x": x})
            times.append((clock() - start) * 1000)
        theirs.append(statistics.median(times))
    return statistics.median(theirs), statistics.median(mine)


def start_up(cameo, path, inputs, threads, rounds):
    arrays = list(numpy.load(inputs).values())
    mine, theirs = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        session = peer_session(path, threads)
        session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays)})
        theirs.append((time.perf_counter() - start) * 1000)
        del session
        time.sleep(0.1)  # its threads spin for a while
        start = time.perf_counter()
        subprocess.run([cameo, "run", str(path), "--inputs", str(inputs), "--threads", str(threads)], check=True, stdout=subprocess.DEVNULL)
        mine.append((time.perf_counter() - start) * 1000)
    return statistics.median(theirs), statistics.median(mine)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--models", default=",".join(NAMES))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--folder", help="where models are kept between runs")
    parser.add_argument("--start-up", action="store_true")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of time on the clock: for one thread on a busy machine")
    parser.add_argument("--lengths", metavar="A..B")
    parser.add_argument("--before", help="an older build of the command")
    args = parser.parse_args()
    if args.lengths: args.models = "bert_base_any"
    if args.models == "narrow": args.models = ",".join(NARROW)
    folder = pathlib.Path(args.folder or tempfile.mkdtemp())
    print(f"| model | threads | onnxruntime | Cameo | ratio | largest difference / largest output "
          f"|{' before / now |' if args.before else ''}\n|---|---|---|---|---|---|{'---|' if args.before else ''}", flush=True)
    ratios, changes = [], []
    for name in args.models.split(","):
        path = export(name, folder, args.cameo)
        for threads in map(int, args.threads.split(",")):
            older = math.nan
            if args.lengths: (peer, mine), error = lengths(args.cameo, path, threads, args.lengths, args.rounds, args.cpu), ""
            elif args.start_up: (peer, mine), error = start_up(args.cameo, path, folder / f"{name}.npz", threads, args.rounds), ""
            else: peer, mine, error, older = compare(args.cameo, path, folder / f"{name}.npz", threads, args.rounds, args.repeat, args.cpu, args.before)
            if not math.isnan(peer): ratios.append(peer / mine)
            print(f"| {name} | {threads} | {peer:.2f} ms | {mine:.2f} ms | {peer / mine:.2f} "
                  f"| {error if error == '' else f'{error:.1e}'} |{f' {older / mine:.3f} |' if args.before else ''}", flush=True)
            if not math.isnan(older): changes.append(older / mine)
    if changes: print(f"\nbefore / now: geometric mean {math.exp(statistics.fmean(map(math.log, changes))):.3f}, least {min(changes):.3f}")
    print(f"\ngeometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f}, least {min(ratios):.2f}")


main()
