#!/usr/bin/env python3
"""Plots of the committed tables: docs/tables/*.svg from docs/tables/*.json. Readable on light and on dark pages: each has a background of its own.

usage: plots.py

Needs only Python's standard library. bench/tables.py and bench/lint_truth.py write the tables.
"""
import collections
import json
import pathlib
from xml.sax.saxutils import escape

TABLES = pathlib.Path(__file__).resolve().parents[1] / "docs" / "tables"
STYLE = ("<style>text{fill:#1a202c}.back{fill:#ffffff;stroke:#cbd5e0}.ours{fill:#2b6cb0}.other{fill:#a0aec0}.third{fill:#dd6b20}"
         "@media(prefers-color-scheme:dark){text{fill:#e2e8f0}.back{fill:#1a202c;stroke:#4a5568}.ours{fill:#63b3ed}.other{fill:#718096}.third{fill:#f6ad55}}</style>")
LABEL, WIDTH, ROW = 250, 330, 24
SETS = {"first before": "unseen, before mending", "first after": "the same, mended", "second": "second unseen set",
        "third": "third unseen set, other tools", "third after": "the third, mended", "mended": "mended with"}


def drawing(width, height, parts):
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' font-family='sans-serif' font-size='13'>{STYLE}"
            f"<rect class='back' x='0.5' y='0.5' width='{width - 1}' height='{height - 1}' rx='6'/>{''.join(parts)}</svg>\n")


def text(x, y, words, more=""):
    return f"<text x='{x}' y='{y}'{more}>{escape(words)}</text>"


def bar(x, y, width, kind):
    return f"<rect class='{kind}' x='{x}' y='{y}' width='{max(1, width):.0f}' height='17'/>"


def bars(title, values, unit):
    """Bars, one per row: [(label, value)]. Those of Cameo stand out."""
    high = max([v for _, v in values] or [1])
    parts = [text(10, 22, title, " font-weight='bold'")]
    for i, (label, value) in enumerate(values):
        y, length = 36 + ROW * i, WIDTH * value / high
        parts += [text(10, y + 13, label), bar(LABEL, y, length, "ours" if label.startswith("cameo") else "other"), text(LABEL + length + 8, y + 13, f"{value:g}{unit}")]
    return drawing(680, 48 + ROW * len(values), parts)


def grouped(title, groups, names, unit):
    """Several bars per row: {label: [value per name]}."""
    high = max(v for values in groups.values() for v in values)
    kinds = ("ours", "other", "third")
    parts, y = [text(10, 22, title, " font-weight='bold'")], 36
    for i, name in enumerate(names):
        parts += [bar(10, y, 17, kinds[i]), text(34, y + 13, name)]
        y += ROW
    for label, values in groups.items():
        parts.append(text(10, y + 13, label))
        for kind, value in zip(kinds, values):
            parts += [bar(LABEL, y, WIDTH * value / high, kind), text(LABEL + WIDTH * value / high + 8, y + 13, f"{value:g}{unit}")]
            y += 20
        y += 8
    return drawing(680, y + 8, parts)


def write(name, svg):
    (TABLES / f"{name}.svg").write_text(svg, encoding="utf-8")


def speed():
    """Per model how many times longer others take."""
    found = collections.defaultdict(dict)
    for row in json.loads((TABLES / "speed.json").read_text())["rows"]:
        task, way = row["way"].split(": ")
        found[task].setdefault(row["item"], {})[way] = row["ms"]
    for task, items in found.items():
        ways = list(dict.fromkeys(w for times in items.values() for w in times))
        ours, others = ways[0], ways[1:3]
        groups = {item.split("/")[1]: [round(times[w] / times[ours], 1) for w in (ours, *others)] for item, times in items.items() if all(w in times for w in (ours, *others))}
        write(f"speed-{task}", grouped(f"{task}: time, Cameo = 1", groups, [ours, *others], "x"))


def coverage():
    by_item = collections.defaultdict(dict)
    for row in json.loads((TABLES / "coverage.json").read_text())["rows"]:
        by_item[row["item"]][row["way"]] = row["verdict"]
    ways = list(dict.fromkeys(w for verdicts in by_item.values() for w in verdicts))
    for name, is_sample in (("models", False), ("operator", True)):
        usable = [v for item, v in by_item.items() if item.startswith("sample/") == is_sample and len(v) == len(ways) and "unusable" not in v.values()]
        right = [(w, sum(v[w] == "right" for v in usable)) for w in sorted(ways, key=lambda w: (not w.startswith("cameo"), w))]
        write(f"coverage-{name}", bars(f"{len(usable)} {'operator samples' if is_sample else 'models'}: exported rightly", right, ""))


def lint():
    groups = {}
    sections = json.loads((TABLES / "lint.json").read_text())
    for label, words in SETS.items():
        if label in sections:
            fail, found, both = (sum(s[k] for s in sections[label]["scores"]) for k in ("fail", "found", "both"))
            groups[words] = [round(100 * both / found, 1), round(100 * both / fail, 1)]
    write("lint", grouped("cameo lint against six engines: percent", groups, ["precision: predicted failures that fail", "recall: failures that were predicted"], " %"))


if __name__ == "__main__":
    speed()
    coverage()
    lint()
