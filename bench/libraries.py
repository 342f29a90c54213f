#!/usr/bin/env python3
"""Hand-written parts against the libraries that do the same: lines, bytes of machine code, speed (docs/dependencies.md).

  bench/libraries.py [--build build/release] [--root DIR]      prints two tables

Needs a build, g++ and onnx. The libraries are Debian's, as far as they are installed: libre2-dev libssl-dev libpng-dev
libxxhash-dev libsimdjson-dev libprotozero-dev. --root: a folder into which such packages were unpacked (`dpkg -x`).
"""
import argparse
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = {
    "regular expressions": ["src/ops/text/regex*", "src/ops/text/utf8*"],
    "inflate, CRC-32": ["src/formats/deflate_portable.cpp"],
    "PNG": ["src/ops/vision/image_png.cpp"],
    "BMP, PNM": ["src/ops/vision/image_plain.cpp"],
    "TIFF": ["src/ops/vision/image_tiff.cpp"],
    "SHA-256": ["src/support/sha256*"],
    "hash of contents": ["src/support/content_hash*"],
    "operator new": ["cli/memory.cpp"],
    "counting of memory, budgets": ["src/support/budget*"],
    "JSON": ["src/formats/json*"],
    "protobuf": ["src/formats/protobuf*"],
    "zip": ["src/formats/zip*"],
    "pickle": ["src/formats/pickle*"],
    "npy": ["src/formats/npy*"],
    "flags": ["cli/verb.*", "cli/completion.cpp"],
    "numbers as text": ["src/support/number_text*"],
}
LAYERS = ("ops", "kernels", "ir", "formats", "support")
LIBRARIES = {"re2/re2.h": "re2", "openssl/sha.h": "crypto", "png.h": "png", "xxhash.h": "xxhash", "simdjson.h": "simdjson"}


def code_bytes(build, sources):
    """Machine code and constants of the object files."""
    total = 0
    for source in sources:
        for obj in [*build.glob(f"CMakeFiles/cameo_*.dir/{source}.o"), *build.glob(f"cli/CMakeFiles/cameo_verbs.dir/{pathlib.Path(source).name}.o")]:
            total += int(subprocess.run(["size", obj], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()[0])
    return total


def sizes(build):
    print("| part | lines | bytes of code |\n|---|---|---|")
    for name, patterns in PARTS.items():
        files = sorted(f for p in patterns for f in ROOT.glob(p))
        lines = sum(len(f.read_text().splitlines()) for f in files)
        print(f"| {name} | {lines} | {code_bytes(build, [f.relative_to(ROOT) for f in files if f.suffix == '.cpp'])} |")


def sample_document(path):
    """A JSON text of 20 MB: the graph of an exported program, many times."""
    with zipfile.ZipFile(io.BytesIO((ROOT / "tests/data/pt2/convolutions.pt2").read_bytes())) as archive:
        text = archive.read(next(n for n in archive.namelist() if n.endswith(".json") and b'"graph"' in archive.read(n))).decode()
    path.write_text("[" + ",".join([json.dumps(json.loads(text))] * (20_000_000 // len(text))) + "]")


def sample_model(path):
    """100,000 nodes, a third of them with attributes."""
    from onnx import TensorProto, helper
    value = helper.make_tensor_value_info
    nodes = [helper.make_node(op, [f"layer.{i}.output"], [f"layer.{i + 1}.output"], name=f"layer.{i}/{op}", **({"axis": -1} if op == "Softmax" else {}))
             for i in range(100_000) for op in [("Relu", "Sigmoid", "Softmax")[i % 3]]]
    graph = helper.make_graph(nodes, "g", [value("layer.0.output", TensorProto.FLOAT, ["n", 8])], [value("layer.100000.output", TensorProto.FLOAT, ["n", 8])])
    path.write_bytes(helper.make_model(graph).SerializeToString())


def speeds(build, root):
    include = [root / "usr/include"] if root else []
    places = [*include, pathlib.Path("/usr/include")]
    libraries = [name for header, name in LIBRARIES.items() if any((p / header).is_file() for p in places)]
    found = [f"-L{root}/usr/lib/x86_64-linux-gnu", f"-Wl,-rpath,{root}/usr/lib/x86_64-linux-gnu"] if root else []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sample_document(folder / "document.json")
        sample_model(folder / "model.onnx")
        subprocess.run(["g++", "-std=c++20", "-O2", f"-I{ROOT}/src", f"-I{ROOT}/include", *(f"-isystem{p}" for p in include), "-x", "c++", ROOT / "bench/libraries.cc",
                        "-x", "none", "-o", folder / "libraries", *found, *(build / f"libcameo_{layer}.a" for layer in LAYERS), *(f"-l{name}" for name in libraries),
                        "-lz", "-ldl", "-lpthread"], check=True)
        print("\n| what | ours | library | unit |\n|---|---|---|---|")
        sys.stdout.flush()
        done = subprocess.run([folder / "libraries", folder / "document.json", folder / "model.onnx"], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            print(line if line.startswith("#") else "| " + " | ".join(line.replace("|", "\\|").split("\t")) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--root", type=pathlib.Path, default=os.environ.get("CAMEO_LIBRARIES"))
    args = parser.parse_args()
    sizes(args.build.resolve())
    speeds(args.build.resolve(), args.root and args.root.resolve())


if __name__ == "__main__":
    main()
