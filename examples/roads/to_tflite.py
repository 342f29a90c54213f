"""From a PyTorch module to LiteRT's output (TensorFlow Lite): onnx2tf (PyPI) converts, and writes pictures with their channels last.

TFLITE_PYTHON is an interpreter that has onnx2tf, whose pins need an environment of their own."""
import os
import pathlib
import subprocess

import onnx
import road
from ai_edge_litert.interpreter import Interpreter

CONVERTER = pathlib.Path(__file__).resolve().with_name("onnx2tf_once.py")


def engine(path):
    folder = path.with_suffix("")
    done = subprocess.run([os.environ["TFLITE_PYTHON"], CONVERTER, path, folder], capture_output=True, text=True)
    made = list(folder.glob("*_float32.tflite"))
    if done.returncode or not made:
        raise RuntimeError(f"onnx2tf: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    wanted = [d.dim_value for d in onnx.load(path, load_external_data=False).graph.output[0].type.tensor_type.shape.dim]
    net = Interpreter(str(made[0]), num_threads=1)
    net.allocate_tensors()

    def run(feeds):
        net.set_tensor(net.get_input_details()[0]["index"], feeds["image"].transpose(0, 2, 3, 1))
        net.invoke()
        answer = net.get_tensor(net.get_output_details()[0]["index"])
        return [answer if list(answer.shape) == wanted else answer.transpose(0, answer.ndim - 1, *range(1, answer.ndim - 1))]
    return run


if __name__ == "__main__":
    road.travel("tflite", engine, precisions=("f32",), forms=("fixed",))
