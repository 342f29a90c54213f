"""From a PyTorch module to ONNX Runtime's output."""
import onnxruntime
import road


def engine(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


if __name__ == "__main__":
    road.travel("onnxruntime", engine)
