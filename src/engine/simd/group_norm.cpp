// GroupNormalization and InstanceNormalization, where every channel is a group.
#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/row_sums.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

namespace {

class GroupNormKernel : public Kernel {
 public:
  GroupNormKernel(int64_t batch, int64_t channels, int64_t groups, int64_t inner, float epsilon)
      : batch_(batch), channels_(channels), groups_(groups), inner_(inner), epsilon_(epsilon) {
    in_place = {0};
  }
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const uint64_t all = floats(batch_ * channels_ * inner_), each = floats(channels_);
    return {{all, each, each}, {all}};
  }
  void run(const Buffers& b) const override {
    const int64_t members = channels_ / groups_, length = members * inner_;
    parallel(batch_ * groups_, std::max<int64_t>(1, 16384 / length), [&](int64_t first, int64_t last) {
      for (int64_t g = first; g < last; ++g) {
        const float* x = b.input<float>(0) + g * length;
        float* y = b.output<float>(0) + g * length;
        const auto [mean, factor] = scale_of_row(x, length, epsilon_, true);
        for (int64_t m = 0; m < members; ++m) {
          const int64_t channel = g % groups_ * members + m;
          normalize_row_by(x + m * inner_, y + m * inner_, inner_, mean, factor * b.input<float>(1)[channel],
                           b.input<float>(2)[channel]);
        }
      }
    });
  }

 private:
  int64_t batch_, channels_, groups_, inner_;
  float epsilon_;
};

}  // namespace

bool emit_group_norm(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* group = node.as<op::GroupNormalization>();
  const auto* instance = node.as<op::InstanceNormalization>();
  if (!group && !instance) return false;
  for (const ValueId v : node.inputs)
    if (!c.is_f32(v)) return false;
  const Desc& x = *c.desc(node.inputs[0]);
  if (x.rank() < 3) return false;
  const int64_t batch = x.dims[0], channels = x.dims[1], groups = group ? group->num_groups : channels;
  if (groups < 1 || channels % groups || c.desc(node.inputs[1])->count() != channels ||
      c.desc(node.inputs[2])->count() != channels)
    return false;
  const std::vector<SlotId> in{c.plain(node.inputs[0]), c.plain(node.inputs[1]), c.plain(node.inputs[2])};
  const SlotId out = c.make(*c.desc(node.outputs[0]));
  c.step(n, std::string(node.op->name),
         std::make_unique<GroupNormKernel>(batch, channels, groups, x.count() / batch / channels,
                                           group ? group->epsilon : instance->epsilon),
         in, {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
