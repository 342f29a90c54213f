// The flags of `cameo quantize`.
#pragma once

#include "cli/common.h"

namespace cameo::cli {

inline constexpr Flag quantize_flags[] = {
    {"calibrate", 0, "DATA",
     "samples of the inputs: an .npz or .npy, a folder of them, with --image a folder of pictures, or - for arrays on "
     "standard input"},
    {"image", 0, "mean=…,std=…,size=…,layout=…",
     "how pictures become the input; parts: mean, std, divide, size, layout (nchw, nhwc), fit (stretch, crop, pad), "
     "order (rgb, bgr, grey)"},
    {"target", 0, "NAME", "onnxruntime, tensorrt, openvino, qnn or generic; default: onnxruntime"},
    {"method", 0, "NAME",
     "how ranges are chosen: minmax, percentile, entropy, mse, margin; default: auto, the least noise. With --weights: "
     "rtn "
     "(default), search, gptq, awq"},
    {"percentile", 0, "P", "numbers inside the range, for that method; default: 99.999"},
    {"keep", 0, "NODE,…", "nodes that stay float: names with * and ?, or operators; repeatable"},
    {"undo", 0, "NODE,…", "the same, for nodes that a report shows; repeatable"},
    {"min-db", 0, "X", "signal to noise of every output; nodes stay float for it; default: 20"},
    {"max-float-macs", 0, "SHARE", "of the multiplications, that may stay float for it; default: 0.1"},
    {"metric", 0, "COMMAND", "judge models by the number that COMMAND FILE prints, larger is better"},
    {"max-drop", 0, "X", "of the metric, below the float model's; default: 0.01"},
    {"check-samples", 0, "N", "measure noise on the first N samples; default: 16"},
    {"qoperator", 0, "", "QLinearConv and its like instead of Q and DQ around float operators"},
    {"opset", 0, "N", "write this opset; default: the model's own, at least what the target needs"},
    {"threads", 0, "N", "default: all the machine has"},
    {"no-bias-correction", 0, "", "leave biases as they are"},
    {"no-compensation", 0, "", "round every weight to its nearest level"},
    {"no-equalization", 0, "", "leave the ranges of channels as they are"},
    {"no-simplify", 0, "", "do not simplify the model first"},
    {"report", 0, "FILE", "every node with its bits and noise: .html or .json; repeatable"},
    {"dynamic", 0, "",
     "without samples: 8-bit weights, data rounded while the model runs; target onnxruntime or generic"},
    {"per-tensor", 0, "", "for --dynamic: one scale per weight, not one per output"},
    {"weights", 0, "int8|int4|int2",
     "only weights, in few bits; also keep, embed or external: where weights go; both may be given"},
    {"block", 0, "N", "numbers with one scale, for --weights: 16 to 256; default: 32"},
    {"asymmetric", 0, "", "every block has a zero point, for --weights"},
    {"symmetric", 0, "", "no zero points, for --weights; the default"},
    {"form", 0, "nbits|qdq",
     "for --weights: com.microsoft's MatMulNBits (default), or DequantizeLinear with blocks. Without --weights: "
     "converts "
     "weights in few bits from the other form"},
    {"no-embeddings", 0, "", "for --weights: leave tables that Gather reads as they are"},
    no_provenance,
    durable_flag,
};

bool is_weight_only(const Args& args);
int quantize_weights_main(const Verb& verb, const Args& args, Out& out);
int quantize_dynamic_main(const Verb& verb, const Args& args, Out& out);

}  // namespace cameo::cli
