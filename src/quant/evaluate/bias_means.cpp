#include "quant/evaluate/bias_means.h"

namespace cameo::quant {

std::vector<ChannelMoments> BiasMeans::measured(const Model& m) const {
  constexpr size_t channel_axis = 1;  // of the results of Conv, ConvTranspose and Gemm
  engine::SessionOptions options = run_;
  std::vector<size_t> product;  // by place in `observe`; a product may be gone where nothing reads it
  for (size_t i = 0; i < products_.size(); ++i) {
    if (m.graph[products_[i]].dead) continue;
    options.observe.push_back(m.graph[products_[i]].outputs[0]);
    product.push_back(i);
  }
  const engine::Session session(m, options);
  std::vector<ChannelMoments> out(products_.size());
  for (const auto& inputs : samples_)
    session.run(inputs, [&](const engine::Observation& o) {
      if (o.dtype != DType::f32) return;
      const std::span<const float> numbers(reinterpret_cast<const float*>(o.bytes.data()),
                                           o.bytes.size() / sizeof(float));
      for (size_t i = 0; i < o.axes.size(); ++i)
        if (o.axes[i] == channel_axis) out[product[o.index]].add(numbers, o.dims, i);
    });
  return out;
}

BiasShifts BiasMeans::shifts(const Model& quantized) {
  if (expected_.empty()) expected_ = measured(model_);
  const std::vector<ChannelMoments> found = measured(quantized);
  BiasShifts out;
  for (size_t i = 0; i < products_.size(); ++i) {
    if (found[i].sum.size() != expected_[i].sum.size()) continue;
    std::vector<double>& shift = out[products_[i]];
    for (size_t c = 0; c < found[i].sum.size(); ++c) shift.push_back(found[i].mean(c) - expected_[i].mean(c));
  }
  return out;
}

}  // namespace cameo::quant
