"""`cameo infer` against onnx.shape_inference, which is C++ behind Python, on a generated graph of 20,000 nodes and on real models.

usage: bench/infer_speed.py [--cameo PATH] [--models a,b] [--nodes N] [--repeat N] [--with-weights] [--keep FOLDER] [--json FILE]

What is compared, in processor time (user and system), which the load of the machine hardly changes; all are single
threads, so on an idle machine it is the wall clock's, which --json gives as well. Each is the best of --repeat turns:
  process      cameo's whole process: start, read, infer, write, end
  in process   file to file in a process that has started, as onnx runs (build/release/bench/bench_infer, where it was
               built); the source's digest is left out, since onnx writes none (--no-provenance)
  inference    the part of it that infers, on a graph that is loaded already
  path         onnx.shape_inference.infer_shapes_path(IN, OUT): file to file, only in C++
  call         onnx.shape_inference.infer_shapes(model) on a model that is loaded already
  whole        onnx.load, infer_shapes and onnx.save: what users write
Like with like: inference and call, in process and whole (or path, which reads and writes in C++), process and whole. On
models of a few hundred nodes the start of a process takes longer than all the rest, and `process` says nothing about inference.
Weights lie in a file beside the model, which none of them touches; --with-weights embeds them instead.
A size counts as known when it is a number or an expression over the sizes of the graph's inputs. onnx invents names
(`unk__12`) for the others; Cameo leaves them open. Cameo has to know every size that onnx knows: the counts are printed,
and fewer is an error. Needs onnx; the real models need torch, torchvision's Python half, timm and transformers.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "torch"))


COLUMNS = ("process", "in process", "inference", "path", "call", "whole")
RATIOS = ("call / inference", "whole / in process", "path / in process", "whole / process")


def generated(nodes):
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


def real(name, path):
    """The model as torch.onnx.export writes it, batch dynamic, without what shape inference is to find out."""
    import torch

    from models import import_torchvision
    tv = import_torchvision()
    torch.manual_seed(0)
    axes = {"x": {0: "batch"}}
    if name == "bert":
        import transformers
        config = transformers.BertConfig(attn_implementation="eager")
        bert = transformers.BertModel(config).eval()

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.bert = bert

            def forward(self, x): return self.bert(x).last_hidden_state

        net, x = Net(), torch.randint(0, 1000, (2, 16))
        axes["x"][1] = "sequence"
    elif name.startswith("timm/"):
        import timm
        net, x = timm.create_model(name[5:]).eval(), torch.randn(2, 3, 224, 224)
    else:
        net, x = tv.models.get_model(name, weights=None).eval(), torch.randn(2, 3, 224, 224)
    with torch.no_grad():
        torch.onnx.export(net, (x,), path, dynamo=False, opset_version=17, input_names=["x"], output_names=["y"], dynamic_axes=axes)


def prepare(name, folder, args):
    import onnx
    path = os.path.join(folder, name.replace("/", "-") + ".onnx")
    if os.path.exists(path): return path
    if name == "generated":
        onnx.save(generated(args.nodes), path)
        return path
    real(name, path)
    model = onnx.load(path)
    del model.graph.value_info[:]
    os.remove(path)
    if args.with_weights: onnx.save(model, path)
    else: onnx.save(model, path, save_as_external_data=True, location=os.path.basename(path) + ".data", size_threshold=1024)
    return path


def known_sizes(path):
    """How many sizes of values inside the graph are known, and of how many values. Later nodes' values in bodies count too."""
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    symbols = {d.dim_param for v in graph.input for d in v.type.tensor_type.shape.dim if d.dim_param}
    sizes = {}
    for v in list(graph.value_info) + list(graph.output):
        for axis, d in enumerate(v.type.tensor_type.shape.dim):
            if d.HasField("dim_value"): sizes[v.name, axis] = True
            elif d.dim_param:
                words = set(re.findall(r"[A-Za-z_][\w.]*", d.dim_param)) - {"floor", "trunc", "mod", "min", "max", "broadcast"}
                if words <= symbols: sizes[v.name, axis] = True
    return set(sizes)


def processor_time():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def best(ways, repeat, fresh):
    """Seconds of processor and of wall clock; a way that measures itself gives its own. All write to files that are not there."""
    times = {name: [float("inf")] * 2 for name in ways}
    for _ in range(repeat):
        for name, way in ways.items():
            for file in fresh: pathlib.Path(file).unlink(missing_ok=True)
            wall, processor = time.perf_counter(), processor_time()
            own = way()
            spent = own if isinstance(own, tuple) else (processor_time() - processor, time.perf_counter() - wall)
            times[name] = [min(a, b) for a, b in zip(times[name], spent)]
    return {name: t[0] for name, t in times.items()}, {name: t[1] for name, t in times.items()}


def in_process(program, model, out):
    result = json.loads(subprocess.run([program, model, out], check=True, capture_output=True, text=True).stdout)
    in_process.inference = min(in_process.inference, result["infer_s"])
    return result["processor_s"], result["wall_s"]


def measure(name, folder, args):
    import onnx
    model = prepare(name, folder, args)
    ours, theirs, again = (os.path.join(folder, f) for f in ("ours.onnx", "theirs.onnx", "again.onnx"))
    loaded = onnx.load(model, load_external_data=False)

    def whole():
        onnx.save(onnx.shape_inference.infer_shapes(onnx.load(model, load_external_data=False)), again)

    ways = {"process": lambda: subprocess.run([args.cameo, "-q", "infer", model, ours], check=True) and None}
    program = os.path.join(os.path.dirname(args.cameo), "bench", "bench_infer")
    if os.path.exists(program):
        ways["in process"] = lambda: in_process(program, model, ours)
    ways["path"] = lambda: onnx.shape_inference.infer_shapes_path(model, theirs)
    ways["call"] = lambda: onnx.shape_inference.infer_shapes(loaded) and None
    ways["whole"] = whole
    in_process.inference = float("inf")
    times, walls = best(ways, args.repeat, (ours, theirs, again))
    if "in process" in ways: times["inference"] = in_process.inference
    ways["process"](), ways["path"]()
    mine, peers = known_sizes(ours), known_sizes(theirs)
    row = {"model": name, "nodes": len(loaded.graph.node), "bytes": os.path.getsize(model), "ms": {k: round(v * 1000, 2) for k, v in times.items()},
           "wall_ms": {k: round(v * 1000, 2) for k, v in walls.items()},
           "ratios": {f"{peer} / {own}": round(times[peer] / times[own], 1) for own in ("process", "in process", "inference") if own in times for peer in ("path", "call", "whole")},
           "known_sizes": {"cameo": len(mine), "onnx": len(peers), "only onnx": len(peers - mine)}}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cameo", default=os.environ.get("CAMEO", str(ROOT / "build/release/cameo")))
    parser.add_argument("--models", default="generated,resnet50,timm/swin_tiny_patch4_window7_224,bert")
    parser.add_argument("--nodes", type=int, default=20000)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--with-weights", action="store_true")
    parser.add_argument("--keep", help="make the models here, and use those that are here already")
    parser.add_argument("--json", help="the results, in full")
    args = parser.parse_args()
    rows, fewer = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        print("| model | nodes | " + " | ".join(COLUMNS) + " | " + " | ".join(RATIOS) + " | sizes known: cameo | onnx |")
        print("|" + "---|" * (4 + len(COLUMNS) + len(RATIOS)), flush=True)
        for name in args.models.split(","):
            row = measure(name, folder, args)
            rows.append(row)
            ms, r, k = row["ms"], row["ratios"], row["known_sizes"]
            cells = [name, row["nodes"]] + [f"{ms[w]:.2f} ms" if w in ms else "" for w in COLUMNS]
            cells += [r.get(w, "") for w in RATIOS] + [k["cameo"], k["onnx"]]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            if k["only onnx"]: fewer.append(f"{name}: onnx knows {k['only onnx']} sizes that cameo does not")
    if args.json: pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit("\n".join(fewer) or 0)


main()
