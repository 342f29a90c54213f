#include "frontends/onnx/tensor.h"

#include "support/endian.h"
#include "support/error.h"
#include "support/file_bytes.h"

namespace cameo::onnx {

namespace {

class Decoder {
 public:
  Decoder(const TensorProto& t, TensorSource& source) : t_(t), source_(source) {}

  Weight weight() {
    Weight w;
    const auto dtype = dtype_from_number(t_.data_type);
    if (!dtype) fail(cat("has the unknown element type ", t_.data_type));
    if (t_.segmented) fail("is split into segments, which no known writer does");
    w.dtype = w.source_dtype = *dtype;
    w.shape = t_.dims;
    cut_ = cut();
    w.encoded = cut_ ? source_.whole.slice(cut_->tensor, cut_->tensor_length) : source_.file.view(t_.whole);
    try {
      count_ = element_count(w.shape);
      if (w.dtype != DType::string) wanted_ = packed_bytes(w.dtype, count_);
    } catch (const Error& e) {
      fail(cat("cannot be: ", e.diag().what));
    }
    if (w.dtype == DType::string) read_strings(w);
    else if (t_.external) read_external(w);
    else if (cut_ || (t_.raw_data && (!t_.raw_data->empty() || !t_.has_typed_data))) read_raw(w);
    else w.source = Bytes::own(typed(w.dtype));
    return w;
  }

 private:
  [[noreturn]] void fail(std::string what) const {
    Loc where{.file = source_.path, .scope = std::string(t_.name)};
    if (cut_) where.offset = cut_->tensor;
    else if (!source_.file.empty() && !t_.whole.empty() && !source_.outline)
      where.offset = static_cast<uint64_t>(t_.whole.data() - source_.file.text().data());
    throw error("file.tensor", cat("tensor '", t_.name, "' ", what)).at(std::move(where));
  }

  const Outline::Cut* cut() const {
    if (!source_.outline || !t_.raw_data || !t_.raw_data->empty()) return nullptr;
    const auto it = source_.outline->cuts.find(t_.raw_data->data());
    return it == source_.outline->cuts.end() ? nullptr : &it->second;
  }

  void read_raw(Weight& w) const {
    const uint64_t size = cut_ ? cut_->data_length : t_.raw_data->size();
    if (size != wanted_) fail(cat("holds ", size, " bytes where its shape takes ", wanted_));
    w.source = settled(w.dtype, cut_ ? source_.whole.slice(cut_->data, size) : source_.file.view(*t_.raw_data));
  }

  // Sizes and places come from such numbers. They are read once: a file that changes afterwards must not change what
  // was checked.
  static Bytes settled(DType dtype, Bytes data) {
    const bool decides = dtype == DType::i64 || dtype == DType::i32;
    return decides && in_memory(data) ? Bytes::own(data.text()) : data;
  }

  void read_external(Weight& w) const {
    if (wanted_ == 0) return;  // nothing to look up; some writers leave the location out
    auto range = source_.external.find(t_.external_data, wanted_);
    w.source = settled(w.dtype, std::move(range.bytes));
    w.file = std::move(range.file);
  }

  void read_strings(Weight& w) const {
    if (t_.raw_data && !t_.raw_data->empty()) fail("holds strings as raw data");
    std::vector<std::string> strings;
    pb::Reader in(t_.whole);
    while (auto f = in.next())
      if (f.number == 6) strings.emplace_back(f.bytes());
    if (strings.size() != static_cast<size_t>(count_))
      fail(cat("holds ", strings.size(), " strings where its shape takes ", count_));
    w.strings = std::make_shared<const std::vector<std::string>>(std::move(strings));
  }

  // The field that holds elements of a type, by ONNX's table; bytes of each stored number that count.
  struct Field {
    uint32_t number;
    uint32_t bytes;
  };
  static Field field_of(DType t) {
    switch (t) {
      case DType::f32:
      case DType::c64: return {4, 4};
      case DType::f64:
      case DType::c128: return {10, 8};
      case DType::i64: return {7, 8};
      case DType::u64: return {11, 8};
      case DType::u32: return {11, 4};
      case DType::i32: return {5, 4};
      case DType::i16:
      case DType::u16:
      case DType::f16:
      case DType::bf16: return {5, 2};
      default: return {5, 1};  // 8-bit types, bool, and the packed narrower ones
    }
  }

  std::vector<std::byte> typed(DType dtype) const {
    const auto [number, width] = field_of(dtype);
    std::vector<std::byte> out;
    out.reserve(static_cast<size_t>(std::min<uint64_t>(wanted_, t_.whole.size() * 8)));
    const auto push = [&out](uint64_t v, uint32_t bytes) {
      for (uint32_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(v >> (8 * i) & 0xff));
    };
    std::vector<uint64_t> numbers;
    pb::Reader in(t_.whole);
    while (auto f = in.next()) {
      if (f.number != number) continue;
      if (number != 4 && number != 10) {
        numbers.clear();
        f.append_to(numbers);
        for (const uint64_t v : numbers) push(v, width);
      } else if (f.wire == pb::Wire::bytes) {
        for (const char c : f.bytes()) out.push_back(static_cast<std::byte>(c));
      } else {
        push(number == 4 ? f.fixed32() : f.fixed64(), width);
      }
    }
    if (!in.ok()) fail(cat("is damaged: ", in.fault()->what));
    if (out.size() != wanted_) fail(cat("holds ", out.size(), " bytes of data where its shape takes ", wanted_));
    return out;
  }

  const TensorProto& t_;
  TensorSource& source_;
  const Outline::Cut* cut_ = nullptr;  // where its data was left out
  int64_t count_ = 0;
  uint64_t wanted_ = 0;
};

}  // namespace

Weight to_weight(const TensorProto& t, TensorSource& source) { return Decoder(t, source).weight(); }
Tensor to_tensor(const TensorProto& t, TensorSource& source) { return to_weight(t, source).dense(); }

SparseTensor to_sparse_tensor(const SparseTensorProto& t, TensorSource& source) {
  SparseTensor out;
  out.values = to_tensor(t.values, source);
  out.indices = to_tensor(t.indices, source);
  out.shape = t.dims;
  if (out.indices.dtype() != DType::i64)
    throw error("file.tensor", cat("the sparse tensor '", t.values.name, "' has no int64 indices"))
        .at({.file = source.path});
  return out;
}

}  // namespace cameo::onnx
