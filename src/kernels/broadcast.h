// Walking several tensors together under numpy's broadcasting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor.h"

namespace cameo::kernels {

// Neighbouring axes that every operand walks alike are joined, so equal shapes and scalars are one long row.
class BroadcastRows {
 public:
  explicit BroadcastRows(std::span<const Tensor* const> operands);  // throws "eval.broadcast"
  BroadcastRows(std::initializer_list<const Tensor*> operands)
      : BroadcastRows(std::span(operands.begin(), operands.size())) {}

  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t count() const { return count_; }
  int64_t row_length() const { return row_length_; }
  // Row by row: `for (; !rows.done(); rows.next())`.
  bool done() const { return done_; }
  void next();
  int64_t out() const { return out_; }                              // the row's first element in the result
  int64_t start(size_t operand) const { return starts_[operand]; }  // and in an operand
  int64_t step(size_t operand) const { return operands_[operand].back(); }

 private:
  std::vector<int64_t> shape_, sizes_, at_, starts_;
  std::vector<std::vector<int64_t>> operands_;  // strides over sizes_
  int64_t count_ = 0, row_length_ = 0, out_ = 0;
  bool done_ = false;
};

}  // namespace cameo::kernels
