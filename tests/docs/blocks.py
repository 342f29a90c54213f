#!/usr/bin/env python3
"""The code blocks of the documentation, so that each can be run.

  tests/docs/blocks.py LANGUAGE FOLDER     writes every block of that language into FOLDER, one file each

Every block names its language: `sh` (commands; those of `cameo` are run), `python`, `cpp` (programs with a main are compiled and run),
`cmake`, or `text` for what cannot be run. A comment before a block, `<!-- before: CODE -->`, is run first;
`<!-- not run: REASON -->` leaves a block out. The blocks of a page in docs/notebooks are run together, as the cells of a notebook are.
"""
import pathlib
import re
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = ("sh", "python", "cpp", "cmake", "text")
BLOCK = re.compile(r"(?:^<!-- (before|not run): (.*?) -->\n+)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    page: str
    line: int
    language: str
    code: str
    before: str = ""
    not_run: str = ""

    @property
    def name(self):
        return f"{self.page}:{self.line}"


def pages():
    """All but the Chinese ones, whose blocks are those of their English twins (tests/repository/documents.py)."""
    found = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
    return [page for page in found if not page.is_relative_to(ROOT / "docs" / "zh") and page.name != "README.zh.md"]


def blocks(language=None):
    """All blocks of all pages, or those of one language that are to be run."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if page.parent.name == "notebooks" and language == "python":  # its cells are one program
            yield Block(str(page.relative_to(ROOT)), 1, language, "".join(code for *_, tag, code in BLOCK.findall(text) if tag == language))
            continue
        for found in BLOCK.finditer(text):
            word, said, tag, code = found.groups()
            block = Block(str(page.relative_to(ROOT)), text.count("\n", 0, found.start(3)) + 1, tag, code,
                          said if word == "before" else "", said if word == "not run" else "")
            if language is None or (block.language == language and not block.not_run):
                yield block


def untagged():
    return [f"{b.name}: a block of language '{b.language}'; it has to be one of {', '.join(LANGUAGES)}" for b in blocks() if b.language not in LANGUAGES]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    whole = [b for b in blocks(sys.argv[1]) if sys.argv[1] != "cpp" or "int main(" in b.code]
    for number, block in enumerate(whole):
        (folder / f"{pathlib.Path(block.page).stem}_{number}.{sys.argv[1]}").write_text(block.code)
