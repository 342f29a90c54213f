#include "frontends/text/parser.h"
#include "ir/element_text.h"
#include "support/error.h"

namespace cameo::text {

namespace {
enum TensorField : uint32_t {
  dims = 1,
  data_type = 2,
  string_data = 6,
  name_field = 8,
  raw_data = 9,
  external_data = 13,
  data_location = 14
};

class BitWriter {
 public:
  void put(uint64_t bits, int width) {
    for (int k = 0; k < width; ++k, ++at_) {
      if (at_ % 8 == 0) bytes_ += '\0';
      bytes_.back() = static_cast<char>(bytes_.back() | static_cast<char>((bits >> k & 1) << (at_ % 8)));
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  uint64_t at_ = 0;
};
}  // namespace

std::string Parser::tensor_name() {
  std::string name;
  if (in_.sees_hash()) return name;
  if (in_.peek() == '"' || !in_.peek_identifier().empty()) name = in_.name("the tensor's name");
  in_.accept('=');
  return name;
}

pb::Writer Parser::tensor_literal() {
  const size_t where = in_.position();
  const ParsedType t = type();
  if (!t.is_tensor) in_.fail_at(where, "expected a tensor");
  return tensor_data(t.tensor, tensor_name(), where);
}

pb::Writer Parser::tensor_data(const TensorType& type, const std::string& name, size_t where) {
  if (!type.has_shape || !type.known || type.elem == DType::undefined)
    in_.fail_at(where, "the sizes of a tensor with elements must be numbers");
  pb::Writer out;
  for (const int64_t d : type.dims) {
    if (d < 0) in_.fail_at(where, "a size is negative");
    out.int64(TensorField::dims, d);
  }
  out.int64(TensorField::data_type, static_cast<int64_t>(type.elem));
  if (!name.empty()) out.text(TensorField::name_field, name);
  if (const auto hash = in_.hash(); !hash.empty()) {
    hashed(out, type, hash, where);
  } else if (in_.accept('[')) {
    write_pairs(out, TensorField::external_data, pairs());
    in_.expect(']', "after the place of the data");
    out.int64(TensorField::data_location, 1);
  } else {
    in_.expect('{', "before the elements of a tensor");
    elements(out, type, where);
  }
  return out;
}

void Parser::hashed(pb::Writer& out, const TensorType& type, std::string_view hash, size_t where) {
  const Tensor* found = tensors_ ? tensors_->find(hash) : nullptr;
  if (!found)
    in_.fail_at(where, cat("unknown tensor #", hash),
                "a text with #hashes can only be read beside the tensors it was printed from");
  if (found->dtype() != type.elem || found->shape() != type.dims)
    in_.fail_at(where, cat("the tensor #", hash, " has another type"));
  if (type.elem == DType::string)
    for (const auto& s : found->strings()) out.bytes(TensorField::string_data, s);
  else out.bytes(TensorField::raw_data, found->bytes().text());
}

void Parser::elements(pb::Writer& out, const TensorType& type, size_t where) {
  const DType part = part_type(type.elem);
  BitWriter raw;
  int64_t found = 0;
  if (in_.peek() != '}') do {
      const size_t start = in_.position();
      const Literal l = in_.literal();
      ++found;
      if (type.elem == DType::string) {
        if (l.kind != Literal::Kind::string) in_.fail_at(start, cat(l.text, " is not a string in double quotes"));
        out.bytes(TensorField::string_data, l.text);
        continue;
      }
      const auto bits_of = l.kind == Literal::Kind::string ? std::nullopt : parse_element(part, l.text);
      if (!bits_of) in_.fail_at(start, cat(l.text, " is not an element of type ", info(part).onnx_name));
      raw.put(*bits_of, bits(part));
    } while (in_.accept(','));
  in_.expect('}', "after the elements of a tensor");
  int64_t wanted = 0;
  try {
    wanted = element_count(type.dims);
  } catch (const Error& e) {
    in_.fail_at(where, e.diag().what);
  }
  if (found % parts_of(type.elem) != 0 || found / parts_of(type.elem) != wanted)
    in_.fail_at(where, cat("the tensor has ", found, found == 1 ? " element" : " elements", " where its shape takes ",
                           wanted, parts_of(type.elem) == 2 ? " pairs" : ""));
  if (type.elem != DType::string) out.bytes(TensorField::raw_data, raw.bytes());
}

// sparse_tensor(float[3,4]) float[2] {1, 2} int64[2] {0, 7}: values, then indices.
pb::Writer Parser::sparse_data(const TensorType& type, const std::string& name) {
  const size_t where = in_.position();
  if (!type.has_shape || !type.known) in_.fail_at(where, "the sizes of a tensor with elements must be numbers");
  pb::Writer out;
  const ParsedType values = this->type();
  if (!values.is_tensor) in_.fail_at(where, "expected the values of a sparse tensor");
  out.message(1, tensor_data(values.tensor, name, where));
  out.message(2, tensor_literal());
  for (const int64_t d : type.dims) out.int64(3, d);
  return out;
}

}  // namespace cameo::text
