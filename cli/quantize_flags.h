// The flags of `cameo quantize`.
#pragma once

#include "cli/common.h"

namespace cameo::cli {

inline constexpr Flag quantize_flags[] = {
    {"calibrate", 0, "DATA",
     "samples of the inputs: an .npz or .npy, a folder of them, a folder of pictures (with --image), or - for arrays "
     "on standard input"},
    {"image", 0, "mean=…,std=…,size=…,layout=…",
     "how pictures become the input; parts: mean, std, divide, size, layout (nchw, nhwc), fit (stretch, crop, pad), "
     "order (rgb, bgr, grey)"},
    {"target", 0, "NAME", "onnxruntime, tensorrt, openvino, qnn or generic; default: onnxruntime"},
    {"method", 0, "NAME",
     "how ranges are chosen: minmax, percentile, entropy, mse, margin; default: auto, the one with the least noise. "
     "With --bits: rtn (default), search, gptq, awq"},
    {"percentile", 0, "P",
     "with --method percentile: how many percent of the numbers lie in the range; default: 99.999"},
    {"keep", 0, "NODE,…", "keep these nodes in float: names with * and ?, or operators; repeatable"},
    {"undo", 0, "NODE,…", "the same as --keep, for nodes that a report shows; repeatable"},
    {"min-db", 0, "X",
     "the signal-to-noise ratio (dB) that every output must reach; nodes are kept in float for it; default: 20"},
    {"max-float-macs", 0, "SHARE",
     "at most this share of the multiplications may be kept in float for --min-db; default: 0.1"},
    {"metric", 0, "COMMAND", "judge models by the last number that COMMAND FILE prints; larger is better"},
    {"max-drop", 0, "X", "how far the metric may drop below the float model's; default: 0.01"},
    {"check-samples", 0, "N", "measure noise on the first N samples; default: 16"},
    {"qoperator", 0, "", "write QLinearConv and similar operators, not float operators between Q and DQ"},
    {"opset", 0, "N", "write this opset; default: the model's own, at least what the target needs"},
    {"threads", 0, "N", "threads to use; default: all"},
    {"no-bias-correction", 0, "", "do not correct biases"},
    {"no-compensation", 0, "", "round every weight to its nearest level"},
    {"no-equalization", 0, "", "do not equalize the ranges of channels"},
    {"no-simplify", 0, "", "do not simplify the model first"},
    {"report", 0, "FILE", "write a report, every node with its bits and noise: .html or .json; repeatable"},
    {"dynamic", 0, "",
     "no samples needed: 8-bit weights, data is quantized at run time; target onnxruntime or generic"},
    {"per-tensor", 0, "", "with --dynamic: one scale per weight tensor; default: one per output channel"},
    {"bits", 0, "8|4|2", "quantize only weights, to this many bits; needs no samples, except for gptq and awq"},
    {"block", 0, "N", "with --bits: how many numbers share one scale, 16 to 256; default: 32"},
    {"asymmetric", 0, "", "with --bits: every block has a zero point"},
    {"symmetric", 0, "", "with --bits: no zero points (default)"},
    {"form", 0, "nbits|qdq",
     "with --bits: com.microsoft's MatMulNBits (default), or DequantizeLinear with blocks. Without --bits: "
     "convert weights in few bits from the other form"},
    {"no-embeddings", 0, "", "with --bits: do not quantize the tables that Gather reads"},
    weights_flag,
    no_provenance,
    durable_flag,
};

bool is_weight_only(const Args& args);
int quantize_weights_main(const Verb& verb, const Args& args, Out& out);
int quantize_dynamic_main(const Verb& verb, const Args& args, Out& out);

}  // namespace cameo::cli
