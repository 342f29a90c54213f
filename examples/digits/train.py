"""Trains the digit classifier of this folder and records what the demo and the tests compare with.

  pip install torch==2.13.0 scikit-learn      # scikit-learn carries 1797 handwritten digits of 8 x 8 pixels
  python examples/digits/train.py             # half a minute on one core; rewrites the files beside this script
"""
import pathlib

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = 16
EPOCHS = 60


class DigitNet(nn.Module):
    """Images of shape [n, 1, 8, 8] with values from 0 to 1 in, ten logits per image out."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.MaxPool2d(2), nn.Dropout(0.25))
        self.classifier = nn.Sequential(nn.Linear(32 * 4 * 4, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 10))

    def forward(self, images):
        features = self.features(images)
        return self.classifier(features.reshape(features.size(0), -1))


class AnyScan(nn.Module):
    """The same network for images of any brightness scale, dark on light or light on dark.

    Both questions can only be answered by looking at the pixels, so the scripted archive holds a `while` and an `if`
    that depend on data.
    """

    def __init__(self, net: DigitNet):
        super().__init__()
        self.net = net

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        while bool(images.max() > 1.0):
            images = images * 0.5
        if bool(images.mean() > 0.5):
            images = 1.0 - images
        return self.net(images)


def shifted(images, generator):
    """Moves each image by up to one pixel either way: the only augmentation these tiny pictures need."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (2, len(images)), generator=generator)
    rows = dy[:, None] + torch.arange(8)
    columns = dx[:, None] + torch.arange(8)
    n = torch.arange(len(images))[:, None, None]
    return padded[n, 0, rows[:, :, None], columns[:, None, :]][:, None]


def train(net, images, labels, generator):
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
    batches = -(-len(images) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=EPOCHS * batches)
    net.train()
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images), generator=generator).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(shifted(images[batch], generator)), labels[batch]).backward()
            optimizer.step()
            schedule.step()
    net.eval()


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(7)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16.0
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images), generator=generator)
    test, rest = order[:360], order[360:]

    net = DigitNet()
    train(net, images[rest], labels[rest], generator)
    with torch.no_grad():
        right = (net(images[test]).argmax(1) == labels[test]).sum().item()
        samples = images[test[:SAMPLES]]
        expected = net(samples)
        scans = 16.0 - samples * 16.0  # dark on light, values up to 16: needs the loop and the branch
        traced = torch.jit.trace(net, samples[:1])
        scripted = torch.jit.script(AnyScan(net).eval())
        assert torch.equal(scripted(scans), expected) and torch.equal(scripted(samples), expected)
    print(f"{right} of {len(test)} test images right ({100 * right / len(test):.2f} %)")

    traced.save(HERE / "digits.pt")
    scripted.save(HERE / "digits_scripted.pt")
    np.savez_compressed(HERE / "samples.npz", images=samples.numpy())
    np.savez_compressed(HERE / "samples_scripted.npz", images=scans.numpy())
    np.savez_compressed(HERE / "expected.npz", logits=expected.numpy())
    np.save(HERE / "labels.npy", labels[test[:SAMPLES]].numpy())


if __name__ == "__main__":
    main()
