// Borders, sums, products, activations, norms and what moves numbers.
#include <algorithm>

#include "passes/linger/rewrite.h"

namespace cameo::passes::linger {

namespace {

Results quant(Rewrite& r) { return {r.on_grid(r.in(0), *ops::linger::result_grid(r.self(), 0))}; }
Results dequant(Rewrite& r) {
  const auto scale = static_cast<double>(r.attrs<op::linger::Dequant>().scale_o);
  return {r.dequantised(r.in(0), scale)};
}

Results add(Rewrite& r) {
  const auto& a = r.attrs<op::linger::QAdd>();
  const auto side = [&](size_t i, float scale) {  // linger brings each side to the result's scale first
    return r.exact() && scale != a.scale_o ? r.stepped(r.real(i), static_cast<double>(a.scale_o)) : r.real(i);
  };
  const ValueId x = side(0, a.scale_x), y = side(1, a.scale_y);
  return {r.quantised(r.on.Add(x, y))};
}
Results multiply(Rewrite& r) {
  const ValueId x = r.real(0), y = r.real(1);
  return {r.quantised(r.on.Mul(x, y))};
}
Results matmul(Rewrite& r) {
  const ValueId x = r.real(0), y = r.real(1);
  return {r.quantised(r.on.MatMul(x, y))};
}
Results concat(Rewrite& r) {
  std::vector<ValueId> parts;
  for (size_t i = 0; i < r.self().inputs.size(); ++i) parts.push_back(r.real(i));
  return {r.quantised(r.on.Concat(parts, {.axis = r.attrs<op::linger::QCat>().axis}))};
}

Results sigmoid(Rewrite& r) { return {r.quantised(r.on.Sigmoid(r.real(0)))}; }
Results tanh(Rewrite& r) { return {r.quantised(r.on.Tanh(r.real(0)))}; }
Results gelu(Rewrite& r) { return {r.quantised(r.on.Gelu(r.real(0)))}; }
Results swish(Rewrite& r) {
  const ValueId x = r.real(0);
  return {r.quantised(r.on.Mul(x, r.on.Sigmoid(x)))};
}
Results softmax(Rewrite& r) {
  return {r.quantised(r.on.Softmax(r.real(0), {.axis = r.attrs<op::linger::QSoftmax>().axis}))};
}
Results glu(Rewrite& r) {
  const auto halves = r.on.Split(r.real(0), 2, {}, {.axis = r.attrs<op::linger::QGLU>().dim, .num_outputs = 2});
  return {r.quantised(r.on.Mul(halves[0], r.on.Sigmoid(halves[1])))};
}

Results layer_norm(Rewrite& r) {
  if (!r.on.has_rank(r.in(1))) r.refuse("the weight's rank is unknown");
  op::LayerNormalization how;
  how.axis = -r.on.rank(r.in(1));
  how.epsilon = 1e-5f;
  const ValueId x = r.real(0), w = r.real(1), b = r.has(2) ? r.real(2) : ValueId();
  return {r.quantised(r.on.LayerNormalization(x, w, 1, b, how)[0])};
}

// Sizes after the channels are 1, so that the vector goes along them.
ValueId per_channel(Rewrite& r, size_t i) {
  if (!r.on.has_rank(r.in(0))) r.refuse("the input's rank is unknown");
  const int64_t more = std::max<int64_t>(0, r.on.rank(r.in(0)) - 2);
  std::vector<int64_t> shape{-1}, axes;
  for (int64_t axis = 1; axis <= more; ++axis) shape.push_back(1), axes.push_back(axis);
  if (axes.empty()) return r.real(i);
  if (!r.constant(i)) return r.on.Unsqueeze(r.real(i), r.on.ints(axes));
  return r.real_constant(i, [&](const Tensor& t) {
    shape[0] = t.count();
    return t.reshaped(shape);
  });
}
Results batch_norm(Rewrite& r) {
  const ValueId x = r.real(0), alpha = per_channel(r, 1), beta = per_channel(r, 2);
  return {r.quantised(r.on.Add(r.on.Mul(x, alpha), beta))};
}

Results linear(Rewrite& r) {
  const op::Transpose turned{.perm = std::vector<int64_t>{1, 0}};
  const auto turn = [&](const Tensor& t) { return ops::linger::computed(turned, std::span(&t, 1)); };
  const ValueId x = r.real(0), w = r.constant(1) ? r.real_constant(1, turn) : r.on.Transpose(r.real(1), turned);
  const ValueId y = r.on.MatMul(x, w);
  return {r.quantised(r.has(2) ? r.on.Add(y, r.real(2)) : y)};
}

Results gather(Rewrite& r) { return {r.quantised(r.on.Gather(r.real(0), r.in(1)))}; }
Results squeeze(Rewrite& r) {
  const auto& a = r.attrs<op::linger::Squeeze>();
  std::vector<int64_t> axes = a.axes.value_or(std::vector<int64_t>{});
  if (axes.empty() && a.axis) axes = {*a.axis};
  return {r.on.Squeeze(r.in(0), axes.empty() ? ValueId() : r.on.ints(axes))};
}

constexpr Row rows[] = {
    {"Quant", quant},
    {"Dequant", dequant},
    {"QAdd", add},
    {"QMul", multiply},
    {"QMatmul", matmul},
    {"QBmm", matmul},
    {"QCat", concat},
    {"QSigmoid", sigmoid},
    {"QTanh", tanh},
    {"QGelu", gelu},
    {"QSwish", swish},
    {"QSoftmax", softmax},
    {"QGLU", glu},
    {"QLayerNorm", layer_norm},
    {"QBatchNorm1d", batch_norm},
    {"QBatchNorm2d", batch_norm},
    {"QLinear", linear},
    {"Gather", gather},
    {"Squeeze", squeeze},
};

}  // namespace

std::span<const Row> plain_rows() { return rows; }

}  // namespace cameo::passes::linger
