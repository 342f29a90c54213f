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
         source.data() == o.source.data() && source.size() == o.source.size() && strings == o.strings;
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

Tensor Weight::dense() const {
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
