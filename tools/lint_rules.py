#!/usr/bin/env python3
"""Writes the index of lint's findings, docs/lint-rules.md and its Chinese twin, from src/api/lint/targets.

usage: tools/lint_rules.py [--check]      --check changes nothing and ends with status 1 where a page is not current

A new row there needs this tool.
"""
import re
import sys

import generated

TARGETS = generated.ROOT / "src" / "api" / "lint" / "targets"
FIRST = "onnxruntime onnxruntime-web openvino opencv ncnn tensorrt rknn qnn coreml tflite any".split()
INTRO = {
    "en": "# Findings of lint\n\nEvery rule of [lint](lint.md) by target, as the command prints it: `error[lint.tensorrt.resize-cubic]` is the row `tensorrt.resize-cubic`.\n"
          "`cameo lint --list-rules --target NAME` has the conditions, too. Rules of *any target* have the name of the target that was asked for.\n\n"
          "Three codes have no row, because they are measured with the engine itself, operator by operator: `NAME.operator` (the target does not support it), `NAME.type` (not on this\n"
          "element type) and `NAME.form` (not with these ranks, axes, attributes or constants). Their cures are `--fix` or another formulation.\n",
    "zh": "# lint 的提示\n\n[lint](lint.md) 的全部规则，按目标排列，文字与命令输出一致：`error[lint.tensorrt.resize-cubic]` 就是 `tensorrt.resize-cubic` 这一行。\n"
          "`cameo lint --list-rules --target NAME` 还会列出条件。\n"
          "*任何目标* 的规则，输出时带的是所查目标的名字。\n\n"
          "有三种错误码没有对应的行，因为它们是在引擎上逐个算子实测得到的：`NAME.operator`（目标不支持该算子）、`NAME.type`（不支持这种元素类型）、`NAME.form`（不支持这样的秩、轴、属性或常量）。\n"
          "解决办法是 `--fix`，或换一种写法。\n",
}
HEAD = {"en": "| code | severity | meaning | cure | known from |", "zh": "| 错误码 | 级别 | 含义（命令的原文） | 解决办法 | 来源 |"}
SEVERITIES = {"en": {"error": "error", "warning": "warning", "note": "note"}, "zh": {"error": "错误", "warning": "警告", "note": "提示"}}
ANY = {"en": "any target", "zh": "任何目标"}
BY_FIX = {"expand", "widen", "f32", "float-grid", "outputs", "attr", "fixed-sizes"}  # cures that only `lint --fix` applies
OTHERS = {"simplify": "`cameo simplify`", "inline": "`cameo convert --inline`"}
MEASURED = {"en": "measured", "zh": "实测"}


def read(path):
    """(title, {key: address}, [cells of each row])"""
    title, sources, rows = path.stem, {}, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line[0] == "#":
            continue
        word, _, rest = line.partition(" ")
        if word == "title":
            title = rest
        elif word == "source":
            key, _, address = rest.partition(" ")
            sources[key] = address
        elif word not in ("version", "wants"):
            rows.append([cell.strip() for cell in line.split(" | ")])
    return title, sources, rows


def cure_text(cure, target):
    name, _, rest = cure.partition(" ")
    if cure == "-":
        return ""
    if name == "say:":
        return rest
    if name == "opset":
        return f"`cameo convert --opset {rest}`"
    if name in BY_FIX:
        return f"`cameo lint --target {target} --fix`"
    return OTHERS.get(name) or sys.exit(f"tools/lint_rules.py does not know the cure '{cure}'")


def source_text(key, sources, language):
    if key == "measured":
        return MEASURED[language]
    address = sources.get(key, "")
    return f"[{key}]({address})" if address.startswith("https://") else address


def page(language):
    text = "<!-- made by tools/lint_rules.py from src/api/lint/targets -->\n" + INTRO[language]
    for name in FIRST:
        title, sources, rows = read(TARGETS / f"{name}.txt")
        text += f"\n## {ANY[language] if name == 'any' else title}\n\n{HEAD[language]}\n|---|---|---|---|---|\n"
        for code, severity, _, what, source, cure in rows:
            target = "NAME" if name == "any" else name
            what = re.sub(r"\{op\}", "OP", what)
            text += f"| `{target}.{code}` | {SEVERITIES[language][severity]} | {what} | {cure_text(cure, target)} | {source_text(source, sources, language)} |\n"
    return text


def main():
    missing = {path.stem for path in TARGETS.glob("*.txt")} - set(FIRST)
    if missing:
        sys.exit(f"tools/lint_rules.py does not list {', '.join(sorted(missing))}")
    return generated.write("lint_rules.py", {"lint-rules.md": page("en"), "zh/lint-rules.md": page("zh")})


if __name__ == "__main__":
    sys.exit(main())
