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
vgg11_bn regnet_y_400mf mnasnet1_0 convnext_tiny swin_t vit_b_32 bert distilbert gpt2 roberta t5_encoder llama
timm/ghostnet_100 timm/repvit_m0_9 timm/mobilevitv2_050 timm/efficientformerv2_s0 timm/fastvit_t8 timm/hardcorenas_a timm/levit_128s timm/mixer_s32_224
timm/gmlp_ti16_224 timm/convit_tiny timm/crossvit_tiny_240 timm/deit_tiny_patch16_224 timm/xcit_nano_12_p16_224 timm/pvt_v2_b0 timm/edgenext_xx_small
timm/convmixer_768_32 timm/res2net50_14w_8s timm/dla34 timm/hrnet_w18_small timm/lcnet_050
transformers/albert transformers/electra transformers/mpnet transformers/mobilebert transformers/gpt_neo transformers/opt transformers/bloom
transformers/mistral transformers/qwen2 transformers/gemma transformers/phi transformers/falcon transformers/segformer transformers/clip_vision_model
transformers/dinov2 transformers/wav2vec2""".split()
REASONS = {}  # where PyTorch itself records something else in the two archives


def build(name):
    """The module, its inputs, and what follows the name in --input."""
    import models
    models.import_torchvision()  # transformers asks for it
    if "/" not in name:
        module, inputs = node_counts.build(name)
    else:
        module, make = models.build(name)
        module, inputs = module.eval(), (make(2),)
    return module, inputs, models.spec(inputs[0], "batch")


def archives(name, folder):
    import torch
    traced, exported, spec = (folder / f"{name.replace('/', '-')}.{kind}" for kind in ("pt", "pt2", "spec"))
    if all(f.exists() for f in (traced, exported, spec)): return traced, exported, spec.read_text()
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # else tracing records other operators than torch.export: fused encoder layers
    model, inputs, declared = build(name)
    with torch.no_grad():
        spec.write_text(declared)
        torch.jit.trace(model, inputs, check_trace=False).save(str(traced))
        shapes = tuple({0: torch.export.Dim("batch", min=1, max=512)} for _ in inputs)
        torch.export.save(torch.export.export(model, inputs, dynamic_shapes=shapes), str(exported))
    return traced, exported, declared


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(node_counts.ROOT / "build/release/cameo"))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--folder")
    args = parser.parse_args()
    folder = pathlib.Path(args.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    bad = 0
    print(f"{'model':32}{'.pt':>8}{'.pt2':>8}", flush=True)
    for name in args.models.split(","):
        try: traced, exported, declared = archives(name, folder)
        except Exception as e:
            print(f"{name:32} PyTorch refuses: {type(e).__name__}", flush=True)
            continue
        export = lambda archive, target, *flags: subprocess.run([args.cameo, "-q", "export", str(archive), "-o", str(folder / target), "--opset", "18", *flags], capture_output=True, text=True)
        runs = [export(traced, "a.onnx", "--input", declared), export(exported, "b.onnx")]
        failed = [r.stderr.strip()[:300] for r in runs if r.returncode]
        if failed:
            print(f"{name:32} {failed[0]}", flush=True)
            bad += 1
            continue
        a, b = (onnx_nodes.in_file(str(folder / f)) for f in ("a.onnx", "b.onnx"))
        more = ", ".join(f"{op} {a[op]}/{b[op]}" for op in sorted(set(a) | set(b)) if a[op] != b[op])
        print(f"{name:32}{sum(a.values()):8}{sum(b.values()):8}  {more}{'  because ' + REASONS[name] if more and name in REASONS else ''}", flush=True)
        bad += sum(a.values()) != sum(b.values()) and name not in REASONS
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
