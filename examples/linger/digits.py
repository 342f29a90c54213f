"""A quantised network in the manner of linger, from training to a file that runs anywhere.

  pip install torch==2.13.0 onnxruntime cameo-onnx
  python examples/linger/digits.py FOLDER        # some seconds; writes digits.onnx and digits_qdq.onnx into FOLDER

The network of examples/digits, with its trained weights, becomes quantised layers (layers.py), learns its scales from the samples, is
exported with linger's nodes, checked, simplified, run and compared with PyTorch, and converted to QuantizeLinear and DequantizeLinear.
"""
import pathlib
import sys

import numpy as np
import onnxruntime
import torch
from torch import nn

import cameo
import layers

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "digits"
STEPS = 60


class QuantisedDigits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = layers.QConv2d(1, 16, 3, padding=1)
        self.bn1 = layers.QBatchNorm2d(16, source=self.conv1)
        self.conv2 = layers.QConv2d(16, 32, 3, padding=1, source=self.bn1)
        self.bn2 = layers.QBatchNorm2d(32, source=self.conv2)
        self.fc1 = layers.QLinear(32 * 4 * 4, 64, source=self.bn2)
        self.fc2 = layers.QLinear(64, 10, source=self.fc1)

    def forward(self, images):
        x = torch.relu(self.bn1(self.conv1(images)))
        x = torch.max_pool2d(torch.relu(self.bn2(self.conv2(x))), 2)
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)

    def start_from(self, trained):
        """The weights of the float network; scales are learned."""
        features, classifier = trained.features, trained.classifier
        for mine, theirs in ((self.conv1, getattr(features, "0")), (self.bn1, getattr(features, "1")), (self.conv2, getattr(features, "3")),
                             (self.bn2, getattr(features, "4")), (self.fc1, getattr(classifier, "0")), (self.fc2, getattr(classifier, "3"))):
            mine.load_state_dict(theirs.state_dict(), strict=False)
        return self


def train(net, teacher, images):
    """The float network is the teacher; noise and shifts make more of the few samples."""
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-4)
    net.train()
    for _ in range(STEPS):
        dy, dx = torch.randint(-1, 2, (2,), generator=generator).tolist()
        batch = (torch.roll(images, (dy, dx), (2, 3)) + 0.05 * torch.randn(images.shape, generator=generator)).clamp(0, 1)
        with torch.no_grad():
            wanted = teacher(batch)
        loss = nn.functional.mse_loss(net(batch), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net.eval()


def main(folder):
    images = torch.from_numpy(np.load(DIGITS / "samples.npz")["images"])
    labels = np.load(DIGITS / "labels.npy")
    teacher = torch.jit.load(DIGITS / "digits.pt")
    torch.manual_seed(0)
    net = train(QuantisedDigits().start_from(teacher), teacher, images)
    with torch.no_grad():
        wanted = net(images).numpy()

    # linger's nodes, finished as linger.onnx.export does: whole numbers as weights, Quant and Dequant where floats begin and end
    result = cameo.export(net, images, folder / "digits.onnx", input_names=["images"], output_names=["logits"], dynamic_axes={"images": {0: "batch"}})
    model = cameo.load(folder / "digits.onnx")
    findings = cameo.check(model)
    simplified = cameo.simplify(model)[0]
    logits = cameo.run(simplified, {"images": images.numpy()})["logits"]
    step = 1 / net.fc2.quant_o.scale

    # the same with standard operators, for any engine
    cameo.convert(model, to_qdq=True).save(folder / "digits_qdq.onnx")
    session = onnxruntime.InferenceSession(folder / "digits_qdq.onnx", providers=["CPUExecutionProvider"])
    (anywhere,) = session.run(None, {"images": images.numpy()})

    print(result.verification)
    print(f"{len(findings)} findings; {', '.join(n.op for n in model.nodes)}")
    print(f"digits right: PyTorch {(wanted.argmax(1) == labels).sum()}, linger's nodes {(logits.argmax(1) == labels).sum()}, standard nodes {(anywhere.argmax(1) == labels).sum()} of {len(labels)}")
    print(f"largest difference in steps of {step}: linger's nodes {np.abs(logits - wanted).max() / step:g}, standard nodes in onnxruntime {np.abs(anywhere - wanted).max() / step:g}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
