"""From a PyTorch module to ncnn's output. pnnx (PyPI) reads the ONNX file and writes ncnn's two files, .param and .bin; sizes are fixed, and the batch of 1 is dropped."""
import pathlib
import subprocess

import ncnn
import numpy as np
import pnnx
import road

CONVERTER = next(p for p in pathlib.Path(pnnx.__file__).parent.rglob("pnnx") if p.is_file())


def engine(path):
    """Half precision is ncnn's own: pnnx fp16=1 stores weights in f16."""
    half = path.name.endswith(".f16.onnx")
    done = subprocess.run([CONVERTER, path.name, f"fp16={int(half)}", "inputshape=[1,3,32,32]f32"], cwd=path.parent, capture_output=True, text=True)
    stem = path.with_suffix("").name.replace(".", "_")
    param = next((p for p in path.parent.glob("*.ncnn.param") if p.name.removesuffix(".ncnn.param") in (stem, path.stem)), None)
    if done.returncode or param is None:
        raise RuntimeError(f"pnnx: {done.stderr.strip().splitlines()[-1:]}")
    net = ncnn.Net()
    net.opt.use_vulkan_compute = False
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = half
    net.opt.num_threads = 1
    if net.load_param(str(param)) or net.load_model(str(param).replace(".param", ".bin")):
        raise RuntimeError("ncnn does not load what pnnx wrote")

    def run(feeds):
        extractor = net.create_extractor()
        extractor.input("in0", ncnn.Mat(np.ascontiguousarray(feeds["image"][0])))
        return [np.array(extractor.extract("out0")[1])]
    return run


if __name__ == "__main__":
    road.travel("ncnn", engine, precisions=("f32",), forms=("fixed",))
