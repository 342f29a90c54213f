// Normalisations that were spelt out.
#include <algorithm>
#include <cmath>

#include "passes/pattern.h"
#include "passes/rules/tables.h"

namespace cameo {

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
  if (element_count(shape) > 4096) return {};
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
    out.insert(out.end(), {centred / spread, centred * reciprocal(spread), centred * (1.0 / spread), centred * pow(variance + eps, -0.5)});
  }
  return out;
}

// (x - mean) / sqrt(var + eps), over the last axes.
Rule layer_norm() {
  Var x;
  Const axes, again, eps;
  return rule("layer-norm", layer_norm_forms(x, axes, again, eps), [=](Rewrite& rw, const Match& m) -> ValueId {
           const ValueId v = m[x];
           if (!rw.has_rank(v) || !is_float(rw.dtype(v))) return {};
           const auto axis = trailing_axis(rw, m[axes], rw.rank(v)), other = trailing_axis(rw, m[again], rw.rank(v));
           const auto e = rw.scalar(m[eps]);
           if (!axis || !other || *axis != *other || !e) return rw.no("the axes are not the last ones, the same for mean and variance"), ValueId();
           const ValueId scale = ones(rw, v, *axis);
           if (!scale) return rw.no("the size of the last axes is not known"), ValueId();
           return rw.on.LayerNormalization(v, scale, 1, ValueId(), op::LayerNormalization{.axis = *axis - rw.rank(v), .epsilon = static_cast<float>(*e)})[0];
         }).rounding().making({"LayerNormalization"});
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
    if (!norm || rw.g[y].def_index != 0 || rw.operand(y, 2) || !is_ones(rw, rw.operand(y, 1)) || !rw.single_use(y)) continue;
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
  return rule("rms-norm", forms, [=](Rewrite& rw, const Match& m) -> ValueId {
           const ValueId v = m[x];
           if (!rw.has_rank(v) || !is_float(rw.dtype(v))) return {};
           const auto axis = trailing_axis(rw, m[axes], rw.rank(v));
           const auto e = rw.scalar(m[eps]);
           if (!axis || !e || !fits_scale(rw, m[w], v, *axis)) return rw.no("the factor has not the normalised sizes"), ValueId();
           return rw.on.RMSNormalization(v, m[w], op::RMSNormalization{.axis = *axis - rw.rank(v), .epsilon = static_cast<float>(*e)});
         }).rounding().making({"RMSNormalization"});
}

}  // namespace

std::vector<Rule> norm_fusion_rules() {
  return {
      layer_norm(),
      rule("scale-into-norm", {"Mul"}, scale_into_norm).rounding(),
      rule("shift-into-norm", {"Add"}, shift_into_norm).rounding(),
      rms_norm(),
  };
}

}  // namespace cameo
