"""onnx2tf on one file, in the environment of requirements-tflite.txt: onnx2tf_once.py MODEL FOLDER."""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import onnx2tf  # noqa: E402
import onnx2tf.onnx2tf as converter  # noqa: E402

# It would fetch sample pictures from the network to compare its layers with.
converter.download_test_image_data = lambda: np.random.default_rng(0).random((20, 128, 128, 3), dtype=np.float32)
onnx2tf.convert(input_onnx_file_path=sys.argv[1], output_folder_path=sys.argv[2], non_verbose=True, not_use_onnxsim=True)
