// The pieces of ONNX's text syntax: names, types, tensors, attributes. Printers of graphs and files put them
// together.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/tensor_table.h"

namespace cameo::text {

enum class Dialect : uint8_t {
  readable,     // sizes as bare expressions, small floats as numbers
  interchange,  // as ONNX's own parser reads it, wherever it can read it at all
  onnx_only,    // what ONNX's own parser does not read is left out
};

struct Style {
  int64_t max_elements = 64;       // tensors with more are printed as #hash
  TensorTable* tensors = nullptr;  // where those go; without one they are only named
  Dialect dialect = Dialect::readable;
};

using StringPairs = std::vector<std::pair<std::string, std::string>>;

bool is_identifier_text(std::string_view s);  // needs no quotes

class Writer {
 public:
  explicit Writer(Style style) : style_(style) {}

  std::string out;
  std::function<bool(Dim)> is_open;  // sizes printed as '?'; unset: none

  Writer& operator<<(std::string_view s) { return out += s, *this; }
  Writer& operator<<(char c) { return out += c, *this; }
  // What `print` writes of each, with commas between.
  template <class List, class Print>
  void separated(const List& list, Print print) {
    bool first = true;
    for (const auto& item : list) {
      if (!first) *this << ", ";
      first = false;
      print(item);
    }
  }
  void new_line(size_t indent) { (out += '\n').append(2 * indent, ' '); }

  // What is not printable UTF-8 as \xNN, byte by byte; ONNX's own parser has no escape for it, but reads line breaks.
  void quoted(std::string_view s);
  void name(std::string_view s);  // bare where it is an identifier
  void op_name(std::string_view domain, std::string_view op, std::string_view overload);
  void type(const Type& t);
  // `type name`; only the name if the type is unknown.
  void value(const Type& t, std::string_view name);
  void tensor_type(DType elem, const std::vector<int64_t>& shape);
  void tensor(const Tensor& t);                               // "float[2] {1, 2}"
  void sparse_data(const SparseTensor& t);                    // values, then indices
  void tensor_data(const Tensor& t);                          // "{1, 2}" or "#0123456789abcdef"
  void attribute(std::string_view name, const AttrValue& v);  // "axis=1"; not for graphs
  void pairs(const StringPairs& p);                           // ["key": "value"]
  // doc_string: "..", metadata_props: [..], with separators; nothing when both are empty. Says whether it wrote.
  bool notes(std::string_view before, const std::string& doc, const StringPairs& metadata, std::string_view after);
  void number(float v);  // always recognisable as a float

  const Style& style() const { return style_; }

 private:
  void dim(Dim d);
  bool plain() const { return style_.dialect != Dialect::readable; }
  void sparse(const SparseTensor& t);

  Style style_;
};

}  // namespace cameo::text
