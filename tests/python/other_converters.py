"""Models as other frameworks' converters write them (tf2onnx, skl2onnx, onnxmltools, paddle2onnx), simplified by the command.

usage: tests/python/other_converters.py [--cameo build/release/cameo] [--keep FOLDER] [--only TEXT]
Each model must compute the same in onnxruntime before and after, have no more nodes, stay as it is when simplified again, and
not grow by more than 1 %, or by 1 KiB where 1 % is less (shapes and provenance). A converter that is not installed is skipped, and
said so. `make other-converters` installs them into an environment of its own. Ends with a plain line of counts.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))


def sklearn_models(folder):
    import numpy as np
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn import cluster, decomposition, ensemble, gaussian_process, linear_model, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 4)).astype("float32")
    y = (x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 1)
    models = dict(
        ridge=linear_model.Ridge(), logistic=linear_model.LogisticRegression(), mlp=neural_network.MLPClassifier((8,), max_iter=20), tree=tree.DecisionTreeClassifier(max_depth=4),
        forest=ensemble.RandomForestClassifier(5, max_depth=4), boosting=ensemble.GradientBoostingRegressor(n_estimators=5), svc=svm.SVC(probability=True), bayes=naive_bayes.GaussianNB(),
        neighbours=neighbors.KNeighborsClassifier(3), kmeans=cluster.KMeans(3, n_init=1), pca=decomposition.PCA(2), gaussian=gaussian_process.GaussianProcessRegressor(),
        scaled=pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
        polynomial=pipeline.make_pipeline(preprocessing.PolynomialFeatures(2), preprocessing.MinMaxScaler(), linear_model.Lasso(0.1)),
        bins=preprocessing.KBinsDiscretizer(3, encode="onehot-dense"), quantiles=preprocessing.Normalizer())
    for name, model in models.items():
        model.fit(x, y)
        options = {"zipmap": False} if hasattr(model, "predict_proba") else None
        (folder / f"sklearn--{name}.onnx").write_bytes(skl2onnx.to_onnx(model, initial_types=[("x", FloatTensorType([None, 4]))], options=options).SerializeToString())


def boosted_models(folder):
    import lightgbm
    import numpy as np
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 4)).astype("float32")
    y = (x[:, 0] > 0).astype(int)
    types = [("x", FloatTensorType([None, 4]))]
    light = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1).fit(x, y)
    (folder / "lightgbm--classifier.onnx").write_bytes(onnxmltools.convert_lightgbm(light, initial_types=types, zipmap=False).SerializeToString())
    import xgboost
    boost = xgboost.XGBRegressor(n_estimators=4).fit(x, y)
    (folder / "xgboost--regressor.onnx").write_bytes(onnxmltools.convert_xgboost(boost, initial_types=types).SerializeToString())


def keras_models(folder):
    import tensorflow as tf
    import tf2onnx
    keras = tf.keras
    tf.random.set_seed(0)

    def convolutional():
        i = keras.Input((32, 32, 3))
        h = keras.layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False)(keras.layers.Rescaling(1 / 127.5, -1)(i))
        h = keras.layers.ReLU(6.0)(keras.layers.BatchNormalization()(h))
        h = keras.layers.DepthwiseConv2D(3, padding="same")(keras.layers.ZeroPadding2D(1)(h))
        h = keras.layers.MaxPooling2D(3, 2)(keras.layers.ZeroPadding2D(1)(keras.layers.ReLU()(h)))
        h = keras.layers.UpSampling2D(2, interpolation="bilinear")(h)
        h = keras.layers.Dropout(0.5)(keras.layers.GlobalAveragePooling2D()(h))
        return keras.Model(i, keras.layers.Dense(10, activation="softmax")(h))

    def recurrent():
        i = keras.Input((12,), dtype="int32")
        h = keras.layers.Embedding(50, 16)(i)
        h = keras.layers.Bidirectional(keras.layers.LSTM(8, return_sequences=True))(h)
        return keras.Model(i, keras.layers.Dense(3)(keras.layers.GRU(8)(h)))

    def attentive():
        i = keras.Input((10, 32))
        h = keras.layers.LayerNormalization()(i)
        h = keras.layers.Add()([i, keras.layers.MultiHeadAttention(4, 8)(h, h)])
        h = keras.layers.Dense(32, activation=lambda t: keras.activations.gelu(t, approximate=True))(keras.layers.LayerNormalization()(h))
        return keras.Model(i, keras.layers.GlobalAveragePooling1D()(h))

    def dense():
        i = keras.Input((7,))
        h = keras.layers.Dense(16, activation="swish")(keras.layers.Normalization(mean=0.5, variance=2.0)(i))
        return keras.Model(i, [keras.layers.Dense(1, activation="sigmoid")(h), keras.layers.Dense(4, activation="tanh")(h)])

    makers = {"convolutional": convolutional, "recurrent": recurrent, "attentive": attentive, "dense": dense}
    if hasattr(keras.applications, "MobileNetV2"):
        makers["mobilenet_v2"] = lambda: keras.applications.MobileNetV2((96, 96, 3), alpha=0.35, weights=None)
        makers["efficientnet_b0"] = lambda: keras.applications.EfficientNetB0(input_shape=(64, 64, 3), weights=None)
    for name, make in makers.items():
        model = make()
        signature = [tf.TensorSpec((None, *t.shape[1:]), t.dtype, name=f"x{k}") for k, t in enumerate(model.inputs)]
        call = tf.function(lambda *xs, m=model: m(xs[0] if len(xs) == 1 else list(xs), training=False), input_signature=signature)
        tf2onnx.convert.from_function(call, input_signature=signature, opset=18, output_path=str(folder / f"keras--{name}.onnx"))

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32, name="x")])
    def loops(x):
        total = tf.zeros_like(x)
        for k in tf.range(tf.shape(x)[0]):
            if k % 2 == 0:
                total += x[k]
            else:
                total -= x[k] * tf.cast(tf.shape(x)[0], tf.float32)
        return tf.where(total > 0, total, tf.math.exp(total)), tf.einsum("ab,cb->ac", x, x), tf.gather(x, tf.argsort(x[:, 0]))

    tf2onnx.convert.from_function(loops, input_signature=loops.input_signature, opset=18, output_path=str(folder / "tensorflow--loops.onnx"))


def paddle_models(folder):
    import paddle
    import paddle2onnx

    class Convolutional(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.body = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3, 2, 1, bias_attr=False), paddle.nn.BatchNorm2D(8), paddle.nn.Hardswish(), paddle.nn.Conv2D(8, 8, 3, groups=8, padding=1),
                                             paddle.nn.BatchNorm2D(8), paddle.nn.ReLU(), paddle.nn.MaxPool2D(3, 2, 1), paddle.nn.AdaptiveAvgPool2D(1), paddle.nn.Flatten(), paddle.nn.Linear(8, 5))

        def forward(self, x):
            return paddle.nn.functional.softmax(self.body(x))

    class Attentive(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm, self.layer = paddle.nn.LayerNorm(32), paddle.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu")

        def forward(self, x):
            return paddle.mean(self.layer(self.norm(x)), axis=1)

    for name, model, shape in (("convolutional", Convolutional(), [-1, 3, 32, 32]), ("attentive", Attentive(), [-1, 10, 32])):
        model.eval()
        with tempfile.TemporaryDirectory() as scratch:
            paddle.jit.save(model, f"{scratch}/m", input_spec=[paddle.static.InputSpec(shape, "float32", "x")])
            program = next(p for p in (f"{scratch}/m.json", f"{scratch}/m.pdmodel") if os.path.exists(p))
            paddle2onnx.export(program, f"{scratch}/m.pdiparams", str(folder / f"paddle--{name}.onnx"), opset_version=16)


CONVERTERS = {"skl2onnx": sklearn_models, "onnxmltools": boosted_models, "tf2onnx": keras_models, "paddle2onnx": paddle_models}


def run_all(session, seed):
    """Outputs for two sets of inputs; open sizes are 3 and 1."""
    import numpy as np
    rng, out = np.random.default_rng(seed), []
    for n in (3, 1):
        feed = {}
        for i in session.get_inputs():
            shape = [d if isinstance(d, int) and d > 0 else n for d in i.shape]
            feed[i.name] = rng.standard_normal(shape).astype("float32") if "float" in i.type else rng.integers(0, 40, shape).astype("int32" if "32" in i.type else "int64")
        out.append(session.run(None, feed))
    return out


def nodes(path):
    import onnx

    import onnx_nodes
    return sum(onnx_nodes.in_model(onnx.load(path)).values())


def judge(cameo, before, folder):
    """'' when all is well, else what is wrong."""
    import onnxruntime as ort

    from simplify_peers import alike
    ort.set_default_logger_severity(4)
    after, again = folder / "after.onnx", folder / "again.onnx"
    for source, target in ((before, after), (after, again)):
        made = subprocess.run([cameo, "-q", "simplify", str(source), str(target)], capture_output=True, text=True)
        if made.returncode:
            return made.stderr.strip()[:400]
    old, new = (ort.InferenceSession(str(p), providers=["CPUExecutionProvider"]) for p in (before, after))
    if not all(all(map(alike, a, b)) for a, b in zip(run_all(old, 1), run_all(new, 1))):
        return "an output differs"
    counts = [nodes(p) for p in (before, after, again)]
    sizes = [p.stat().st_size for p in (before, after)]
    print(f"  {before.stem}: {counts[0]} -> {counts[1]} nodes, {sizes[0]} -> {sizes[1]} bytes", flush=True)
    if counts[1] > counts[0]:
        return "more nodes than before"
    if counts[2] != counts[1]:
        return f"the second time there are {counts[2]} nodes"
    if sizes[1] > max(1.01 * sizes[0], sizes[0] + 1024):
        return f"it grew from {sizes[0]} to {sizes[1]} bytes"
    return ""


def make(name, folder):
    """In a process of its own: the frameworks bring their own copies of everything. What was made is not made again."""
    stamp = folder / f".{name}.made"
    if stamp.exists():
        return None
    run = subprocess.run([sys.executable, __file__, "--make", name, "--keep", str(folder)], capture_output=True, text=True)
    if run.returncode == 0:
        stamp.touch()
        return None
    last = (run.stderr.strip().splitlines() or ["no message"])[-1]
    return ("missing" if "No module named" in last else "failed", last)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--make", choices=CONVERTERS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.make:
        return CONVERTERS[args.make](args.keep)
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        models = args.keep or pathlib.Path(scratch) / "models"
        models.mkdir(parents=True, exist_ok=True)
        for name in CONVERTERS:
            if problem := make(name, models):
                print(f"{name}: {'SKIPPED, ' if problem[0] == 'missing' else ''}{problem[1]}", flush=True)
                skipped += problem[0] == "missing"
                failed += problem[0] == "failed"
        for before in sorted(models.glob("*.onnx")):
            if args.only not in before.name:
                continue
            try:
                wrong = judge(args.cameo, before, pathlib.Path(scratch))
            except Exception as e:
                wrong = str(e)[:400]
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"{before.name}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
