"""What the tools that write pages of the documentation share."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write(tool, pages):
    """Writes {path below docs: text} where it is not current; with --check it tells so instead. Gives the exit status."""
    stale = []
    for name, text in pages.items():
        path = ROOT / "docs" / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(f"{path.relative_to(ROOT)} is not current; run tools/{tool}")
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print("\n".join(stale))
        return 1
    return 0
