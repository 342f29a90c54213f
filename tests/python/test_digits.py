"""The example's archives and recorded outputs belong together, in the PyTorch that the other tests use."""
import numpy as np
import pytest
import torch


@pytest.mark.parametrize("archive, samples", [("digits.pt", "samples.npz"), ("digits_scripted.pt", "samples_scripted.npz"),
                                              ("digits_scripted.pt", "samples.npz")])
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


@pytest.mark.parametrize("archive", ["digits.pt", "digits_scripted.pt"])
def test_archives_stay_small(root, archive):
    assert (root / "examples" / "digits" / archive).stat().st_size < 300_000
