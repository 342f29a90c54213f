// Convolutions and matrix products take over what scales, shifts, pads or transposes around them.
#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "passes/rules/tables.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

using Numbers = std::vector<double>;
constexpr uint64_t vector_bytes = 1 << 20;

std::optional<Numbers> vector(const Rewrite& rw, ValueId v, size_t count, double otherwise) {
  if (!v) return Numbers(count, otherwise);
  const auto t = rw.constant(v, vector_bytes);
  if (!t || t->count() != static_cast<int64_t>(count) || !is_float(t->dtype())) return std::nullopt;
  return t->to_doubles();
}

// A constant with one number, or with one per index of axis 1 of a tensor of this rank.
std::optional<Numbers> per_channel(const Rewrite& rw, ValueId v, int64_t rank, size_t channels) {
  const auto t = rw.constant(v, vector_bytes);
  if (!t || !is_float(t->dtype()) || t->rank() > rank) return std::nullopt;
  if (t->count() == 1) return Numbers(channels, t->double_at(0));
  for (int64_t i = 0; i < t->rank(); ++i)
    if (const int64_t axis = i + rank - t->rank();
        t->shape()[static_cast<size_t>(i)] != (axis == 1 ? static_cast<int64_t>(channels) : 1))
      return std::nullopt;
  return t->to_doubles();
}

// What a node does to each channel of its operand `from`: y = x * factor + offset.
struct Affine {
  ValueId from;
  Numbers factors, offsets;
  bool scales = true;
};

std::optional<Affine> normalisation(const Rewrite& rw, size_t channels) {
  const auto& a = rw.attrs<op::BatchNormalization>();
  if (a.training_mode || rw.wants(1) || rw.wants(2)) return std::nullopt;
  const auto scale = vector(rw, rw.in(1), channels, 1), shift = vector(rw, rw.in(2), channels, 0),
             mean = vector(rw, rw.in(3), channels, 0), var = vector(rw, rw.in(4), channels, 1);
  if (!scale || !shift || !mean || !var) return std::nullopt;
  Affine out{rw.in(0), Numbers(channels), Numbers(channels)};
  for (size_t i = 0; i < channels; ++i) {
    out.factors[i] = (*scale)[i] / std::sqrt((*var)[i] + static_cast<double>(a.epsilon));
    out.offsets[i] = (*shift)[i] - (*mean)[i] * out.factors[i];
  }
  return out;
}

std::optional<Affine> affine(const Rewrite& rw, size_t channels, int64_t rank) {
  if (rw.root().is("BatchNormalization")) return normalisation(rw, channels);
  const bool commutes = rw.root().is("Mul") || rw.root().is("Add");
  const bool second = rw.is_constant(rw.in(1));
  if (!second && !(commutes && rw.is_constant(rw.in(0)))) return std::nullopt;
  auto numbers = per_channel(rw, rw.in(second ? 1 : 0), rank, channels);
  if (!numbers) return std::nullopt;
  Affine out{rw.in(second ? 0 : 1), Numbers(channels, 1), Numbers(channels, 0)};
  if (rw.root().is("Mul")) out.factors = *numbers;
  else if (rw.root().is("Div"))
    std::transform(numbers->begin(), numbers->end(), out.factors.begin(), [](double d) { return 1 / d; });
  else if (rw.root().is("Add")) out.offsets = *numbers, out.scales = false;
  else
    std::transform(numbers->begin(), numbers->end(), out.offsets.begin(), [](double d) { return -d; }),
        out.scales = false;
  const auto finite = [](double d) { return std::isfinite(d); };
  if (!std::all_of(out.factors.begin(), out.factors.end(), finite) ||
      !std::all_of(out.offsets.begin(), out.offsets.end(), finite))
    return std::nullopt;
  return out;
}

// A weight times one factor per index of an axis: a recipe where the axis is the first, else computed.
std::optional<Weight> times(const Weight& w, size_t axis, Numbers factors) {
  if (axis == 0) {
    Weight plain = w;
    if (w.scale) {
      for (size_t i = 0; i < factors.size(); ++i) factors[i] *= (*w.scale)[i];
      plain.scale.reset();
    }
    if (auto scaled = plain.scaled(factors)) return scaled;
    if (w.scale)
      for (size_t i = 0; i < factors.size(); ++i) factors[i] /= (*w.scale)[i];
  }
  const Tensor t = w.dense();
  if (!is_float(t.dtype())) return std::nullopt;
  Numbers all = t.to_doubles();
  size_t inner = 1;
  for (size_t i = axis + 1; i < w.shape.size(); ++i) inner *= static_cast<size_t>(w.shape[i]);
  for (size_t i = 0; i < all.size(); ++i) all[i] *= factors[i / inner % factors.size()];
  return Weight::of(store(t.dtype(), t.shape(), all));
}

std::string folded_name(const Graph& g, ValueId v, std::string_view suffix) {
  return g[v].name.empty() ? "" : g[v].name.ends_with(suffix) ? g[v].name : cat(g[v].name, suffix);
}

struct Linear {
  NodeId node;
  size_t axis = 0, channels = 0, repeats = 1;  // of the weight, per group
};

std::optional<Linear> linear_of(const Rewrite& rw, ValueId y) {
  const NodeId n = y ? rw.g[y].def : NodeId();
  if (!rw.understood(n) || rw.g[n].outputs[0] != y) return std::nullopt;
  const Weight* w = rw.weight(rw.g.input(n, 1));
  if (!w || w->shape.size() < 2) return std::nullopt;
  if (rw.g[n].is("Conv")) return Linear{n, 0, static_cast<size_t>(w->shape[0])};
  if (const auto* c = rw.g[n].as<op::ConvTranspose>())
    return Linear{n, 1, static_cast<size_t>(w->shape[1] * c->group), static_cast<size_t>(c->group)};
  const auto* gemm = rw.g[n].as<op::Gemm>();
  if (gemm && gemm->alpha == 1 && gemm->beta == 1)
    return Linear{n, gemm->transB ? size_t{0} : size_t{1}, static_cast<size_t>(w->shape[gemm->transB ? 0 : 1])};
  return std::nullopt;
}

// ConvTranspose keeps a group's output channels apart: the factor depends on the input channel's group too.
std::optional<Weight> scaled_weight(const Weight& w, const Linear& linear, const Numbers& factors) {
  if (linear.repeats <= 1) return times(w, linear.axis, factors);
  const Tensor t = w.dense();
  if (!is_float(t.dtype())) return std::nullopt;
  Numbers all = t.to_doubles();
  const auto per_group = static_cast<size_t>(w.shape[1]), rows = static_cast<size_t>(w.shape[0]) / linear.repeats;
  size_t inner = 1;
  for (size_t i = 2; i < w.shape.size(); ++i) inner *= static_cast<size_t>(w.shape[i]);
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t row = i / (inner * per_group), column = i / inner % per_group;
    all[i] *= factors[row / rows * per_group + column];
  }
  return Weight::of(store(t.dtype(), t.shape(), all));
}

// Conv, ConvTranspose or Gemm, then a scale and shift per channel: new weights and bias.
void affine_after_linear(Rewrite& rw) {
  const bool normalises = rw.root().is("BatchNormalization");
  const ValueId y = normalises || !rw.is_constant(rw.in(0)) ? rw.in(0) : rw.in(1);
  const auto linear = linear_of(rw, y);
  if (!linear || (!normalises && !rw.has_rank(y))) return;
  const auto change = affine(rw, linear->channels, normalises ? 0 : rw.rank(y));
  if (!change || change->from != y) return rw.no("the other operand is not a constant per channel");
  if (!rw.single_use(y)) return rw.no("the linear operator's result is used elsewhere");
  const Node n = rw.g[linear->node];
  const ValueId old_bias = n.inputs.size() > 2 ? n.inputs[2] : ValueId();
  const auto bias = vector(rw, old_bias, linear->channels, 0);
  if (!bias) return rw.no("the bias is not a vector of constants");
  ValueId kernel = n.inputs[1];
  if (change->scales) {
    auto w = scaled_weight(*rw.weight(kernel), *linear, change->factors);
    if (!w) return;
    kernel = rw.on.weight(std::move(*w), folded_name(rw.g, kernel, ".folded"));
  }
  Numbers shifted(linear->channels);
  for (size_t i = 0; i < shifted.size(); ++i) shifted[i] = (*bias)[i] * change->factors[i] + change->offsets[i];
  const bool needs_bias =
      old_bias.valid() || std::any_of(shifted.begin(), shifted.end(), [](double d) { return d != 0; });
  ValueId new_bias;
  if (needs_bias) {
    new_bias = rw.on.constant(store(rw.dtype(y), {static_cast<int64_t>(linear->channels)}, shifted));
    rw.g.label(new_bias).name =
        old_bias ? folded_name(rw.g, old_bias, ".folded") : folded_name(rw.g, n.inputs[1], ".folded_bias");
  }
  rw.shape_is_kept();  // the same operator over the same input, whatever names a file gives to its sizes
  rw.replace(rw.on.emit(def(*n.op), n.attrs, {n.inputs[0], kernel, new_bias}, 1)[0]);
}

// A factor per input channel goes into the weights of a convolution: padding with zeros stays what it is.
void scale_before_conv(Rewrite& rw) {
  const ValueId scaled = rw.in(0);
  const Weight* w = rw.weight(rw.in(1));
  const bool times_it = rw.made_by<op::Mul>(scaled), over = rw.made_by<op::Div>(scaled);
  if (!w || w->shape.size() < 3 || (!times_it && !over) || !rw.has_rank(scaled)) return;
  const size_t at = over || rw.is_constant(rw.operand(scaled, 1)) ? 1 : 0;
  const ValueId x = rw.operand(scaled, 1 - at);
  const auto channels = rw.shape(scaled)[1].known();
  if (!channels || !rw.has_rank(x) || rw.rank(x) != rw.rank(scaled) || !rw.equal(rw.shape(x)[1], *channels) ||
      !rw.is_constant(rw.operand(scaled, at)))
    return;
  auto factors = per_channel(rw, rw.operand(scaled, at), rw.rank(scaled), static_cast<size_t>(*channels));
  if (!factors) return rw.no("the factor is not a constant per channel");
  if (over) std::transform(factors->begin(), factors->end(), factors->begin(), [](double d) { return 1 / d; });
  if (!std::all_of(factors->begin(), factors->end(), [](double d) { return std::isfinite(d); })) return;
  if (!rw.single_use(scaled)) return rw.no("the scaled value is used elsewhere");
  const bool one = std::all_of(factors->begin(), factors->end(), [&](double d) { return d == factors->front(); });
  const auto* conv = rw.root().as<op::Conv>();
  size_t axis = 0;
  if (one) factors->assign(static_cast<size_t>(w->shape[0]), factors->front());
  else if (conv && conv->group == 1) axis = 1;
  else if (conv && (w->shape[1] != 1 || w->shape[0] != *channels)) return rw.no("groups share their input channels");
  auto changed = times(*w, axis, *factors);
  if (!changed) return;
  const Node n = rw.root();
  const ValueId kernel = rw.on.weight(std::move(*changed), folded_name(rw.g, n.inputs[1], ".folded"));
  std::vector<ValueId> inputs = n.inputs;
  inputs[0] = x;
  inputs[1] = kernel;
  rw.shape_is_kept();
  rw.replace(rw.on.emit(def(*n.op), n.attrs, inputs, 1)[0]);
}

// What is added to the input channels goes into the bias, unless padding would have been added to as well.
void shift_before_conv(Rewrite& rw) {
  const ValueId shifted = rw.in(0);
  const bool plus = rw.made_by<op::Add>(shifted), minus = rw.made_by<op::Sub>(shifted);
  const Weight* w = rw.weight(rw.in(1));
  constexpr uint64_t most_bytes = uint64_t{16} << 20;
  if ((!plus && !minus) || !w || w->shape.size() < 3 || w->byte_size() > most_bytes || !is_float(w->dtype) ||
      !rw.has_rank(shifted))
    return;
  const size_t at = minus || rw.is_constant(rw.operand(shifted, 1)) ? 1 : 0;
  const ValueId x = rw.operand(shifted, 1 - at);
  const auto channels = rw.shape(shifted)[1].known();
  if (!channels || !rw.has_rank(x) || rw.rank(x) != rw.rank(shifted) ||
      !rw.same_shape(rw.shape(x), rw.shape(shifted)) || !rw.is_constant(rw.operand(shifted, at)))
    return;
  const auto offsets = per_channel(rw, rw.operand(shifted, at), rw.rank(shifted), static_cast<size_t>(*channels));
  if (!offsets) return rw.no("what is added is not a constant per channel");
  const op::Conv attrs = rw.attrs<op::Conv>();
  const bool padded =
      attrs.pads && std::any_of(attrs.pads->begin(), attrs.pads->end(), [](int64_t p) { return p != 0; });
  if (padded || (attrs.auto_pad != "NOTSET" && attrs.auto_pad != "VALID")) return rw.no("the convolution pads");
  const auto outputs = static_cast<size_t>(w->shape[0]), per_group = static_cast<size_t>(w->shape[1]);
  auto bias = vector(rw, rw.in(2), outputs, 0);
  if (!bias || outputs == 0 || per_group * static_cast<size_t>(attrs.group) != static_cast<size_t>(*channels)) return;
  const Numbers kernel = w->dense().to_doubles();
  const size_t row = kernel.size() / outputs, window = row / std::max<size_t>(1, per_group);
  for (size_t o = 0; o < outputs; ++o) {
    const size_t first = o / (outputs / static_cast<size_t>(attrs.group)) * per_group;
    for (size_t i = 0; i < row; ++i)
      (*bias)[o] += kernel[o * row + i] * (*offsets)[first + i / window] * (minus ? -1 : 1);
  }
  if (!std::all_of(bias->begin(), bias->end(), [](double d) { return std::isfinite(d); })) return;
  const ValueId added = rw.on.constant(store(w->dtype, {w->shape[0]}, *bias));
  rw.g.label(added).name = folded_name(rw.g, rw.in(1), ".folded_bias");
  rw.shape_is_kept();
  rw.replace(rw.on.Conv(x, rw.in(1), added, attrs));
}

// A bias of zeros is none.
void zero_bias(Rewrite& rw, size_t at) {
  if (!rw.has(at) || !rw.is_constant(rw.in(at))) return;
  if (rw.scalar(rw.in(at)) != 0.0) return;
  constexpr int64_t gemm_without_since = 11;
  if (rw.root().is("Gemm") && rw.opset < gemm_without_since) return rw.no("Gemm needs a bias there");
  const Node n = rw.root();
  std::vector<ValueId> inputs(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(at));
  rw.shape_is_kept();
  rw.replace(rw.on.emit(def(*n.op), n.attrs, std::move(inputs), 1)[0]);
}

// One number that scales a product, however its axes were arranged in between, goes into the weights.
bool is_arrangement(const Rewrite& rw, ValueId v) {
  const NodeId n = rw.g[v].def;
  if (!rw.understood(n) || !rw.single_use(v)) return false;
  return rw.g[n].is("Reshape") || rw.g[n].is("Transpose") || rw.g[n].is("Squeeze") || rw.g[n].is("Unsqueeze") ||
         rw.g[n].is("Flatten");
}

std::optional<ValueId> scaled_constant(Rewrite& rw, ValueId v, double factor) {
  const Weight* w = rw.weight(v);
  if (!w || w->shape.empty() || (w->dtype != DType::f32 && w->dtype != DType::f64)) return std::nullopt;
  auto scaled = times(*w, 0, Numbers(static_cast<size_t>(w->shape[0]), factor));
  if (!scaled) return std::nullopt;
  return rw.on.weight(std::move(*scaled), folded_name(rw.g, v, ".folded"));
}

// The product itself, scaled: MatMul or Gemm with constant weights, with or without a bias.
std::optional<ValueId> scaled_product(Rewrite& rw, ValueId y, double factor) {
  const NodeId n = rw.g[y].def;
  if (!rw.understood(n) || !rw.single_use(y)) return std::nullopt;
  if (rw.g[n].is("Add")) {
    const size_t bias = rw.is_constant(rw.g.input(n, 1)) ? 1 : 0;
    const ValueId product = rw.g.input(n, 1 - bias);
    if (!rw.is_constant(rw.g.input(n, bias)) || !rw.made_by<op::MatMul>(product)) return std::nullopt;
    const auto b = scaled_constant(rw, rw.g.input(n, bias), factor);
    const auto p = b ? scaled_product(rw, product, factor) : std::nullopt;
    return p ? std::optional(rw.on.Add(*p, *b)) : std::nullopt;
  }
  if (!rw.g[n].is("MatMul") && !rw.g[n].is("Gemm")) return std::nullopt;
  const auto* gemm = rw.g[n].as<op::Gemm>();
  if (gemm && (gemm->alpha != 1 || gemm->beta != 1)) return std::nullopt;
  const auto w = scaled_constant(rw, rw.g.input(n, 1), factor);
  if (!w) return std::nullopt;
  const ValueId x = rw.g.input(n, 0), c = rw.g.input(n, 2);
  if (!gemm) return rw.on.MatMul(x, *w);
  const op::Gemm attrs = *gemm;
  const auto b = c ? scaled_constant(rw, c, factor) : std::optional(ValueId());
  return b ? std::optional(rw.on.Gemm(x, *w, *b, attrs)) : std::nullopt;
}

void scale_through_views(Rewrite& rw) {
  const bool second = rw.is_constant(rw.in(1));
  if (!second && !(rw.root().is("Mul") && rw.is_constant(rw.in(0)))) return;
  const ValueId number = rw.in(second ? 1 : 0);
  const auto by = rw.scalar(number);
  ValueId y = rw.in(second ? 0 : 1);
  if (!by || !rw.has_rank(number) || !rw.has_rank(y) || rw.rank(number) > rw.rank(y)) return;
  const double factor = rw.root().is("Div") ? 1 / *by : *by;
  if (!std::isfinite(factor) || factor == 0) return;
  std::vector<NodeId> views;
  while (is_arrangement(rw, y)) views.push_back(rw.g[y].def), y = rw.operand(y, 0);
  auto made = scaled_product(rw, y, factor);
  if (!made) return;
  for (size_t i = views.size(); i-- > 0;) {
    auto inputs = rw.g[views[i]].inputs;
    inputs[0] = *made;
    const auto attrs = rw.g[views[i]].attrs;
    const Type type = rw.g[rw.g[views[i]].outputs[0]].fact.type;
    made = rw.on.emit(def(*rw.g[views[i]].op), attrs, std::move(inputs), 1)[0];
    rw.g.fact(*made).type = type;
  }
  rw.replace(*made);
}

bool is_matrix(const Rewrite& rw, ValueId v) { return rw.has_rank(v) && rw.rank(v) == 2; }

void gemm_of_matmul_add(Rewrite& rw) {
  for (size_t i = 0; i < 2; ++i) {
    const ValueId product = rw.in(i), c = rw.in(1 - i);
    if (!rw.made_by<op::MatMul>(product) || !is_float(rw.dtype(product))) continue;
    const ValueId a = rw.operand(product, 0), b = rw.operand(product, 1);
    if (!is_matrix(rw, a) || !is_matrix(rw, b)) return rw.no("its operands are not two matrices");
    if (!rw.has_rank(c) || rw.rank(c) > 2) return;
    const Shape out = rw.shape(product), shape = rw.shape(c);
    for (size_t k = 0; k < shape.size(); ++k)
      if (const Dim d = shape[shape.size() - 1 - k]; !d.is(1) && !rw.equal(d, out[1 - k]))
        return rw.no("what is added is larger than the product");
    return rw.replace(rw.on.Gemm(a, b, c));
  }
}

void add_after_gemm(Rewrite& rw) {
  for (size_t i = 0; i < 2; ++i) {
    const ValueId product = rw.in(i), c = rw.in(1 - i);
    const auto* gemm = rw.made_by<op::Gemm>(product);
    if (!gemm || rw.operand(product, 2) || !rw.single_use(product) || !rw.has_rank(c) || rw.rank(c) > 2) continue;
    const Shape out = rw.shape(product), shape = rw.shape(c);
    bool fits = true;
    for (size_t k = 0; k < shape.size(); ++k)
      if (const Dim d = shape[shape.size() - 1 - k]; !d.is(1) && !rw.equal(d, out[1 - k])) fits = false;
    op::Gemm attrs = *gemm;
    attrs.beta = 1;
    if (fits) return rw.replace(rw.on.Gemm(rw.operand(product, 0), rw.operand(product, 1), c, attrs));
  }
}

bool swaps_axes(const Rewrite& rw, ValueId v) {
  const auto* t = rw.made_by<op::Transpose>(v);
  return t && is_matrix(rw, v) && (!t->perm || *t->perm == std::vector<int64_t>{1, 0});
}

void transpose_into_gemm(Rewrite& rw) {
  const bool a = swaps_axes(rw, rw.in(0)), b = swaps_axes(rw, rw.in(1));
  if (!a && !b) return;
  op::Gemm attrs = rw.attrs<op::Gemm>();
  if (a) attrs.transA = !attrs.transA;
  if (b) attrs.transB = !attrs.transB;
  rw.replace(
      rw.on.Gemm(a ? rw.operand(rw.in(0), 0) : rw.in(0), b ? rw.operand(rw.in(1), 0) : rw.in(1), rw.in(2), attrs));
}

void transpose_into_matmul(Rewrite& rw) {
  if (!is_matrix(rw, rw.in(0)) || !is_matrix(rw, rw.in(1)) || !is_float(rw.dtype(rw.out()))) return;
  const bool a = swaps_axes(rw, rw.in(0)), b = swaps_axes(rw, rw.in(1));
  if (!a && !b) return;
  constexpr int64_t without_bias_since = 11;
  if (rw.opset < without_bias_since) return rw.no("Gemm needs a bias there");
  op::Gemm attrs;
  attrs.transA = a, attrs.transB = b;
  rw.replace(
      rw.on.Gemm(a ? rw.operand(rw.in(0), 0) : rw.in(0), b ? rw.operand(rw.in(1), 0) : rw.in(1), ValueId(), attrs));
}

}  // namespace

Rule batchnorm_into_linear() {
  return rule("batchnorm-into-linear", {"BatchNormalization"}, affine_after_linear).rounding();
}

std::vector<Rule> linear_rules() {
  return {
      batchnorm_into_linear(),
      rule("scale-into-linear", {"Mul", "Div"}, affine_after_linear).rounding().last(),
      rule("scale-before-conv", {"Conv", "ConvTranspose"}, scale_before_conv).rounding().last(),
      rule("shift-before-conv", {"Conv"}, shift_before_conv).rounding().last(),
      rule("zero-bias", {"Conv", "ConvTranspose", "Gemm"}, [](Rewrite& rw) { zero_bias(rw, 2); }).algebra().trading(),
      rule("zero-bias-integer", {"QLinearConv"}, [](Rewrite& rw) { zero_bias(rw, 8); }).trading(),
      rule("scale-through-views", {"Mul", "Div"}, scale_through_views).rounding().last(),
      rule("shift-into-linear", {"Add", "Sub"}, affine_after_linear).rounding(),
      rule("matmul-add-to-gemm", {"Add"}, gemm_of_matmul_add).rounding().making({"Gemm"}),
      rule("add-into-gemm", {"Add"}, add_after_gemm).rounding(),
      rule("transpose-into-gemm", {"Gemm"}, transpose_into_gemm),
      rule("transpose-into-matmul", {"MatMul"}, transpose_into_matmul).making({"Gemm"}),
  };
}

}  // namespace cameo::passes
