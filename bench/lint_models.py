#!/usr/bin/env python3
"""Models for lint_truth.py: published architectures with random weights, exported by `cameo export` in three forms each, with inputs and PyTorch's outputs.

usage: lint_models.py PLACE [--cameo build/release/cameo] [--only TEXT] [--size 64]

Needs torch, and timm, torchvision and transformers for those families. Forms: fixed sizes at opset 18, a named batch at opset 18, fixed sizes at opset 13.
What is there already is not made again.
"""
import argparse
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
TORCHVISION = "resnet18 mobilenet_v2 mobilenet_v3_small shufflenet_v2_x0_5 squeezenet1_1 mnasnet0_5 efficientnet_b0 regnet_y_400mf densenet121 googlenet convnext_tiny"
TIMM = ("ghostnet_100 hardcorenas_a tinynet_e mobilenetv4_conv_small lcnet_035 fbnetc_100 spnasnet_100 semnasnet_075 efficientnet_lite0 mixnet_s rexnet_100 repvgg_a0 "
        "mobileone_s0 regnetx_002 resnet10t resnest14d res2net50_14w_8s selecsls42 dla34 vovnet39a cspdarknet53 darknet17 hrnet_w18_small ese_vovnet19b_dw eca_resnet33ts "
        "bat_resnext26ts convmixer_768_32 convnext_atto convnextv2_atto poolformer_s12 mobilevit_xxs mobilevitv2_050 edgenext_xx_small efficientvit_b0 fastvit_t8 "
        "repghostnet_050 starnet_s1 inception_next_atto skresnet18 nf_regnet_b0 xcit_nano_12_p8_224 coat_lite_tiny crossvit_tiny_240 pit_ti_224 deit_tiny_patch16_224 "
        "gmixer_12_224 mixer_s32_224 resmlp_12_224 tnt_s_legacy_patch16_224 visformer_tiny levit_128s efficientformer_l1 pvt_v2_b0 swin_s3_tiny_224 volo_d1_224 "
        "davit_tiny focalnet_tiny_srf tresnet_m")
TRANSFORMERS = ("bert roberta distilbert albert electra mpnet deberta xlm-roberta camembert squeezebert convbert roformer gpt2 gpt_neo gptj opt bloom llama mistral qwen2 "
                "gemma phi falcon stablelm vit deit swin swinv2 convnext convnextv2 resnet regnet dinov2 segformer mobilenet_v2 poolformer pvt hubert wav2vec2")
FORMS = {"fixed18": (18, False), "batch18": (18, True), "fixed13": (13, False)}


def names():
    yield from (f"torchvision/{n}" for n in TORCHVISION.split())
    yield from (f"transformers/{n}" for n in TRANSFORMERS.split())
    yield from (f"timm/{n}" for n in TIMM.split())


def smaller(x, size, module):
    """Pictures in fewer pixels, where the model takes them."""
    import torch
    if x.dim() != 4 or x.shape[-1] <= size:
        return x
    small = torch.randn(x.shape[0], x.shape[1], size, size)
    try:
        module(small)
        return small
    except Exception:
        return x


def make(name, place, cameo, size):
    import torch
    sys.path.insert(0, str(ROOT / "tests" / "torch"))
    import models
    stem = name.replace("/", "_")
    if (place / f"{stem}.done").exists():
        return
    torch.manual_seed(0)
    module, inputs = models.build(name)
    module.eval()
    with torch.no_grad():
        x = smaller(inputs(1), size, module)
        traced = torch.jit.trace(module, x, check_trace=False)
        wanted = traced(x)
    wanted = [w for w in (wanted if isinstance(wanted, (tuple, list)) else [wanted]) if isinstance(w, torch.Tensor)]
    archive = place / f"{stem}.pt"
    traced.save(str(archive))
    kind = {torch.float32: "f32", torch.int64: "i64"}[x.dtype]
    for form, (opset, dynamic) in FORMS.items():
        sizes = ",".join(["batch" if dynamic else str(x.shape[0]), *map(str, x.shape[1:])])
        model = place / f"{stem}.{form}.onnx"
        done = subprocess.run([cameo, "export", archive, "-o", model, "--input", f"x={kind}[{sizes}]", "--opset", str(opset)], capture_output=True, text=True)
        if done.returncode:
            print(name, form, done.stderr.splitlines()[:1], flush=True)
            continue
        np.savez(model.with_suffix(".npz"), names=np.array(["x"]), outputs=np.array(len(wanted)), in0=x.numpy(), **{f"out{i}": w.numpy() for i, w in enumerate(wanted)})
    archive.unlink()
    (place / f"{stem}.done").write_text("")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("place", type=pathlib.Path)
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    parser.add_argument("--only", default="")
    parser.add_argument("--size", type=int, default=64)
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    import torch
    torch.set_num_threads(1)
    for name in names():
        if args.only not in name:
            continue
        try:
            make(name, args.place, args.cameo, args.size)
        except Exception as e:
            print(name, type(e).__name__, str(e).splitlines()[:1], flush=True)


if __name__ == "__main__":
    main()
