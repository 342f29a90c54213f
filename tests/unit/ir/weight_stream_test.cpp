#include "ir/weight_stream.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/error.h"

namespace cameo::tests {
namespace {

// Element i of the source is i, in elements of `bytes` bytes.
Weight numbered(DType dtype, std::vector<int64_t> shape) {
  Weight w;
  w.dtype = w.source_dtype = dtype;
  w.shape = std::move(shape);
  std::vector<std::byte> data(static_cast<size_t>(w.byte_size()));
  const size_t size = data.size() / static_cast<size_t>(w.count());
  for (size_t i = 0; i < static_cast<size_t>(w.count()); ++i)
    for (size_t b = 0; b < size && b < 8; ++b) data[i * size + b] = static_cast<std::byte>(i >> (8 * b) & 0xff);
  w.source = Bytes::own(std::move(data));
  return w;
}

std::vector<std::byte> streamed(const Weight& w, size_t* calls = nullptr) {
  std::vector<std::byte> out;
  stream_dense(w, [&](std::span<const std::byte> part) {
    out.insert(out.end(), part.begin(), part.end());
    if (calls) ++*calls;
  });
  return out;
}

// What a permutation means, an element at a time.
std::vector<std::byte> permuted_by_definition(const Weight& w, const std::vector<int64_t>& perm) {
  const size_t size = static_cast<size_t>(bits(w.dtype)) / 8;
  const Weight seen = w.permuted(perm);
  std::vector<std::byte> out;
  std::vector<int64_t> index(perm.size(), 0);
  for (int64_t n = 0; n < w.count(); ++n) {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * seen.strides[i];
    const std::byte* from = w.source.data() + static_cast<size_t>(at) * size;
    out.insert(out.end(), from, from + size);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < seen.shape[i]) break;
      index[i] = 0;
    }
  }
  return out;
}

TEST(WeightStream, PermutationsOfEveryElementSize) {
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128})
    for (const auto& shape : {std::vector<int64_t>{37, 21}, {16, 16}, {5, 64}, {1, 7}})
      EXPECT_EQ(streamed(numbered(dtype, shape).permuted(std::vector<int64_t>{1, 0})),
                permuted_by_definition(numbered(dtype, shape), {1, 0}));
  const Weight w = numbered(DType::f32, {3, 18, 5});
  for (const auto& perm : {std::vector<int64_t>{0, 2, 1}, {2, 0, 1}, {1, 0, 2}, {2, 1, 0}}) {
    EXPECT_EQ(streamed(w.permuted(perm)), permuted_by_definition(w, perm));
    const Bytes dense = w.permuted(perm).dense().bytes();
    EXPECT_EQ(std::vector<std::byte>(dense.span().begin(), dense.span().end()), permuted_by_definition(w, perm));
  }
}

TEST(WeightStream, LargeTensorsComeInTiles) {
  const Weight w = numbered(DType::f32, {700, 1111}), turned = w.permuted(std::vector<int64_t>{1, 0});
  size_t calls = 0;
  EXPECT_EQ(streamed(turned, &calls), permuted_by_definition(w, {1, 0}));
  EXPECT_GT(calls, 2u);
  EXPECT_EQ(streamed(w), std::vector<std::byte>(w.source.span().begin(), w.source.span().end()));
}

TEST(WeightStream, ScalesRows) {
  Weight w = numbered(DType::f32, {2, 3});
  const std::vector<float> values{1, 2, 3, 4, 5, 6}, wanted{2, 4, 6, 2, 2.5, 3};
  std::vector<std::byte> bytes(24);
  std::memcpy(bytes.data(), values.data(), 24);
  w.source = Bytes::own(std::move(bytes));
  const auto out = streamed(*w.scaled({2, 0.5}));
  ASSERT_EQ(out.size(), 24u);
  EXPECT_EQ(std::memcmp(out.data(), wanted.data(), 24), 0);
}

TEST(WeightStream, SlicesAndEmptyTensors) {
  const Weight w = numbered(DType::i64, {4, 3});
  const auto slice = w.sliced(1, 1, 2);
  ASSERT_TRUE(slice);
  const auto out = streamed(*slice);
  ASSERT_EQ(out.size(), 64u);
  EXPECT_EQ(out[0], std::byte{1});
  EXPECT_EQ(out[16], std::byte{4});
  EXPECT_TRUE(streamed(*w.sliced(0, 2, 0)).empty());
}

TEST(WeightStream, RefusesToReadOutside) {
  Weight w = numbered(DType::f32, {4, 4}).permuted(std::vector<int64_t>{1, 0});
  w.shape[0] = 5;
  EXPECT_THROW(streamed(w), Error);
  w.shape[0] = 4;
  w.start = -1;
  EXPECT_THROW(streamed(w), Error);
  Weight dense = numbered(DType::f32, {4});
  dense.shape = {5};
  EXPECT_THROW(streamed(dense), Error);
}

}  // namespace
}  // namespace cameo::tests
