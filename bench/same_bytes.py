"""Exports and simplified models of this build and of an older one, byte by byte: a change of the sources that should change nothing.

usage: bench/same_bytes.py OLDER_CAMEO [--cameo PATH] [--folder DIR] [--models FOLDER]
Archives: those of against_before.py in --folder, as it leaves them, .pt2 archives there, and the samples of tests/data. Each is exported,
exported without simplification, and that is simplified; the .onnx files of --models are simplified. Provenance is left out. Of what differs
it tells how: the numbers of nodes, or that only names, order, sizes or contents do. Ends with the counts and with status 1 where bytes differ.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import node_counts
import onnx_nodes

DATA = node_counts.ROOT / "tests" / "data"


def flags(archive):
    name = archive.name.split(".")[0]
    if archive.suffix == ".pt" and name in node_counts.VISION + node_counts.TEXT:
        size = 299 if name == "inception_v3" else 224
        return ["--input", "x=i64[batch,16]" if name in node_counts.TEXT else f"x=f32[batch,3,{size},{size}]"]
    example = archive.with_suffix(".npz")
    return ["--inputs", str(example)] if archive.suffix == ".pt" and example.is_file() else []


def how(cameo, folder, before, now):
    """In what two models differ, in a few words."""
    if not (isinstance(before, bytes) and isinstance(now, bytes)):
        return f"status {before} before, now a model" if isinstance(now, bytes) else f"a model before, now status {now}"
    for name, data in (("before", before), ("now", now)):
        (folder / f"{name}.onnx").write_bytes(data)
    nodes = [onnx_nodes.in_file(str(folder / f"{name}.onnx")) for name in ("before", "now")]
    if nodes[0] != nodes[1]:
        changed = sorted(op for op in nodes[0] | nodes[1] if nodes[0][op] != nodes[1][op])
        return f"{sum(nodes[0].values())} nodes before, {sum(nodes[1].values())} now: " + ", ".join(f"{op} {nodes[0][op]} to {nodes[1][op]}" for op in changed)
    same = subprocess.run([cameo, "-q", "diff", "before.onnx", "now.onnx"], capture_output=True, cwd=folder).returncode == 0
    return f"{sum(nodes[1].values())} nodes, " + ("the same but for names, order or recorded shapes" if same else "attributes, links or contents")


def written(cameo, folder, archive):
    """{what: bytes or the exit status} of one archive or model."""
    out = {}

    def run(what, *words):
        target = folder / f"{what}.onnx"
        target.unlink(missing_ok=True)
        done = subprocess.run([cameo, "-q", *words, "--no-provenance"], capture_output=True, cwd=folder)
        out[what] = target.read_bytes() if done.returncode == 0 else done.returncode
    if archive.suffix == ".onnx":
        run("simplify", "simplify", str(archive), "simplify.onnx")
        return out
    run("export", "export", str(archive), "-o", "export.onnx", *flags(archive))
    run("raw", "export", str(archive), "-o", "raw.onnx", "--no-simplify", *flags(archive))
    if isinstance(out["raw"], bytes):
        run("simplify", "simplify", "raw.onnx", "simplify.onnx")
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("before")
    p.add_argument("--cameo", default=str(node_counts.ROOT / "build/release/cameo"))
    p.add_argument("--folder", type=pathlib.Path)
    p.add_argument("--models", type=pathlib.Path)
    args = p.parse_args()
    archives = sorted(DATA.glob("**/*.pt")) + sorted(DATA.glob("**/*.pt2"))
    if args.folder:
        archives += sorted(a for a in args.folder.glob("*.pt*") if a.stat().st_size)
    archives += sorted(args.models.glob("**/*.onnx")) if args.models else []
    same = refused = 0
    different = []
    with tempfile.TemporaryDirectory() as folder:
        for archive in archives:
            before, now = (written(cameo, pathlib.Path(folder), archive) for cameo in (args.before, args.cameo))
            for what in before.keys() | now.keys():
                if before.get(what) != now.get(what):
                    different.append(f"{archive.name} {what}: {how(args.cameo, pathlib.Path(folder), before.get(what), now.get(what))}")
                    print("differs:", different[-1], flush=True)
                elif isinstance(now[what], bytes):
                    same += 1
                else:
                    refused += 1
    print(f"{len(archives)} archives: {same} files the same, {len(different)} differ, {refused} are refused by both")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
