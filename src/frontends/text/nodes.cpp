#include "frontends/text/parser.h"
#include "support/error.h"

namespace cameo::text {

void Parser::nodes(pb::Writer& out, uint32_t field) {
  in_.expect('{', "before the nodes");
  while (!in_.accept('}')) out.message(field, node());
}

void Parser::node_label(pb::Writer& out) {
  if (!in_.accept('[')) return;
  if (const auto name = in_.optional_name(); name && !name->empty()) out.text(3, *name);
  if (in_.accept(',')) {
    const Notes notes = notes_until(']');
    if (!notes.doc.empty()) out.text(6, notes.doc);
    write_pairs(out, 9, notes.metadata);
  } else {
    in_.expect(']', "after the name of a node");
  }
}

// Names between commas; an empty one is "" or nothing before a comma.
std::vector<std::string> Parser::names(char end) {
  std::vector<std::string> out;
  while (in_.peek() != end) {
    auto name = in_.optional_name();
    if (!name && in_.peek() != ',') in_.fail("expected the name of a value");
    out.push_back(name ? std::move(*name) : "");
    if (!in_.accept(',')) break;
  }
  return out;
}

pb::Writer Parser::node() {
  pb::Writer out;
  node_positions_.push_back(in_.position());
  node_label(out);
  for (const auto& name : names('=')) out.text(2, name);
  in_.expect('=', "after the outputs of a node");
  std::string domain, op_type = in_.name("the name of an operator");
  while (in_.accept('.')) {
    domain += cat(domain.empty() ? "" : ".", op_type);
    op_type = in_.name("the rest of the operator's name");
  }
  domains_.insert(domain);
  if (!domain.empty()) out.text(7, domain);
  out.text(4, op_type);
  if (in_.accept(':')) out.text(8, in_.name("the name of an overload"));
  const size_t before = out.size();
  attributes(out, 5);
  in_.expect('(', cat("before the operands of ", op_type));
  const bool had_attributes = out.size() != before;
  for (const auto& name : names(')')) out.text(1, name);
  in_.expect(')', cat("after the operands of ", op_type));
  if (!had_attributes) attributes(out, 5);
  return out;
}

void Parser::function_header(pb::Writer& out) {
  do {
    const size_t where = in_.position();
    const auto key = in_.identifier();
    in_.expect(':', "after a key of the function's header");
    if (key == "opset_import") {
      opsets(out, 9);
      function_has_opsets_ = true;
    } else if (key == "doc_string") {
      out.text(8, in_.string("the doc string"));
    } else if (key == "domain") {
      out.text(10, in_.string("the domain"));
    } else if (key == "overload") {
      out.text(13, in_.string("the overload"));
    } else if (key == "metadata_props") {
      in_.expect('[', "before the metadata");
      write_pairs(out, 14, pairs());
      in_.expect(']', "after the metadata");
    } else {
      in_.fail_at(where, cat("the header of a function has no '", key, "'"));
    }
  } while (in_.accept(','));
  in_.expect('>', "after the function's header");
}

void Parser::function_attributes(pb::Writer& out) {
  if (!in_.accept('<')) return;
  do {
    const std::string name = in_.name("the name of an attribute");
    if (in_.peek() == ':' || in_.peek() == '=') out.message(11, attribute(name));
    else out.text(6, name);
  } while (in_.accept(','));
  in_.expect('>', "after the function's attributes");
}

void Parser::function_values(pb::Writer& out, uint32_t field) {
  in_.expect('(', "before the function's parameters");
  if (in_.accept(')')) return;
  do {
    ParsedType type;
    std::string name;
    const bool typed = sees_type();
    const pb::Writer info = value_info(&type, name);
    out.text(field, name);
    if (typed) out.message(12, info);
  } while (in_.accept(','));
  in_.expect(')', "after the function's parameters");
}

pb::Writer Parser::function() {
  pb::Writer out;
  function_has_opsets_ = false;
  if (in_.accept('<')) function_header(out);
  out.text(1, in_.name("the name of a function"));
  function_attributes(out);
  function_values(out, 4);
  in_.expect_arrow();
  function_values(out, 5);
  if (in_.accept('<') && !in_.accept('>')) {
    do {
      ParsedType type;
      std::string name;
      out.message(12, value_info(&type, name));
    } while (in_.accept(','));
    in_.expect('>', "after the function's values");
  }
  nodes(out, 7);
  if (!function_has_opsets_) {
    if (no_opsets_) import_domains();
    write_model_opsets(out, 9);
  }
  return out;
}

}  // namespace cameo::text
