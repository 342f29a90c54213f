"""Every verb on an ONNX file; onnxruntime runs the original and what the verbs make of it."""
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

from record import Wrong, command

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
         "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(bool)": np.bool_, "tensor(string)": np.str_}
# Sizes to try for what a file leaves free, by the number of axes of the input; the first that onnxruntime runs is taken.
FREE = {1: (16000, 16, 1), 2: (512, 16000, 64, 16, 1), 3: (64, 320, 16, 1), 4: (64, 48, 320, 224, 640, 1)}
# Sizes by their names, where several inputs share them: the graphs of layout detectors.
NAMED = {"num_nodes": 12, "num_edges": 30}
# What no guess finds: the sampling rate and the state of voice detectors, how many samples there are, the page of a node.
FIXED = {"batch": np.zeros(NAMED["num_nodes"]), "sr": np.array(16000), "state": np.zeros((2, 1, 128)), "waveforms_lens": np.array([16000]), "features_lens": np.array([64])}
TOLERANCE = 2e-3
# A larger difference is right where onnxruntime's own result moves as much: without its optimisations, with all of them, or when the inputs change by a millionth
# (MOVES is how often it may move that far). Models that round to 8 bits while they run do so: a last digit decides a whole step. What was excused is recorded.
MOVES, LAST_DIGIT, CHANGES = 2.0, 1e-6, 4
BASIC = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
OTHER_LEVELS = (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)


def session(path_or_bytes, level=BASIC):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    return ort.InferenceSession(path_or_bytes, options, providers=["CPUExecutionProvider"])


def _numbers(w):
    return isinstance(w, np.ndarray) and w.dtype.kind in "fiub"


def _worst(g, w):
    """The largest difference between two results of one output; infinite where their shapes differ."""
    g = np.asarray(g)
    if g.shape != w.shape:
        return np.inf
    error = np.abs(g.astype("f8") - w.astype("f8"))
    same = (g == w) | (np.isnan(g.astype("f8")) & np.isnan(w.astype("f8")))
    return float(np.where(same, 0, np.nan_to_num(error, nan=np.inf)).max(initial=0))


def movement(path, feeds, wanted):
    """How far onnxruntime's own outputs move: {place: the largest difference}."""
    runs = []
    for level in OTHER_LEVELS:
        try:
            runs.append(session(str(path), level).run(None, feeds))
        except Exception:  # a level that has no kernel for some node
            continue
    s = session(str(path))
    for seed in range(CHANGES):
        rng = np.random.default_rng(seed)
        near = {n: (a * (1 + LAST_DIGIT * rng.choice([-1, 1], a.shape))).astype(a.dtype) if a.dtype.kind == "f" else a for n, a in feeds.items()}
        runs.append(s.run(None, near))
    return {i: max(_worst(run[i], w) for run in runs) for i, w in enumerate(wanted) if _numbers(w)}


def made_up(inputs, free, seed=0):
    rng = np.random.default_rng(seed)
    batches = {i.shape[0] for i in inputs if len(i.shape) > 1 and isinstance(i.shape[0], str)}
    feeds = {}
    for i in inputs:
        kind, rank = TYPES[i.type], len(i.shape)
        shape = [n if isinstance(n, int) and n > 0 else NAMED[n] if n in NAMED else 1 if axis == 0 and rank > 1 or n in batches
                 else 3 if axis == 1 and rank == 4 else free.get(rank, 8) for axis, n in enumerate(i.shape)]
        if i.name in FIXED:
            feeds[i.name] = FIXED[i.name].astype(kind)
        elif kind is np.str_:
            feeds[i.name] = np.full(shape, "a")
        elif np.issubdtype(kind, np.floating):
            feeds[i.name] = rng.random(shape).astype(kind)
        else:
            feeds[i.name] = rng.integers(0, 2 if kind is np.bool_ else 5, shape).astype(kind)
    return feeds


def feeds_for(s):
    """Inputs that onnxruntime runs the model on, and what it gives."""
    last = None
    for attempt in range(6):
        sizes = {rank: choices[min(attempt, len(choices) - 1)] for rank, choices in FREE.items()}
        feeds = made_up(s.get_inputs(), sizes)
        try:
            return feeds, s.run(None, feeds)
        except Exception as e:
            last = e
    raise Wrong(f"onnxruntime runs it on nothing that was tried: {last}")


def compare(names, got, wanted, moves=None):
    """Raises where an output differs by more than TOLERANCE, and by more than onnxruntime's own results move; gives what was excused by that."""
    excused = []
    for place, (name, g, w) in enumerate(zip(names, got, wanted)):
        if not _numbers(w):
            continue
        g = np.asarray(g)
        if g.shape != w.shape:
            raise Wrong(f"the output {name} is {g.shape}, and onnxruntime's {w.shape}")
        scale = max(1.0, float(np.abs(w[np.isfinite(w)].astype("f8")).max(initial=0)))
        worst = _worst(g, w)
        if worst <= TOLERANCE * scale:
            continue
        own = moves()[place] if moves else 0.0
        if worst > MOVES * own or not np.isfinite(own):
            raise Wrong(f"the output {name} differs by {worst:.3g}, of {scale:.3g}; onnxruntime's own moves by {own:.3g}")
        excused.append(f"{name} differs by {worst:.3g}, of {scale:.3g}; onnxruntime's own moves by {own:.3g}")
    return "; ".join(excused)


def _check(path, cameo):
    """Right where onnx.checker is of the same opinion."""
    try:
        command(cameo, "check", path)
    except Wrong:
        try:
            onnx.checker.check_model(str(path))
        except onnx.checker.ValidationError as e:
            return f"onnx.checker refuses it too: {str(e).splitlines()[0]}"
        raise


def judge(name, path, cameo, log):
    with tempfile.TemporaryDirectory() as folder:
        _judge(name, path, cameo, log, pathlib.Path(folder))


def _judge(name, path, cameo, log, folder):
    state = {}

    def original():
        if not state:
            s = session(str(path))
            state["feeds"], state["wanted"] = feeds_for(s)
            state["names"] = [o.name for o in s.get_outputs()]
        return state

    def ours(model):
        o = original()
        np.savez(folder / "in.npz", **o["feeds"])
        command(cameo, "run", model, "--inputs", folder / "in.npz", "-o", folder / "out.npz")
        with np.load(folder / "out.npz") as got:
            return compare(o["names"], [got[n] if n in got else got[f"y{i}"] for i, n in enumerate(o["names"])], o["wanted"], moves)

    def theirs(model):
        o = original()
        return compare(o["names"], session(str(model)).run(None, o["feeds"]), o["wanted"], moves)

    def moves():
        if "moves" not in state:
            state["moves"] = movement(path, state["feeds"], state["wanted"])
        return state["moves"]

    def made(verb, *flags):
        out = folder / f"{verb}.onnx"
        try:
            command(cameo, verb, path, out, *flags)
        except Wrong as e:
            if "convert.refused" not in str(e):
                raise
            return "refused with a reason"
        return theirs(out)

    proto = onnx.load(path, load_external_data=False)
    opset = next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), 1)
    log.step(name, "check", lambda: _check(path, cameo))
    log.step(name, "infer", lambda: made("infer"))
    log.step(name, "simplify", lambda: made("simplify"))
    log.step(name, "run", lambda: ours(path))
    log.step(name, "run random", lambda: command(cameo, "run", path, "--random", "0") and None)
    log.step(name, "convert up", lambda: made("convert", "--opset", "21"))
    if opset > 13:
        log.step(name, "convert down", lambda: made("convert", "--opset", "13"))
