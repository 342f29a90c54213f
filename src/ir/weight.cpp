#include "ir/tensor.h"
#include "ir/weight_stream.h"
#include "support/error.h"
#include "support/file_bytes.h"

namespace cameo::ir {

Weight Weight::of(const Tensor& dense) {
  Weight w;
  w.dtype = w.source_dtype = dense.dtype();
  w.shape = dense.shape();
  w.source = dense.bytes();
  if (dense.dtype() == DType::string) w.strings = std::make_shared<const std::vector<std::string>>(dense.strings());
  return w;
}

uint64_t Weight::byte_size() const {
  if (!strings) return packed_bytes(dtype, count());
  uint64_t total = 0;
  for (const auto& s : *strings) total += s.size();
  return total;
}

bool Weight::same_recipe(const Weight& o) const {
  return dtype == o.dtype && shape == o.shape && source_dtype == o.source_dtype && strides == o.strides &&
         start == o.start && place_of(source) == place_of(o.source) && length_of(source) == length_of(o.source) &&
         strings == o.strings && scale == o.scale;
}

namespace {

bool is_plain(const Weight& w) { return !w.strings && !w.scale && !is_sub_byte(w.dtype) && w.source_dtype == w.dtype; }

std::vector<int64_t> strides_of(const Weight& w) {
  if (!w.strides.empty()) return w.strides;
  std::vector<int64_t> out(w.shape.size(), 1);
  if (w.count() == 0) return out;  // sizes beside a 0 may be long
  for (size_t i = out.size(); i-- > 1;) out[i - 1] = out[i] * w.shape[i];
  return out;
}

}  // namespace

Weight Weight::permuted(std::span<const int64_t> perm) const {
  invariant(is_plain(*this) && perm.size() == shape.size(), "a weight that can be permuted");
  Weight out = *this;
  const auto from = strides_of(*this);
  out.strides.resize(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    out.shape[i] = shape[static_cast<size_t>(perm[i])];
    out.strides[i] = from[static_cast<size_t>(perm[i])];
  }
  return out;
}

std::optional<Weight> Weight::sliced(int64_t axis, int64_t first, int64_t count) const {
  const auto ax = static_cast<size_t>(axis);
  if (!is_plain(*this) || ax >= shape.size() || first < 0 || count < 0 || first > shape[ax] - count)
    return std::nullopt;
  Weight out = *this;
  out.strides = strides_of(*this);
  out.start += first * out.strides[ax];
  out.shape[ax] = count;
  return out;
}

std::optional<Weight> Weight::reshaped(std::vector<int64_t> new_shape) const {
  if (!strides.empty() || strings || scale || element_count(new_shape) != count()) return std::nullopt;
  Weight out = *this;
  out.shape = std::move(new_shape);
  return out;
}

std::optional<Weight> Weight::scaled(std::vector<double> factors) const {
  if (!is_plain(*this) || shape.empty() || static_cast<int64_t>(factors.size()) != shape[0] ||
      (dtype != DType::f32 && dtype != DType::f64))
    return std::nullopt;
  Weight out = *this;
  out.scale = std::make_shared<const std::vector<double>>(std::move(factors));
  return out;
}

Tensor Weight::dense() const {
  if (strings) return Tensor(shape, *strings);
  invariant(source_dtype == dtype, "a weight is converted by kernels before it becomes dense");
  invariant(is_dense() || (!is_sub_byte(dtype) && (strides.empty() || strides.size() == shape.size())),
            "strided weights have whole bytes");
  check_inside(*this);
  if (is_dense()) return {dtype, shape, source.slice(0, static_cast<size_t>(byte_size()))};
  std::vector<std::byte> out(static_cast<size_t>(byte_size()));
  Weight here = *this;
  here.source.data();  // what is read of a file is let go of again
  gather_rows(here, 0, shape.empty() ? 1 : shape[0], out.data());
  return {dtype, shape, Bytes::own(std::move(out))};
}

}  // namespace cameo::ir
