#!/usr/bin/env python3
"""Writes a page for every verb of the command, from its help: docs/verbs/VERB.md and its Chinese twin in docs/zh/verbs.

usage: tools/verbs.py [--check] [--cameo build/release/cameo]

--check changes nothing; it prints the pages that are not current and ends with status 1. What the help does not say stands in VERBS:
the verb in Chinese, commands that the tests run (tests/docs/blocks.py says on which files), pages to read on. A verb without a row
gets a page from its help.
"""
import argparse
import pathlib
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclass
class Words:
    chinese: str = ""
    commands: str = ""
    pages: str = ""


VERBS = {
    "export": Words("把 PyTorch 归档文件（TorchScript 或 torch.export）导出为 ONNX，全程不需要 PyTorch",
                    "cameo export examples/digits/digits.pt -o digits.onnx --input 'images=f32[batch,1,8,8]'", "export.md howto/archive.md howto/dynamic-sizes.md"),
    "simplify": Words("化简计算图，结果不变", "cameo simplify net.onnx simple.onnx --check 2", "howto/simplify.md simplify.md simplify-rules.md"),
    "onnxsim": Words("沿用 onnxsim 的参数，由 `cameo simplify` 完成", "cameo onnxsim net.onnx simple.onnx 1", "coming-from.md howto/simplify.md"),
    "quantize": Words("用输入样本把模型量化为 8 位整数", "", "quantize.md"),
    "convert": Words("转换 opset（升级或降级）、转半精度、与文本格式互转",
                     "cameo convert net.onnx net13.onnx --opset 13\ncameo convert net.onnx half.onnx --float f16 --keep-io", "howto/opset.md howto/half-precision.md onnx-files.md"),
    "merge": Words("把两个模型拼成一个，自动协调 opset 和名字", "cameo extract net.onnx head.onnx --to output\ncameo merge net.onnx net.onnx twice.onnx", "howto/edit.md"),
    "extract": Words("截取模型的一部分，存为独立模型", "cameo extract net.onnx part.onnx --to output", "howto/edit.md howto/debug-mismatch.md"),
    "edit": Words("修改名字、形状、节点和权重；各选项按给出的顺序生效", "cameo edit net.onnx named.onnx --rename x=image --set-dim image:0=n", "howto/edit.md"),
    "show": Words("查看模型或归档文件：输入、输出、动态轴、算子、参数量、内存、乘加次数", "cameo show net.onnx\ncameo show examples/digits/digits.pt", "onnx-files.md text-form.md"),
    "view": Words("在浏览器里查看和处理模型；也可存成单个网页文件或图片", "", "page.md"),
    "stats": Words("统计算子、参数量、各数据类型的字节数、乘加次数和内存", "cameo stats net.onnx", "howto/run-and-profile.md"),
    "diff": Words("比较两个模型的结构、属性和权重，与名字无关", "cameo diff before.onnx after.onnx", "howto/edit.md"),
    "explain": Words("解释某条改写规则在哪里生效、在别处为什么没有生效", "cameo explain net.onnx --rule gelu", "howto/simplify.md simplify.md"),
    "ops": Words("查询哪个 ATen 算子会变成哪些 ONNX 算子、从哪个 opset 起支持、不支持的原因", "cameo ops conv2d\ncameo ops Gemm --reverse", "operators.md howto/custom-operators.md"),
    "check": Words("检查模型是否合规，一次列出全部问题", "cameo check net.onnx", "onnx-files.md error-index.md"),
    "infer": Words("符号形状推断与类型推断；推不下去时说明位置和原因", "cameo infer net.onnx typed.onnx", "dims.md"),
    "lint": Words("预测模型在部署目标上会遇到的问题", "cameo lint net.onnx --target onnxruntime,openvino", "lint.md targets/index.md"),
    "prepare": Words("把模型或 PyTorch 归档准备成部署目标想要的样子", "cameo prepare net.onnx ready.onnx --target openvino", "prepare.md lint.md"),
    "verify": Words("精度对齐：比较两个模型，或比较模型与录制好的输出，并指出第一个不一致的值",
                    "cameo verify before.onnx after.onnx --random 1 --dim h=8 --dim w=8", "howto/debug-mismatch.md"),
    "run": Words("在 CPU 上运行模型", "cameo run net.onnx --random 0 --dim h=16 --dim w=16 --repeat 3", "howto/run-and-profile.md engine.md"),
    "completion": Words("生成 shell 自动补全脚本", "cameo completion bash", "verbs/index.md"),
}
INTRO = {"en": ("# The command\n\n`cameo VERB --help` prints what these pages show. Data goes to standard output, findings to standard error; [errors.md](../errors.md) has the\n"
                "exit codes, [trust.md](../trust.md) the budgets that every verb takes.\n", "verb", "what it does"),
         "zh": ("# 命令一览\n\n这些页面的内容与 `cameo VERB --help` 一致。数据写到标准输出，提示和错误写到标准错误；退出码见 [errors.md](../errors.md),\n"
                "每个命令都接受的资源限额见 [trust.md](../trust.md)。\n", "命令", "作用")}
MADE = "<!-- made by tools/verbs.py from the command's help -->\n"


def title(page):
    """The first heading of a page, without its code marks."""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].replace("`", "")
    return page.name


def pages(command):
    """Every page, by its path below docs/."""
    def told(*arguments):
        return subprocess.run([command, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout

    listed = [line.split("\t")[:2] for line in told("--list-verbs").splitlines()]
    rows = {"en": "", "zh": ""}
    for verb, summary in listed:
        words, text = VERBS.get(verb, Words()), told(verb, "--help").rstrip() + "\n"
        says = {"en": summary[0].upper() + summary[1:], "zh": words.chinese or summary}
        for language, folder in (("en", ""), ("zh", "zh/")):
            rows[language] += f"| [`{verb}`]({verb}.md) | {says[language]} |\n"
            on = [p for p in words.pages.split() if (ROOT / "docs" / folder / p).is_file() or p.startswith("verbs/")]
            links = " · ".join(f"[{title(ROOT / 'docs' / folder / p) if not p.startswith('verbs/') else INTRO[language][0][2:].splitlines()[0]}](../{p})" for p in on)
            page = MADE + f"# cameo {verb}\n\n{says[language]}" + ("." if language == "en" else "。") + f"\n\n```text\n{text}```\n"
            if words.commands:
                page += "\n" + {"en": "To try it:", "zh": "试一试："}[language] + f"\n\n```sh\n{words.commands}\n```\n"
            if links:
                page += "\n" + {"en": "Read on: ", "zh": "延伸阅读："}[language] + links + "\n"
            yield f"{folder}verbs/{verb}.md", page
    for language, folder in (("en", ""), ("zh", "zh/")):
        intro, head, does = INTRO[language]
        yield f"{folder}verbs/index.md", MADE + f"{intro}\n| {head} | {does} |\n|---|---|\n{rows[language]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    options = parser.parse_args()
    wanted, stale = dict(pages(options.cameo)), []
    for name, text in wanted.items():
        page = ROOT / "docs" / name
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            stale.append(f"docs/{name} is not current")
            if not options.check:
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(text, encoding="utf-8")
    for page in [*ROOT.glob("docs/verbs/*.md"), *ROOT.glob("docs/zh/verbs/*.md")]:
        if (name := str(page.relative_to(ROOT / "docs"))) not in wanted:
            stale.append(f"docs/{name} is of no verb")
            if not options.check:
                page.unlink()
    if options.check and stale:
        print("\n".join(stale) + "\nrun tools/verbs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
