#include "ir/tensor_table.h"

namespace cameo::ir {

namespace {

// Multiply and rotate over 64-bit words: quick, spread well enough for names, no defence against forgery.
class Hash {
 public:
  void word(uint64_t w) {
    state_ = (state_ ^ w) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  void bytes(const std::byte* p, size_t n) {
    for (size_t i = 0; i < n; i += 8) {
      uint64_t w = 0;
      for (size_t k = 0; k < 8 && i + k < n; ++k) w |= static_cast<uint64_t>(p[i + k]) << (8 * k);
      word(w);
    }
    word(n);
  }
  std::string text() {
    static constexpr char digits[] = "0123456789abcdef";
    word(0);
    std::string out(16, '0');
    for (int i = 0; i < 16; ++i) out[static_cast<size_t>(i)] = digits[state_ >> (60 - 4 * i) & 15];
    return out;
  }

 private:
  uint64_t state_ = 0x243f6a8885a308d3u;
};

}  // namespace

std::string content_hash(const Tensor& t) {
  Hash h;
  h.word(static_cast<uint64_t>(t.dtype()));
  h.word(t.shape().size());
  for (const int64_t d : t.shape()) h.word(static_cast<uint64_t>(d));
  if (t.dtype() == DType::string)
    for (const auto& s : t.strings()) h.bytes(reinterpret_cast<const std::byte*>(s.data()), s.size());
  else h.bytes(t.bytes().data(), t.bytes().size());
  return h.text();
}

std::string TensorTable::add(const Tensor& t) {
  std::string hash = content_hash(t);
  const auto [it, added] = tensors_.emplace(hash, t);
  if (!added && !(it->second == t)) return "";
  return hash;
}

const Tensor* TensorTable::find(std::string_view hash) const {
  const auto it = tensors_.find(hash);
  return it == tensors_.end() ? nullptr : &it->second;
}

}  // namespace cameo::ir
