"""Scripts for onnxruntime as they are written, with `import cameo as ort` at the top."""
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import cameo as ort  # noqa: E402

X = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)


@pytest.fixture
def path(tmp_path):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
    ort.export(net, torch.zeros(1, 3, 8, 8), tmp_path / "net.onnx", input_names=["input"], output_names=["output"], dynamic_axes={"input": {0: "batch"}})
    return str(tmp_path / "net.onnx")


def test_options_and_providers(path, tmp_path, recwarn):
    assert ort.get_device() == "CPU" and "CPUExecutionProvider" in ort.get_available_providers()
    ort.set_default_logger_severity(3)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    session = ort.InferenceSession(path, options, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
    assert not recwarn and session.get_providers() == ["CPUExecutionProvider"] and session.get_session_options() is options
    ort.InferenceSession(path, providers=[("CUDAExecutionProvider", {"device_id": 0})])
    assert "CUDAExecutionProvider" in str(recwarn.pop().message)
    again = ort.InferenceSession(str(tmp_path / "optimised.onnx"))
    np.testing.assert_allclose(again.run(None, {"input": X})[0], session.run(["output"], {"input": X})[0], rtol=1e-5, atol=1e-6)


def test_bound_memory(path):
    session = ort.InferenceSession(path)
    wanted = session.run(None, {"input": X})[0]
    binding = session.io_binding()
    binding.bind_cpu_input("input", X)
    binding.bind_output("output")
    session.run_with_iobinding(binding)
    assert np.array_equal(binding.copy_outputs_to_cpu()[0], wanted) and np.array_equal(binding.get_outputs()[0].numpy(), wanted)
    x, y = torch.from_numpy(X), torch.empty(wanted.shape)
    binding = session.io_binding()
    binding.bind_input(name="input", device_type="cpu", device_id=0, element_type=np.float32, shape=tuple(x.shape), buffer_ptr=x.data_ptr())
    binding.bind_output(name="output", device_type="cpu", device_id=0, element_type=np.float32, shape=tuple(y.shape), buffer_ptr=y.data_ptr())
    session.run_with_iobinding(binding)
    assert np.array_equal(y.numpy(), wanted)
    with pytest.raises(ort.Error, match="on the CPU"):
        binding.bind_input("input", "cuda", 0, np.float32, tuple(x.shape), x.data_ptr())
    binding.bind_output("output", "cpu", 0, np.float32, (1, 4, 6, 6), y.data_ptr())
    with pytest.raises(ort.Error, match=r"\[2, 4, 6, 6\]"):
        session.run_with_iobinding(binding)


def test_values_of_onnxruntime(path):
    session = ort.InferenceSession(path)
    value = ort.OrtValue.ortvalue_from_numpy(X)
    assert (value.shape(), value.data_type(), value.device_name()) == ([2, 3, 8, 8], "tensor(float)", "cpu")
    result = session.run_with_ort_values(["output"], {"input": value})[0]
    assert np.array_equal(result.numpy(), session.run(None, {"input": X})[0])


def test_a_profile(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ort.SessionOptions()
    options.enable_profiling = True
    session = ort.InferenceSession(path, options)
    for _ in range(2):
        session.run(None, {"input": X})
    with open(session.end_profiling()) as f:
        events = json.load(f)
    assert len(events) >= 2 and any("Conv" in e["args"]["op_name"] for e in events) and all(e["dur"] >= 0 for e in events)


def test_what_has_no_meaning_here(path):
    options = ort.SessionOptions()
    with pytest.raises(ort.Error, match="kernels="):
        options.register_custom_ops_library("libcustom.so")
    with pytest.raises(ort.Error, match="fix_shape"):
        options.add_free_dimension_override_by_name("batch", 1)
    with pytest.raises(ort.Error, match=r"run\(\['output'\], feeds\)"):
        ort.InferenceSession(path).run("output", {"input": X})


def test_kernels_of_the_callers_own(path):
    twice = ort.InferenceSession(path, kernels={"Relu": lambda x: np.maximum(x, 0) * 2})
    np.testing.assert_allclose(twice.run(None, {"input": X})[0], 2 * ort.InferenceSession(path).run(None, {"input": X})[0], rtol=1e-5, atol=1e-6)
