"""The attack campaign reaches what there is: every function of the C interface, every verb, every setting that C takes."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTACK = ROOT / "tests" / "attack"
# Not called with hostile models, and why.
APART = {"cameo_c_version": "a number", "cameo_version": "a text", "cameo_open_view": "a server that waits for its page: tests/cli/test_view.py", "cameo_view_address": "its address",
         "cameo_run_view": "the same", "cameo_stop_view": "the same", "cameo_release_view": "the same"}
VERBS_APART = {"completion": "reads no file"}


def every_function_of_c_is_attacked():
    declared = set(re.findall(r"CAMEO_API [\w ]+\*? ?\*?(cameo_\w+)\(", (ROOT / "include" / "cameo" / "c.h").read_text()))
    called = set(re.findall(r"\b(cameo_\w+)\(", "".join(p.read_text() for p in (ATTACK / "target").glob("*.[ch]*"))))
    yield from (f"{name} of include/cameo/c.h is called by no row of tests/attack/target" for name in sorted(declared - called - set(APART)))
    yield from (f"{name} is called by tests/attack/target, and tests/repository/campaign.py lists it apart" for name in sorted(called & set(APART)))


def every_row_of_the_target_is_used():
    rows = set(re.findall(r'^ *\{"(\w+)",', "".join(p.read_text() for p in (ATTACK / "target").glob("c_*functions.cpp")), re.MULTILINE))
    rows |= set(re.findall(r'\}, +\{"(\w+)", \w+\}', (ATTACK / "target" / "c_run_functions.cpp").read_text()))
    listed = "".join(re.findall(r"^C_(?:ARCHIVE_)?FUNCTIONS = (.*?)\n\n?(?=\w|$)", (ATTACK / "faces.py").read_text(), re.DOTALL | re.MULTILINE))
    yield from (f"tests/attack/faces.py never calls the row {name}" for name in sorted(rows) if f'"{name}"' not in listed)


def every_verb_is_attacked():
    verbs = set(re.findall(r"\b(\w+)_main\b", (ROOT / "cli" / "verbs.h").read_text()))
    commands = (ATTACK / "commands.py").read_text()
    yield from (f"tests/attack/commands.py makes no command of the verb {verb}" for verb in sorted(verbs - set(VERBS_APART)) if f"def {verb}(" not in commands)


CHECKS = [every_function_of_c_is_attacked, every_row_of_the_target_is_used, every_verb_is_attacked]
