#!/usr/bin/env python3
"""examples/notebooks/*.ipynb, made of the pages docs/notebooks/*.md and their Chinese twins: text and python blocks become cells.

usage: notebooks.py [--check | --run]

--run also runs the cells, in a folder of their own, and keeps what they print; it needs the package `cameo`, torch and onnxruntime. Otherwise outputs stay as they were
where the code is the same. --check writes nothing, and ends with status 1 where a notebook is not made of its page.
"""
import ast
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET = ROOT / "examples" / "notebooks"
CELL = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r" ?\[[^\]]*\]\([^)]*\.ipynb\)[^\n]*")
SITE = re.compile(r"\[([^\]]*)\]\((?![a-z]+:)[^)]*\)")


def pages():
    for chinese in (False, True):
        for page in sorted((ROOT / "docs" / ("zh" if chinese else "") / "notebooks").glob("*.md")):
            yield page, TARGET / f"{page.stem}{'.zh' if chinese else ''}.ipynb"


def cells_of(page):
    """The text between blocks, without links to pages, and the code of the blocks."""
    text, at = page.read_text(encoding="utf-8"), 0
    pieces = []
    for block in CELL.finditer(text):
        pieces += [("markdown", text[at:block.start()]), ("code", block[1])]
        at = block.end()
    pieces.append(("markdown", text[at:]))
    return [(kind, (SITE.sub(r"\1", LINK.sub("", source)) if kind == "markdown" else source).strip()) for kind, source in pieces if source.strip()]


def outputs_of(sources):
    """What each cell prints, its last expression included, as a notebook shows it."""
    names, found = {"__name__": "__main__"}, []
    for source in sources:
        printed = io.StringIO()
        tree = ast.parse(source)
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "cell", "exec"), names)
            if last is not None and (value := eval(compile(last, "cell", "eval"), names)) is not None:
                print(repr(value))
        found.append(printed.getvalue())
    return found


def ran(sources):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.chdir(folder)
        try:
            return outputs_of(sources)
        finally:
            os.chdir(here)


def lines(text):
    return text.splitlines(keepends=True)


def notebook(cells, outputs):
    made, number = [], 0
    for at, (kind, source) in enumerate(cells):
        cell = {"cell_type": kind, "id": f"cell-{at}", "metadata": {}, "source": lines(source)}
        if kind == "code":
            text = outputs.get(source, "")
            number += 1
            cell |= {"execution_count": number, "outputs": [{"name": "stdout", "output_type": "stream", "text": lines(text)}] if text else []}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def outputs_before(file):
    if not file.exists():
        return {}
    return {"".join(c["source"]): "".join("".join(o["text"]) for o in c["outputs"]) for c in json.loads(file.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"}


def main():
    stale, done = [], {}
    for page, file in pages():
        cells = cells_of(page)
        sources = tuple(source for kind, source in cells if kind == "code")
        if "--run" in sys.argv:
            if sources not in done:
                done[sources] = dict(zip(sources, ran(sources)))
            outputs = done[sources]
        else:
            outputs = outputs_before(file)
        text = json.dumps(notebook(cells, outputs), indent=1, ensure_ascii=False) + "\n"
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(f"{file.relative_to(ROOT)} is not made of {page.relative_to(ROOT)}: run tools/notebooks.py")
    print("\n".join(stale), end="\n" if stale else "")
    sys.exit(bool(stale))


if __name__ == "__main__":
    main()
