"""From a PyTorch module to ONNX Runtime's output in C++: onnxruntime.cc is compiled with the headers of ORT_INCLUDE, and linked with the library inside the Python package."""
import os
import pathlib
import subprocess

import numpy as np
import onnxruntime
import road

LIBRARY = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))


def program():
    made = road.PLACE / "onnxruntime-cpp" / "road"
    source = pathlib.Path(__file__).with_name("onnxruntime.cc")
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        made.parent.mkdir(parents=True, exist_ok=True)
        (shared := made.with_name("libonnxruntime.so.1")).unlink(missing_ok=True)
        shared.symlink_to(LIBRARY)  # by the name that programs look for
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-w", f"-I{os.environ['ORT_INCLUDE']}", source, shared, f"-Wl,-rpath,{made.parent}", "-o", made], check=True)
    return made


def engine(path):
    def ran(image, rounds):
        done = subprocess.run([program(), path, str(rounds), *map(str, image.shape)], input=np.ascontiguousarray(image).tobytes(), capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr.decode() or f"exit status {done.returncode}")
        return np.frombuffer(done.stdout, np.float32), float(done.stderr.split()[-1])

    def run(feeds):
        return [ran(feeds["image"], 1)[0]]
    run.ms = ran(np.zeros((1, 3, 32, 32), np.float32), 20)[1]  # starting the program is no part of it
    return run


if __name__ == "__main__":
    road.travel("onnxruntime-cpp", engine, lints="onnxruntime")
