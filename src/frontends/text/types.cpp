#include <charconv>

#include "frontends/text/parser.h"
#include "ir/dim.h"
#include "support/error.h"

namespace cameo::text {

namespace {
enum TypeField : uint32_t { tensor = 1, sequence = 4, map = 5, opaque = 7, sparse = 8, optional = 9 };

std::optional<DType> element_type_named(std::string_view name) {
  if (name == "undefined") return DType::undefined;
  return dtype_from_onnx_name(name);
}
}  // namespace

bool Parser::sees_type() {
  const auto id = in_.peek_identifier();
  if (id.empty()) return false;
  return element_type_named(id) || id == "seq" || id == "map" || id == "optional" || id == "sparse_tensor" ||
         id == "opaque";
}

DType Parser::element_type(std::string_view what) {
  const size_t where = in_.position();
  const auto id = in_.identifier();
  const auto elem = element_type_named(id);
  if (!elem) in_.fail_at(where, cat("expected ", what, id.empty() ? "" : cat(", not '", id, "'")));
  return *elem;
}

Parser::ParsedType Parser::type() {
  const Nesting nesting(*this);
  ParsedType out;
  const size_t where = in_.position();
  const auto id = in_.identifier();
  if (const auto elem = element_type_named(id)) {
    out.is_tensor = true;
    tensor_type(out, *elem, TypeField::tensor);
  } else if (id == "seq") {
    wrapped_type(out, TypeField::sequence);
  } else if (id == "optional") {
    wrapped_type(out, TypeField::optional);
  } else if (id == "map") {
    map_type(out);
  } else if (id == "sparse_tensor") {
    in_.expect('(', "after 'sparse_tensor'");
    out.is_sparse = true;
    tensor_type(out, element_type("an element type"), TypeField::sparse);
    in_.expect(')', "after the type of a sparse tensor");
  } else if (id == "opaque") {
    opaque_type(out);
  } else {
    in_.fail_at(where, id.empty() ? "expected a type" : cat("there is no type '", id, "'"));
  }
  return out;
}

// As in ONNX: `float` is a scalar, `float[]` has an unknown rank.
void Parser::tensor_type(ParsedType& out, DType elem, uint32_t field) {
  pb::Writer shape;
  out.tensor.elem = elem;
  if (in_.accept('[')) {
    out.tensor.has_shape = !in_.accept(']');
    if (out.tensor.has_shape) {
      do dimension(shape, out.tensor);
      while (in_.accept(','));
      in_.expect(']', "after the sizes");
    }
  }
  pb::Writer proto;
  proto.int64(1, static_cast<int64_t>(elem));
  if (out.tensor.has_shape) proto.message(2, shape);
  out.proto.message(field, proto);
}

void Parser::dimension(pb::Writer& shape, TensorType& t) {
  pb::Writer dim;
  const auto literal = [&](int64_t v) {
    dim.int64(1, v);
    t.dims.push_back(v);
  };
  const auto named = [&](std::string_view name) {
    dim.text(2, name);
    t.known = false;
  };
  if (in_.peek() == '"') {
    named(in_.string("a size"));
  } else if (in_.accept('?')) {
    t.known = false;
  } else {
    const size_t where = in_.position();
    auto expression = in_.until(",]");
    while (!expression.empty() && (expression.back() == ' ' || expression.back() == '\n' || expression.back() == '\r' ||
                                   expression.back() == '\t'))
      expression.remove_suffix(1);
    if (is_identifier(expression)) {
      named(expression);
    } else {
      DimContext scratch;
      try {
        const Dim d = parse_dim(scratch, expression);
        if (d.is_literal()) literal(d.literal());
        else named(d.text());
      } catch (const Error& e) {
        const uint32_t column = e.diag().where.column;
        in_.fail_at(where + (column ? column - 1 : 0), e.diag().what,
                    "names with other characters than letters, digits and '_' go in double quotes");
      }
    }
  }
  shape.message(1, dim);
}

void Parser::wrapped_type(ParsedType& out, uint32_t field) {
  in_.expect('(', "after 'seq' or 'optional'");
  pb::Writer proto;
  if (in_.peek() != ')') proto.message(1, type().proto);
  in_.expect(')', "after the element's type");
  out.proto.message(field, proto);
}

void Parser::map_type(ParsedType& out) {
  in_.expect('(', "after 'map'");
  pb::Writer proto;
  proto.int64(1, static_cast<int64_t>(element_type("the type of the map's keys")));
  in_.expect(',', "after the type of the map's keys");
  if (in_.peek() != ')') proto.message(2, type().proto);
  in_.expect(')', "after the type of the map's values");
  out.proto.message(TypeField::map, proto);
}

void Parser::opaque_type(ParsedType& out) {
  in_.expect('(', "after 'opaque'");
  pb::Writer proto;
  if (in_.peek() != ')') {
    std::string first = in_.name("the name of the opaque type");
    while (in_.accept('.')) first += cat(".", in_.name("the rest of the name"));
    if (in_.accept(',')) {
      proto.text(1, first);
      first = in_.name("the name of the opaque type");
    }
    proto.text(2, first);
  }
  in_.expect(')', "after the opaque type");
  out.proto.message(TypeField::opaque, proto);
}

}  // namespace cameo::text
