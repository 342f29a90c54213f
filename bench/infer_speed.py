"""`cameo infer` against onnx.shape_inference on a generated graph of 20,000 nodes with symbolic sizes, in one run.

usage: bench/infer_speed.py [--cameo PATH] [--nodes N]
Cameo's time is its whole process; onnx's is load, infer and save after import.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def generated(nodes):
    import onnx
    from onnx import TensorProto, helper
    body, last = [], "x"
    kinds = ["Relu", "Transpose", "Add", "MatMul", "Shape", "Reshape"]
    for i in range(nodes):
        name, kind = f"v{i}", kinds[i % len(kinds)]
        if kind == "Relu": body.append(helper.make_node("Relu", [last], [name]))
        elif kind == "Transpose": body.append(helper.make_node("Transpose", [last], [name], perm=[0, 2, 1]))
        elif kind == "Add": body.append(helper.make_node("Add", [last, last], [name]))
        elif kind == "MatMul": body.append(helper.make_node("MatMul", [last, "weight"], [name]))
        elif kind == "Shape":
            body.append(helper.make_node("Shape", [last], [name]))
            continue
        else: body.append(helper.make_node("Reshape", [last, f"v{i - 1}"], [name]))
        last = name
    weight = helper.make_tensor("weight", TensorProto.FLOAT, [8, 8], [0.5] * 64)
    graph = helper.make_graph(body, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8, 8])],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def known(path):
    import onnx
    dims = [d for v in onnx.load(path).graph.value_info for d in v.type.tensor_type.shape.dim]
    return sum(d.HasField("dim_value") for d in dims), sum(bool(d.dim_param) for d in dims)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--nodes", type=int, default=20000)
    args = parser.parse_args()
    import onnx
    with tempfile.TemporaryDirectory() as folder:
        model, ours, theirs = (os.path.join(folder, n) for n in ("m.onnx", "ours.onnx", "theirs.onnx"))
        onnx.save(generated(args.nodes), model)
        start = time.perf_counter()
        subprocess.run([args.cameo, "-q", "infer", model, ours], check=True)
        cameo = time.perf_counter() - start
        start = time.perf_counter()
        onnx.shape_inference.infer_shapes_path(model, theirs)
        peer = time.perf_counter() - start
        print(f"cameo {cameo * 1000:.0f} ms, onnx {peer * 1000:.0f} ms, ratio {peer / cameo:.1f}")
        print("known sizes and named sizes: cameo", known(ours), "onnx", known(theirs))


main()
