"""The same model from a traced .pt and from a .pt2: node counts after simplify, both at opset 18 with a dynamic batch.

usage: bench/pt_against_pt2.py [--cameo PATH] [--models a,b] [--folder DIR]
Prints one line per model, with the operators of which there are more or fewer where the counts differ; status 1 when a
graph differs in size and no reason is known (REASONS). Archives stay in --folder. Needs what node_counts.py needs.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import warnings

import node_counts
import onnx_nodes

warnings.filterwarnings("ignore")
MODELS = """resnet18 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small efficientnet_b0 densenet121 googlenet squeezenet1_1 shufflenet_v2_x1_0
vgg11_bn regnet_y_400mf mnasnet1_0 convnext_tiny swin_t vit_b_32 bert distilbert gpt2 roberta t5_encoder llama""".split()
# Where PyTorch itself records something else in the two archives.
MASK = "transformers builds an attention mask for torch.export, and none for tracing"
REASONS = {"vit_b_32": "tracing takes PyTorch's fused encoder layers, torch.export records attention step by step",
           "bert": MASK, "distilbert": MASK, "roberta": MASK, "t5_encoder": MASK}


def archives(name, folder):
    import torch
    from models import import_torchvision
    import_torchvision()  # transformers asks for it
    traced, exported = folder / f"{name}.pt", folder / f"{name}.pt2"
    if traced.exists() and exported.exists(): return traced, exported
    torch.manual_seed(0)
    model, inputs = node_counts.build(name)
    with torch.no_grad():
        torch.jit.trace(model, inputs, check_trace=False).save(str(traced))
        shapes = tuple({0: torch.export.Dim("batch", min=1, max=512)} for _ in inputs)
        torch.export.save(torch.export.export(model, inputs, dynamic_shapes=shapes), str(exported))
    return traced, exported


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(node_counts.ROOT / "build/release/cameo"))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--folder")
    args = parser.parse_args()
    folder = pathlib.Path(args.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    bad = 0
    print(f"{'model':24}{'.pt':>8}{'.pt2':>8}", flush=True)
    for name in args.models.split(","):
        try: traced, exported = archives(name, folder)
        except Exception as e:
            print(f"{name:24} PyTorch refuses: {type(e).__name__}", flush=True)
            continue
        runs = [node_counts.export_ours(args.cameo, name, traced, folder / "a.onnx"),
                subprocess.run([args.cameo, "-q", "export", str(exported), "-o", str(folder / "b.onnx"), "--opset", "18"], capture_output=True, text=True)]
        failed = [r.stderr.strip()[:300] for r in runs if r.returncode]
        if failed:
            print(f"{name:24} {failed[0]}", flush=True)
            bad += 1
            continue
        a, b = (onnx_nodes.in_file(str(folder / f)) for f in ("a.onnx", "b.onnx"))
        more = ", ".join(f"{op} {a[op]}/{b[op]}" for op in sorted(set(a) | set(b)) if a[op] != b[op])
        print(f"{name:24}{sum(a.values()):8}{sum(b.values()):8}  {more}{'  because ' + REASONS[name] if more and name in REASONS else ''}", flush=True)
        bad += sum(a.values()) != sum(b.values()) and name not in REASONS
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
