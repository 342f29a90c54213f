#include <cstring>

#include "frontends/text/parser.h"
#include "ir/element_text.h"
#include "support/error.h"

namespace cameo::text {

namespace {

struct KindName {
  std::string_view name;
  AttrKind kind;
};
constexpr KindName kind_names[] = {{"float", AttrKind::floating},
                                   {"int", AttrKind::integer},
                                   {"string", AttrKind::string},
                                   {"tensor", AttrKind::tensor},
                                   {"graph", AttrKind::graph},
                                   {"sparse_tensor", AttrKind::sparse_tensor},
                                   {"type_proto", AttrKind::type},
                                   {"floats", AttrKind::floats},
                                   {"ints", AttrKind::ints},
                                   {"strings", AttrKind::strings},
                                   {"tensors", AttrKind::tensors},
                                   {"graphs", AttrKind::graphs},
                                   {"sparse_tensors", AttrKind::sparse_tensors},
                                   {"type_protos", AttrKind::types}};

struct ListKind {
  AttrKind one, many;
  uint32_t one_field, many_field;  // of AttributeProto
};
constexpr ListKind list_kinds[] = {
    {AttrKind::floating, AttrKind::floats, 2, 7}, {AttrKind::integer, AttrKind::ints, 3, 8},
    {AttrKind::string, AttrKind::strings, 4, 9},  {AttrKind::tensor, AttrKind::tensors, 5, 10},
    {AttrKind::graph, AttrKind::graphs, 6, 11},   {AttrKind::sparse_tensor, AttrKind::sparse_tensors, 22, 23},
    {AttrKind::type, AttrKind::types, 14, 15}};

const ListKind& list_kind(AttrKind kind) {
  for (const ListKind& k : list_kinds)
    if (k.one == kind || k.many == kind) return k;
  return list_kinds[0];
}

}  // namespace

void Parser::attributes(pb::Writer& node, uint32_t field) {
  if (!in_.accept('<')) return;
  do {
    const std::string name = in_.name("the name of an attribute");
    node.message(field, attribute(name));
  } while (in_.accept(','));
  in_.expect('>', "after the attributes");
}

// What follows the name: an optional type, and the value.
pb::Writer Parser::attribute(const std::string& name) {
  Attribute a;
  AttrKind wanted = AttrKind::undefined;
  const size_t where = in_.position();
  if (in_.accept(':')) {
    const auto kind = in_.identifier();
    for (const KindName& k : kind_names)
      if (k.name == kind) wanted = k.kind;
    if (wanted == AttrKind::undefined) in_.fail_at(where, cat("there is no kind of attribute '", kind, "'"));
  }
  in_.expect('=', cat("after the attribute's name '", name, "'"));
  const bool wants_list = wanted != AttrKind::undefined && list_kind(wanted).many == wanted;
  if (in_.accept('[')) {
    a.list = true;
    if (wanted != AttrKind::undefined && !wants_list)
      in_.fail_at(where, "a list is given to an attribute that is not a list");
    if (in_.peek() != ']') do
        attribute_value(a, wants_list ? list_kind(wanted).one : AttrKind::undefined);
      while (in_.accept(','));
    else if (!wants_list) in_.fail_at(where, "an empty list has no type", cat("write ", name, ": ints = []"));
    in_.expect(']', "after the list");
  } else {
    if (wants_list && in_.peek() != '@') in_.fail("expected a list in [ ]");
    attribute_value(a, wanted);
  }
  pb::Writer out;
  out.text(1, name);
  if (!a.ref.empty()) {
    if (a.list) in_.fail_at(where, "a list cannot hold a reference");
    out.int64(20, static_cast<int64_t>(wanted));
    out.text(21, a.ref);
    return out;
  }
  const ListKind& kind = list_kind(a.kind == AttrKind::undefined ? wanted : a.kind);
  out.int64(20, static_cast<int64_t>(a.list ? kind.many : kind.one));
  const uint32_t field = a.list ? kind.many_field : kind.one_field;
  write_numbers(out, field, a, where);
  for (const auto& v : a.strings) out.bytes(field, v);
  return out;
}

void Parser::write_numbers(pb::Writer& out, uint32_t field, const Attribute& a, size_t where) {
  const DType type = a.kind == AttrKind::floating ? DType::f32 : DType::i64;
  for (const auto& text : a.numbers) {
    const auto bits = parse_element(type, text);
    if (!bits) in_.fail_at(where, cat(text, type == DType::i64 ? " does not fit 64 bits" : " is not a number"));
    if (type == DType::i64) {
      out.varint(field, *bits);
    } else {
      const auto low = static_cast<uint32_t>(*bits);
      float v = 0;
      std::memcpy(&v, &low, sizeof v);
      out.float32(field, v);
    }
  }
}

void Parser::attribute_value(Attribute& a, AttrKind wanted) {
  const size_t where = in_.position();
  AttrKind kind = AttrKind::undefined;
  if (in_.accept('@')) {
    a.ref = in_.name("the name of the function's attribute");
    return;
  }
  if (in_.sees_number()) {
    const Literal l = in_.literal();
    a.numbers.push_back(l.text);
    kind = l.kind == Literal::Kind::floating || wanted == AttrKind::floating || a.kind == AttrKind::floating
               ? AttrKind::floating
               : AttrKind::integer;
    if (kind == AttrKind::floating && a.kind == AttrKind::integer) a.kind = kind;  // [1, 2.5]
  } else if (sees_type()) {
    kind = typed_value(a, wanted);
  } else if (in_.peek() == '"') {
    kind = AttrKind::string;
    a.strings.push_back(in_.string("a string"));
    if (in_.peek() == '(') {
      kind = AttrKind::graph;
      a.strings.back() = graph_after(a.strings.back(), {}).take();
    }
  } else if (!in_.peek_identifier().empty() || in_.peek() == '<') {
    kind = AttrKind::graph;
    a.strings.push_back(graph().take());
  } else {
    in_.fail("expected a value");
  }
  if (a.kind != AttrKind::undefined && a.kind != kind)
    in_.fail_at(where, cat("a list of ", name(a.kind), " holds ", name(kind)));
  if (wanted != AttrKind::undefined && kind != wanted)
    in_.fail_at(where, cat("expected ", name(wanted), ", not ", name(kind)));
  a.kind = kind;
}

// A type by itself, or a tensor.
AttrKind Parser::typed_value(Attribute& a, AttrKind wanted) {
  const size_t where = in_.position();
  ParsedType t = type();
  if (t.is_sparse && (sees_type() || wanted == AttrKind::sparse_tensor)) {
    a.strings.push_back(sparse_data(t.tensor, "").take());
    return AttrKind::sparse_tensor;
  }
  const bool has_data =
      in_.sees_hash() || in_.peek() == '{' || in_.peek() == '=' || in_.peek() == '"' || !in_.peek_identifier().empty();
  if (wanted == AttrKind::type || (!has_data && wanted != AttrKind::tensor)) {
    a.strings.push_back(t.proto.take());
    return AttrKind::type;
  }
  if (!t.is_tensor) in_.fail_at(where, "expected a tensor");
  const std::string name = tensor_name();
  a.strings.push_back(tensor_data(t.tensor, name, where).take());
  return AttrKind::tensor;
}

}  // namespace cameo::text
