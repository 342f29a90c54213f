"""The settings of include/cameo: what the other faces call alike has the same default there, and C can set every member."""
import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Functions of the package and verbs of the command, and the settings that they fill.
PYTHON = {"quantize": "QuantizeSettings", "quantize_weights": "WeightSettings", "quantize_dynamic": "DynamicSettings", "to_half": "ConvertSettings",
          "verify": "VerifySettings", "simplify": "SimplifySettings", "prepare": "PrepareSettings", "fix_lint": "LintFixSettings"}
VERBS = {"quantize_flags.h": ["QuantizeSettings", "WeightSettings"], "export_flags.h": ["ExportSettings"], "simplify_flags.h": ["SimplifySettings"],
         "prepare_flags.h": ["PrepareSettings"], "convert.cpp": ["ConvertSettings"]}
# What JSON cannot have: functions, memory, models. C has other arguments or functions for most of them.
NOT_JSON = {"kernels", "progress", "samples", "lowerings", "borrowed", "on_finding", "examples", "trace", "models", "into", "profile"}
NOT_C = {"NmsSettings": "words of append_nms", "CompareSettings": "compare_values is not in C"}


def settings():
    """{struct: {member: default as C++ has it}}"""
    found = {}
    for header in sorted((ROOT / "include" / "cameo").glob("*.h")):
        for name, body in re.findall(r"struct (\w+Settings) \{(.*?)\n\};", header.read_text(), re.DOTALL):
            plain = re.sub(r"//[^\n]*|\benum class \w+[^{]*\{[^}]*\}", "", body)
            for declaration in plain.split(";"):
                while "<" in declaration and declaration != (shorter := re.sub(r"<[^<>]*>", "", declaration)):
                    declaration = shorter
                typed = re.match(r"\s*(?:[\w:]+) (.*)", declaration, re.DOTALL)
                if not typed or "(" in typed[1].split("=")[0]:
                    continue
                for member in re.split(r",(?![^{]*\})", typed[1]):
                    called, _, value = (part.strip() for part in member.partition("="))
                    if re.fullmatch(r"\w+", called):
                        found.setdefault(name, {})[called] = value
    return found


def literal(text):
    """A default as a value of Python; None where it is none."""
    text = {"true": "True", "false": "False"}.get(text, text)
    try:
        return ast.literal_eval(text.rstrip("F") if re.fullmatch(r"[\d.]+F", text) else text)
    except (ValueError, SyntaxError):
        return None


def python_has_the_same_defaults():
    known = settings()
    stub = ast.parse((ROOT / "python" / "cameo" / "__init__.pyi").read_text())
    for function in stub.body:
        if not isinstance(function, ast.FunctionDef) or function.name not in PYTHON:
            continue
        members = known[PYTHON[function.name]]
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults):
            wanted = literal(members.get(argument.arg, ""))
            given = default.value if isinstance(default, ast.Constant) else None
            if wanted is not None and given not in (None, "", wanted):
                yield f"cameo.{function.name}({argument.arg}={given!r}), and {PYTHON[function.name]} has {wanted!r}"


def help_has_the_same_defaults():
    known = settings()
    constants = dict(re.findall(r"constexpr int (\w+) = (\d+);", (ROOT / "include" / "cameo" / "opset.h").read_text()))
    for file, structs in VERBS.items():
        for flag, words in re.findall(r'\{"([a-z-]+)", (?:0|\'\w\'),\s*"[^"]*",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', (ROOT / "cli" / file).read_text()):
            told = re.search(r"default: ([\d.e-]+)", "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', words)))
            for struct in structs if told else ():
                default = known[struct].get(flag.replace("-", "_"), "")
                wanted = literal(constants.get(default.removeprefix("opsets::"), default))
                if wanted and float(told[1].rstrip(".")) != float(wanted):
                    yield f"cli/{file} says that --{flag} is {told[1]} by default, and {struct} has {wanted}"


def c_can_set_every_member():
    rows = (ROOT / "src" / "api" / "settings_json.cpp").read_text()
    for struct, members in settings().items():
        for member in members if struct not in NOT_C else ():
            if member not in NOT_JSON and f"CAMEO_ROW({struct}, {member})" not in rows:
                yield f"src/api/settings_json.cpp has no row for {struct}::{member}"


def the_reader_finds_members():
    known = settings()
    for struct, member, default in (("QuantizeSettings", "min_db", "20"), ("QuantizeSettings", "kernels", "{}"), ("ExportSettings", "output_names", "{}"),
                                    ("WeightSettings", "method", '"rtn"'), ("VerifySettings", "atol", "{}"), ("ExportSettings", "opset", "opsets::standard")):
        if known.get(struct, {}).get(member) != default:
            yield f"{struct}::{member} is {known.get(struct, {}).get(member)!r}, not {default!r}"


CHECKS = [python_has_the_same_defaults, help_has_the_same_defaults, c_can_set_every_member, the_reader_finds_members]
