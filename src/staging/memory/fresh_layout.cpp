// How new results lie in memory, measured in PyTorch over its own operator samples. What is not listed is contiguous if
// all operands are, and unknown otherwise.
#include <algorithm>

#include "staging/memory/storage.h"

namespace cameo::staging {

namespace {

// They keep the order of their operands' axes.
constexpr std::string_view elementwise[] = {
    "__and__",     "__or__",      "__xor__",     "_to_copy",    "abs",          "absolute",   "acos",
    "acosh",       "add",         "addcdiv",     "addcmul",     "angle",        "arccos",     "arcsin",
    "arctan",      "argsort",     "asin",        "asinh",       "atan",         "atan2",      "atanh",
    "bitwise_and", "bitwise_not", "bitwise_or",  "bitwise_xor", "ceil",         "celu",       "clamp",
    "clamp_max",   "clamp_min",   "clip",        "clone",       "copysign",     "cos",        "cosh",
    "deg2rad",     "digamma",     "div",         "divide",      "elu",          "empty_like", "eq",
    "erf",         "erfc",        "erfinv",      "exp",         "exp2",         "expm1",      "flip",
    "fliplr",      "flipud",      "float_power", "floor",       "floor_divide", "fmax",       "fmin",
    "fmod",        "frac",        "full_like",   "ge",          "gelu",         "greater",    "greater_equal",
    "gt",          "hardshrink",  "hardsigmoid", "hardswish",   "hardtanh",     "hypot",      "index_fill",
    "isfinite",    "isinf",       "isnan",       "le",          "leaky_relu",   "lerp",       "less",
    "less_equal",  "lgamma",      "log",         "log10",       "log1p",        "log2",       "logaddexp",
    "logaddexp2",  "logical_and", "logical_not", "logical_or",  "logical_xor",  "logit",      "lt",
    "maximum",     "minimum",     "mish",        "msort",       "mul",          "multiply",   "nan_to_num",
    "ne",          "neg",         "negative",    "not_equal",   "ones_like",    "polygamma",  "pow",
    "prelu",       "rad2deg",     "rand_like",   "randn_like",  "reciprocal",   "relu",       "relu6",
    "remainder",   "round",       "rsqrt",       "selu",        "sgn",          "sigmoid",    "sign",
    "signbit",     "silu",        "sin",         "sinc",        "sinh",         "softplus",   "softshrink",
    "sort",        "sqrt",        "square",      "sub",         "subtract",     "tan",        "tanh",
    "threshold",   "to",          "true_divide", "trunc",       "type_as",      "where",      "xlogy",
    "zeros_like",
};

// They are contiguous whatever their operands are.
constexpr std::string_view always[] = {
    "addbmm",
    "addmm",
    "baddbmm",
    "bmm",
    "bucketize",
    "cdist",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "diag_embed",
    "embedding",
    "gather",
    "index_add",
    "index_copy",
    "index_select",
    "isin",
    "layer_norm",
    "linear",
    "log_softmax",
    "logcumsumexp",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "mm",
    "mv",
    "native_layer_norm",
    "new_empty",
    "new_full",
    "new_ones",
    "new_zeros",
    "one_hot",
    "renorm",
    "repeat",
    "repeat_interleave",
    "roll",
    "scatter",
    "scatter_add",
    "searchsorted",
    "softmax",
    "stack",
    "take_along_dim",
    "tile",
    "topk",
    "tril",
    "triu",
};

// They may lie otherwise even where all operands are contiguous; by the beginning of the name.
constexpr std::string_view irregular[] = {
    "_efficient_attention",
    "_fft",
    "_flash_attention",
    "_linalg",
    "_native_multi_head",
    "_scaled_dot",
    "_transformer_encoder",
    "cholesky",
    "einsum",
    "empty_permuted",
    "empty_strided",
    "fft_",
    "geqrf",
    "gru",
    "inverse",
    "istft",
    "linalg_",
    "lstm",
    "lu",
    "matrix_power",
    "new_empty_strided",
    "nonzero",
    "orgqr",
    "ormqr",
    "pinverse",
    "qr",
    "rnn_",
    "rot90",
    "scaled_dot",
    "stft",
    "svd",
    "triangular_solve",
};

template <size_t N>
bool listed(const std::string_view (&names)[N], std::string_view name) {
  return std::binary_search(std::begin(names), std::end(names), name);
}

std::vector<TensorRef> operands_of(const Machine& s, const std::vector<Value>& args) {
  std::vector<TensorRef> out;
  for (const Value& v : args) {
    if (const auto* t = v.as<TensorRef>()) out.push_back(*t);
    if (!v.is<ListRef>() || s.heap.get<ListCell>(v.need<ListRef>().cell).staged) continue;
    for (const Value& part : s.items(v))
      if (const auto* t = part.as<TensorRef>()) out.push_back(*t);
  }
  return out;
}

// What is padded is new memory; only images and volumes keep the order of their axes, and a cut is a copy as it lay.
bool is_padded_anew(const Machine& s, std::string_view name, const std::vector<Value>& args, size_t rank) {
  if ((name != "pad" && name != "constant_pad_nd") || rank > 3 || args.size() < 2 || !args[1].is<ListRef>())
    return false;
  if (s.heap.get<ListCell>(args[1].need<ListRef>().cell).staged) return false;
  const auto& pads = s.items(args[1]);
  return std::any_of(pads.begin(), pads.end(), [](const Value& v) {
    const auto* d = v.as<Dim>();
    return d && d->is_literal() && d->literal() > 0;
  });
}

}  // namespace

Layout fresh_layout(Machine& s, const Schema& schema, const std::vector<Value>& args, V result) {
  if (!s.on.has_rank(result)) return {};
  const auto rank = static_cast<size_t>(s.on.rank(result));
  if (rank < 2) return Layout::contiguous();
  const std::string_view name = std::string_view(schema.name).substr(schema.name.find("::") + 2);
  if (name == "nonzero" || name == "argwhere")
    return new_in_order(s.on.shape(result), {1, 0});  // found axis by axis and handed out transposed
  if (std::any_of(std::begin(irregular), std::end(irregular), [&](std::string_view p) { return name.starts_with(p); }))
    return {};
  const auto order = asked_order(s, schema, args, rank);
  if (order) return new_in_order(s.on.shape(result), *order);
  auto operands = operands_of(s, args);
  if ((name == "to" || name == "type_as") && operands.size() > 1)
    operands.resize(1);  // the other one lends its data type
  const auto plain = [&](const TensorRef& t) { return s.layout_of(t).is(Layout::Kind::contiguous); };
  if (listed(always, name) || is_padded_anew(s, name, args, rank) ||
      std::all_of(operands.begin(), operands.end(), plain))
    return Layout::contiguous();
  if (!listed(elementwise, name)) return {};
  std::vector<LayoutOperand> laid;
  for (const TensorRef& t : operands) {
    const V v = s.read(t);
    if (!s.on.has_rank(v)) return {};
    laid.push_back({s.on.shape(v), s.layout_of(t)});
  }
  return elementwise_layout(s.graph.facts, laid, s.on.shape(result));
}

}  // namespace cameo::staging
