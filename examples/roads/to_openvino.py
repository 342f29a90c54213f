"""From a PyTorch module to OpenVINO's output, on the processor. It computes in f32 here, as the numbers are compared; without the hint it takes bf16 where the processor has it."""
import openvino
import road


def engine(path):
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(str(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})

    def run(feeds):
        answers = compiled(feeds)
        return [answers[o] for o in compiled.outputs]
    return run


if __name__ == "__main__":
    road.travel("openvino", engine)
