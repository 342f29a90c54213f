"""PyTorch's own operator samples, traced or taken by torch.export, exported by Cameo and run by onnxruntime.

usage: opinfo.py [--cameo PATH] [--capture trace|export|decompose] [--only NAME[,NAME]] [--jobs N] [--peers FILE] [--out TABLE.tsv] [--errors]
Finished rows in --out are kept: a run resumes.
With CAMEO_REPORTS=FOLDER in the environment the reports of all exports are kept there (for tools/operators.py).
Prints what is not right, the refusals by reason, right / wrong / refused counts, and what a peer gets right that Cameo does not.
"""
import argparse
import collections
import logging
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import warnings

import capture

warnings.filterwarnings("ignore")
logging.getLogger("torch").setLevel(logging.CRITICAL)  # torch.export tells at length what it refuses
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLES = 2

# Why an operator cannot be right, by the start of its name. Whatever is refused and not listed here is a gap.
DECOMPOSITION = "a decomposition: iterative, its result not unique (signs, order), and ONNX has no operator for it"
SPARSE = "sparse tensors"
TRAINING = "the samples ask for training mode: the numbers are drawn anew in every run"
REASONS = {
    "linalg.eig": DECOMPOSITION, "linalg.svd": DECOMPOSITION, "svd": DECOMPOSITION, "pca_lowrank": DECOMPOSITION, "linalg.ldl": DECOMPOSITION,
    "sparse.": SPARSE, "to_sparse": SPARSE,
    "nn.functional.rrelu": TRAINING, "nn.functional.linear_cross_entropy.chunked": "an operator of torch.nn's own that computes gradients on the way, for training",
    "chalf": "complex numbers of two halves: ONNX has no type for them",
    "hash_tensor": "the bits of floats: ONNX has BitCast only from opset 26 on", "nextafter": "the bits of floats: ONNX has BitCast only from opset 26 on",
    "special.airy_ai": "no form that is tight everywhere",
}
# Compared by shape and type: the numbers are drawn anew.
RANDOM = ("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "rand", "uniform", "nn.functional.fractional_max_pool",
          "nn.functional.multi_head_attention_forward", "nn.functional.feature_alpha_dropout.with_train")  # both with dropout that is on


def operators():
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    for op in op_db:
        dtypes = op.supported_dtypes("cpu")
        for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
            if dtype in dtypes:
                yield op, dtype
                break


def label(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def is_uninitialized(op):
    return op.name.startswith(("empty", "new_empty"))


def flatten(value):
    import torch
    if isinstance(value, torch.Tensor): return [value]
    if isinstance(value, (list, tuple)): return [t for v in value for t in flatten(v)]
    return []


class Call:
    """A module whose inputs are the tensors of one sample; everything else is fixed."""

    def __new__(cls, op, sample):
        import torch

        class Module(torch.nn.Module):
            def forward(self, *tensors):
                queue = list(tensors)

                def rebuild(v):
                    if isinstance(v, torch.Tensor): return queue.pop(0)
                    if isinstance(v, (list, tuple)): return type(v)(rebuild(x) for x in v) if not hasattr(v, "_fields") else v
                    return v

                first = rebuild(sample.input)
                args = [rebuild(a) for a in sample.args]
                kwargs = {k: rebuild(v) for k, v in sample.kwargs.items()}
                out = op.op(first, *args, **kwargs)
                if isinstance(out, tuple) and hasattr(out, "n_fields"): return tuple(out)  # torch.export cannot name classes of torch.return_types
                return out if isinstance(out, (torch.Tensor, tuple, list)) and not isinstance(out, torch.Size) else torch.as_tensor(out)

        return Module()


def tensors_of(sample):
    return flatten(sample.input) + flatten(list(sample.args)) + flatten(list(sample.kwargs.values()))


def as_numpy(t):
    import torch
    t = t.detach().resolve_conj().resolve_neg()
    if t.is_complex(): t = torch.view_as_real(t)
    if t.dtype == torch.bfloat16: t = t.float()
    return t.contiguous().numpy()


def scripted(op, sample, inputs):
    """The call as script text, for what torch 2.13 does not trace: resize_, a bool where a number belongs."""
    import torch
    names = iter(f"x{i}" for i in range(len(inputs)))
    text = lambda v: next(names) if isinstance(v, torch.Tensor) else repr(tuple(v) if isinstance(v, torch.Size) else v)
    parts = [text(sample.input)] + [text(a) for a in sample.args] + [f"{k}={text(v)}" for k, v in sample.kwargs.items()]
    call = f"{parts[0]}.{op.name}({', '.join(parts[1:])})" if op.name.endswith("_") else f"torch.{op.name}({', '.join(parts)})"
    module = torch.jit.script(type(f"Call{len(scripted.made)}", (torch.nn.Module,), {})())
    scripted.made.append(module)
    module.define(f"def forward(self, {', '.join(f'x{i}' for i in range(len(inputs)))}):\n    return {call}\n")
    kinds = {torch.float32: "f32", torch.int64: "i64", torch.bool: "bool", torch.complex64: "c64"}
    flags = [f"--input=x{i}={kinds[t.dtype]}[{','.join(map(str, t.shape))}]" for i, t in enumerate(inputs)]
    return module, flags


scripted.made = []  # each is a class of its own


def session_of(path):
    import onnx
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    model = onnx.load(path)
    for i, out in enumerate(model.graph.output):  # numpy has no bfloat16
        if out.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16:
            model.graph.node.append(onnx.helper.make_node("Cast", [out.name], [f"{out.name}_f32"], to=onnx.TensorProto.FLOAT))
            model.graph.output[i].CopyFrom(onnx.helper.make_tensor_value_info(f"{out.name}_f32", onnx.TensorProto.FLOAT, None))
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def judge(cameo, mode, op, sample, folder):
    """right, wrong, refused, or unusable, and a line about it."""
    import numpy as np
    import torch
    inputs = [t.detach().clone() for t in tensors_of(sample)]
    module, flags = Call(op, sample).eval(), []
    try:
        with torch.no_grad():
            expected = flatten(module(*[t.clone() for t in inputs]))
            try:
                path = capture.save(mode, module, [t.clone() for t in inputs], os.path.join(folder, "op"))
            except Exception:
                if mode != "trace" or op.name not in ("fill", "resize_", "resize_as_"): raise
                archive, flags = scripted(op, sample, inputs)
                path = os.path.join(folder, "op.pt")
                archive.save(path)
    except Exception as e:
        return "unusable", (str(e).splitlines() or [type(e).__name__])[0][:120]
    onnx_path = os.path.join(folder, "op.onnx")
    reports = os.environ.get("CAMEO_REPORTS")
    report = ["--report", tempfile.mktemp(dir=reports, suffix=".json")] if reports else []
    run = subprocess.run([cameo, "export", path, "-o", onnx_path, "--opset", "20", *flags, *report], capture_output=True, text=True)
    if run.returncode != 0: return "refused" if run.returncode in (1, 2) else "crash", next((line for line in run.stderr.splitlines() if line.startswith("error")), "?")[:200]
    if differs := capture.disagreement(run.stderr): return "wrong", differs
    try:
        session = session_of(onnx_path)
        feeds = {}
        for i, spec in enumerate(session.get_inputs()): feeds[spec.name] = as_numpy(inputs[int(spec.name.rsplit("_", 1)[-1]) - 1 if spec.name.startswith("argument") else i])
        got = session.run(None, feeds)
    except Exception as e:
        return "wrong", "onnxruntime: " + str(e).splitlines()[0][:200]
    if len(got) != len(expected): return "wrong", f"{len(got)} outputs instead of {len(expected)}"
    for i, (a, t) in enumerate(zip(got, expected)):
        b = as_numpy(t)
        if list(a.shape) != list(b.shape): return "wrong", f"output {i}: shape {a.shape} instead of {b.shape}"
        if t.dtype != torch.bfloat16 and a.dtype != b.dtype: return "wrong", f"output {i}: {a.dtype} instead of {b.dtype}"
        if is_uninitialized(op) or label(op).startswith(RANDOM): continue
        if not np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True):
            return "wrong", f"output {i}: error {np.nanmax(np.abs(a.astype(np.float64) - b.astype(np.float64))):.3g}"
    return "right", ""


def work(task):
    cameo, mode, index = task
    import torch
    torch.set_num_threads(1)
    op, dtype = list(operators())[index]
    verdicts = []
    try:
        samples = []
        torch.manual_seed(0)
        for s in op.sample_inputs("cpu", dtype, requires_grad=False):
            samples.append(s)
            if len(samples) == SAMPLES: break
        with tempfile.TemporaryDirectory() as folder:
            for s in samples: verdicts.append(judge(cameo, mode, op, s, folder))
    except Exception as e:
        verdicts.append(("unusable", str(e).splitlines()[0][:120] if str(e) else type(e).__name__))
    return label(op), verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameo", default=str(ROOT / "build/release/cameo"))
    parser.add_argument("--capture", default="trace", choices=capture.MODES)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--peers", default=str(ROOT.parent / "shared/facts/opinfo-peers.tsv"))
    parser.add_argument("--out", default="")
    parser.add_argument("--errors", action="store_true")
    args = parser.parse_args()
    wanted = set(filter(None, args.only.split(",")))
    table = pathlib.Path(args.out) if args.out else None
    rows = [tuple(line.split("\t")) for line in table.read_text().splitlines()] if table and table.exists() else []
    done = {row[0] for row in rows}
    tasks = [(args.cameo, args.capture, i) for i, (op, _) in enumerate(operators()) if label(op) not in done and (not wanted or op.name in wanted or label(op) in wanted)]
    with multiprocessing.Pool(args.jobs, maxtasksperchild=200) as pool:
        for name, verdicts in pool.imap_unordered(work, tasks, chunksize=4):
            kinds = [k for k, _ in verdicts if k != "unusable"]
            state = "unusable" if not kinds else "right" if all(k == "right" for k in kinds) else "crash" if "crash" in kinds else "wrong" if "wrong" in kinds else "refused"
            why = next((w for k, w in verdicts if k == state), "")
            rows.append((name, state, why.replace("\t", " ")))
            if table:
                with table.open("a") as f: f.write("\t".join(rows[-1]) + "\n")
    rows.sort()
    summary = collections.Counter(state for _, state, _ in rows)
    if table: table.write_text("".join("\t".join(row) + "\n" for row in rows))
    if args.errors or wanted:
        for n, s, w in rows:
            if s != "right": print(n, s, w, sep="\t")
    reasons = collections.defaultdict(list)
    for n, s, w in rows:
        if s == "refused": reasons[next((r for start, r in REASONS.items() if n.startswith(start)), "no reason: " + w)].append(n)
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])): print(f"refused, {why}: {' '.join(names)}")
    print(", ".join(f"{count} {state}" for state, count in summary.most_common()), f"({sum(len(v) for k, v in reasons.items() if not k.startswith('no reason'))} refusals with a reason)",
          f"\n{sum(s == 'right' and n.startswith(RANDOM) for n, s, _ in rows)} of the right ones are random and compared by shape and type")
    right = {n for n, s, _ in rows if s == "right"}
    peers = pathlib.Path(args.peers)
    if peers.exists() and not wanted:
        missing = []
        for line in peers.read_text().splitlines():
            fields = line.split("\t")
            # operator, dtype, samples, right by TorchScript's exporter, right by the dynamo exporter
            if not line.startswith("#") and fields[2] in fields[3:5] and fields[2] != "0" and fields[0] not in right: missing.append(fields[0])
        print(len(missing), "that a peer gets right and Cameo does not:", " ".join(missing))


if __name__ == "__main__":
    main()
