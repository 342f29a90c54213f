"""What the pages of docs/ promise: twins in both languages with the same code, a place in the site, an index of all findings."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tests" / "docs"))

import blocks  # noqa: E402  (after the path is set)

CODE = re.compile(r'"((?:AREAS)\.[a-z0-9][a-z0-9-]*)"')
# Pages that have no Chinese twin yet.
ENGLISH_ONLY = DOCS / "site" / "english-only.txt"


def text(path):
    return path.read_text(encoding="utf-8")


def english():
    return sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in ("zh", "site"))


def chinese():
    return sorted(p.relative_to(DOCS / "zh").as_posix() for p in (DOCS / "zh").rglob("*.md"))


def waiting():
    return {line.strip() for line in text(ENGLISH_ONLY).splitlines() if line.strip() and line[0] != "#"}


def pages_have_twins():
    here, there, without = set(english()), set(chinese()), waiting()
    yield from (f"docs/{p} has no Chinese twin docs/zh/{p}" for p in here - there - without)
    yield from (f"docs/zh/{p} has no English twin docs/{p}" for p in there - here)
    yield from (f"docs/site/english-only.txt still lists {p}, which has a twin now" for p in without & there)


def code_of(page):
    return [(language, code) for _, _, language, code in blocks.BLOCK.findall(text(page))]


def twins_have_the_same_code():
    """The tests run the English blocks; equal ones need no second run."""
    for page in set(english()) & set(chinese()):
        ours, theirs = code_of(DOCS / page), code_of(DOCS / "zh" / page)
        if ours != theirs:
            first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            yield f"docs/zh/{page}: its code block {first + 1} is not that of docs/{page}"


def outline(page):
    prose = blocks.BLOCK.sub("", text(page))
    return [len(marks) for marks in re.findall(r"^(#+) ", prose, re.MULTILINE)]


def twins_have_the_same_outline():
    for page in set(english()) & set(chinese()):
        if "<!-- tables of:" not in text(DOCS / "zh" / page) and outline(DOCS / page) != outline(DOCS / "zh" / page):
            yield f"docs/zh/{page} has other headings than docs/{page}"


def pages_are_listed():
    listed = re.findall(r"^ +(\S+)$", text(DOCS / "site" / "nav.txt"), re.MULTILINE)
    yield from (f"docs/site/nav.txt does not list {p}" for p in set(english()) - set(listed))
    yield from (f"docs/site/nav.txt lists {p} twice" for p in set(listed) if listed.count(p) > 1)


def areas():
    return re.findall(r"^\| `([a-z0-9]+)\.` \|", text(DOCS / "errors.md"), re.MULTILINE)


def codes():
    """Every code of a finding in the sources, with the first file that has it."""
    pattern = re.compile(CODE.pattern.replace("AREAS", "|".join(areas())))
    found = {}
    for folder, ending in (("src", "*.cpp"), ("src", "*.h"), ("src", "*.inc"), ("cli", "*.cpp"), ("cli", "*.h"), ("python/src", "*"), ("python/cameo", "*.py"), ("include", "*.h")):
        for source in sorted((ROOT / folder).rglob(ending)):
            for code in pattern.findall(source.read_text(encoding="utf-8", errors="replace")) if source.is_file() else ():
                found.setdefault(code, source.relative_to(ROOT))
    for code in re.findall(r"`(budget\.[a-z]+)`", text(DOCS / "trust.md")):  # support/budget.h puts these together
        found.setdefault(code, "docs/trust.md")
    return found


NO_CODE = {"model.onnx", "model.json"}  # names of files


def findings_are_indexed():
    found = {code: place for code, place in codes().items() if code not in NO_CODE}
    for page in (DOCS / "error-index.md", DOCS / "zh" / "error-index.md"):
        if not page.is_file():
            yield f"{page.relative_to(ROOT)} is not there"
            continue
        rows = re.findall(r"^\| `([a-z0-9]+\.[a-z0-9-]+)` \|", text(page), re.MULTILINE)
        yield from (f"{page.relative_to(ROOT)} has no row for {code} of {place}" for code, place in found.items() if code not in rows)
        yield from (f"{page.relative_to(ROOT)} has a row for {code}, which no source has" for code in rows if code not in found)
        yield from (f"{page.relative_to(ROOT)} has two rows for {code}" for code in rows if rows.count(code) > 1)


def generated_pages_are_current():
    for tool in ("errors.py", "lint_rules.py", "notebooks.py"):
        done = subprocess.run([sys.executable, ROOT / "tools" / tool, "--check"], capture_output=True, text=True)
        yield from (done.stdout + done.stderr).splitlines() if done.returncode else []


CHECKS = [pages_have_twins, twins_have_the_same_code, twins_have_the_same_outline, pages_are_listed, findings_are_indexed, generated_pages_are_current]
