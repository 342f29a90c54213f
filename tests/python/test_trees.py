"""Ensembles of decision trees (ai.onnx.ml), random ones, against onnxruntime."""
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def forest(rng, trees, depth, features, targets, prefix, one_target=None, mode="BRANCH_LEQ"):
    """The parallel lists of random complete trees; every leaf weighs all targets, or one."""
    nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        inner = 2 ** depth - 1
        for node in range(2 * inner + 1):
            is_leaf = node >= inner
            values = (tree, node, 0 if is_leaf else int(rng.integers(features)), "LEAF" if is_leaf else mode,
                      0.0 if is_leaf else float(np.round(rng.normal(), 1)), 0 if is_leaf else 2 * node + 1, 0 if is_leaf else 2 * node + 2,
                      int(rng.integers(2)))
            for key, value in zip(nodes, values):
                nodes[key].append(value)
            if is_leaf:
                for t in [one_target] if one_target is not None else range(targets):
                    for key, value in zip(leaves, (tree, node, t, float(rng.normal()))):
                        leaves[key].append(value)
    return {**{f"nodes_{k}": v for k, v in nodes.items()}, **{f"{prefix}_{k}": v for k, v in leaves.items()}}


def judge(cameo, folder, rng, node, outputs, features):
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", features])
    graph = helper.make_graph([node], "g", [value], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "m.onnx")
    x = np.round(rng.normal(size=(40, features)), 1).astype(np.float32)
    x[::7, 0] = np.nan
    np.savez(folder / "in.npz", x=x)
    done = cameo("run", folder / "m.onnx", "--inputs", folder / "in.npz", "-o", folder / "out.npz")
    assert done.returncode == 0, done.stderr
    ours = np.load(folder / "out.npz")
    theirs = onnxruntime.InferenceSession(str(folder / "m.onnx"), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    for info, wanted in zip(outputs, theirs):
        if wanted.dtype.kind in "iO":
            assert ours[info.name].tolist() == wanted.tolist()
        else:
            np.testing.assert_allclose(ours[info.name], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_GT"])
def test_regressor(cameo, tmp_path, aggregate, targets, mode):
    rng = np.random.default_rng(len(aggregate) * 10 + targets)
    lists = forest(rng, 5, 3, 4, targets, "target", one_target=0 if targets == 1 else None, mode=mode)
    base = [] if aggregate in ("MIN", "MAX") else [0.5] * targets
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets, aggregate_function=aggregate,
                            **({"base_values": base} if base else {}), **lists)
    judge(cameo, tmp_path, rng, node, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", targets])], 4)


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("labels", [["a", "b", "c"], [3, 5, 7, 9]])
def test_classifier(cameo, tmp_path, transform, labels):
    rng = np.random.default_rng(len(transform))
    lists = forest(rng, 6, 3, 5, len(labels), "class", mode=MODES[len(labels) % 4])
    texts = isinstance(labels[0], str)
    node = helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", post_transform=transform,
                            **{"classlabels_strings" if texts else "classlabels_int64s": labels}, **lists)
    outputs = [helper.make_tensor_value_info("label", TensorProto.STRING if texts else TensorProto.INT64, ["n"]),
               helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", len(labels)])]
    judge(cameo, tmp_path, rng, node, outputs, 5)


def test_boosted_trees_of_two_classes_vote_for_one(cameo, tmp_path):
    """As learners write them. With other transforms onnxruntime and ONNX's reference say different things."""
    rng = np.random.default_rng(1)
    lists = forest(rng, 4, 3, 5, 1, "class", one_target=0)
    node = helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", post_transform="LOGISTIC",
                            classlabels_int64s=[0, 1], **lists)
    outputs = [helper.make_tensor_value_info("label", TensorProto.INT64, ["n"]), helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 2])]
    judge(cameo, tmp_path, rng, node, outputs, 5)


def test_a_gradient_is_refused_with_a_reason(cameo, tmp_path):
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    nodes = [helper.make_node("Mul", ["a", "b"], ["c"]),
             helper.make_node("Gradient", ["a", "b"], ["da"], domain="ai.onnx.preview.training", xs=["a"], zs=["b"], y="c")]
    graph = helper.make_graph(nodes, "g", [value("a"), value("b")], [value("c"), value("da")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12), helper.make_opsetid("ai.onnx.preview.training", 1)], ir_version=8), tmp_path / "g.onnx")
    done = cameo("run", tmp_path / "g.onnx", "--random", "1")
    assert done.returncode == 1 and "eval.gradient" in done.stderr
