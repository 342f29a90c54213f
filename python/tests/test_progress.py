"""Long calls tell how far they are, and stop where they are told to."""
import pytest
import torch

import cameo


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[layer for _ in range(20) for layer in (torch.nn.Linear(4, 4), torch.nn.ReLU())])

    def forward(self, x):
        return self.layers(x)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    path = tmp_path_factory.mktemp("progress") / "net.onnx"
    cameo.export(Net().eval(), (torch.ones(2, 4),), path, input_names=["x"], dynamic_axes={"x": {0: "n"}})
    return cameo.load(path)


CALLS = {
    "export": lambda net, progress: cameo.export(Net().eval(), (torch.ones(2, 4),), progress=progress),
    "verify": lambda net, progress: cameo.verify(net, net, progress=progress),
    "simplify": lambda net, progress: cameo.simplify(net, progress=progress),
    "prepare": lambda net, progress: cameo.prepare(net, target="onnxruntime", progress=progress),
    "fix_lint": lambda net, progress: cameo.fix_lint(net, "rknn", sizes={"n": 1}, progress=progress),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_told_and_stopped(net, call):
    told = []
    call(net, lambda what, done, all: told.append((what, done, all)))
    assert told and all(isinstance(what, str) and what for what, _, _ in told)
    with pytest.raises(cameo.Error) as stopped:
        call(net, lambda *_: False)
    assert stopped.value.code == "budget.interrupted"


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_it_raises_comes_out(net, call):
    def fail(*_):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        call(net, fail)
