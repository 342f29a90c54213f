"""Kept cases once more: regressions, and findings of earlier sessions."""
import shutil
from dataclasses import replace

import case as cases
from state import found_places
from worker import HERE


def judged(path, bench):
    """A kept case once more: what it is now, and whether that is what its file expects."""
    case = cases.read(path)
    verdict = bench.judge(case)
    kind = f"refused {verdict.key.split(' ')[0]}" if verdict.kind == "refused" else verdict.kind
    right = case.expect == kind or case.expect == "right or refused" and verdict.kind in ("right", "refused")
    return case, verdict, right


def replay_regressions(bench, known):
    """How many there are, how many are back, and how many of those known.txt has."""
    back = open_ones = 0
    paths = sorted((HERE / "regressions").glob("*.py"))
    for path in paths:
        _, verdict, right = judged(path, bench)
        if right:
            continue
        if known.covers(replace(verdict, key=f"regression {path.stem} {verdict.key}", detail="")):
            open_ones += 1
            continue
        back += 1
        print(f"back: {path.name}: {verdict.kind}: {verdict.what[:160]}")
    return len(paths), back, open_ones


def replay_findings(bench, state):
    """Findings that are gone are removed; gives how many are still there."""
    still = 0
    for place in [*found_places(state.findings), *found_places(state.refusals)]:
        _, verdict, _ = judged(place / "program.py", bench)
        if verdict.kind in ("right", "skipped") or place.parent == state.findings and verdict.kind == "refused":
            print(f"gone: {place.name}: {verdict.kind} {verdict.what[:100]}")
            shutil.rmtree(place)
        elif place.parent == state.findings:
            still += 1
            print(f"still: {place.name}: {verdict.what[:150]}")
    return still
