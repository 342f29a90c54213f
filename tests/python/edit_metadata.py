#!/usr/bin/env python3
"""`cameo edit --set-metadata` changes no node byte: over ONNX's node models, and over files of opsets 7 to 12.

  python tests/python/edit_metadata.py [--cameo build/release/cameo] [--cases FOLDER] [--every N]

The files of older opsets are the node models as onnx.version_converter or `cameo convert` makes them, where they can.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]


def node_bytes(raw):
    return [n.SerializeToString(deterministic=True) for n in onnx.load_from_string(raw).graph.node]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--cases", default=str(ROOT / "build/release/conformance/onnx-node-tests"))
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    counts = {"same": 0, "older same": 0, "older not convertible": 0}
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        out, old = pathlib.Path(scratch) / "out.onnx", pathlib.Path(scratch) / "old.onnx"

        def edited(path, what):
            done = subprocess.run([args.cameo, "-q", "edit", str(path), str(out), "--set-metadata", "k=v"], capture_output=True, text=True)
            before = path.read_bytes()
            if done.returncode:
                wrong.append(f"{what}: {done.stderr.strip()[:300]}")
            elif node_bytes(before) != node_bytes(out.read_bytes()):
                wrong.append(f"{what}: a node changed")
            # The bytes as they stand, not as protobuf reads them: every node is found again in the same order.
            elif any(n not in out.read_bytes() for n in node_bytes(before)):
                wrong.append(f"{what}: a node's bytes are not found")
            else:
                return True
            return False

        models = sorted(pathlib.Path(args.cases).glob("*/model.onnx"))[:: args.every]
        for i, path in enumerate(models):
            counts["same"] += edited(path, path.parent.name)
            target = 7 + i % 6
            done = subprocess.run([args.cameo, "-q", "convert", str(path), str(old), "--opset", str(target)], capture_output=True)
            if done.returncode:
                counts["older not convertible"] += 1
            else:
                counts["older same"] += edited(old, f"{path.parent.name} at opset {target}")
    for line in wrong:
        print("wrong:", line)
    print(f"{len(models)} models:", ", ".join(f"{v} {k}" for k, v in counts.items()), f"({len(wrong)} wrong)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
