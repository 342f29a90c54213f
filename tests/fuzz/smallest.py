"""Chooses inputs that together reach all that a merge of libFuzzer reached: from its control file, to a folder.

usage: smallest.py CONTROL_FILE TO
"""
import pathlib
import shutil
import sys


def parse(path):
    """Per input: where it is, how long it is, and the edges it reaches. A feature is an edge and how often, in 8 steps."""
    lines = pathlib.Path(path).read_text().splitlines()
    count = int(lines[0])
    files = lines[2:2 + count]
    sizes, edges = {}, {}
    for line in lines[2 + count:]:
        kind, index, *rest = line.split()
        if kind == "STARTED":
            sizes[int(index)] = int(rest[0])
        elif kind == "FT":
            edges[int(index)] = {int(feature) // 8 for feature in rest}
    return [(files[i], sizes[i], edges[i]) for i in edges]


def choose(inputs):
    missing = set().union(*(edges for _, _, edges in inputs))
    chosen = []
    while missing:
        best = max(inputs, key=lambda i: len(i[2] & missing) / (i[1] + 30))
        if not best[2] & missing:
            break
        missing -= best[2]
        chosen.append(best)
    return chosen


def main(control, to):
    folder = pathlib.Path(to)
    folder.mkdir(parents=True, exist_ok=True)
    inputs = parse(control)
    chosen = choose(inputs)
    for path, _, _ in chosen:
        name = pathlib.Path(path).name
        shutil.copy(path, folder / name)
    print(f"{len(chosen)} of {len(inputs)} inputs, {sum(size for _, size, _ in chosen)} bytes")


main(*sys.argv[1:])
