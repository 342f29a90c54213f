"""Scripted models with real control flow: PyTorch, onnxruntime and our own engine agree at every size."""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "torch"))
import scripted_builtins  # noqa: E402, F401
import scripted_cases  # noqa: E402
import scripted_flow  # noqa: E402, F401
import scripted_language  # noqa: E402, F401
import scripted_names  # noqa: E402, F401
import scripted_storage  # noqa: E402, F401
import scripted_unknown  # noqa: E402, F401

onnxruntime.set_default_logger_severity(4)


def agree(got, want, tolerance=1e-4):
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def run_here(cameo, folder, model, feeds, names):
    np.savez(folder / "in.npz", **feeds)
    done = cameo("run", model, "--inputs", folder / "in.npz", "-o", folder / "out.npz")
    assert done.returncode == 0, done.stderr
    arrays = np.load(folder / "out.npz")
    return [arrays[n] for n in names]


@pytest.mark.parametrize("case", scripted_cases.CASES, ids=lambda c: c[0].__name__)
def test_scripted(cameo, tmp_path, case):
    cls, flags, calls, options = case
    torch.manual_seed(0)
    archive, model = tmp_path / "m.pt", tmp_path / "m.onnx"
    torch.jit.script(cls().eval()).save(archive)
    done = cameo("export", archive, "-o", model, *[a for f in flags for a in ("--input", f)], *options.get("export", []))
    if "refused" in options:
        assert done.returncode == 1 and f"[{options['refused']}]" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    graph = onnx.load(model).graph
    if "loops" in options:
        assert sum(n.op_type == "Loop" for n in graph.node) == options["loops"]
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    tolerance = options.get("tolerance", 1e-4)
    for call in calls:
        inputs = scripted_cases.inputs_of(call)
        numbers = options.get("numbers", ())  # arguments that are numbers in Python and 0-d inputs of the model
        arguments = [x.item() if i in numbers else x.clone() for i, x in enumerate(inputs)]
        if "tuple_of" in options:
            arguments = [options["tuple_of"](*arguments)]
        want = scripted_cases.flat(torch.jit.load(archive)(*arguments, **options.get("keywords", {})))
        feeds = {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)}
        got = session.run(None, feeds)
        agree([a for g in got for a in (g if isinstance(g, list) else [g])], want, tolerance)
        if not options.get("sequence"):
            agree(run_here(cameo, tmp_path, model, feeds, [o.name for o in graph.output]), want, tolerance)


def test_every_statement_form_is_there():
    assert len(scripted_cases.CASES) >= 30
