// ONNX's text syntax into ONNX's protobuf messages, so that texts and files are read by the same code. Beyond
// the reference syntax: sizes may be expressions (float[4*h + 2]), small floats may be written as numbers (float16
// {1.5}), tensors as #hash, sparse tensors, lists of tensors, types and graphs, doc strings and metadata on everything.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "formats/protobuf.h"
#include "frontends/text/cursor.h"
#include "ir/attribute.h"
#include "ir/tensor_table.h"

namespace cameo::text {

// What a text without a header gets.
struct Imports {
  int64_t onnx_opset = 0;
  int64_t ir_version = 0;
  int64_t (*newest)(std::string_view domain) = nullptr;  // 0 for domains that are not known
};

class Parser {
 public:
  Parser(std::string_view text, std::string file, const TensorTable* tensors, Imports imports)
      : in_(text, std::move(file)), tensors_(tensors), imports_(imports) {}

  std::string model();  // a whole ModelProto
  const std::vector<size_t>& node_positions() const {
    return node_positions_;
  }  // outer nodes before those of their bodies
  const Cursor& cursor() const { return in_; }

 private:
  struct TensorType {
    DType elem = DType::undefined;
    bool has_shape = true;
    std::vector<int64_t> dims;
    bool known = true;  // all sizes are numbers
  };
  struct ParsedType {
    pb::Writer proto;
    bool is_tensor = false, is_sparse = false;
    TensorType tensor;
  };
  struct Attribute {
    AttrKind kind = AttrKind::undefined;
    std::string ref;
    bool list = false;
    std::vector<std::string> numbers;  // as they stand
    std::vector<std::string> strings;  // strings, or whole messages: tensors, graphs, types
  };
  struct Notes {
    std::string doc;
    std::vector<std::pair<std::string, std::string>> metadata;
  };

  // types.cpp
  bool sees_type();
  ParsedType type();
  void tensor_type(ParsedType& out, DType elem, uint32_t field);
  void dimension(pb::Writer& shape, TensorType& t);
  void wrapped_type(ParsedType& out, uint32_t field);
  void map_type(ParsedType& out);
  void opaque_type(ParsedType& out);
  DType element_type(std::string_view what);

  // tensors.cpp
  pb::Writer tensor_literal();  // type, then elements
  std::string tensor_name();    // optional, with an optional '=' after it
  pb::Writer tensor_data(const TensorType& type, const std::string& name, size_t where);
  pb::Writer sparse_data(const TensorType& type, const std::string& name);
  void elements(pb::Writer& out, const TensorType& type, size_t where);
  void hashed(pb::Writer& out, const TensorType& type, std::string_view hash, size_t where);

  // attributes.cpp
  void attributes(pb::Writer& node, uint32_t field);
  pb::Writer attribute(const std::string& name);
  void attribute_value(Attribute& a, AttrKind wanted);
  AttrKind typed_value(Attribute& a, AttrKind wanted);
  void write_numbers(pb::Writer& out, uint32_t field, const Attribute& a, size_t where);

  // graphs.cpp and nodes.cpp
  void header(pb::Writer& model);
  void opsets(pb::Writer& out, uint32_t field);
  void write_model_opsets(pb::Writer& out, uint32_t field) const;
  void import_domains();
  std::vector<std::pair<std::string, std::string>> pairs();
  void write_pairs(pb::Writer& out, uint32_t field, const std::vector<std::pair<std::string, std::string>>& pairs);
  Notes notes_until(char close);  // doc_string: "..", metadata_props: [..]
  Notes value_notes();            // the same in [ ]
  pb::Writer graph();
  pb::Writer graph_after(const std::string& name, const Notes& notes);
  void graph_inputs(pb::Writer& graph);
  void graph_outputs(pb::Writer& graph);
  void graph_values(pb::Writer& graph);
  pb::Writer value_info(ParsedType* type, std::string& name);
  void initializer(pb::Writer& graph, const ParsedType& type, const std::string& name, size_t where);
  void nodes(pb::Writer& out, uint32_t field);
  pb::Writer node();
  void node_label(pb::Writer& out);
  std::vector<std::string> names(char end);
  pb::Writer function();
  void function_header(pb::Writer& out);
  void function_attributes(pb::Writer& out);
  void function_values(pb::Writer& out, uint32_t field);

  class Nesting;

  Cursor in_;
  const TensorTable* tensors_;
  Imports imports_;
  std::vector<size_t> node_positions_;
  std::set<std::string> domains_;  // of nodes
  std::vector<std::pair<std::string, int64_t>> model_opsets_;
  bool no_opsets_ = false;  // the header names none: what the nodes use is imported
  bool function_has_opsets_ = false;
  int depth_ = 0;
};

// Bodies and types may be nested this deep; the protobuf reader's own limit lies beyond.
inline constexpr int max_nesting = 40;

class Parser::Nesting {
 public:
  explicit Nesting(Parser& p) : p_(p) {
    if (++p_.depth_ > max_nesting) p_.in_.fail("this is nested too deeply");
  }
  ~Nesting() { --p_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& p_;
};

}  // namespace cameo::text
