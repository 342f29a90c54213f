// Dense tensors, and weights: recipes that become dense when they are needed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "support/bytes.h"

namespace cameo::ir {

int64_t element_count(std::span<const int64_t> shape);  // throws "value.range" on overflow or a negative size

// Little-endian, row-major, packed as in ONNX's raw data (two 4-bit elements to a byte, low half first).
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, std::vector<int64_t> shape, Bytes bytes);  // bytes.size() == packed_bytes(dtype, count)
  Tensor(std::vector<int64_t> shape, std::vector<std::string> strings);

  template <class T>
  static Tensor of(DType dtype, std::vector<int64_t> shape, std::span<const T> elements) {
    const auto raw = std::as_bytes(elements);
    return {dtype, std::move(shape), Bytes::own(std::vector<std::byte>(raw.begin(), raw.end()))};
  }
  static Tensor ints(std::span<const int64_t> elements);  // 1-D int64
  static Tensor int_scalar(int64_t v);                    // 0-d int64
  static Tensor float_scalar(float v);
  static Tensor bool_scalar(bool v);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t count() const { return count_; }
  const Bytes& bytes() const { return bytes_; }
  template <class T>
  std::span<const T> as() const {  // precondition: T is the storage type and the data is aligned for it
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  const std::vector<std::string>& strings() const { return *strings_; }  // precondition: dtype() is string

  Tensor reshaped(std::vector<int64_t> shape) const;  // same bytes; the counts must agree
  // Elements of any integer or bool tensor, widened; u64 above INT64_MAX throws "value.range".
  std::vector<int64_t> to_ints() const;
  std::vector<double> to_doubles() const;  // of any real tensor
  int64_t int_at(int64_t i) const;
  double double_at(int64_t i) const;
  friend bool operator==(const Tensor& a, const Tensor& b);  // same dtype, shape and bits

 private:
  DType dtype_ = DType::undefined;
  std::vector<int64_t> shape_;
  int64_t count_ = 0;
  Bytes bytes_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

// Where bytes lie in a file that may be referred to instead of copied.
struct FileRange {
  std::string path;      // as opened
  std::string location;  // as an ONNX file names it, relative to the model; empty when it is not external data
  uint64_t offset = 0, length = 0;
};

// A tensor as a recipe over source bytes: strides and a start in elements, then a factor per index of the first axis.
// Views of one storage with the same recipe are the same (tied) weight.
struct Weight {
  DType dtype = DType::undefined;  // of the result
  std::vector<int64_t> shape;      // of the result
  DType source_dtype = DType::undefined;
  Bytes source;
  std::vector<int64_t> strides;  // empty: dense
  int64_t start = 0;
  std::shared_ptr<const std::vector<double>> scale;  // one factor per index of axis 0; only f32 and f64
  std::shared_ptr<const FileRange> file;             // set when `source` is part of a file
  std::shared_ptr<const std::vector<std::string>> strings;
  Bytes encoded;  // the TensorProto it was read from, which the writer may copy; says nothing about the value

  static Weight of(const Tensor& dense);
  int64_t count() const { return element_count(shape); }
  uint64_t byte_size() const;
  bool is_dense() const { return strides.empty() && source_dtype == dtype && !scale; }
  Tensor dense() const;  // no copy when is_dense()
  bool same_recipe(const Weight& o) const;

  // Other views of the same bytes; none of them copies. nullopt if strides cannot express the view.
  Weight permuted(std::span<const int64_t> perm) const;
  std::optional<Weight> sliced(int64_t axis, int64_t first, int64_t count) const;
  std::optional<Weight> reshaped(std::vector<int64_t> new_shape) const;
  std::optional<Weight> scaled(std::vector<double> factors) const;
};

}  // namespace cameo::ir
