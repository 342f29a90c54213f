#include "ir/text/writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/element_text.h"
#include "support/error.h"
#include "support/number_text.h"
#include "support/text.h"

namespace cameo::text {

bool is_identifier_text(std::string_view s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !s.empty() && letter(s[0]) &&
         std::all_of(s.begin(), s.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

void Writer::quoted(std::string_view s) {
  out += '"';
  for (size_t pos = 0; pos < s.size();) {
    const size_t start = pos;
    const uint32_t c = next_character(s, pos);
    const auto bytes = s.substr(start, pos - start);
    if (c == '"' || c == '\\') (out += '\\') += bytes;
    else if (is_printable(c) || (plain() && (c == '\n' || c == '\t'))) out += bytes;
    else append_byte_escapes(out, bytes);
  }
  out += '"';
}

void Writer::name(std::string_view s) {
  if (is_identifier_text(s)) out += s;
  else quoted(s);
}

void Writer::op_name(std::string_view domain, std::string_view op, std::string_view overload) {
  size_t at = 0;
  bool dotted = !domain.empty();
  while (dotted && at <= domain.size()) {
    const size_t dot = std::min(domain.find('.', at), domain.size());
    dotted = is_identifier_text(domain.substr(at, dot - at));
    at = dot + 1;
  }
  if (!domain.empty()) {
    if (dotted) out += domain;
    else quoted(domain);
    out += '.';
  }
  name(op);
  if (overload.empty()) return;
  out += ':';
  name(overload);
}

void Writer::dim(Dim d) {
  if (is_open && is_open(d)) return void(out += '?');
  if (d.is_symbol()) return name(symbol_name(d));
  if (d.is_literal() || !plain()) out += d.text();
  else quoted(d.text());
}

// As in ONNX: `float` is a scalar, `float[]` has an unknown rank.
void Writer::type(const Type& t) {
  const auto shaped = [&] {
    out += info(t.elem).onnx_name;
    if (!t.shape) return void(out += "[]");
    for (size_t i = 0; i < t.shape->size(); ++i) {
      out += i ? "," : "[";
      dim((*t.shape)[i]);
    }
    if (!t.shape->empty()) out += ']';
  };
  switch (t.kind) {
    case Type::Kind::unknown: return;
    case Type::Kind::tensor: return shaped();
    case Type::Kind::sparse_tensor: out += "sparse_tensor(", shaped(); break;
    case Type::Kind::sequence: out += "seq(", type(*t.inner); break;
    case Type::Kind::optional: out += "optional(", type(*t.inner); break;
    case Type::Kind::map: out += cat("map(", info(t.elem).onnx_name, ", "), type(*t.inner); break;
  }
  out += ')';
}

void Writer::value(const Type& t, std::string_view value_name) {
  type(t);
  if (!t.is_unknown()) {
    out += ' ';
    return name(value_name);
  }
  // Without a type before it, a name that reads as a type needs quotes.
  static constexpr std::string_view words[] = {"seq", "map", "optional", "sparse_tensor", "opaque", "undefined"};
  const bool taken =
      dtype_from_onnx_name(value_name) || std::find(std::begin(words), std::end(words), value_name) != std::end(words);
  if (taken) quoted(value_name);
  else name(value_name);
}

void Writer::tensor_type(DType elem, const std::vector<int64_t>& shape) {
  out += info(elem).onnx_name;
  for (size_t i = 0; i < shape.size(); ++i) out += cat(i ? "," : "[", shape[i]);
  if (!shape.empty()) out += ']';
}

void Writer::tensor(const Tensor& t) {
  tensor_type(t.dtype(), t.shape());
  out += ' ';
  tensor_data(t);
}

void Writer::tensor_data(const Tensor& t) {
  if (t.count() > style_.max_elements && !plain()) {
    const std::string hash = style_.tensors ? style_.tensors->add(t) : content_hash(t);
    if (!hash.empty()) return void((out += '#') += hash);
  }
  out += '{';
  const int64_t parts = t.count() * parts_of(t.dtype());
  for (int64_t i = 0; i < parts; ++i) {
    if (i) out += ", ";
    if (t.dtype() == DType::string) quoted(t.strings()[static_cast<size_t>(i)]);
    else append_element(out, t, i, plain() ? ElementStyle::codes : ElementStyle::readable);
  }
  out += '}';
}

void Writer::sparse(const SparseTensor& t) {
  out += "sparse_tensor(";
  tensor_type(t.values.dtype(), t.shape);
  out += ") ";
  sparse_data(t);
}

void Writer::sparse_data(const SparseTensor& t) {
  tensor(t.values);
  out += ' ';
  tensor(t.indices);
}

void Writer::number(float v) {
  const size_t from = out.size();
  append_element(out, Tensor::float_scalar(v), 0, plain() ? ElementStyle::codes : ElementStyle::readable);
  if (out.find_first_of(".ein", from) == std::string::npos) out += ".0";
}

namespace {
std::string_view kind_text(AttrKind kind) {
  static constexpr std::string_view names[] = {
      "",        "float",   "int",    "string",        "tensor",         "graph",      "floats",     "ints",
      "strings", "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};
  return names[static_cast<size_t>(kind)];
}

template <class T, class F>
void list(Writer& w, const std::vector<T>& items, F item) {
  w << '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) w << ", ";
    item(items[i]);
  }
  w << ']';
}

struct IsEmpty {
  template <class T>
  bool operator()(const std::vector<T>& v) const {
    return v.empty();
  }
  template <class T>
  bool operator()(const T&) const {
    return false;
  }
};
}  // namespace

void Writer::attribute(std::string_view attribute_name, const AttrValue& v) {
  name(attribute_name);
  const bool reference = std::holds_alternative<AttrRef>(v);
  // The kind is written where the value does not show it.
  const bool type_alone = std::holds_alternative<Type>(v) || std::holds_alternative<std::vector<Type>>(v);
  if ((reference && kind_of(v) != AttrKind::undefined) || type_alone || std::visit(IsEmpty{}, v))
    out += cat(": ", kind_text(kind_of(v)), " = ");
  else out += '=';
  struct Print {
    Writer& w;
    void operator()(std::monostate) const {}
    void operator()(float f) const { w.number(f); }
    void operator()(int64_t i) const { w << cat(i); }
    void operator()(const std::string& s) const { w.quoted(s); }
    void operator()(const Tensor& t) const { w.tensor(t); }
    void operator()(const std::vector<float>& x) const {
      list(w, x, [this](float f) { w.number(f); });
    }
    void operator()(const std::vector<int64_t>& x) const {
      list(w, x, [this](int64_t i) { w << cat(i); });
    }
    void operator()(const std::vector<std::string>& x) const {
      list(w, x, [this](const std::string& s) { w.quoted(s); });
    }
    void operator()(const std::vector<Tensor>& x) const {
      list(w, x, [this](const Tensor& t) { w.tensor(t); });
    }
    void operator()(const SparseTensor& t) const { w.sparse(t); }
    void operator()(const Type& t) const { w.type(t); }
    void operator()(const std::vector<Type>& x) const {
      list(w, x, [this](const Type& t) { w.type(t); });
    }
    void operator()(const AttrRef& r) const { w << '@', w.name(r.name); }
  };
  std::visit(Print{*this}, v);
}

void Writer::pairs(const StringPairs& p) {
  list(*this, p, [this](const auto& entry) {
    quoted(entry.first);
    out += ": ";
    quoted(entry.second);
  });
}

bool Writer::notes(std::string_view before, const std::string& doc, const StringPairs& metadata,
                   std::string_view after) {
  if (style_.dialect == Dialect::onnx_only || (doc.empty() && metadata.empty())) return false;
  out += before;
  if (!doc.empty()) out += "doc_string: ", quoted(doc);
  if (!doc.empty() && !metadata.empty()) out += ", ";
  if (!metadata.empty()) out += "metadata_props: ", pairs(metadata);
  out += after;
  return true;
}

}  // namespace cameo::text
