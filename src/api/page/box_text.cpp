#include "api/page/box_text.h"

#include <algorithm>

#include "support/error.h"
#include "cameo/face.h"

namespace cameo::page {

namespace {

using support::cat;

constexpr double title_letter = 7.3, line_letter = 6.2;  // of fonts of 12.5 and 11 pixels
constexpr size_t longest_title = 30;

size_t letters(std::string_view text) {  // wide ones count twice
  size_t n = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) n += byte >= 0xe3 ? 2 : 1;
  }
  return n;
}

struct Family {
  std::string_view name, ops;  // ops: each between blanks
};

constexpr Family families[] = {
    {"compute",
     " Conv ConvTranspose ConvInteger QLinearConv DeformConv MatMul MatMulInteger QLinearMatMul Gemm Einsum Attention "
     "LSTM GRU RNN "},
    {"activation",
     " Relu LeakyRelu PRelu Elu Selu Celu Sigmoid HardSigmoid HardSwish Swish Mish Gelu Tanh Softplus Softsign Softmax "
     "LogSoftmax Hardmax ThresholdedRelu Clip Erf Shrink "},
    {"normalise",
     " BatchNormalization InstanceNormalization LayerNormalization GroupNormalization RMSNormalization LRN "
     "LpNormalization MeanVarianceNormalization Dropout "},
    {"pool",
     " MaxPool AveragePool LpPool GlobalMaxPool GlobalAveragePool GlobalLpPool MaxRoiPool RoiAlign ReduceMean "
     "ReduceSum "
     "ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare ArgMax ArgMin "
     "TopK "},
    {"shape",
     " Reshape Transpose Flatten Squeeze Unsqueeze Concat Split Slice Gather GatherElements GatherND ScatterND "
     "ScatterElements Expand Tile Pad Shape Size Identity Cast CastLike Resize Upsample DepthToSpace SpaceToDepth "
     "ConstantOfShape Constant Range NonZero Where Compress OneHot "},
    {"control",
     " If Loop Scan SequenceConstruct SequenceAt SequenceInsert SequenceEmpty SequenceMap ConcatFromSequence "
     "SplitToSequence Optional OptionalGetElement OptionalHasElement "},
    {"quantise", " QuantizeLinear DequantizeLinear DynamicQuantizeLinear "},
    {"arithmetic",
     " Add Sub Mul Div Pow Sqrt Exp Log Neg Abs Max Min Mean Sum Reciprocal Floor Ceil Round Mod Sin Cos Equal Greater "
     "Less GreaterOrEqual LessOrEqual Not And Or Xor CumSum "},
};

}  // namespace

std::string shortened(std::string_view text, size_t most) {
  const std::string safe = printable_text(text);
  if (letters(safe) <= most) return safe;
  size_t head = std::min(safe.size(), most / 2), tail = safe.size() - std::min(safe.size(), most / 2);
  const auto inside = [&](size_t i) { return i < safe.size() && (static_cast<unsigned char>(safe[i]) & 0xc0) == 0x80; };
  while (head && inside(head)) --head;
  while (inside(tail)) ++tail;
  return cat(safe.substr(0, head), "…", safe.substr(tail));
}

std::string title_of(const Item& item) {
  const std::string label = shortened(item.label, longest_title);
  if (item.kind == ItemKind::repeat) return cat(label, "  ×", item.children.size());
  return label.empty() ? std::string(name(item.kind)) : label;
}

std::string_view family_of(std::string_view op) {
  const std::string word = cat(" ", op, " ");
  for (const Family& f : families)
    if (f.ops.find(word) != f.ops.npos) return f.name;
  return "other";
}

BoxSize box_size(const Item& item) {
  constexpr double least = 56, head = 26, line = 15, edges = 22;
  double width = static_cast<double>(letters(title_of(item))) * title_letter;
  size_t lines = item.lines.size();
  for (const std::string& text : item.lines) width = std::max(width, static_cast<double>(letters(text)) * line_letter);
  if (item.kind == ItemKind::module || item.kind == ItemKind::repeat) lines = 1;  // how many nodes
  return {std::max(least, width + edges), head + static_cast<double>(lines) * line + (lines ? 4 : 0)};
}

}  // namespace cameo::page
