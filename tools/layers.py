#!/usr/bin/env python3
"""Measures the C++ sources folder by folder: the table in docs/layers.md, and the rules behind it.

usage: tools/layers.py            print the table and what breaks a rule
       tools/layers.py --write    also put the table into docs/layers.md
       tools/layers.py --check    fail where a rule is broken or the table in docs/layers.md is out of date

The rules: no include goes up the order of CMakeLists.txt's layers, no type or function is defined in two places, no line
is over the column limit outside a table (`// clang-format off`), and a function of over 60 lines has a reason: a line
`// long: REASON` in the comment above it. Sources are read by matching braces, which is enough for what clang-format
laid out. Files in `generated` folders are left out.
"""
import argparse
import collections
import pathlib
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "layers.md"
BEGIN, END = "<!-- tools/layers.py writes this table -->", "<!-- end of the table -->"
COLUMNS = 120
LONG = 60  # lines of a function that needs no reason
TOLERANCE = 0.2  # by how much a count may differ from the table before the table is out of date


@dataclass
class Function:
    name: str
    file: str
    line: int
    length: int
    reason: str = ""


@dataclass
class Definition:
    name: str  # with its namespaces; functions with their parameters
    file: str
    line: int


@dataclass
class Source:
    """What one file defines."""
    file: str
    functions: list = field(default_factory=list)
    definitions: list = field(default_factory=list)
    wide: list = field(default_factory=list)  # lines over the limit
    includes: list = field(default_factory=list)


TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.DOTALL)


def without_text(code):
    """The code with comments, strings, macros and all but the first branch of `#if` blanked; lines stay where they are."""
    def blank(found):
        token = found.group()
        kept = '""' if token[0] in "\"R" else ""
        return kept + re.sub(r"[^\n]", " ", token[len(kept):])
    code = TOKEN.sub(blank, code)
    lines, skipping = code.split("\n"), []
    for i, line in enumerate(lines):
        word = re.match(r"\s*#\s*(\w+)", line)
        continued = i > 0 and lines[i - 1].endswith("\\#")
        if word or continued:
            lines[i] = "\\#" if line.endswith("\\") else ""
            directive = word.group(1) if word and not continued else ""
            if directive in ("if", "ifdef", "ifndef"):
                skipping.append(False)
            elif directive in ("else", "elif") and skipping:
                skipping[-1] = True
            elif directive == "endif" and skipping:
                skipping.pop()
        elif any(skipping):
            lines[i] = ""
    return "\n".join(line.replace("\\#", "") for line in lines)


def end_of_block(code, start):
    """The position after the brace that closes the one at `start`."""
    depth = 0
    for found in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return found.end()
    return len(code)


def end_of_statement(code, start):
    """The position after the semicolon that ends what begins at `start`."""
    depth = 0
    for found in re.compile(r"[(){}\[\];]").finditer(code, start):
        depth += (found.group() in "({[") - (found.group() in ")}]")
        if found.group() == ";" and depth == 0:
            return found.end()
    return len(code)


def collapsed(head):
    """The head without what stands in parentheses and template brackets, so that its outer words can be seen."""
    while True:
        shorter = re.sub(r"\([^()]*\)", "\x01", head)
        shorter = re.sub(r"(?<![<=-])<[^<>;{}]*>(?!=)", "", shorter)
        if shorter == head:
            return head
        head = shorter


def parameters(head):
    """The types of a function's parameters, as far as they tell overloads apart."""
    depth, start = 0, head.index("(")
    for i in range(start, len(head)):
        depth += {"(": 1, ")": -1}.get(head[i], 0)
        if depth == 0:
            inside, rest = head[start + 1:i], head[i + 1:]
            break
    else:
        inside, rest = head[start + 1:], ""
    parts, depth, part = [], 0, ""
    for c in inside + ",":
        depth += c in "(<[{"
        depth -= c in ")>]}"
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    types = [re.sub(r"\s*\b(?!const\b)\w+(\[\w*\])?$", r"\1", re.sub(r"\s*=.*", "", p.strip(), flags=re.DOTALL)).strip() or p.strip() for p in parts if p.strip()]
    return ", ".join(re.sub(r"\s+", " ", t) for t in types) + (") const" if re.match(r"\s*const\b", rest) else ")")


TYPE = re.compile(r"^(?:template\b.*?)?\b(class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:\[\[\w+\]\]\s*|alignas\x01?\s*)*([\w:]+)\s*(?:final\b)?\s*(?::[^:].*)?$", re.DOTALL)
NAME = re.compile(r"([\w:~]*operator\s*(?:[^\w\s\x01(]+|\x01|\w+)|[\w:~]+)\s*\x01")


class Reader:
    def __init__(self, file, text):
        self.source = Source(file)
        self.text = text
        self.lines = text.split("\n")
        self.code = without_text(text)
        self.source.includes = re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)
        self.tables = set()  # lines of a table's rows, and those that clang-format leaves as they are

    def whole(self):
        self.read()
        kept = False
        shown = TOKEN.sub(lambda m: m.group() if m.group()[0] == "/" else '""' + "\n" * m.group().count("\n"), self.text)
        for number, (line, shorter) in enumerate(zip(self.lines, shown.split("\n")), 1):
            kept = "clang-format off" in line or (kept and "clang-format on" not in line)
            if len(shorter) > COLUMNS and not kept and number not in self.tables:
                self.source.wide.append(number)
        return self.source

    def line_of(self, position):
        return self.code.count("\n", 0, position) + 1

    def reason(self, line):
        """What the comment above line `line` says after `long:`."""
        above = []
        while line >= 2 and self.lines[line - 2].lstrip().startswith("//"):
            line -= 1
            above.insert(0, self.lines[line - 1].strip().lstrip("/ "))
        return next((text[len("long: "):] for text in above if text.startswith("long: ")), "")

    def function(self, name, start, end):
        first = self.line_of(start)
        self.source.functions.append(Function(name, self.source.file, first, self.line_of(end - 1) - first + 1, self.reason(first)))

    def lambdas(self, name, start, end):
        """A table's lambdas are functions, each for itself."""
        at = start
        self.tables.update(range(self.line_of(start), self.line_of(end) + 1))
        for found in re.compile(r"\[[&=\w, ]*\]\s*(?:\([^{}]*?\))?\s*(?:mutable\s*)?(?:->[^{};]*)?\{").finditer(self.code, start, end):
            if found.start() >= at:
                at = end_of_block(self.code, found.end() - 1)
                self.function(f"lambda of {name}", found.start(), at)

    def read(self, start=0, end=None, scope=(), hidden=False):
        """The definitions between two positions, in a namespace or class."""
        code = self.code
        end = len(code) if end is None else end
        at = begin = start
        mark = re.compile(r"[{;}]|\b(?:public|private|protected):")
        while found := mark.search(code, at, end):
            if found.group() != "{":
                at = begin = found.end()
                continue
            raw = re.sub(r"__attribute__\(\(.*?\)\)\)?|\(auto\)", lambda m: " " * len(m.group()), code[begin:found.start()])
            at_head = begin + len(raw) - len(raw.lstrip())
            outer = collapsed(raw.strip())
            close = end_of_block(code, found.start())
            if raw.count("(") > raw.count(")") and not re.search(r"(?<![=!<>])=(?!=)", raw[:raw.index("(")]):
                at = close  # a default or an argument within parentheses
                continue
            if re.search(r"\x01\s*(?:noexcept\s*)?:(?!:)[^;]*[\w>]$", outer) and not outer.startswith(("struct ", "class ")):
                at = close  # the brace of a member's initializer; the body follows
                continue
            at = begin = self.block(raw, outer, at_head, found.start(), close, scope, hidden)

    def block(self, raw, outer, start, brace, close, scope, hidden):
        inside = (brace + 1, close - 1)
        if space := re.fullmatch(r"(?:inline\s+)?namespace\s*([\w:]*)", outer):
            inner = scope + tuple(space.group(1).split("::")) if space.group(1) else scope
            self.read(*inside, inner, hidden or not space.group(1))
        elif outer.startswith("extern"):
            self.read(*inside, scope, hidden)
        elif found := TYPE.match(outer):
            name = re.search(rf"\b{re.escape(found.group(2))}(<[^;{{]*?>)?\s*(?:final\b)?\s*(?::[^:].*)?$", raw.strip(), re.DOTALL)
            full = found.group(2) + re.sub(r"\s+", "", name.group(1) if name and name.group(1) else "")
            self.define("::".join((*scope, full)), start, hidden)
            if not found.group(1).startswith("enum"):
                self.read(*inside, (*scope, full), hidden)
        elif outer.startswith("catch"):
            pass  # of a function whose body is a try block
        elif "\x01" in outer and not re.search(r"(?<!operator)(?<![=!<>])=(?!=)", outer.split("\x01")[0]):
            self.function_block(raw, outer, start, brace, close, scope, hidden)
        else:  # a variable with its value
            named = re.search(r"([\w:]+)(?:\[\w*\])*\s*(?:=|$)", outer)
            close = end_of_statement(self.code, start)
            self.lambdas(named.group(1) if named else "?", start, close)
        return close

    def function_block(self, raw, outer, start, brace, close, scope, hidden):
        found = NAME.search(outer)
        name = found.group(1) if found else "?"
        if re.match(r"TEST(_F|_P)?$", name):
            suite, test = re.findall(r"\w+", raw[raw.index("("):])[:2]
            name = f"{name}({suite}, {test})"
        self.function(name, start, close)
        static = re.match(r"(?:\[\[\w+\]\]\s*)?(?:template.*?)?\bstatic\b", outer) and len(scope) and scope[-1][:1].islower()
        head = raw.strip()
        if name.startswith("TEST"):
            return
        constraint = re.sub(r"\s+", " ", " ".join(re.findall(r"^template\s*<.*?>|\brequires\b[^{]*", head, re.DOTALL)))
        where = head.find("operator()") + len("operator()") if name.endswith("\x01") else head.find("operator" if "operator" in name else name)
        self.define("::".join((*scope, name.replace("\x01", "()"))) + "(" + parameters(head[max(where, 0):]) + constraint, start, hidden or bool(static))

    def define(self, name, position, hidden):
        line = self.line_of(position)
        self.source.definitions.append(Definition(f"{self.source.file}: {name}" if hidden else name, self.source.file, line))


def sources(folder):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--", folder], capture_output=True)
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else [str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*")]
    paths = [pathlib.Path(n) for n in sorted(names) if n.endswith((".cpp", ".h", ".c"))]
    return [p for p in paths if "generated" not in p.parts and (ROOT / p).is_file()]


def read(file):
    return Reader(str(file), (ROOT / file).read_text(encoding="utf-8")).whole()


def layers():
    """Each layer with all those that it may include."""
    below = {}
    for name, arguments in re.findall(r"cameo_layer\((\w+)([^)]*)\)", (ROOT / "CMakeLists.txt").read_text()):
        links = re.search(r"LINK ([a-z ]+)", arguments)
        below[name] = {name}.union(*(below[link] for link in (links.group(1).split() if links else [])))
    return below


def upward(source, below):
    """Includes of a layer that the including one does not link."""
    parts = pathlib.Path(source.file).parts
    if parts[0] == "include":
        return [i for i in source.includes if not i.startswith("cameo/")]
    if parts[0] != "src":
        return []
    return [i for i in source.includes if (layer := i.split("/")[0]) != "cameo" and "/" in i and layer in below and layer not in below[parts[1]]]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def twice(all_sources):
    """Names with several definitions. Files of tests/fuzz are programs of their own; CMake takes a file `without_X.cpp`
    in place of the folder X."""
    places = collections.defaultdict(list)
    for source in all_sources:
        path = pathlib.Path(source.file)
        program = path.name if path.parts[:2] == ("tests", "fuzz") else path.parts[1] if path.parts[0] == "tests" else ""
        for d in source.definitions if not path.name.startswith("without_") else []:
            places[program, d.name].append(d)
    return {name: found for name, found in places.items() if len(found) > 1}


HEAD = ("folder", "files", "functions", "median", "95 %", "longest", "which", "wide lines", "upward includes", "defined twice")


def measure():
    below = layers()
    groups = [(f"src/{layer}", f"src/{layer}") for layer in below] + [("include/cameo",) * 2, ("cli",) * 2, ("python/src",) * 2, ("tests",) * 2]
    rows, faults = [], []
    by_group = {title: [read(f) for f in sources(folder)] for title, folder in groups}
    repeated = {title: twice(found) for title, found in by_group.items() if title == "tests"}
    repeated["src"] = twice([s for title, found in by_group.items() if title != "tests" for s in found])
    for title, found in by_group.items():
        files = {s.file for s in found}
        functions = [f for s in found for f in s.functions]
        lengths = [f.length for f in functions] or [0]
        longest = max(functions, key=lambda f: f.length, default=Function("", "", 0, 0))
        again = [d for places in repeated["tests" if title == "tests" else "src"].values() for d in places[1:] if d.file in files]
        up = [(s.file, i) for s in found for i in upward(s, below)]
        wide = [(s.file, line) for s in found for line in s.wide]
        sizes = (int(statistics.median(lengths)), percentile(lengths, 0.95), longest.length)
        rows.append((f"`{title}`", len(files), len(functions), *sizes, f"`{longest.name}`", len(wide), len(up), len(again)))
        faults += [f"{f.file}:{f.line}: {f.name} has {f.length} lines; split it, or give a reason in a comment above it: // long: …"
                   for f in functions if f.length > LONG and not f.reason]
        faults += [f"{f.file}:{f.line}: {f.name} has {f.length} lines and a reason for being long; take the reason out" for f in functions if f.length <= LONG and f.reason]
        faults += [f"{file} includes {i}, which lies above it" for file, i in up]
        faults += [f"{file}:{line} is over {COLUMNS} columns" for file, line in wide]
        faults += [f"{d.file}:{d.line}: {d.name} is defined elsewhere too" for d in again]
    return rows, faults


def table(rows):
    out = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    return "\n".join(out + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def out_of_date(rows, page):
    """Where the page's table differs. Sizes may be a little off, since every change moves them."""
    held = page.split(BEGIN)[-1].split(END)[0]
    for row in rows:
        line = next((found for found in held.splitlines() if found.startswith(f"| {row[0]} |")), None)
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line else []
        if len(cells) != len(row):
            yield f"docs/layers.md has no row for {row[0]}; tools/layers.py --write makes it"
            continue
        for title, cell, now in zip(HEAD[1:], cells[1:], row[1:]):
            if title == "which":
                continue
            loose = title in ("files", "functions", "median", "95 %", "longest") and cell.isdigit()
            if abs(int(cell) - now) > max(2, TOLERANCE * now) if loose else cell != str(now):
                yield f"docs/layers.md says {cell} for {title} of {row[0]}, found {now}; tools/layers.py --write mends it"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows, faults = measure()
    page = PAGE.read_text()
    if options.check:
        faults += out_of_date(rows, page)
    else:
        print(table(rows))
    if options.write:
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{rest.partition(END)[2]}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
