#include <cstring>

#include "ir/tensor.h"
#include "support/error.h"

namespace cameo {

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
  return dtype == o.dtype && shape == o.shape && source_dtype == o.source_dtype && strides == o.strides && start == o.start &&
         source.data() == o.source.data() && source.size() == o.source.size() && strings == o.strings && scale == o.scale;
}

namespace {
// Copies a strided view element by element, its innermost axis in one run where that is contiguous.
void gather(const Weight& w, size_t element_bytes, std::byte* out) {
  const size_t rank = w.shape.size();
  std::vector<int64_t> index(rank, 0);
  const int64_t inner = rank ? w.shape.back() : 1;
  const int64_t inner_stride = rank ? w.strides.back() : 0;
  const int64_t outer = inner ? element_count(w.shape) / inner : 0;
  int64_t at = w.start;
  for (int64_t o = 0; o < outer; ++o) {
    if (inner_stride == 1) {
      std::memcpy(out, w.source.data() + static_cast<size_t>(at) * element_bytes, static_cast<size_t>(inner) * element_bytes);
      out += static_cast<size_t>(inner) * element_bytes;
    } else {
      for (int64_t i = 0; i < inner; ++i, out += element_bytes)
        std::memcpy(out, w.source.data() + static_cast<size_t>(at + i * inner_stride) * element_bytes, element_bytes);
    }
    for (size_t axis = rank > 1 ? rank - 1 : 0; axis-- > 0;) {
      at += w.strides[axis];
      if (++index[axis] < w.shape[axis]) break;
      at -= w.strides[axis] * w.shape[axis];
      index[axis] = 0;
    }
  }
}

void check_inside(const Weight& w, size_t element_bytes) {
  int64_t lowest = w.start, highest = w.start;
  for (size_t i = 0; i < w.shape.size(); ++i) {
    int64_t reach = 0;
    if (w.shape[i] == 0) return;
    if (__builtin_mul_overflow(w.shape[i] - 1, w.strides[i], &reach) ||
        __builtin_add_overflow(reach < 0 ? lowest : highest, reach, reach < 0 ? &lowest : &highest))
      throw error("file.tensor-bounds", "a tensor's strides reach outside its storage");
  }
  if (lowest < 0 || static_cast<uint64_t>(highest) >= w.source.size() / element_bytes)
    throw error("file.tensor-bounds", "a tensor's strides reach outside its storage");
}
}  // namespace

namespace {

bool is_plain(const Weight& w) { return !w.strings && !w.scale && !is_sub_byte(w.dtype) && w.source_dtype == w.dtype; }

std::vector<int64_t> strides_of(const Weight& w) {
  if (!w.strides.empty()) return w.strides;
  std::vector<int64_t> out(w.shape.size(), 1);
  for (size_t i = out.size(); i-- > 1;) out[i - 1] = out[i] * w.shape[i];
  return out;
}

template <class T>
void multiply(std::vector<std::byte>& bytes, const std::vector<double>& factors) {
  const size_t count = bytes.size() / sizeof(T), row = factors.empty() ? 0 : count / factors.size();
  for (size_t i = 0; i < count && row; ++i) {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    v = static_cast<T>(static_cast<double>(v) * factors[i / row]);
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
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
  if (!is_plain(*this) || ax >= shape.size() || first < 0 || count < 0 || first > shape[ax] - count) return std::nullopt;
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
  if (!is_plain(*this) || shape.empty() || static_cast<int64_t>(factors.size()) != shape[0] || (dtype != DType::f32 && dtype != DType::f64)) return std::nullopt;
  Weight out = *this;
  out.scale = std::make_shared<const std::vector<double>>(std::move(factors));
  return out;
}

Tensor Weight::dense() const {
  if (scale) {
    Weight plain = *this;
    plain.scale.reset();
    const Tensor t = plain.dense();
    std::vector<std::byte> bytes(t.bytes().span().begin(), t.bytes().span().end());
    if (dtype == DType::f32) multiply<float>(bytes, *scale);
    else multiply<double>(bytes, *scale);
    return {dtype, shape, Bytes::own(std::move(bytes))};
  }
  if (strings) return Tensor(shape, *strings);
  invariant(source_dtype == dtype, "a weight is converted by kernels before it becomes dense");
  if (strides.empty()) {
    if (source.size() < packed_bytes(dtype, count())) throw error("file.tensor-bounds", "a tensor's data is shorter than its shape needs");
    return {dtype, shape, source.slice(0, static_cast<size_t>(packed_bytes(dtype, count())))};
  }
  invariant(!is_sub_byte(dtype) && strides.size() == shape.size(), "strided weights have whole bytes");
  const size_t element_bytes = static_cast<size_t>(bits(dtype)) / 8;
  check_inside(*this, element_bytes);
  std::vector<std::byte> out(static_cast<size_t>(packed_bytes(dtype, count())));
  if (!out.empty()) gather(*this, element_bytes, out.data());
  return {dtype, shape, Bytes::own(std::move(out))};
}

}  // namespace cameo
