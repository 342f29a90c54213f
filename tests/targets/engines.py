"""The engines that `cameo lint` is measured against: each loads a model from a file, and runs it on named arrays.

An engine is a function of a path that gives a function of inputs, so that a failure to load and one to run are told apart. They are imported when they are
first asked for: an environment needs only the packages of the engines that are tried in it.
"""
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import tempfile


def onnxruntime(path):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def openvino(path):
    import openvino as ov
    core = ov.Core()
    compiled = core.compile_model(core.read_model(str(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})

    def run(feeds):
        # An input that is also an output has both names.
        result = compiled([feeds[next(n for n in i.get_names() if n in feeds)] for i in compiled.inputs])
        return [result[o] for o in compiled.outputs]
    return run


def opencv(path):
    import cv2
    import numpy as np
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    net = cv2.dnn.readNetFromONNX(str(path))
    names = net.getUnconnectedOutLayersNames()

    def run(feeds):
        for name, array in feeds.items():
            net.setInput(np.ascontiguousarray(array), name)
        wanted = _outputs_of(path)
        try:
            return [net.forward(n) for n in wanted]
        except cv2.error:
            if len(wanted) != len(names):
                raise
            return list(net.forward(names))
    return run


def ncnn(path):
    """Through pnnx, which needs the sizes of the inputs: the conversion is part of running."""
    import ncnn as engine
    import numpy as np

    def run(feeds):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "m.onnx"
            shutil.copy(path, model)
            shapes = ",".join(f"[{','.join(map(str, a.shape))}]{_PNNX_TYPES[a.dtype.name]}" for a in feeds.values())
            done = subprocess.run([_pnnx(), str(model), f"inputshape={shapes}", "fp16=0"], cwd=folder, capture_output=True, text=True, timeout=60)
            param = pathlib.Path(folder) / "m.ncnn.param"
            if done.returncode or not param.exists():
                raise RuntimeError(f"pnnx: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
            missing = re.findall(r"^(?:pnnx|aten|prim|torch|nn|F|Tensor|torchvision)\.\S+", param.read_text(), re.M)
            if missing:
                raise RuntimeError(f"pnnx leaves {' '.join(sorted(set(missing)))}")
            net = engine.Net()
            net.opt.use_vulkan_compute = net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
            net.opt.num_threads = 1
            if net.load_param(str(param)) or net.load_model(str(param.with_suffix(".bin"))):
                raise RuntimeError("ncnn does not load what pnnx wrote")
            extractor = net.create_extractor()
            fed, given = _batch_axes(pathlib.Path(folder) / "m_ncnn.py")
            for name, array in zip(sorted(net.input_names(), key=_number), feeds.values()):
                if array.dtype.kind in "iu":
                    array = array.astype(np.int32)  # ncnn reads indices as such
                extractor.input(name, engine.Mat(np.ascontiguousarray(array), batch_index=fed.get(name, _NO_BATCH)).clone())
            out = []
            for name in sorted(net.output_names(), key=_number):  # net lists them as layers give them
                code, got = extractor.extract(name)
                if code:
                    raise RuntimeError(f"ncnn fails with {code}")
                out.append(np.array(got.numpy(batch_index=given.get(name, _NO_BATCH))))
            return out
    return run


def tflite(path):
    """Through onnx2tf, to LiteRT's interpreter; conversion needs the sizes of the inputs, so it is part of running."""
    import gc

    import numpy as np
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import onnx2tf
    import onnx2tf.onnx2tf as converter
    import tensorflow as tf
    from ai_edge_litert.interpreter import Interpreter
    converter.download_test_image_data = lambda: np.random.default_rng(0).random((20, 128, 128, 3), dtype=np.float32)  # it would ask the network for pictures

    def run(feeds):
        with tempfile.TemporaryDirectory() as folder:
            tf.keras.backend.clear_session()
            gc.collect()
            shapes = [f"{n}:{','.join(map(str, a.shape))}" for n, a in feeds.items() if a.ndim]
            kept = [n for n, a in feeds.items() if 3 <= a.ndim <= 5]  # the order of their axes stays
            try:
                onnx2tf.convert(input_onnx_file_path=str(path), output_folder_path=folder, non_verbose=True, not_use_onnxsim=True, overwrite_input_shape=shapes or None,
                                keep_ncw_or_nchw_or_ncdhw_input_names=kept or None)
            except SystemExit:
                raise RuntimeError("onnx2tf gives up") from None
            made = Interpreter(str(next(pathlib.Path(folder).glob("*_float32.tflite"))), num_threads=1)
            made.allocate_tensors()
            details = {d["name"].removeprefix("serving_default_").split(":")[0]: d for d in made.get_input_details()}
            left = list(details.values())
            for name, array in feeds.items():
                detail = details.get(re.sub(r"\W", "_", name)) or left[0]
                left = [d for d in left if d is not detail]
                made.set_tensor(detail["index"], array.astype(detail["dtype"]))
            made.invoke()
            outputs = sorted(made.get_output_details(), key=lambda d: d["name"])  # PartitionedCall:0, :1, ...
            return [_either_order(made.get_tensor(d["index"])) for d in outputs]
    return run


def _either_order(array):
    """onnx2tf writes pictures with their channels last; whether it did is not in the file."""
    return (array, array.transpose(0, array.ndim - 1, *range(1, array.ndim - 1))) if 3 <= array.ndim <= 5 else array


def _number(name):
    """Of out0, out1, ..., as pnnx calls what the model has in that order."""
    return int(re.sub(r"\D", "", name) or 0)


_NO_BATCH = 233  # pnnx's number for "none of the axes"


def _batch_axes(script):
    """Which axis of each input and output is the batch, as the script says that pnnx writes beside the model: ncnn has that one apart from the others."""
    text = script.read_text()
    inputs = {name: int(axis) for name, axis in re.findall(r'ex\.input\("(\w+)", ncnn\.Mat\(.*batch_index=(\d+)\)', text)}
    outputs = {name: int(axis) for name, axis in re.findall(r"\((\w+)\.numpy\(batch_index=(\d+)\)\)", text)}
    return inputs, outputs


def _pnnx():
    """The program inside the package; its Python half needs PyTorch, which the program does not."""
    return str(next(p for p in (pathlib.Path(importlib.util.find_spec("pnnx").origin).parent).rglob("pnnx") if p.is_file()))


_PNNX_TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "int32": "i32", "int64": "i64", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}


def _outputs_of(path):
    import onnx
    return [o.name for o in onnx.load(str(path), load_external_data=False).graph.output]


ENGINES = {"onnxruntime": onnxruntime, "openvino": openvino, "opencv": opencv, "ncnn": ncnn, "tflite": tflite}
PACKAGES = {"onnxruntime": "onnxruntime", "openvino": "openvino", "opencv": "opencv-python-headless", "ncnn": "ncnn", "tflite": "ai-edge-litert"}


def version(name):
    return ".".join(importlib.metadata.version(PACKAGES[name]).split(".")[:3])
