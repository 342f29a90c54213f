#!/usr/bin/env python3
"""Writes the index of all findings, docs/error-index.md and its Chinese twin, from docs/site/errors.txt.

usage: tools/errors.py [--check]      --check changes nothing and ends with status 1 where a page is not current

A new code in the sources needs a line there (tests/repository/documents.py looks for it), then this tool.
"""
import re
import sys

import generated

ROOT = generated.ROOT
ROWS = ROOT / "docs" / "site" / "errors.txt"
AREAS = {
    "use": {"en": "wrong use", "zh": "用法"},
    "file": {"en": "files", "zh": "文件"},
    "bug": {"en": "bugs of Cameo", "zh": "Cameo 自身的缺陷"},
    "write": {"en": "writing", "zh": "写文件"},
    "budget": {"en": "limits", "zh": "资源限额"},
    "value": {"en": "numbers and tensors", "zh": "数值与张量"},
    "dim": {"en": "symbolic sizes", "zh": "符号尺寸"},
    "text": {"en": "the text form", "zh": "文本格式"},
    "graph": {"en": "the graph", "zh": "图结构"},
    "model": {"en": "ONNX models", "zh": "ONNX 模型"},
    "infer": {"en": "types and shapes", "zh": "形状与类型推断"},
    "eval": {"en": "reference kernels", "zh": "参考内核计算"},
    "check": {"en": "check", "zh": "模型检查"},
    "lower": {"en": "PyTorch operators", "zh": "算子映射"},
    "export": {"en": "export", "zh": "导出"},
    "build": {"en": "models built in C++", "zh": "用 C++ 构建模型"},
    "pt2": {"en": "torch.export archives", "zh": "torch.export 归档"},
    "stage": {"en": "programs", "zh": "分阶段执行"},
    "run": {"en": "runs", "zh": "运行"},
    "convert": {"en": "convert", "zh": "转换"},
    "edit": {"en": "edit", "zh": "编辑"},
    "verify": {"en": "verify", "zh": "精度对齐"},
    "simplify": {"en": "simplify", "zh": "化简"},
    "quantize": {"en": "quantize", "zh": "量化"},
    "lint": {"en": "lint", "zh": "部署检查"},
    "prepare": {"en": "prepare", "zh": "部署准备"},
    "view": {"en": "view", "zh": "画图"},
}
INTRO = {"en": "# Error index\n\nEvery finding has a code, and every code is here with its usual cause and a cure. The message itself has the place and the numbers;\n"
               "[errors.md](errors.md) explains its parts and the exit codes. Search this page for the code in the brackets: `error[export.frozen-dim]`.\n"
               "Codes that begin with `lint.` and the name of a target are on [a page of their own](lint-rules.md).\n",
         "zh": "# 错误码索引\n\n每条提示都有一个错误码，这里列出全部错误码的常见原因和解决办法。具体的位置和数值在报错里；\n"
               "报错的组成和退出码见 [errors.md](errors.md)。用方括号里的错误码在本页搜索即可：`error[export.frozen-dim]`。\n"
               "以 `lint.` 加目标名开头的错误码另有[一页](lint-rules.md)。\n"}
HEAD = {"en": "| code | cause | cure |", "zh": "| 错误码 | 原因 | 解决办法 |"}


def rows():
    """[(code, {language: (cause, cure)}), ...], cures that begin with @ written out."""
    common, found = {}, []
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        if not line or line[0] == "#":
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if line[0] == "@":
            common[parts[0]] = {"en": parts[1], "zh": parts[2]}
            continue
        if len(parts) != 5:
            sys.exit(f"{ROWS.relative_to(ROOT)}: '{line}' has {len(parts)} parts, not 5")
        cures = {}
        for language, cure in (("en", parts[2]), ("zh", parts[4])):
            cures[language] = re.sub(r"@(?!cameo)[a-z]+", lambda m, said=language: common[m[0]][said], cure)
        found.append((parts[0], {"en": (parts[1], cures["en"]), "zh": (parts[3], cures["zh"])}))
    return sorted(found)


def page(language):
    text, last = "<!-- made by tools/errors.py from docs/site/errors.txt -->\n" + INTRO[language], ""
    for code, words in rows():
        area = code.split(".")[0]
        if area != last:
            text += f"\n## {area}: {AREAS[area][language] if area in AREAS else area}\n\n{HEAD[language]}\n|---|---|---|\n"
            last = area
        text += f"| `{code}` | {words[language][0]} | {words[language][1]} |\n"
    return text


if __name__ == "__main__":
    sys.exit(generated.write("errors.py", {"error-index.md": page("en"), "zh/error-index.md": page("zh")}))
