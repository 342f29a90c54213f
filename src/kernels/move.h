// Moving elements of any type (strings, complex and sub-byte types included) without looking at them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor.h"

namespace cameo::kernels {

std::vector<int64_t> row_major_strides(std::span<const int64_t> shape);
// The index of every element of `shape` in row-major order, for a source with these strides and start.
std::vector<int64_t> strided_indices(std::span<const int64_t> shape, std::span<const int64_t> strides,
                                     int64_t start = 0);
// out[i] = source[index[i]]; an index of -1 takes `fill` (a one-element tensor of the same type, or null: zero).
Tensor take(const Tensor& source, std::vector<int64_t> shape, std::span<const int64_t> index,
            const Tensor* fill = nullptr);
// A strided view made dense.
Tensor strided(const Tensor& source, std::vector<int64_t> shape, std::span<const int64_t> strides, int64_t start = 0);
// A copy of `target` with target[index[i]] = updates[i], in order.
Tensor put(const Tensor& target, std::span<const int64_t> index, const Tensor& updates);
Tensor concat(std::span<const Tensor> parts, int64_t axis);         // axis >= 0
Tensor expand_to(const Tensor& t, std::span<const int64_t> shape);  // numpy broadcast; throws "eval.broadcast"
std::vector<int64_t> broadcast_shape(std::span<const int64_t> a,
                                     std::span<const int64_t> b);  // throws "eval.broadcast"
// Strides that repeat a tensor of `from` over `to` (0 on broadcast axes).
std::vector<int64_t> broadcast_strides(std::span<const int64_t> from, std::span<const int64_t> to);

// 4-, 6- and 2-bit elements one per byte, and back.
std::vector<uint8_t> unpack_codes(const Tensor& t);
Tensor pack_codes(DType dtype, std::vector<int64_t> shape, std::span<const uint8_t> codes);

}  // namespace cameo::kernels
