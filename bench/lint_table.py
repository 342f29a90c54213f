#!/usr/bin/env python3
"""docs/tables/lint.md and its Chinese twin, made of docs/tables/lint.json, where lint_truth.py --report puts its scores.

usage: lint_table.py
"""
import json
import pathlib

import plots

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
FILE = DOCS / "tables" / "lint.json"
# The labels in order, with what they mean.
SECTIONS = {
    "mended": ("The models that the rules were mended with",
               "204 exports of published architectures and the trained models of published packages up to 24 MB. On models like these the rules know what to look for.",
               "修正规则时用过的模型", "204 个已发布结构的导出模型，以及已发布软件包中不超过 24 MB 的训练好的模型。规则就是在这些模型上修正的。"),
    "first before": ("First held-out set, before mending",
                     "Published architectures of timm, torchvision and transformers that no rule was mended with, and small networks of PyTorch's own layers.",
                     "第一组未见过的模型，修正之前", "timm、torchvision、transformers 中修正规则时从未用过的结构，以及由 PyTorch 自带的层组成的小网络。"),
    "first after": ("The same set, after mending", "Rules were mended by class of fault, not by model.", "同一组模型，修正之后", "按故障类别修正规则，而不是按模型修正。"),
    "second": ("Second held-out set, measured once after that", "Other architectures and other layers. Nobody looked at these before.",
               "第二组未见过的模型，修正之后只测一次", "另一些结构、另一些层。此前没有看过它们的结果。"),
    "second after": ("The second set, after mending with it", "What the second set taught is in the rules now, too.", "第二组模型，用它修正之后", "第二组模型暴露的问题也已写入规则。"),
    "third": ("Third held-out set, measured once", "Architectures and networks that nobody had looked at, at opsets 11 to 21, a third of them exported by PyTorch's own two exporters.",
              "第三组未见过的模型，只测一次", "此前没有看过的结构与网络，opset 11 到 21，其中三分之一由 PyTorch 自带的两个导出器导出。"),
    "third after": ("The third set, after mending with it", "What the third set taught is in the rules now, too.", "第三组模型，用它修正之后", "第三组模型暴露的问题也已写入规则。"),
    "fourth": ("Fourth held-out set, measured once", "Other networks again, at opsets 12 to 22, some in half precision and in 8 bits, some exported by PyTorch's own two exporters.",
               "第四组未见过的模型，只测一次", "又一批不同的网络，opset 12 到 22，部分为半精度或 8 位，部分由 PyTorch 自带的两个导出器导出。"),
    "fourth after": ("The fourth set, after mending with it", "Each fault was brought down to a single model of a few nodes, which was tried in the engine in several forms.",
                     "第四组模型，用它修正之后", "每个故障都缩小到只有几个节点的模型，并以多种形式在引擎中尝试。"),
    "fifth": ("Fifth held-out set, measured once after that", "Smaller, and written before the rules were mended with the fourth.",
              "第五组未见过的模型，之后只测一次", "规模较小，在用第四组修正规则之前写成。"),
    "sixth": ("Sixth held-out set, measured once after that", "Other kinds, other sizes, batches of two, pictures that are not square, at opsets 9 to 24.",
              "第六组未见过的模型，之后只测一次", "另一些类型与尺寸，批量为 2，图片不是正方形，opset 9 到 24。"),
    "fix": ("`--fix`, target by target", "Targets that are not listed were not tried on this set. Core ML cannot be among them: coremltools reads no ONNX since version 6.",
            "`--fix`，逐个目标", "没有列出的目标未在这组模型上试过。Core ML 不在其中：coremltools 从第 6 版起不再读取 ONNX。"),
}
WORDS = {
    "en": {"intro": "# Lint against the truth\n\n`bench/lint_truth.py`: each model is loaded and run by each engine, and its outputs are compared with PyTorch's, or for trained models with those of "
           "`cameo run`.\n*Fails*: the engine refuses the model, crashes, or gives other numbers. *Predicted*: `cameo lint` finds an error. Precision: how many of the predicted ones fail.\n"
           "Recall: how many of those that fail were predicted.\n",
           "head": "| engine | models | fails | predicted | right | precision | recall |", "export": "exports", "trained": "trained models", "all": "all",
           "fixes": "`cameo lint --fix`, on those models with errors that it was tried on; outputs are compared after each step:\n",
           "fix head": "| engine | with errors | without any after it | share |", "measured": "Measured on {}.",
           "every target": "`bench/lint_fix.py`: {} exports of the third set. Numbers are compared in ONNX Runtime.",
           "every head": "| target | with errors | without any after it | with some left | share | other numbers |"},
    "zh": {"intro": "# lint 与实测对照\n\n`bench/lint_truth.py`：每个模型都在每个引擎中加载并运行，输出与 PyTorch 比较；训练好的模型与 `cameo run` 的结果比较。\n"
           "*失败*：引擎拒绝该模型、崩溃，或结果不同。*预测*：`cameo lint` 报告错误。精确率：预测会失败的模型中确实失败的比例。召回率：失败的模型中被预测到的比例。\n",
           "head": "| 引擎 | 模型 | 失败 | 预测 | 正确 | 精确率 | 召回率 |", "export": "导出的模型", "trained": "训练好的模型", "all": "合计",
           "fixes": "`cameo lint --fix`，只统计已尝试的有错误的模型；每一步都比较输出：\n", "fix head": "| 引擎 | 有错误 | 修复后无错误 | 比例 |", "measured": "测量日期：{}。",
           "every target": "`bench/lint_fix.py`：第三组的 {} 个导出模型。数值在 ONNX Runtime 中比较。",
           "every head": "| 目标 | 有错误 | 修复后无错误 | 仍有错误 | 比例 | 数值改变 |"},
}


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def row(name, s):
    right = s["all"] - s["fail"] - s["found"] + 2 * s["both"]
    return f"| {name} | {s['all']} | {s['fail']} | {s['found']} | {right} | {share(s['both'], s['found'])} | {share(s['both'], s['fail'])} |"


def scores_text(section, language):
    words = WORDS[language]
    lines = [words["head"], "|---" * 7 + "|"]
    lines += [row(f"{s['engine']} {s['version']}, {words[s['kind']]}", s) for s in section["scores"]]
    lines.append(row(words["all"], {k: sum(s[k] for s in section["scores"]) for k in ("all", "fail", "found", "both")}))
    if section["fixes"]:
        lines += ["", words["fixes"], words["fix head"], "|---" * 4 + "|"]
        for f in section["fixes"]:
            count = f["clean"] + f["left"] + f["failed"]
            lines.append(f"| {f['engine']} | {count} | {f['clean']} | {100 * f['clean'] / count:.0f} % |")
    return "\n".join([*lines, "", words["measured"].format(section["date"])]) + "\n"


def fixes_text(section, language):
    """Every target: how many had errors, how many have none after it, and how many gave other numbers."""
    words = WORDS[language]
    lines = [words["every target"].format(section["models"]), "", words["every head"], "|---" * 6 + "|"]
    for f in section["fixes"]:
        count = f["clean"] + f["left"] + f["failed"]
        lines.append(f"| {f['engine']} | {count} | {f['clean']} | {f['left'] + f['failed']} | {share(f['clean'], count)} | {f['changed']} |")
    return "\n".join([*lines, "", words["measured"].format(section["date"])]) + "\n"


def page(sections, language):
    text = [WORDS[language]["intro"]]
    for label, (title, remark, chinese_title, chinese_remark) in SECTIONS.items():
        if label in sections:
            head, said = (title, remark) if language == "en" else (chinese_title, chinese_remark)
            body = scores_text(sections[label], language) if sections[label]["scores"] else fixes_text(sections[label], language)
            text.append("\n\n".join(part for part in (f"## {head}", said, body) if part))
    return "\n".join(text)


def render():
    plots.lint()
    sections = json.loads(FILE.read_text())
    for language, folder in (("en", DOCS), ("zh", DOCS / "zh")):
        (folder / "tables" / "lint.md").write_text(page(sections, language), encoding="utf-8")


def record(label, section):
    if label not in SECTIONS:
        raise SystemExit(f"the labels are {', '.join(SECTIONS)}")
    sections = json.loads(FILE.read_text()) if FILE.exists() else {}
    FILE.write_text(json.dumps({**sections, label: section}, indent=1) + "\n")
    render()


if __name__ == "__main__":
    render()
