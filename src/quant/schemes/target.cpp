#include "quant/schemes/target.h"

#include <algorithm>

namespace cameo::quant {

namespace {

enum : uint32_t { ort = 1, trt = 2, ov = 4, qnn = 8, generic = 16, units = ort | qnn | generic, all = 31 };

constexpr Grid u8{8, false, false}, i8_symmetric{8, true, true};

constexpr Target table[] = {
    // Products of u8 and i8 have kernels, sums of i32 are rounded once.
    {.name = "onnxruntime",
     .bit = ort,
     .placement = Placement::units,
     .activation = u8,
     .weight = i8_symmetric,
     .drops_implied = true,
     .rounds_data = true,
     .quantizes_float = true,
     .scales_channels = true,  // DequantizeLinear is an operator of its own there
     .thin = 13,               // depthwise ones in integers take as long as in floats; bench/depthwise.py measures both
     .opset = 14},             // HardSwish is one operator from 14 on: in 13 its steps would be rounded one by one
    // Zero points have to be 0; biases stay f32; Q and DQ elsewhere would split fusions.
    {.name = "tensorrt",
     .bit = trt,
     .placement = Placement::inputs,
     .activation = i8_symmetric,
     .weight = i8_symmetric,
     .integer_bias = false},
    {.name = "openvino",
     .bit = ov,
     .placement = Placement::inputs,
     .activation = u8,
     .weight = i8_symmetric,
     .integer_bias = false},
    // No float operators on the accelerator.
    {.name = "qnn", .bit = qnn, .placement = Placement::everything, .activation = u8, .weight = i8_symmetric},
    {.name = "generic", .bit = generic, .placement = Placement::units, .activation = u8, .weight = i8_symmetric},
};

constexpr OperatorRow operators[] = {
    {"Conv", Role::product, all},
    {"Gemm", Role::product, all},
    {"MatMul", Role::product, all},
    {"ConvTranspose", Role::product,
     all & ~ort},  // onnxruntime computes it in f32 between casts: slower than f32 alone
    {"Add", Role::computes, all},
    {"Mul", Role::computes, units},
    {"Sigmoid", Role::computes, ort | qnn},  // a table of 256 entries in onnxruntime
    {"LeakyRelu", Role::computes, ort | qnn},
    {"AveragePool", Role::computes, units},
    {"GlobalAveragePool", Role::computes, units},
    {"Relu", Role::activates, all},
    {"Clip", Role::activates, all},
    {"Concat", Role::joins, units},
    {"MaxPool", Role::moves, units},
    {"Reshape", Role::moves, units},
    {"Flatten", Role::moves, units},
    {"Transpose", Role::moves, units},
    {"Squeeze", Role::moves, units},
    {"Unsqueeze", Role::moves, units},
    {"Slice", Role::moves, units},
    {"Split", Role::moves, units},
    {"Gather", Role::moves, units},
    {"Expand", Role::moves, units},
    {"Resize", Role::moves, units},
    {"DepthToSpace", Role::moves, qnn | generic},
    {"SpaceToDepth", Role::moves, qnn | generic},
};

}  // namespace

std::span<const Target> targets() { return table; }

const Target* find_target(std::string_view name) {
  const auto* it = std::find_if(std::begin(table), std::end(table), [&](const Target& t) { return t.name == name; });
  return it == std::end(table) ? nullptr : it;
}

const OperatorRow* find_operator(const Target& target, const Node& node) {
  const auto* it = std::find_if(std::begin(operators), std::end(operators),
                                [&](const OperatorRow& r) { return node.is(r.op) && (r.targets & target.bit); });
  return it == std::end(operators) ? nullptr : it;
}

}  // namespace cameo::quant
