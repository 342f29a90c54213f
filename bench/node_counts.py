"""Node counts of `cameo export` and of torch.onnx.export(dynamo=True), both at opset 18 with a dynamic batch.

usage: bench/node_counts.py [--cameo PATH] [--models a,b] [--folder DIR] [--check]
Random weights. Archives and peers' files stay in --folder, so that a second run only exports with Cameo; bodies and
functions count. With --check both are run in onnxruntime on batches of 2 and 3 and compared. Prints one line per model; status 1 when one of ours
is larger or differs. Needs torch, onnx, onnxscript, torchvision (its Python half is enough), transformers, timm.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import warnings

import onnx_nodes

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "torch"))

VISION = """resnet18 resnet50 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small efficientnet_b0 densenet121 googlenet inception_v3
squeezenet1_1 shufflenet_v2_x1_0 vgg11_bn regnet_y_400mf mnasnet1_0 convnext_tiny swin_t swin_v2_t vit_b_32 maxvit_t""".split()
TEXT = "bert distilbert gpt2 roberta t5_encoder llama".split()


def vision(name):
    import torch

    from models import import_torchvision
    tv = import_torchvision()
    options = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    size = 299 if name == "inception_v3" else 224
    return tv.models.get_model(name, weights=None, **options).eval(), (torch.randn(2, 3, size, size),)


def text(name):
    import torch
    import transformers as t

    from models import first_output
    small = dict(num_hidden_layers=2, hidden_size=64, num_attention_heads=4, intermediate_size=128, vocab_size=100)
    ids = torch.randint(0, 100, (2, 16))
    if name == "bert":
        model = t.BertModel(t.BertConfig(**small))
    elif name == "roberta":
        model = t.RobertaModel(t.RobertaConfig(**small, max_position_embeddings=64))
    elif name == "distilbert":
        model = t.DistilBertModel(t.DistilBertConfig(n_layers=2, dim=64, n_heads=4, hidden_dim=128, vocab_size=100))
    elif name == "gpt2":
        model = t.GPT2Model(t.GPT2Config(n_layer=2, n_embd=64, n_head=4, vocab_size=100, use_cache=False))
    elif name == "t5_encoder":
        model = t.T5EncoderModel(t.T5Config(num_layers=2, d_model=64, num_heads=4, d_kv=16, d_ff=128, vocab_size=100))
    else:
        model = t.LlamaModel(t.LlamaConfig(**small, num_key_value_heads=2, use_cache=False))
    return first_output(model.eval()), (ids,)


def build(name):
    return text(name) if name in TEXT else vision(name)


def make_files(name, folder):
    """The traced archive and the dynamo exporter's file; none where that exporter fails."""
    import torch
    archive, theirs = folder / f"{name}.pt", folder / f"{name}.dynamo.onnx"
    if archive.exists() and (theirs.exists() or (folder / f"{name}.failed").exists()):
        return archive, theirs
    torch.manual_seed(0)
    model, inputs = build(name)
    with torch.no_grad():
        torch.jit.trace(model, inputs, check_trace=False).save(str(archive))
        try:
            batch = torch.export.Dim("batch", min=1, max=512)
            torch.onnx.export(model, inputs, str(theirs), dynamo=True, opset_version=18, external_data=False, verbose=False,
                              dynamic_shapes=tuple({0: batch} for _ in inputs))
        except Exception as e:
            (folder / f"{name}.failed").write_text(f"{type(e).__name__}: {e}"[:400])
    return archive, theirs


def export_ours(cameo, name, archive, target):
    kind = "i64" if name in TEXT else "f32"
    size = 299 if name == "inception_v3" else 224
    dims = "batch,16" if name in TEXT else f"batch,3,{size},{size}"
    return subprocess.run([cameo, "-q", "export", str(archive), "-o", str(target), "--opset", "18", "--input", f"x={kind}[{dims}]"],
                          capture_output=True, text=True)


def differs(name, ours, theirs):
    import numpy as np
    import onnxruntime as ort
    a, b = (ort.InferenceSession(str(p), providers=["CPUExecutionProvider"]) for p in (ours, theirs))
    rng = np.random.default_rng(0)
    for batch in (2, 3):
        shape = [batch] + list(a.get_inputs()[0].shape[1:])
        x = rng.integers(0, 100, shape) if name in TEXT else rng.standard_normal(shape).astype("float32")
        got, want = (s.run(None, {s.get_inputs()[0].name: x})[0] for s in (a, b))
        if not np.allclose(got, want, rtol=1e-3, atol=1e-3 * max(1.0, float(np.abs(want).max()))):
            return f"differs by {np.abs(got - want).max():.3g}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--models", default=",".join(VISION + TEXT))
    parser.add_argument("--folder")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--operators", action="store_true", help="also which operators there are more or fewer of")
    args = parser.parse_args()
    folder = pathlib.Path(args.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    bad = 0
    print(f"{'model':24}{'cameo':>8}{'dynamo':>8}")
    for name in args.models.split(","):
        archive, theirs = make_files(name, folder)
        ours = folder / f"{name}.cameo.onnx"
        run = export_ours(args.cameo, name, archive, ours)
        if run.returncode:
            print(f"{name:24} {run.stderr.strip()[:300]}")
            bad += 1
            continue
        a = onnx_nodes.in_file(str(ours))
        b = onnx_nodes.in_file(str(theirs)) if theirs.exists() else None
        total, peer = sum(a.values()), sum(b.values()) if b else None
        note = "" if peer is None or total <= peer else "  LARGER"
        if args.check and b:
            wrong = differs(name, ours, theirs)
            note += f"  {wrong.upper()}" if wrong else "  agrees"
            bad += bool(wrong)
        bad += "LARGER" in note
        print(f"{name:24}{total:8}{peer if peer is not None else 'failed':>8}{note}", flush=True)
        if args.operators and b:
            print("    ", ", ".join(f"{op} {a[op]}/{b[op]}" for op in sorted(set(a) | set(b)) if a[op] != b[op]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
