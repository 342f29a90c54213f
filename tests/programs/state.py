"""build/programs: what survives sessions, and how a finding is written down."""
import json
import shlex
import shutil

import reduce


class State:
    """build/programs: survives sessions."""

    def __init__(self, options):
        self.folder = options.state
        if options.fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.findings, self.refusals = self.folder / "findings", self.folder / "refusals"
        for d in (self.findings, self.refusals):
            d.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "state.json"
        self.figures = {"programs": 0, "minutes": 0.0, "next": {}, "counts": {}, "seconds": {}}
        if self.file.is_file():
            self.figures.update(json.loads(self.file.read_text()))

    def save(self):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.figures))
        new.replace(self.file)

    def place(self, verdict, source):
        return (self.refusals if verdict.kind == "refused" else self.findings) / reduce.name_of(verdict, source)


def seen(place, name):
    """Counts one more of this kind; True for the first."""
    try:
        place.mkdir()
        new = True
    except FileExistsError:
        new = False
    with open(place / "seen", "a") as f:
        f.write(name + "\n")
    return new


def write(place, case, verdict):
    (place / "program.py").write_text(case.text())
    archive = "program.pt" if case.capture == "script" else "program.pt2"
    (place / "command.txt").write_text(shlex.join(["cameo", "export", archive, "-o", "program.onnx",
                                                   *(a for f in case.flags for a in ("--input", f))]) + "\n")
    (place / "report.txt").write_text("\n".join([f"kind: {verdict.kind}", f"what: {verdict.what}", f"key: {verdict.key}", f"from: {case.name}", "",
                                                 verdict.detail]))


def found_places(folder):
    return sorted((p for p in folder.iterdir() if (p / "report.txt").is_file()), key=lambda p: (-times(p), p.name))


def times(place):
    return (place / "seen").read_text().count("\n")


def lines_of(place):
    return dict(text.split(": ", 1) for text in (place / "report.txt").read_text(errors="replace").splitlines()[:4] if ": " in text)
