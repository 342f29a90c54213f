"""Some forty published architectures, exported by Cameo, run by OpenVINO as well as by onnxruntime and PyTorch.

usage: second_engine.py [--cameo PATH] [--only TEXT] [--jobs N] [--out TABLE.tsv] [--opset N]
Finished rows in --out are kept: a run resumes. Prints what is not right, refusals by operator, and the rules of
deployment that the files break (V01 to V06: what OpenVINO does not take).
"""
import argparse
import collections
import importlib.metadata
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import models  # noqa: E402

ROOT = models.ROOT
MODELS = """
torchvision/resnet18 torchvision/squeezenet1_1 torchvision/regnet_y_400mf torchvision/densenet121 torchvision/convnext_tiny torchvision/swin_t
torchvision/vit_b_32 torchvision/maxvit_t torchvision/swin_v2_t torchvision/inception_v3
timm/resnet10t timm/mobilevit_xxs timm/levit_128s timm/edgenext_xx_small timm/mobileone_s0 timm/repvit_m0_9 timm/tiny_vit_5m_224
timm/pvt_v2_b0 timm/poolformerv2_s12 timm/fastvit_t8 timm/efficientformerv2_s0 timm/xcit_nano_12_p16_224 timm/ghostnet_050 timm/lcnet_035
transformers/bert transformers/distilbert transformers/albert transformers/electra transformers/roberta transformers/mpnet transformers/deberta-v2
transformers/gpt2 transformers/llama transformers/qwen2 transformers/mistral transformers/gpt_neox transformers/opt transformers/bloom transformers/phi
transformers/falcon transformers/t5 transformers/bart transformers/pegasus transformers/vit transformers/beit transformers/swin transformers/dinov2
transformers/segformer transformers/convnextv2 transformers/wav2vec2
""".split()

# What ../shared/deploy.md section 2 says of OpenVINO, as far as a file shows it.
RULES = {
    "V01": {"Bernoulli", "DeformConv", "Det", "ImageDecoder", "LpPool", "MaxUnpool", "MelWeightMatrix", "Optional", "OptionalGetElement", "OptionalHasElement",
            "RegexFullMatch", "SequenceMap", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"},
    "V02": {"SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength", "SplitToSequence", "ConcatFromSequence"},
}
NEWER = {"AveragePool": 19, "ScatterElements": 16, "GridSample": 20, "Resize": 18, "Pad": 18}  # V03: taken as the older version


def broken_rules(path):
    import onnx
    model = onnx.load(path, load_external_data=False)
    ops = {n.op_type for n in model.graph.node}
    found = {rule for rule, names in RULES.items() if ops & names}
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    if any(opset >= since for name, since in NEWER.items() if name in ops): found.add("V03")
    if any(n.domain == "com.microsoft" for n in model.graph.node): found.add("V04")
    if any(n.domain not in ("", "ai.onnx", "com.microsoft") for n in model.graph.node): found.add("V05")
    return sorted(found)


def run_openvino(path, x):
    import openvino
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
    result = compiled([x.numpy()])
    return [result[o] for o in compiled.outputs]


def judge(cameo, name, opset):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module, make = models.build(name)
    module.eval()
    models.add_noise(module)
    x, x2 = make(2), make(2)
    with torch.no_grad():
        expected, expected2 = models.flatten(module(x)), models.flatten(module(x2))
        if all(float((a - b).abs().max()) <= 1e-4 * float(a.abs().max()) for a, b in zip(expected, expected2)): return "untested", "the output ignores the input", ""
        traced = torch.jit.trace(module, (x,), strict=False, check_trace=False)
    with tempfile.TemporaryDirectory() as folder:
        archive, path = os.path.join(folder, "m.pt"), os.path.join(folder, "m.onnx")
        traced.save(archive)
        run = subprocess.run([cameo, "-q", "export", archive, "-o", path, "--opset", str(opset)], capture_output=True, text=True)
        if run.returncode != 0: return "not exported", (run.stderr.splitlines() or ["?"])[0][:160], ""
        rules = " ".join(broken_rules(path))
        first = models.close(models.run_session(path, x), expected, expected2)
        try: got, got2 = run_openvino(path, x), run_openvino(path, x2)
        except Exception as e: return "refused", " ".join(str(e).split())[:300], rules
        why = models.close(got, expected, expected2) or models.close(got2, expected2, expected)
        if first: why = (why + "; " if why else "") + "onnxruntime: " + first
        return "wrong" if why else "right", why, rules


def work(task):
    cameo, name, opset = task
    start = time.time()
    try: row = judge(cameo, name, opset)
    except Exception as e: row = ("unusable", f"{type(e).__name__}: {' '.join(str(e).split())[:120]}", "")
    return name, *row, f"{time.time() - start:.0f} s"


def refused_operator(message):
    found = re.search(r"(?:ops? named|operation[s]?|OpType|op type|not supported:?|No conversion rule found for)[^A-Za-z]*([A-Z]\w+)", message)
    return found.group(1) if found else message[:80]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default=str(ROOT / "build/second-engine.tsv"))
    parser.add_argument("--opset", type=int, default=18)
    args = parser.parse_args()
    try: print("OpenVINO", importlib.metadata.version("openvino"), flush=True)  # imported only by workers: its threads do not fork
    except importlib.metadata.PackageNotFoundError: sys.exit("OpenVINO is not there: pip install openvino")
    models.import_torchvision()
    out, done = pathlib.Path(args.out), {}
    if out.exists():
        for line in out.read_text().splitlines(): done[line.split("\t")[0]] = line.split("\t")
    todo = [n for n in MODELS if args.only in n and n not in done]
    out.parent.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("fork").Pool(args.jobs, maxtasksperchild=1) as pool:
        for i, row in enumerate(pool.imap_unordered(work, [(args.cameo, n, args.opset) for n in todo])):
            done[row[0]] = list(row)
            with out.open("a") as f: f.write("\t".join(row) + "\n")
            print(f"{i + 1}/{len(todo)}", *row, sep="  ", flush=True)
    rows = [done[n] for n in MODELS if n in done]
    refusals = collections.defaultdict(list)
    for row in rows:
        if row[1] == "refused": refusals[refused_operator(row[2])].append(row[0])
    for operator, names in refusals.items(): print(f"refused for {operator}: {' '.join(names)}")
    rules = collections.Counter(rule for row in rows for rule in row[3].split())
    for rule, count in sorted(rules.items()): print(f"{count} files break rule {rule}")
    summary = collections.Counter(row[1] for row in rows)
    print(", ".join(f"{n} {state}" for state, n in summary.most_common()), f"of {len(rows)}")
    return 0 if set(summary) <= {"right", "untested"} else 1


if __name__ == "__main__":
    sys.exit(main())
