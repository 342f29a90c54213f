"""Line coverage of the readers by folder, from llvm-cov's summary. Ends with status 1 below what we promise."""
import json
import pathlib
import sys

PROMISED = 80.0
FOLDERS = ["src/formats", "src/frontends/onnx", "src/frontends/text", "src/frontends/torchscript"]


def lines_of(path):
    """The lines of a file that no target links: all that are neither empty nor comment."""
    stripped = (line.strip() for line in path.read_text().splitlines())
    return sum(1 for line in stripped if line and not line.startswith("//"))


def main(report):
    root = pathlib.Path.cwd()
    measured = {}
    for entry in json.loads(pathlib.Path(report).read_text())["data"][0]["files"]:
        measured[pathlib.Path(entry["filename"]).resolve()] = entry["summary"]["lines"]
    total = covered = 0
    for folder in FOLDERS:
        count = hit = 0
        files = []
        for path in sorted((root / folder).rglob("*.cpp")):
            lines = measured.get(path.resolve()) or {"count": lines_of(path), "covered": 0}
            count, hit = count + lines["count"], hit + lines["covered"]
            files.append((100 * lines["covered"] / max(lines["count"], 1), path.relative_to(root)))
        print(f"{folder:28} {100 * hit / max(count, 1):5.1f} %  of {count} lines")
        for share, path in sorted(files):
            if share < PROMISED:
                print(f"    {str(path):48} {share:5.1f} %")
        total, covered = total + count, covered + hit
    share = 100 * covered / max(total, 1)
    print(f"{'all readers':28} {share:5.1f} %  of {total} lines; at least {PROMISED:.0f} % is promised")
    return 0 if share >= PROMISED else 1


sys.exit(main(sys.argv[1]))
