// Normalisations that were spelt out.
#include <algorithm>
#include <cmath>

#include "passes/pattern.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

bool keeps(int64_t keepdims) { return keepdims == 1; }

// The first axis of a run that reaches to the end, or nothing.
std::optional<int64_t> trailing_axis(const Rewrite& rw, ValueId axes, int64_t rank) {
  auto list = rw.ints(axes);
  if (!list || list->empty()) return std::nullopt;
  for (int64_t& a : *list) a += a < 0 ? rank : 0;
  std::sort(list->begin(), list->end());
  for (size_t i = 0; i < list->size(); ++i)
    if ((*list)[i] != rank - static_cast<int64_t>(list->size()) + static_cast<int64_t>(i)) return std::nullopt;
  return list->front();
}

// A constant or value of exactly the normalised sizes, whatever ones stand before them.
bool fits_scale(const Rewrite& rw, ValueId v, ValueId x, int64_t axis) {
  if (!rw.has_rank(v)) return false;
  const Shape &s = rw.shape(v), &like = rw.shape(x);
  const size_t wanted = like.size() - static_cast<size_t>(axis);
  if (s.size() != wanted) return false;
  for (size_t i = 0; i < wanted; ++i)
    if (!rw.equal(s[i], like[static_cast<size_t>(axis) + i])) return false;
  return true;
}

ValueId ones(Rewrite& rw, ValueId x, int64_t axis) {
  std::vector<int64_t> shape;
  for (size_t i = static_cast<size_t>(axis); i < rw.shape(x).size(); ++i) {
    const auto size = rw.shape(x)[i].known();
    if (!size) return {};
    shape.push_back(*size);
  }
  if (element_count(shape) > 4096 || element_count(shape) == 0) return {};  // engines do not normalise nothing
  std::vector<float> all(static_cast<size_t>(element_count(shape)), 1.0f);
  return rw.on.cast(rw.on.constant(Tensor::of<float>(DType::f32, shape, all)), rw.dtype(x));
}

std::vector<Pattern> layer_norm_forms(const Var& x, const Const& axes, const Const& again, const Const& eps) {
  const auto ok = [](const op::ReduceMean& r) { return keeps(r.keepdims); };
  const Pattern mean = call("ReduceMean", {x, axes}).where<op::ReduceMean>(ok);
  const Pattern centred = x - mean;
  std::vector<Pattern> out;
  for (const Pattern& square : {pow(centred, 2.0), centred * centred}) {
    const Pattern variance = call("ReduceMean", {square, again}).where<op::ReduceMean>(ok);
    const Pattern spread = sqrt(variance + eps);
    out.insert(out.end(), {centred / spread, centred * reciprocal(spread), centred * (1.0 / spread),
                           centred * pow(variance + eps, -0.5)});
  }
  return out;
}

// (x - mean) / sqrt(var + eps), over the last axes.
Rule layer_norm() {
  Var x;
  Const axes, again, eps;
  return rule("layer-norm", layer_norm_forms(x, axes, again, eps),
              [=](Rewrite& rw, const Match& m) -> ValueId {
                const ValueId v = m[x];
                if (!rw.has_rank(v) || !is_float(rw.dtype(v))) return {};
                const auto axis = trailing_axis(rw, m[axes], rw.rank(v)),
                           other = trailing_axis(rw, m[again], rw.rank(v));
                const auto e = rw.scalar(m[eps]);
                if (!axis || !other || *axis != *other || !e)
                  return rw.no("the axes are not the last ones, the same for mean and variance"), ValueId();
                const ValueId scale = ones(rw, v, *axis);
                if (!scale) return rw.no("the size of the last axes is not known"), ValueId();
                return rw.on.LayerNormalization(
                    v, scale, 1, ValueId(),
                    op::LayerNormalization{.axis = *axis - rw.rank(v), .epsilon = static_cast<float>(*e)})[0];
              })
      .rounding()
      .making({"LayerNormalization"});
}

bool is_ones(const Rewrite& rw, ValueId v) {
  const auto s = rw.scalar(v);
  return s && *s == 1;
}

// LayerNormalization without a scale of its own takes what multiplies it, then what is added.
void scale_into_norm(Rewrite& rw) {
  for (size_t i = 0; i < 2; ++i) {
    const ValueId y = rw.in(i), w = rw.in(1 - i);
    const auto* norm = rw.made_by<op::LayerNormalization>(y);
    if (!norm || rw.g[y].def_index != 0 || rw.operand(y, 2) || !is_ones(rw, rw.operand(y, 1)) || !rw.single_use(y))
      continue;
    const ValueId x = rw.operand(y, 0);
    const int64_t axis = norm->axis < 0 ? norm->axis + rw.rank(x) : norm->axis;
    if (!fits_scale(rw, w, x, axis)) return rw.no("the factor has not the normalised sizes");
    return rw.replace(rw.on.LayerNormalization(x, w, 1, ValueId(), *norm)[0]);
  }
}

void shift_into_norm(Rewrite& rw) {
  for (size_t i = 0; i < 2; ++i) {
    const ValueId y = rw.in(i), b = rw.in(1 - i);
    const auto* norm = rw.made_by<op::LayerNormalization>(y);
    if (!norm || rw.g[y].def_index != 0 || rw.operand(y, 2) || !rw.single_use(y)) continue;
    const ValueId x = rw.operand(y, 0);
    const int64_t axis = norm->axis < 0 ? norm->axis + rw.rank(x) : norm->axis;
    // A residual that happens to have that shape is no bias: only constants are.
    if (!rw.is_constant(b) || !fits_scale(rw, b, x, axis)) continue;
    return rw.replace(rw.on.LayerNormalization(x, rw.operand(y, 1), 1, b, *norm)[0]);
  }
}

// x / sqrt(mean(x^2) + eps) * w
Rule rms_norm() {
  Var x, w;
  Const axes, eps;
  const auto ok = [](const op::ReduceMean& r) { return keeps(r.keepdims); };
  std::vector<Pattern> forms;
  for (const Pattern& square : {pow(x, 2.0), x * x}) {
    const Pattern spread = sqrt(call("ReduceMean", {square, axes}).where<op::ReduceMean>(ok) + eps);
    for (const Pattern& normal : {x / spread, x * reciprocal(spread), x * (1.0 / spread)}) forms.push_back(normal * w);
  }
  return rule("rms-norm", forms,
              [=](Rewrite& rw, const Match& m) -> ValueId {
                const ValueId v = m[x];
                if (!rw.has_rank(v) || !is_float(rw.dtype(v))) return {};
                const auto axis = trailing_axis(rw, m[axes], rw.rank(v));
                const auto e = rw.scalar(m[eps]);
                if (!axis || !e || !fits_scale(rw, m[w], v, *axis))
                  return rw.no("the factor has not the normalised sizes"), ValueId();
                return rw.on.RMSNormalization(
                    v, m[w], op::RMSNormalization{.axis = *axis - rw.rank(v), .epsilon = static_cast<float>(*e)});
              })
      .rounding()
      .making({"RMSNormalization"});
}

bool is_all(const Rewrite& rw, ValueId v, double number) {
  const auto s = rw.scalar(v);
  return s && *s == number;
}

// A constant with one number per index of axis 1, as a vector.
std::optional<Tensor> per_channel(const Rewrite& rw, ValueId v, int64_t rank, int64_t channels) {
  const auto t = rw.constant(v);
  if (!t || t->count() != channels || t->rank() > rank) return std::nullopt;
  for (int64_t i = 0; i < t->rank(); ++i)
    if (t->shape()[static_cast<size_t>(i)] != (i + rank - t->rank() == 1 ? channels : 1)) return std::nullopt;
  return t->reshaped({channels});
}

struct Scaled {
  ValueId value;
  Tensor numbers;
};
template <class Op>
std::optional<Scaled> with_channels(const Rewrite& rw, ValueId v, int64_t channels) {
  if (!rw.made_by<Op>(v) || !rw.has_rank(v)) return std::nullopt;
  for (size_t i = 0; i < 2; ++i)
    if (const auto t = per_channel(rw, rw.operand(v, i), rw.rank(v), channels)) return Scaled{rw.operand(v, 1 - i), *t};
  return std::nullopt;
}

ValueId instance_normalised(Rewrite& rw, ValueId x, ValueId scale, ValueId shift, int64_t channels, float epsilon) {
  const auto a = per_channel(rw, scale, rw.rank(x), channels), b = per_channel(rw, shift, rw.rank(x), channels);
  if (!a || !b) return rw.no("scale and shift are not one number per channel"), ValueId();
  const ValueId factors = rw.on.constant(*a), offsets = rw.on.constant(*b);
  return rw.on.InstanceNormalization(x, factors, offsets, op::InstanceNormalization{.epsilon = epsilon});
}

// Groups as the channels of an InstanceNormalization, then a scale and a shift per channel.
void group_norm(Rewrite& rw) {
  if (!rw.has_rank(rw.out()) || rw.rank(rw.out()) < 3) return;
  const auto channels = rw.shape(rw.out())[1].known();
  const auto shifted = channels ? with_channels<op::Add>(rw, rw.out(), *channels) : std::nullopt;
  const auto scaled = shifted ? with_channels<op::Mul>(rw, shifted->value, *channels) : std::nullopt;
  if (!scaled || !rw.made_by<op::Reshape>(scaled->value)) return;
  const ValueId normal = rw.operand(scaled->value, 0);
  const auto* norm = rw.made_by<op::InstanceNormalization>(normal);
  if (!norm || !is_all(rw, rw.operand(normal, 1), 1) || !is_all(rw, rw.operand(normal, 2), 0)) return;
  const ValueId grouped = rw.operand(normal, 0);
  if (!rw.made_by<op::Reshape>(grouped) || !rw.has_rank(grouped) || rw.rank(grouped) < 3) return;
  const ValueId x = rw.operand(grouped, 0);
  const auto groups = rw.shape(grouped)[1].known();
  if (!groups || *channels % *groups || !rw.has_rank(x) || !rw.same_shape(rw.shape(x), rw.shape(rw.out()))) return;
  if (!rw.equal(rw.shape(grouped)[0], rw.shape(x)[0])) return rw.no("the groups reach over the batch");
  const float epsilon = norm->epsilon;
  const ValueId scale = rw.on.constant(scaled->numbers), shift = rw.on.constant(shifted->numbers);
  rw.replace(
      rw.on.GroupNormalization(x, scale, shift, op::GroupNormalization{.epsilon = epsilon, .num_groups = *groups}));
}

// Mean and variance over everything behind the channels, then a scale and a shift per channel.
Rule instance_norm() {
  Var x;
  Const axes, again, eps, scale, shift;
  std::vector<Pattern> forms;
  for (const Pattern& normal : layer_norm_forms(x, axes, again, eps)) forms.push_back(normal * scale + shift);
  return rule("instance-norm", forms,
              [=](Rewrite& rw, const Match& m) -> ValueId {
                const ValueId v = m[x];
                if (!rw.has_rank(v) || rw.rank(v) < 3 || !is_float(rw.dtype(v))) return {};
                const auto axis = trailing_axis(rw, m[axes], rw.rank(v)),
                           other = trailing_axis(rw, m[again], rw.rank(v));
                const auto e = rw.scalar(m[eps]);
                const auto channels = rw.shape(v)[1].known();
                if (!axis || !other || *axis != 2 || *other != 2 || !e || !channels)
                  return rw.no("it is not over all axes behind the channels"), ValueId();
                return instance_normalised(rw, v, m[scale], m[shift], *channels, static_cast<float>(*e));
              })
      .rounding()
      .making({"InstanceNormalization"});
}

// The same after layer-norm has taken its part.
void layer_norm_per_channel(Rewrite& rw) {
  const auto channels = rw.has_rank(rw.out()) && rw.rank(rw.out()) >= 3 ? rw.shape(rw.out())[1].known() : std::nullopt;
  const auto shifted = channels ? with_channels<op::Add>(rw, rw.out(), *channels) : std::nullopt;
  const auto scaled = shifted ? with_channels<op::Mul>(rw, shifted->value, *channels) : std::nullopt;
  const auto* norm = scaled ? rw.made_by<op::LayerNormalization>(scaled->value) : nullptr;
  if (!norm || rw.g[scaled->value].def_index != 0 || rw.operand(scaled->value, 2) ||
      !is_ones(rw, rw.operand(scaled->value, 1)))
    return;
  const ValueId x = rw.operand(scaled->value, 0);
  if ((norm->axis < 0 ? norm->axis + rw.rank(x) : norm->axis) != 2)
    return rw.no("it is not over all axes behind the channels");
  const float epsilon = norm->epsilon;
  const ValueId scale = rw.on.constant(scaled->numbers), shift = rw.on.constant(shifted->numbers);
  rw.replace(rw.on.InstanceNormalization(x, scale, shift, op::InstanceNormalization{.epsilon = epsilon}));
}

}  // namespace

std::vector<Rule> norm_fusion_rules() {
  return {
      layer_norm(),
      instance_norm(),
      rule("instance-norm-of-layer-norm", {"Add"}, layer_norm_per_channel).rounding().making({"InstanceNormalization"}),
      rule("scale-into-norm", {"Mul"}, scale_into_norm).rounding(),
      rule("shift-into-norm", {"Add"}, shift_into_norm).rounding(),
      rms_norm(),
      rule("group-norm", {"Add"},
           [](Rewrite& rw) {
             constexpr int64_t scale_per_channel_since = 21;  // before, GroupNormalization scaled groups
             if (rw.opset >= scale_per_channel_since) group_norm(rw);
           })
          .rounding()
          .making({"GroupNormalization"}),
  };
}

}  // namespace cameo::passes
