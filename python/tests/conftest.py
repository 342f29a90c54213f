import io
import os

import numpy as np
import pytest

os.environ.setdefault("CAMEO_QUIET", "1")


@pytest.fixture
def judged():
    """Exports, runs the result with onnxruntime on the example (or on other tensors), compares with PyTorch."""
    torch = pytest.importorskip("torch")
    ort = pytest.importorskip("onnxruntime")
    import cameo

    def leaves(value):
        if isinstance(value, torch.Tensor):
            return [value]
        if isinstance(value, dict):
            return [t for v in value.values() for t in leaves(v)]
        if isinstance(value, (list, tuple)):
            return [t for v in value for t in leaves(v)]
        return [t for v in vars(value).values() for t in leaves(v)] if hasattr(value, "__dataclass_fields__") else []

    def judge(data, model, args, atol=1e-4):
        session = ort.InferenceSession(data, providers=["CPUExecutionProvider"])
        feeds = {i.name: t.detach().numpy() for i, t in zip(session.get_inputs(), leaves(args))}
        got = session.run(None, feeds)
        was = getattr(model, "training", None)
        if was:
            model.eval()
        with torch.no_grad():
            call = args if isinstance(args, tuple) else (args,)
            wanted = leaves(model(*call))
        if was:
            model.train()
        assert len(got) >= len(wanted)
        for g, w in zip(got, wanted):
            np.testing.assert_allclose(g, w.numpy(), rtol=1e-3, atol=atol)
        return session

    def run(model, args, *more, others=(), atol=1e-4, **options):
        buffer = io.BytesIO()
        result = cameo.export(model, args, buffer, *more, **options)
        for example in [args, *others]:
            result.session = judge(buffer.getvalue(), model, example, atol)
        result.data = buffer.getvalue()
        return result
    run.judge = judge
    return run
