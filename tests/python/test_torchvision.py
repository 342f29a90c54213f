"""Detectors and operators recorded with torchvision (../shared/fixtures): exported, run, compared with what was recorded."""
import os
import pathlib

import numpy as np
import onnxruntime
import pytest
import torch

FOLDER = pathlib.Path(os.environ.get("CAMEO_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared")) / "fixtures" / "torchvision"
CASES = sorted((folder.name, archive.name) for folder in FOLDER.glob("*") for archive in folder.glob("*.pt")) if FOLDER.is_dir() else []
# Scores that are one number, or eight, thousands of times (random weights): which of them topk takes is not defined.
ONLY_SCORES = {"retinanet": [1], "retinanet_list": [1]}
KINDS = {"float32": "f32", "int64": "i64"}


def load(path):
    stored = np.load(path)
    return [stored[k] for k in sorted(stored.files, key=lambda k: int(k[1:]))]


def with_noise(archive, inputs, folder):
    """rtdetr's scores are one number, 189 times: noise makes them differ, and the order of what is still close is left out."""
    net, generator = torch.jit.load(archive), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in net.parameters():
            if p.is_floating_point() and p.numel() > 1: p.add_(torch.randn(p.shape, generator=generator) * 0.5 * p.std().clamp(min=0.05))
        outputs = net(*map(torch.from_numpy, inputs))
    net.save(folder / archive.name)
    return folder / archive.name, [t.numpy() for t in outputs]


@pytest.mark.parametrize("case, archive", CASES)
def test_recorded(cameo, tmp_path, case, archive):
    folder, model = FOLDER / case, tmp_path / "model.onnx"
    path, inputs, expected = folder / archive, load(folder / "inputs.npz"), load(folder / "outputs.npz")
    if case == "rtdetr": path, expected = with_noise(path, inputs, tmp_path)
    flags = []
    if archive == "scripted.pt" or case == "rtdetr":
        for i, x in enumerate(inputs):
            flags += ["--input", f"{f'images.{i}' if case.endswith('_list') else f'x{i}'}={KINDS[str(x.dtype)]}[{','.join(map(str, x.shape))}]"]
    done = cameo("-q", "export", path, "-o", model, "--opset", 20, *flags)
    assert done.returncode == 0, done.stderr
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    got = session.run(None, {spec.name: x for spec, x in zip(session.get_inputs(), inputs)})
    assert len(got) == len(expected)
    assert [a.shape for a in got] == [b.shape for b in expected]
    if case == "rtdetr":
        a, b = (np.concatenate([np.asarray(t)[0] for t in outputs], 1) for outputs in (got, expected))
        apart = np.abs(a[:, None] - b[None]).max(2)  # every detection has its counterpart
        assert apart.min(0).max() < 1e-4 and apart.min(1).max() < 1e-4
        return
    for i, (a, b) in enumerate(zip(got, expected)):
        if i in ONLY_SCORES.get(case, [i]): np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)
