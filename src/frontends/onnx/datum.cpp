#include "frontends/onnx/datum.h"

#include <algorithm>

#include "frontends/onnx/tensor.h"
#include "support/error.h"

namespace cameo::frontends {

namespace {

class DatumReader {
 public:
  explicit DatumReader(onnx::TensorSource& source) : source_(source) {}

  Datum tensor(pb::Reader in) { return Datum(onnx::to_tensor(onnx::read_tensor(in), source_)); }
  Datum sparse(pb::Reader in) { return Datum(onnx::to_sparse_tensor(onnx::read_sparse_tensor(in), source_).dense()); }

  Datum sequence(pb::Reader in) {
    std::vector<Datum> items;
    while (auto f = in.next())
      if (auto item = element(f)) items.push_back(std::move(*item));
    return Datum::sequence(std::move(items));
  }

  Datum optional(pb::Reader in) {
    Datum out;
    while (auto f = in.next())
      if (auto item = element(f)) out = std::move(*item);
    return out;
  }

  Datum map(pb::Reader in) {
    std::vector<int64_t> numbers;
    std::vector<std::string> strings;
    Datum values = Datum::sequence({});
    DType key = DType::i64;
    while (auto f = in.next()) switch (f.number) {
        case 2: key = dtype_from_number(f.int32()).value_or(DType::i64); break;
        case 3: f.append_to(numbers); break;
        case 4: strings.emplace_back(f.bytes()); break;
        case 5: values = sequence(f.message()); break;
      }
    const size_t count = key == DType::string ? strings.size() : numbers.size();
    if (values.items->size() != count)
      throw error("file.datum", cat("a map has ", count, " keys and ", values.items->size(), " values"))
          .at({.file = source_.path});
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return key == DType::string ? strings[a] < strings[b] : numbers[a] < numbers[b];
    });
    std::vector<std::pair<Datum, Datum>> entries;
    for (const size_t i : order)
      entries.emplace_back(key == DType::string ? Datum(Tensor({}, {strings[i]})) : Datum(key_tensor(key, numbers[i])),
                           (*values.items)[i]);
    return Datum::map(std::move(entries));
  }

 private:
  static Tensor key_tensor(DType key, int64_t v) {
    if (!is_int(key) || is_sub_byte(key)) key = DType::i64;
    std::vector<std::byte> bytes;
    for (int i = 0; i < bits(key) / 8; ++i)
      bytes.push_back(static_cast<std::byte>(static_cast<uint64_t>(v) >> (8 * i) & 0xff));
    return {key, {}, Bytes::own(std::move(bytes))};
  }

  // Sequences and optionals number their elements alike.
  std::optional<Datum> element(const pb::Field& f) {
    switch (f.number) {
      case 3: return tensor(f.message());
      case 4: return sparse(f.message());
      case 5: return sequence(f.message());
      case 6: return map(f.message());
      case 7: return optional(f.message());
      default: return std::nullopt;
    }
  }

  onnx::TensorSource& source_;
};

}  // namespace

Datum read_datum(Bytes bytes, const Type& expected, const std::string& path) {
  onnx::TensorSource source(bytes, path);
  DatumReader reader(source);
  const pb::Reader in(bytes.text());
  Datum out;
  switch (expected.kind) {
    case Type::Kind::sequence: out = reader.sequence(in); break;
    case Type::Kind::optional: out = reader.optional(in); break;
    case Type::Kind::map: out = reader.map(in); break;
    case Type::Kind::sparse_tensor: out = reader.sparse(in); break;
    default: out = reader.tensor(in); break;
  }
  in.throw_if_fault(path);
  return out;
}

}  // namespace cameo::frontends
