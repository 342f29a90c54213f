"""Exports and simplified models of this build and of an older one, byte by byte: a change of the sources that should change nothing.

usage: bench/same_bytes.py OLDER_CAMEO [--cameo PATH] [--folder DIR]
Archives: those of against_before.py in --folder, as it leaves them, .pt2 archives there, and the samples of tests/data. Each is exported,
exported without simplification, and that is simplified. Provenance is left out. Ends with the counts and with status 1 where bytes differ.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import node_counts

DATA = node_counts.ROOT / "tests" / "data"


def flags(archive):
    name = archive.name.split(".")[0]
    if archive.suffix == ".pt" and name in node_counts.VISION + node_counts.TEXT:
        size = 299 if name == "inception_v3" else 224
        return ["--input", "x=i64[batch,16]" if name in node_counts.TEXT else f"x=f32[batch,3,{size},{size}]"]
    example = archive.with_suffix(".npz")
    return ["--inputs", str(example)] if archive.suffix == ".pt" and example.is_file() else []


def written(cameo, folder, archive):
    """{what: bytes or the exit status} of one archive."""
    out = {}

    def run(what, *words):
        target = folder / f"{what}.onnx"
        target.unlink(missing_ok=True)
        done = subprocess.run([cameo, "-q", *words, "--no-provenance"], capture_output=True, cwd=folder)
        out[what] = target.read_bytes() if done.returncode == 0 else done.returncode
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
    args = p.parse_args()
    archives = sorted(DATA.glob("**/*.pt")) + sorted(DATA.glob("**/*.pt2"))
    if args.folder:
        archives += sorted(a for a in args.folder.glob("*.pt*") if a.stat().st_size)
    same = refused = 0
    different = []
    with tempfile.TemporaryDirectory() as folder:
        for archive in archives:
            before, now = (written(cameo, pathlib.Path(folder), archive) for cameo in (args.before, args.cameo))
            for what in before.keys() | now.keys():
                if before.get(what) != now.get(what):
                    different.append(f"{archive.name} {what}")
                elif isinstance(now[what], bytes):
                    same += 1
                else:
                    refused += 1
    for name in sorted(different):
        print("differs:", name)
    print(f"{len(archives)} archives: {same} files the same, {len(different)} differ, {refused} are refused by both")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
