"""Differences that are known and why: tests/attack/known.txt."""
import pathlib
import re

LIST = pathlib.Path(__file__).with_name("known.txt")


class Known:
    """Each line is `PATTERN: reason`; the pattern is searched for in a finding's key, line and detail. Lines that were never used are reported."""

    def __init__(self, path=LIST):
        self.rows = []
        for line in path.read_text().splitlines() if path.is_file() else []:
            if line.strip() and not line.startswith("#"):
                pattern, reason = line.split(": ", 1)
                self.rows.append((re.compile(pattern), reason))
        self.used = set()

    def covers(self, finding):
        for pattern, _ in self.rows:
            if pattern.search(f"{finding.key} | {finding.what} | {finding.detail[:1000]}"):
                self.used.add(pattern.pattern)
                return True
        return False
