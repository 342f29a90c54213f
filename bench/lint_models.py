#!/usr/bin/env python3
"""Models for lint_truth.py: published architectures with random weights, exported by `cameo export` in three forms each, with inputs and PyTorch's outputs.

usage: lint_models.py PLACE [--set mended|first|second|third|fourth|fifth|sixth|idioms] [--cameo build/release/cameo] [--only TEXT] [--size 64]

Needs torch, and timm, torchvision and transformers for those families. The rules were mended on the models of the set `mended` and, by class, on what they missed in
`first`, and on `idioms`; those of `second` were not looked at before they were measured. Both held-out sets have half of PyTorch's own layers (lint_layers.py) each.
Forms: fixed sizes at opset 18, a named batch at opset 18, fixed sizes at opset 13 (of the held-out sets the first, and one
of the others by turns).
What is there already is not made again.
"""
import argparse
import importlib
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
HELD_OUT = {
    "first": {
        "torchvision": "alexnet regnet_x_400mf inception_v3 swin_t vit_b_32 maxvit_t",
        "transformers": ("deberta-v2 mobilebert nystromformer gpt_neox codegen beit levit cvt efficientnet clip_vision_model clip_text_model esm ernie fnet data2vec-text "
                         "dinov2_with_registers siglip_vision_model qwen3 gemma2 phi3 olmo granite modernbert glm roberta-prelayernorm layoutlm ibert xlnet"),
        "timm": ("dpn68 resnetv2_18 tiny_vit_5m_224 mambaout_femto repvit_m1 hgnetv2_b0 lcnetv2_small swiftformer_s gmlp_s16_224 twins_svt_small mobilenetv3_small_050 vgg11 "
                 "legacy_seresnet18 selecsls60 efficientvim_m1 shvit_s1 cspnext_tiny xception41 nextvit_small vit_small_r26_s32_224 regnetv_040 mvitv2_tiny halonet26t "
                 "cait_xxs24_224 convit_tiny")},
    "second": {
        "torchvision": "squeezenet1_0 vgg11_bn shufflenet_v2_x1_0 swin_v2_t efficientnet_v2_s resnext50_32x4d",
        "transformers": ("canine big_bird biogpt gpt_bigcode gpt_neox_japanese olmo2 starcoder2 cohere nemotron smollm3 persimmon xglm rembert splinter lilt megatron-bert "
                         "data2vec-vision vit_msn ijepa dinov3_vit dinov3_convnext bit mobilenet_v1 mobilevitv2 pvt_v2 hgnet_v2 swiftformer focalnet unispeech wavlm sew data2vec-audio"),
        "timm": ("efficientformerv2_s0 efficientvit_m0 hiera_tiny_224 lowformer_b0 nest_tiny rdnet_tiny rexnet_130 swinv2_tiny_window8_256 swinv2_cr_tiny_224 "
                 "vit_relpos_small_patch16_224 flexivit_small resnest26d resnet26 skresnet34 legacy_xception vitamin_small_224 coat_mini eva02_tiny_patch14_224 cpubone_nano "
                 "mobilevit_s res2next50 visformer_small gcvit_tiny ghostnet_050 sequencer2d_m")},
    "third": {
        "torchvision": "densenet169 mnasnet0_75 mobilenet_v3_large regnet_x_800mf resnet34 vgg13",
        "transformers": ("bros ctrl flaubert markuplm luke roc_bert nomic_bert gte eurobert helium cohere2 olmo3 arcee apertus openai-gpt xlm xmod mpt ernie4_5 glm4 bert-generation "
                         "imagegpt yolos vit_mae textnet pp_lcnet hiera glpn unispeech-sat wav2vec2-conformer sew-d siglip_text_model"),
        "timm": ("rdnet_small rexnetr_150 edgenext_x_small cpubone_s0 legacy_seresnet34 inception_next_small starnet_s2 ghostnetv3_050 shvit_s4 tinynet_d twins_pcpvt_small resnext26ts "
                 "efficientvit_m1 mvitv2_small_cls vit_srelpos_medium_patch16_224 hgnet_tiny efficientformerv2_s2 crossvit_18_240 nest_small cait_s24_224")},
    "fourth": {
        "torchvision": "mnasnet1_0 shufflenet_v2_x1_5",
        "transformers": ("aimv2_vision_model altclip_vision_model align_vision_model align_text_model blip_vision_model blip_text_model clipseg_text_model owlvit_vision_model "
                         "dpr dpt donut-swin diffllama doge exaone4 ministral gemma3_text gpt-sw3 internlm3 jina_embeddings_v3 modernbert-decoder siglip2_text_model yoso mra bitnet "
                         "nanochat lfm2 funnel visual_bert rt_detr_resnet vitpose_backbone"),
        "timm": ("test_vit test_vit3 test_resnet test_byobnet test_convnext test_efficientnet test_efficientnet_gn test_mambaout test_nfnet fasternet_t0 efficientvit_b1 lambda_resnet26t "
                 "mobilenetv2_050 tinynet_b regnety_002 pit_xs_224 poolformerv2_s12 gmlp_ti16_224 levit_192 hrnet_w18_small_v2")},
    "fifth": {
        "torchvision": "efficientnet_b1 vgg11",
        "transformers": ("chinese_clip_vision_model metaclip_2_vision_model clipseg_vision_model altclip_text_model groupvit_vision_model maskformer-swin ministral3 hunyuan_v1_dense seed_oss "
                         "vaultgemma xlm-roberta-xl cwm bridgetower_text_model tapas pp_lcnet_v3 vitdet uvdoc_backbone granite_swa"),
        "timm": ("test_vit2 test_vit4 test_convnext2 test_convnext3 test_efficientnet_ln fastvit_mci0 eca_halonext26ts edgenext_small mobileone_s1 cpubone_t0 resnet14t "
                 "pvt_v2_b1 repvit_m0_9 tf_mobilenetv3_small_minimal_100 selecsls42b semnasnet_050")},
    "sixth": {
        "torchvision": "shufflenet_v2_x2_0 mnasnet1_3",
        "transformers": "mamba mixtral olmoe mlcd_vision_model sam_vision_model xlstm",
        "timm": ("test_coatnet test_maxvit test_vit_relpos test_efficientnet_evos convnext_zepto_rms mobilenetv2_035 mobilenetv4_conv_small_035 lcnet_050 mnasnet_050 starnet_s050 gcvit_xxtiny "
                 "coatnet_pico_rw_224 xcit_nano_12_p16_224 vit_tiny_patch16_224 vit_tiny_patch16_dinov3_qkvb resnet26t efficientnet_es")}}
HELD_OUT["idioms"] = {}
NETS = {"third": "lint_layers_third", "fourth": "lint_layers_fourth", "fifth": "lint_layers_fifth", "sixth": "lint_layers_sixth", "idioms": "lint_layers_idioms"}
IDIOMS = {"fixed18": (18, False), "fixed13": (13, False), "script13": (13, "script")}
FORMS = {"fixed18": (18, False), "batch18": (18, True), "fixed13": (13, False)}
# Of the third set: other opsets, and on every second turn one by an exporter of PyTorch's own.
THIRD = ({"fixed16": (16, False), "script14": (14, "script")}, {"fixed11": (11, False)}, {"batch20": (20, True), "dynamo18": (18, "dynamo")}, {"fixed17": (17, False)},
         {"fixed18": (18, False), "script11": (11, "script")}, {"batch13": (13, True)}, {"fixed21": (21, False), "dynamo20": (20, "dynamo")}, {"fixed18": (18, False)})

# Of the fourth and the fifth set: opsets that no other set has, half precision and 8 bits, each made by the command from the float export.
FOURTH = ({"fixed12": (12, False)}, {"batch19": (19, True), "script13": (13, "script")}, {"fixed15": (15, False)}, {"half18": (18, "half")}, {"fixed22": (22, False), "script16": (16, "script")},
          {"dynamo19": (19, "dynamo"), "fixed14": (14, False)}, {"int8": (17, "int8")}, {"batch16": (16, True)}, {"script17": (17, "script"), "fixed20": (20, False)})

# Of the sixth set: opsets before and after those of the others, too.
SIXTH = ({"fixed10": (10, False), "script15": (15, "script")}, {"fixed23": (23, False)}, {"batch14": (14, True)}, {"dynamo18": (18, "dynamo"), "fixed9": (9, False)}, {"half19": (19, "half")},
         {"fixed18": (18, False), "script18": (18, "script")}, {"batch21": (21, True)}, {"int8": (18, "int8")}, {"dynamo20": (20, "dynamo"), "fixed24": (24, False)}, {"script12": (12, "script")})


def forms_of(turn, which):
    """Those that lint_truth.py tries: fixed sizes at opset 18, and one of the two other forms by turns."""
    if which == "mended":
        return FORMS
    if which in ("fourth", "fifth"):
        return FOURTH[turn % len(FOURTH)]
    if which == "idioms":
        return IDIOMS
    if which == "sixth":
        return SIXTH[turn % len(SIXTH)]
    return THIRD[turn % len(THIRD)] if which == "third" else {f: FORMS[f] for f in ("fixed18", ("batch18", "fixed13")[turn % 2])}


def names(which="mended"):
    if which != "mended":
        for source, kinds in HELD_OUT[which].items():
            yield from (f"{source}/{n}" for n in kinds.split())
        if which in NETS:
            yield from (f"nets/{n}" for n in importlib.import_module(NETS[which]).NETS)
            return
        import lint_layers
        yield from (f"layers/{n}" for n in list(lint_layers.LAYERS)[which == "second"::2])
        return
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


def exported_by_torch(module, x, path, opset, dynamo):
    """By PyTorch's own exporters, fixed sizes; whether it was written."""
    import contextlib
    import io

    import torch
    try:
        with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            torch.onnx.export(module, (x,), str(path), opset_version=opset, dynamo=dynamo, input_names=["x"], **({"external_data": False} if dynamo else {}))
        return True
    except Exception as e:
        print(path.name, type(e).__name__, str(e).splitlines()[:1], flush=True)
        path.unlink(missing_ok=True)
        return False


def answered(model, x):
    """What ONNX Runtime gives without changing anything: the truth of models in 8 bits and half precision."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level, options.log_severity_level, options.intra_op_num_threads = ort.GraphOptimizationLevel.ORT_DISABLE_ALL, 4, 1
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})


def narrowed(model, how, x, cameo):
    """The float model in place of itself, in half precision or 8 bits; what it gives, or nothing where it was refused."""
    whole, data = model.with_suffix(".whole.onnx"), model.with_suffix(".data.npz")
    model.rename(whole)
    np.savez(data, x=x)
    command = [cameo, "convert", whole, model, "--float", "f16", "--keep-io"] if how == "half" else [cameo, "quantize", whole, model, "--calibrate", data, "--min-db", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    whole.unlink()
    data.unlink()
    return answered(model, x) if not done.returncode and model.exists() else None


def make(name, place, cameo, size, forms):
    import torch
    sys.path.insert(0, str(ROOT / "tests" / "torch"))
    import models
    stem = name.replace("/", "_")
    if (place / f"{stem}.done").exists():
        return
    torch.manual_seed(0)
    if name.startswith("nets/"):
        nets = next(n for n in map(importlib.import_module, NETS.values()) if name.split("/")[1] in n.NETS)
        module, inputs = nets.build(name.split("/")[1])
    elif name.startswith("layers/"):
        import lint_layers
        module, inputs = lint_layers.build(name.split("/")[1])
    else:
        models.import_torchvision()
        module, inputs = models.build(name)
    models.add_noise(module)
    module.eval()
    with torch.no_grad():
        x = smaller(inputs(1), size, module)
        traced = torch.jit.trace(module, x, check_trace=False)
        wanted = traced(x)
    wanted = [w for w in (wanted if isinstance(wanted, (tuple, list)) else [wanted]) if isinstance(w, torch.Tensor)]
    archive = place / f"{stem}.pt"
    traced.save(str(archive))
    kind = {torch.float32: "f32", torch.int64: "i64"}[x.dtype]
    for form, (opset, dynamic) in forms.items():
        model = place / f"{stem}.{form}.onnx"
        if dynamic in ("script", "dynamo"):
            if exported_by_torch(module, x, model, opset, dynamic == "dynamo"):
                np.savez(model.with_suffix(".npz"), names=np.array(["x"]), outputs=np.array(len(wanted)), in0=x.numpy(), **{f"out{i}": w.numpy() for i, w in enumerate(wanted)})
            continue
        sizes = ",".join(["batch" if dynamic is True else str(x.shape[0]), *map(str, x.shape[1:])])
        done = subprocess.run([cameo, "export", archive, "-o", model, "--input", f"x={kind}[{sizes}]", "--opset", str(opset)], capture_output=True, text=True)
        if done.returncode:
            print(name, form, done.stderr.splitlines()[:1], flush=True)
            continue
        gives = [w.numpy() for w in wanted]
        if dynamic in ("half", "int8") and (gives := narrowed(model, dynamic, x.numpy(), cameo)) is None:
            print(name, form, "refused", flush=True)
            continue
        np.savez(model.with_suffix(".npz"), names=np.array(["x"]), outputs=np.array(len(gives)), in0=x.numpy(), **{f"out{i}": w for i, w in enumerate(gives)})
    archive.unlink()
    (place / f"{stem}.done").write_text("")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("place", type=pathlib.Path)
    parser.add_argument("--set", default="mended", choices=("mended", *HELD_OUT))
    parser.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    parser.add_argument("--only", default="")
    parser.add_argument("--size", type=int, default=64)
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    import torch
    torch.set_num_threads(1)
    for turn, name in enumerate(names(args.set)):
        if args.only not in name:
            continue
        try:
            make(name, args.place, args.cameo, args.size, forms_of(turn, args.set))
        except Exception as e:
            print(name, type(e).__name__, str(e).splitlines()[:1], flush=True)


if __name__ == "__main__":
    main()
