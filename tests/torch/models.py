"""Published architectures with random weights, traced, scripted or taken by torch.export, exported by Cameo, run by onnxruntime.

usage: models.py [--cameo PATH] [--capture trace|script|export|decompose] [--only TEXT[,TEXT]] [--jobs N] [--out TABLE.tsv] [--limit N] [--seconds N] [--each N] [--one-size | --ones] [--shard I/N]
One model per family of timm, torchvision and transformers. A parameter or buffer whose elements are all equal gets
seeded noise first, and batch norms the statistics of an input. A model is right when, on two inputs, and at two further batch sizes when exported with a dynamic
batch, the error is at most 1e-3 of max|y| and 1e-2 of max|y(x1) - y(x2)|. All are exported once more with the height and
width, or the sequence length, open too, and run at two further sizes, where PyTorch's own archive is right at them (many
models fix their size, and so do tracing and torch.export). From .pt2, another dtype or shape than the archive tells is wrong.
With --ones these further sizes are 1: every dynamic axis alone and all at once, wherever PyTorch's archive is right at them.
Finished rows in --out are kept: a run resumes. --shard 0/4 takes every fourth model, from the first on; each shard its own --out.
"""
import argparse
import collections
import logging
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import capture

warnings.filterwarnings("ignore")
logging.getLogger("torch").setLevel(logging.CRITICAL)  # torch.export tells at length what it refuses
os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOLERANCE = 1e-3  # of the largest number


def import_torchvision():
    try:
        import torchvision
        return torchvision
    except Exception:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
        import torchvision_shim
        return torchvision_shim.install()


def timm_names():
    import timm
    families = {}
    for name in timm.list_models(): families.setdefault(timm.models.model_entrypoint(name).__module__, []).append(name)
    small = ("nano", "tiny", "atto", "femto", "pico", "xxs", "xx_small", "s0", "b0", "_18", "small", "mini", "lite")
    for _, names in sorted(families.items()):
        names.sort(key=lambda n: (not any(s in n for s in small), len(n), n))
        for name in names[:2]: yield "timm/" + name


def torchvision_names():
    tv = import_torchvision()
    for name in tv.models.list_models(module=tv.models): yield "torchvision/" + name


TRANSFORMERS = ("bert roberta distilbert albert electra mpnet deberta deberta-v2 xlm-roberta camembert mobilebert squeezebert convbert "
                "roformer nystromformer gpt2 gpt_neo gpt_neox gptj opt bloom codegen llama mistral qwen2 gemma phi falcon stablelm olmo "
                "t5 bart mbart pegasus vit deit beit swin swinv2 convnext convnextv2 resnet regnet dinov2 segformer mobilevit mobilenet_v2 "
                "poolformer levit pvt cvt efficientnet clip_vision_model clip_text_model hubert wav2vec2").split()


def names():
    yield from torchvision_names()
    yield from timm_names()
    for name in TRANSFORMERS: yield "transformers/" + name


def first_output(model):
    """A model of transformers as a module with one input, by position, and the first of its outputs."""
    import torch

    class First(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x, return_dict=False)[0]

    return First(model).eval()


def tiny_config(kind):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    cls = CONFIG_MAPPING[kind]
    wanted = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, vocab_size=300, n_embd=64, n_layer=2, n_head=4,
                  d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=96,
                  decoder_ffn_dim=96, num_layers=2, num_heads=4, d_ff=96, d_kv=16, num_key_value_heads=4, embedding_size=64, ffn_dim=96,
                  word_embed_proj_dim=64, max_position_embeddings=128, use_cache=False, head_dim=16)
    default = cls()
    def settable(k): return not isinstance(getattr(cls, k, None), property)
    return cls(**{k: v for k, v in wanted.items() if hasattr(default, k) and isinstance(getattr(default, k), (int, bool)) and settable(k)})


def build(name):
    """The module and a function that makes inputs for a batch size."""
    import torch
    source, kind = name.split("/", 1)
    if source == "transformers":
        from transformers import AutoModel

        config = tiny_config(kind)
        module = first_output(AutoModel.from_config(config, attn_implementation="eager"))
        main = module.inner.main_input_name
        if main == "input_ids": return module, lambda b: torch.randint(3, min(getattr(config, "vocab_size", 300), 300), (b, 11))
        if main == "input_values": return module, lambda b: torch.randn(b, 1600)
        size = getattr(config, "image_size", 224)
        size = size if isinstance(size, int) else size[0]
        return module, lambda b: torch.randn(b, getattr(config, "num_channels", 3), size, size)
    if source == "timm":
        import timm
        module = timm.create_model(kind, pretrained=False)
        shape = module.default_cfg.get("input_size", (3, 224, 224))
        return module, lambda b: torch.randn(b, *shape)
    tv = import_torchvision()
    module = tv.models.get_model(kind, weights=None)
    size = 299 if "inception" in kind else 224
    return module, lambda b: torch.randn(b, 3, size, size)


def add_noise(module):
    import torch
    generator = torch.Generator().manual_seed(1)
    for name, t in list(module.named_parameters()) + list(module.named_buffers()):
        if not t.is_floating_point() or t.numel() < 2 or not bool((t == t.flatten()[0]).all()): continue
        with torch.no_grad():
            if name.endswith("running_var"): t.copy_(torch.rand(t.shape, generator=generator) + 0.5)
            else: t.add_(torch.randn(t.shape, generator=generator) * 0.1)


def settle(module, x):
    """Gives batch norms the statistics of what passes through them. With those of their making, signals fade or grow from layer to layer, until the output ignores the input."""
    import torch
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm) and m.track_running_stats]
    momenta = [m.momentum for m in norms]
    for m in norms: m.train().momentum = 1.0
    try:
        with torch.no_grad(): module(x)
    finally:
        for m, momentum in zip(norms, momenta):
            m.eval().momentum = momentum
            m.running_var.clamp_(min=float(m.running_var.mean()) / 100)  # for only two pictures it may be 0, and the network unstable


def own_movement(module, x):
    """How far the outputs move, relative to the largest, when the input changes in its last digits: beyond the tolerance the comparison is inconclusive."""
    import torch
    if not x.is_floating_point(): return 0.0
    with torch.no_grad(): before, after = flatten(module(x)), flatten(module(x * (1 + 1e-6)))
    return max((float((a - b).abs().max() / a.abs().max().clamp_min(1e-30)) for a, b in zip(before, after) if a.numel() and a.is_floating_point()), default=0.0)


def flatten(y):
    import torch
    if isinstance(y, torch.Tensor): return [y]
    if isinstance(y, dict): return [t for v in y.values() for t in flatten(v)]
    if isinstance(y, (list, tuple)): return [t for v in y for t in flatten(v)]
    return []


def run_session(path, x):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})


def close(got, want, other):
    import numpy as np
    for a, t, o in zip(got, want, other):
        b, o = t.numpy().astype(np.float64), o.numpy().astype(np.float64)
        if a.shape != b.shape: return f"shape {a.shape} instead of {b.shape}"
        error = np.abs(a.astype(np.float64) - b).max() if b.size else 0
        if not error <= TOLERANCE * np.abs(b).max(): return f"error {error:.2g} of {np.abs(b).max():.2g}"
        if o.shape == b.shape and np.abs(b - o).max() > 0 and error > 1e-2 * np.abs(b - o).max(): return f"error {error:.2g}, outputs differ by {np.abs(b - o).max():.2g}"
    return ""


def spec(x, *leading):
    import torch
    dims = list(leading) + [str(d) for d in x.shape[len(leading):]]
    return "x=" + {torch.float32: "f32", torch.int64: "i64"}[x.dtype] + "[" + ",".join(dims) + "]"


def judge(cameo, mode, name, sizes):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        module, make = build(name)
        module.eval()
        add_noise(module)
        settle(module, make(2))
        x, x2 = make(2), make(2)
        with torch.no_grad():
            expected, expected2 = flatten(module(x)), flatten(module(x2))
        folder = tempfile.mkdtemp()
        archive = capture.save(mode, module, [x], os.path.join(folder, "m"))
    except Exception as e:
        return "unusable", f"{type(e).__name__}: {str(e).splitlines()[0][:100] if str(e) else ''}", ""
    try:
        model = os.path.join(folder, "m.onnx")
        start = time.time()
        run = subprocess.run([cameo, "export", archive, "-o", model] + (["--input", spec(x)] if mode == "script" else []), capture_output=True, text=True)
        took = time.time() - start
        if run.returncode != 0: return ("refused" if run.returncode == 1 else "crash"), next((line for line in run.stderr.splitlines() if line.startswith("error")), "?")[:160], ""
        if differs := capture.disagreement(run.stderr): return "wrong", differs, ""
        nodes = (run.stderr + run.stdout).split(" nodes")[0].split()[-1]
        try:
            why = close(run_session(model, x), expected, expected2) or close(run_session(model, x2), expected2, expected)
        except TimeoutError: raise
        except Exception as e:
            why = "onnxruntime: " + str(e).splitlines()[0][:160]
        # Differences at the level of rounding tell nothing: such a model ignores its input.
        if all(float((a - b).abs().max()) <= 1e-4 * float(a.abs().max()) for a, b in zip(expected, expected2) if a.shape == b.shape and a.numel()):
            return "untested", "the output ignores the input" + (f" ({why})" if why and not why.startswith("error") else ""), nodes
        if why.startswith("error") and (moved := own_movement(module, x)) > TOLERANCE:
            return "untested", f"the model's own numbers move by {moved:.1g} when the input does in its last digits ({why})", nodes
        if why: return "wrong", why, nodes
        batch = dynamic_batch(cameo, mode, archive, model, module, make, x)
        other = dynamic_size(cameo, mode, archive, model, module, x, sizes == "ones") if sizes else ""
        return "right", batch, f"{nodes} nodes, {took * 1000:.0f} ms", other
    finally:
        shutil.rmtree(folder)


def dynamic_batch(cameo, mode, archive, model, module, make, x):
    """Empty when a dynamic batch is right too, else why not."""
    import torch
    if archive.endswith(".pt2"):
        try: archive = capture.save(mode, module, [x], archive[:-4], dynamic_batch=True)
        except Exception: return "dynamic batch: torch.export refuses it"
    flags = [] if archive.endswith(".pt2") else ["--input", spec(x, "batch")]
    run = subprocess.run([cameo, "export", archive, "-o", model, *flags], capture_output=True, text=True)
    if run.returncode != 0: return "dynamic batch: " + next((line for line in run.stderr.splitlines() if line.startswith("error")), "?")[:120]
    if differs := capture.disagreement(run.stderr): return "dynamic batch: " + differs
    for size in (1, 3):
        y = make(size)
        try:
            with torch.no_grad(): want = flatten(module(y))
            why = close(run_session(model, y), want, want)
        except Exception as e:
            why = "onnxruntime: " + str(e).splitlines()[0][:120]
        if why: return f"dynamic batch {size}: {why}"
    return ""


def resized(x, more):
    """Inputs like x of other heights and widths, or of other lengths."""
    import torch
    if x.dim() == 4: sizes = [(x.shape[2] + 32, x.shape[3] + 64), (x.shape[2] + 64, x.shape[3] + 32)]
    else: sizes = [(x.shape[1] - 4,), (x.shape[1] + more,)]
    for batch, size in zip((1, 3), sizes):
        shape = (batch, *x.shape[1:x.dim() - len(size)], *size)
        yield torch.randint(3, 300, shape) if x.dtype == torch.int64 else torch.randn(shape)


def resized_to_one(x):
    """Inputs like x with the batch, the height and width, or the length at 1, alone and together."""
    free = [0, 2, 3] if x.dim() == 4 else [0, 1]
    for ones in [*[[axis] for axis in free], *([free[1:]] if len(free) > 2 else []), free]:
        y = x.clone()
        for axis in ones: y = y.narrow(axis, 0, 1)
        if y.shape != x.shape: yield y.contiguous()


def at_size(recorded, module, y):
    """What the model gives for y, or whose fault it is that it cannot be compared: the model's or the archive's."""
    import torch
    try:
        with torch.no_grad(): want = flatten(module(y))
    except Exception: return "the model has one size"
    try:
        with torch.no_grad(): got = flatten(recorded(y))
    except Exception: return "the archive has one size"
    return "the archive has one size" if close([t.numpy() for t in got], want, want) else want


def at_other_sizes(archive, module, x, ones):
    """Inputs of other sizes and what the model gives for them, or why there are none. Size 1 counts where it works."""
    import torch
    program = archive.endswith(".pt2")
    recorded, samples, why = torch.export.load(archive).module() if program else torch.jit.load(archive), [], ""
    for y in resized_to_one(x) if ones else resized(x, 8 if x.dtype == torch.int64 else 400):
        want = at_size(recorded, module, y)
        if not isinstance(want, str): samples.append((y, want))
        elif ones: why = want
        else: return want
    return samples or why


def dynamic_size(cameo, mode, archive, model, module, x, ones):
    """"right", why the model or the archive has only one size, or "wrong: ..."."""
    flags = []
    if archive.endswith(".pt2"):
        try: archive = capture.save(mode, module, [x], archive[:-4], dynamic_sizes=True)
        except Exception: return "torch.export refuses it"
        if not set(capture.open_axes(archive)) & ({2, 3} if x.dim() == 4 else {1}): return "the archive has one size"
    samples = at_other_sizes(archive, module, x, ones)
    if isinstance(samples, str): return samples
    if not archive.endswith(".pt2"):
        names = ["batch", str(x.shape[1]), "h", "w"] if x.dim() == 4 else ["batch", "length"]
        flags = ["--input", spec(x, *names)]
    run = subprocess.run([cameo, "export", archive, "-o", model, *flags], capture_output=True, text=True)
    if run.returncode != 0: return "wrong: " + next((line for line in run.stderr.splitlines() if line.startswith("error")), "?")[:120]
    if differs := capture.disagreement(run.stderr): return "wrong: " + differs
    for y, want in samples:
        try: why = close(run_session(model, y), want, want)
        except Exception as e: why = "onnxruntime: " + str(e).splitlines()[0][:120]
        if why: return f"wrong: {list(y.shape)}: {why}"
    return f"right: {', '.join('x'.join(map(str, y.shape)) for y, _ in samples)}" if ones else "right"


def give_up(*_):
    raise TimeoutError("more processor time than --each")


def work(task):
    cameo, mode, name, each, sizes = task
    signal.signal(signal.SIGPROF, give_up)  # PyTorch takes an hour to solve the inequalities of some sizes
    signal.setitimer(signal.ITIMER_PROF, each)
    try: return name, *judge(cameo, mode, name, sizes)
    except Exception as e: return name, "unusable", repr(e)[:120], ""
    finally: signal.setitimer(signal.ITIMER_PROF, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--capture", default="trace", choices=capture.MODES)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--each", type=float, default=0, help="processor seconds for one model; what then remains of it counts as refused by PyTorch")
    parser.add_argument("--one-size", action="store_true", help="a dynamic batch, but no other heights, widths and lengths")
    parser.add_argument("--ones", action="store_true", help="every dynamic axis at size 1, instead of other sizes")
    args = parser.parse_args()
    done = {}
    if args.out and os.path.exists(args.out):
        with open(args.out) as lines:
            for line in lines:
                fields = line.rstrip("\n").split("\t")
                done[fields[0]] = fields
    shard, shards = map(int, args.shard.split("/"))
    wanted = args.only.split(",")
    todo = [n for n in [n for n in names() if any(w in n for w in wanted)][shard::shards] if n not in done]
    if args.limit: todo = todo[:args.limit]
    begin, summary = time.time(), collections.Counter()
    with multiprocessing.get_context("fork").Pool(args.jobs, maxtasksperchild=1) as pool:
        results = pool.imap_unordered(work, [(args.cameo, args.capture, n, args.each, "ones" if args.ones else "" if args.one_size else "others") for n in todo])
        for i in range(len(todo)):
            try: row = results.next(timeout=max(1, args.seconds - (time.time() - begin)) if args.seconds else None)
            except multiprocessing.TimeoutError:
                print(f"stopped after {args.seconds} s with {len(todo) - i} models to go", flush=True)
                pool.terminate()
                break
            done[row[0]] = row
            if args.out:
                with open(args.out, "a") as f: f.write("\t".join(row) + "\n")
            if row[1] != "right" or row[2] or row[4:] and row[4].startswith("wrong"): print(i + 1, "/", len(todo), *row, sep="  ", flush=True)
    for row in done.values():
        summary[row[1]] += 1
        summary["right with a dynamic batch"] += row[1] == "right" and not row[2]
        if len(row) > 4 and row[4]: summary["other sizes: " + row[4].split(":")[0]] += 1
    print(dict(summary))


if __name__ == "__main__":
    main()
