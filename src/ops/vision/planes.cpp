#include "ops/vision/planes.h"

#include "ops/computed.h"

namespace cameo::ops {

Planes::Planes(On& on, ValueId x, DType t) : on_(on), type_(on.dtype(x)), float_type_(t) {
  const int64_t rank = on.rank(x);
  ValueId plane = on.ints({1});
  for (int64_t i = 2; i < rank; ++i) {
    sizes_.push_back(size_of(on, x, i));
    float_sizes_.push_back(settled(on, on.cast(sizes_.back(), t)));
    plane = settled(on, on.Mul(plane, sizes_.back()));
  }
  const ValueId channels = size_of(on, x, 1);
  const ValueId flat = on.Reshape(x, on.ints({0, 0, -1}));
  rows_ = on.Reshape(on.Transpose(flat, {.perm = std::vector<int64_t>{0, 2, 1}}),
                     join_sizes(on, {on.ints({-1}), channels}));
  first_row_ = settled(on, on.Reshape(on.Mul(iota(on, size_of(on, x, 0)), plane), on.ints({-1, 1})));
}

TapValues Planes::zero_outside(ValueId position, size_t axis, ValueId weight) {
  const ValueId zero = on_.number(0, float_type_), last = on_.Sub(float_sizes_[axis], on_.number(1, float_type_));
  const ValueId outside = on_.Or(on_.Less(position, zero), on_.Greater(position, last));
  return {clamped(on_, position, zero, last), on_.Not(outside), weight};
}

std::vector<TapValues> Planes::linear_taps(ValueId at, size_t axis) {
  const ValueId before = on_.Floor(at), part = on_.Sub(at, before), one = on_.number(1, float_type_);
  return {zero_outside(before, axis, on_.Sub(one, part)), zero_outside(on_.Add(before, one), axis, part)};
}

ValueId Planes::element(const std::vector<TapValues>& tap) {
  ValueId index = on_.cast(tap[0].position, DType::i64), inside = tap[0].inside, weight = tap[0].weight;
  for (size_t i = 1; i < tap.size(); ++i) {
    index = on_.Add(on_.Mul(index, sizes_[i]), on_.cast(tap[i].position, DType::i64));
    if (tap[i].inside) inside = inside ? on_.And(inside, tap[i].inside) : tap[i].inside;
    if (tap[i].weight) weight = weight ? on_.Mul(weight, tap[i].weight) : tap[i].weight;
  }
  ValueId e = on_.Gather(rows_, on_.Add(index, first_row_), {.axis = 0});
  const auto per_point = [&](ValueId v) { return on_.Unsqueeze(v, on_.ints({2})); };
  if (inside) e = on_.Where(per_point(inside), e, on_.number(0, type_));
  return weight ? on_.Mul(e, per_point(on_.cast(weight, type_))) : e;
}

ValueId Planes::sample(const std::vector<std::vector<TapValues>>& taps) {
  std::vector<size_t> at(taps.size(), 0);
  ValueId sum;
  while (true) {
    std::vector<TapValues> tap;
    for (size_t i = 0; i < taps.size(); ++i) tap.push_back(taps[i][at[i]]);
    sum = sum ? on_.Add(sum, element(tap)) : element(tap);
    size_t i = taps.size();
    while (i-- > 0) {
      if (++at[i] < taps[i].size()) break;
      at[i] = 0;
    }
    if (i == SIZE_MAX) return sum;
  }
}

}  // namespace cameo::ops
