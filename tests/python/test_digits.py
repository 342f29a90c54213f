"""The example: PyTorch and the exported model both give the recorded outputs."""
import numpy as np
import onnx
import onnxruntime
import pytest
import torch

PAIRS = pytest.mark.parametrize("archive, samples", [
    ("digits.pt", "samples.npz"), ("digits_scripted.pt", "samples_scripted.npz"), ("digits_scripted.pt", "samples.npz")])


@PAIRS
def test_recorded_outputs(root, archive, samples):
    folder = root / "examples" / "digits"
    net = torch.jit.load(folder / archive)
    images = torch.from_numpy(np.load(folder / samples)["images"])
    expected = np.load(folder / "expected.npz")["logits"]
    with torch.no_grad():
        got = net(images).numpy()
    assert images.shape == (16, 1, 8, 8)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    assert (got.argmax(1) == np.load(folder / "labels.npy")).mean() > 0.9


@PAIRS
@pytest.mark.parametrize("opset", [13, 18, 21])
def test_exported_model(cameo, root, tmp_path, archive, samples, opset):
    folder, model = root / "examples" / "digits", tmp_path / "digits.onnx"
    done = cameo("export", folder / archive, "-o", model, "--input", "images=f32[batch,1,8,8]", "--output-names", "logits",
                 "--opset", opset)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(str(model), full_check=True)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    images, expected = np.load(folder / samples)["images"], np.load(folder / "expected.npz")["logits"]
    for batch in (1, 16):  # one image at a time has to work too, whatever the archive was traced with
        (got,) = session.run(["logits"], {"images": images[:batch]})
        np.testing.assert_allclose(got, expected[:batch], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("archive", ["digits.pt", "digits_scripted.pt"])
def test_archives_stay_small(root, archive):
    assert (root / "examples" / "digits" / archive).stat().st_size < 300_000
