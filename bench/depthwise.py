#!/usr/bin/env python3
"""Depthwise convolutions between float activations in onnxruntime: in floats, in integers, and in floats inside of an integer model.

usage: depthwise.py [--rounds 60]

Each row is a model of three blocks: a convolution 1x1 to C channels, x * HardSigmoid(x), a depthwise one, x * HardSigmoid(x). Prints the least of alternating
runs in microseconds, one thread. Needs numpy, onnx, onnxruntime.
"""
import argparse
import time

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

SIZES = [(32, 112), (96, 56), (144, 28), (240, 14), (480, 7), (960, 7), (48, 28)]


class Blocks:
    def __init__(self, channels, kernel, integers, depthwise_integers):
        self.nodes, self.constants, self.made = [], [], np.random.default_rng(0)
        self.channels, self.kernel = channels, kernel
        x = self.rounded("x", integers)
        for block in range(3):
            x = self.conv(x, channels if block else 16, channels, 1, 1, integers)
            x = self.gate(self.rounded(x, integers))
            x = self.conv(self.rounded(x, depthwise_integers), channels, channels, kernel, channels, depthwise_integers)
            x = self.rounded(self.gate(self.rounded(x, depthwise_integers)), integers)
        self.result = self.rounded(self.conv(x, channels, 16, 1, 1, integers), integers)

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(array, f"k{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def rounded(self, x, yes):
        if not yes:
            return x
        how = [self.constant(np.float32(0.05)), self.constant(np.uint8(128))]
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, *how]), *how])

    def gate(self, x):
        return self.node("Mul", [x, self.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)])

    def conv(self, x, inputs, outputs, kernel, group, integers):
        weight = self.made.normal(0, 0.1, (outputs, inputs // group, kernel, kernel)).astype(np.float32)
        bias = self.made.normal(0, 0.1, outputs).astype(np.float32)
        scale = np.full(outputs, 0.01, np.float32)
        if integers:
            levels = np.clip(np.round(weight / 0.01), -127, 127).astype(np.int8)
            w = self.node("DequantizeLinear", [self.constant(levels), self.constant(scale), self.constant(np.zeros(outputs, np.int8))], axis=0)
            b = self.node("DequantizeLinear", [self.constant((bias / 0.0005).astype(np.int32)), self.constant(scale * np.float32(0.05)), self.constant(np.zeros(outputs, np.int32))], axis=0)
        else:
            w, b = self.constant(weight), self.constant(bias)
        return self.node("Conv", [x, w, b], kernel_shape=[kernel, kernel], group=group, pads=[kernel // 2] * 4)

    def session(self, side):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, side, side])],
                                  [helper.make_tensor_value_info(self.result, TensorProto.FLOAT, None)], self.constants)
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=60)
    args = p.parse_args()
    for channels, side in SIZES:
        x = np.random.default_rng(1).normal(0, 1, (1, 16, side, side)).astype(np.float32)
        for kernel in (3, 5):
            sessions = [Blocks(channels, kernel, *how).session(side) for how in ((False, False), (True, True), (True, False))]
            best = [float("inf")] * 3
            for _ in range(args.rounds):
                for i, s in enumerate(sessions):
                    start = time.perf_counter()
                    s.run(None, {"x": x})
                    best[i] = min(best[i], 1e6 * (time.perf_counter() - start))
            print(f"{channels:4} channels, {side:3} x {side:<3}, kernel {kernel}: floats {best[0]:6.0f}, integers {best[1]:6.0f}, depthwise in floats {best[2]:6.0f}", flush=True)


if __name__ == "__main__":
    main()
