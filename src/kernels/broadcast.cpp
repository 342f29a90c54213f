#include "kernels/broadcast.h"

#include <algorithm>

#include "kernels/move.h"

namespace cameo::kernels {

BroadcastRows::BroadcastRows(std::span<const Tensor* const> operands) : starts_(operands.size(), 0) {
  for (const Tensor* t : operands) shape_ = broadcast_shape(shape_, t->shape());
  count_ = element_count(shape_);
  done_ = count_ == 0;
  if (done_) return;  // sizes beside a 0 may be long
  std::vector<std::vector<int64_t>> strides;
  for (const Tensor* t : operands) strides.push_back(broadcast_strides(t->shape(), shape_));

  operands_.resize(operands.size());
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    if (shape_[axis] == 1) continue;
    const auto continues = [&](size_t k) { return operands_[k].back() == strides[k][axis] * shape_[axis]; };
    bool joins = !sizes_.empty();
    for (size_t k = 0; joins && k < strides.size(); ++k) joins = continues(k);
    if (joins) sizes_.back() *= shape_[axis];
    else sizes_.push_back(shape_[axis]);
    for (size_t k = 0; k < strides.size(); ++k) {
      if (!joins) operands_[k].push_back(0);
      operands_[k].back() = strides[k][axis];
    }
  }
  if (sizes_.empty()) {
    sizes_.push_back(1);
    for (auto& o : operands_) o.push_back(0);
  }
  row_length_ = sizes_.back();
  at_.assign(sizes_.size(), 0);
}

void BroadcastRows::next() {
  out_ += row_length_;
  if (out_ >= count_) {
    done_ = true;
    return;
  }
  for (size_t axis = sizes_.size() - 1; axis-- > 0;) {
    const bool carry = ++at_[axis] == sizes_[axis];
    if (carry) at_[axis] = 0;
    for (size_t k = 0; k < starts_.size(); ++k)
      starts_[k] += carry ? -operands_[k][axis] * (sizes_[axis] - 1) : operands_[k][axis];
    if (!carry) return;
  }
}

}  // namespace cameo::kernels
