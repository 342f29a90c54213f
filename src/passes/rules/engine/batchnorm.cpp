// A batch normalisation that no convolution takes: a product and a sum, which elementwise kernels do in one pass.
#include <cmath>

#include "kernels/carrier.h"
#include "passes/rules/engine/tables.h"

namespace cameo::passes {

namespace {

std::optional<std::vector<float>> floats(const Rewrite& rw, ValueId v) {
  if (!rw.is_constant(v) || rw.dtype(v) != DType::f32) return std::nullopt;
  const Loaded<float> x(rw.content(v));
  return std::vector<float>(x.span().begin(), x.span().end());
}

void spell_out(Rewrite& rw) {
  const auto& a = rw.attrs<op::BatchNormalization>();
  if (a.training_mode || rw.wants(1) || rw.wants(2)) return rw.no("it is training");
  const auto scale = floats(rw, rw.in(1)), bias = floats(rw, rw.in(2)), mean = floats(rw, rw.in(3)),
             variance = floats(rw, rw.in(4));
  if (!scale || !bias || !mean || !variance) return rw.no("its parameters are not constants of f32");
  const size_t channels = scale->size();
  if (channels == 0 || bias->size() != channels || mean->size() != channels || variance->size() != channels) return;
  // Products and sums would broadcast where the operator has to refuse. That it is there proves nothing of the size.
  const ValueId x = rw.in(0);
  if (!rw.has_rank(x) || rw.rank(x) < 2 || !rw.shape(x)[1].is(static_cast<int64_t>(channels)))
    return rw.no("the number of channels is not known");
  std::vector<float> factor(channels), shift(channels);
  for (size_t i = 0; i < channels; ++i) {
    const double f = (*scale)[i] / std::sqrt(double{(*variance)[i]} + a.epsilon);
    factor[i] = static_cast<float>(f);
    shift[i] = static_cast<float>((*bias)[i] - (*mean)[i] * f);
  }
  std::vector<int64_t> shape(static_cast<size_t>(rw.rank(x)) - 1, 1);
  shape[0] = static_cast<int64_t>(channels);
  const auto per_channel = [&](const std::vector<float>& v) {
    return rw.on.constant(Tensor::of<float>(DType::f32, shape, v));
  };
  const ValueId scaled = rw.on.Mul(x, per_channel(factor));
  std::vector<ValueId> outputs(rw.root().outputs.size());
  outputs[0] = rw.on.Add(scaled, per_channel(shift));
  rw.replace(std::move(outputs));
}

}  // namespace

std::vector<Rule> batchnorm_rules() {
  return {rule("batchnorm-to-mul-add", {"BatchNormalization"}, spell_out).rounding().growing()};
}

}  // namespace cameo::passes
