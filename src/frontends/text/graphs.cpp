#include <algorithm>

#include "frontends/text/parser.h"
#include "support/error.h"

namespace cameo::text {

namespace {
using StringPairs = std::vector<std::pair<std::string, std::string>>;

enum GraphField : uint32_t {
  node_field = 1,
  name_field = 2,
  initializer_field = 5,
  doc_field = 10,
  input_field = 11,
  output_field = 12,
  value_info_field = 13,
  sparse_initializer_field = 15,
  graph_metadata = 16
};

std::string quoted_key(std::string_view key) { return cat("a value for '", key, "'"); }
}  // namespace

StringPairs Parser::pairs() {
  StringPairs out;
  if (in_.peek() != '"') return out;
  do {
    std::string key = in_.string("a key");
    in_.expect(':', "after the key");
    out.emplace_back(std::move(key), in_.string("a value"));
  } while (in_.accept(','));
  return out;
}

void Parser::write_pairs(pb::Writer& out, uint32_t field, const StringPairs& pairs) {
  for (const auto& [key, value] : pairs) {
    pb::Writer entry;
    entry.text(1, key);
    entry.text(2, value);
    out.message(field, entry);
  }
}

Parser::Notes Parser::notes_until(char close) {
  Notes out;
  do {
    const size_t where = in_.position();
    const auto key = in_.identifier();
    if (key != "doc_string" && key != "metadata_props")
      in_.fail_at(where, cat("expected doc_string or metadata_props, not '", key, "'"));
    in_.expect(':', "after the key");
    if (key == "doc_string") {
      out.doc = in_.string(quoted_key(key));
    } else {
      in_.expect('[', "before the metadata");
      out.metadata = pairs();
      in_.expect(']', "after the metadata");
    }
  } while (in_.accept(','));
  in_.expect(close, "here");
  return out;
}

Parser::Notes Parser::value_notes() { return in_.accept('[') ? notes_until(']') : Notes(); }

void Parser::opsets(pb::Writer& out, uint32_t field) {
  in_.expect('[', "before the opsets");
  if (in_.accept(']')) return;
  do {
    pb::Writer entry;
    const std::string domain = in_.string("a domain");
    in_.expect(':', "after the domain");
    const int64_t version = in_.integer("an opset version");
    entry.text(1, domain);
    entry.int64(2, version);
    out.message(field, entry);
    if (field == 8) model_opsets_.emplace_back(domain, version);
  } while (in_.accept(','));
  in_.expect(']', "after the opsets");
}

void Parser::header(pb::Writer& model) {
  struct Key {
    std::string_view name;
    uint32_t field;
    bool number;
  };
  static constexpr Key keys[] = {{"ir_version", 1, true}, {"producer_name", 2, false}, {"producer_version", 3, false},
                                 {"domain", 4, false},    {"model_version", 5, true},  {"doc_string", 6, false}};
  do {
    const size_t where = in_.position();
    const auto key = in_.identifier();
    in_.expect(':', "after a key of the header");
    const auto known = std::find_if(std::begin(keys), std::end(keys), [&](const Key& k) { return k.name == key; });
    if (known != std::end(keys)) {
      if (known->field == 1) imports_.ir_version = 0;
      if (known->number) model.int64(known->field, in_.integer(quoted_key(key)));
      else model.text(known->field, in_.string(quoted_key(key)));
    } else if (key == "opset_import") {
      opsets(model, 8);
    } else if (key == "metadata_props") {
      in_.expect('[', "before the metadata");
      write_pairs(model, 14, pairs());
      in_.expect(']', "after the metadata");
    } else {
      in_.fail_at(where, cat("the header of a model has no '", key, "'"));
    }
  } while (in_.accept(','));
  in_.expect('>', "after the header");
}

void Parser::write_model_opsets(pb::Writer& out, uint32_t field) const {
  for (const auto& [domain, version] : model_opsets_) {
    pb::Writer entry;
    entry.text(1, domain);
    entry.int64(2, version);
    out.message(field, entry);
  }
}

std::string Parser::model() {
  pb::Writer out;
  if (in_.accept('<')) header(out);
  if (imports_.ir_version) out.int64(1, imports_.ir_version);
  no_opsets_ = model_opsets_.empty();
  if (no_opsets_) model_opsets_.emplace_back("", imports_.onnx_opset);
  out.message(7, graph());
  while (!in_.at_end()) out.message(25, function());
  if (no_opsets_) import_domains(), write_model_opsets(out, 8);
  return out.take();
}

void Parser::import_domains() {
  for (const auto& domain : domains_) {
    const int64_t version = imports_.newest(domain);
    const bool there =
        std::any_of(model_opsets_.begin(), model_opsets_.end(), [&](const auto& o) { return o.first == domain; });
    if (version && !there) model_opsets_.emplace_back(domain, version);
  }
}

pb::Writer Parser::graph() {
  Notes notes;
  if (in_.accept('<')) notes = notes_until('>');
  const std::string name = in_.name("the name of a graph");
  return graph_after(name, notes);
}

pb::Writer Parser::graph_after(const std::string& name, const Notes& notes) {
  const Nesting nesting(*this);
  pb::Writer out;
  out.text(name_field, name);
  if (!notes.doc.empty()) out.text(doc_field, notes.doc);
  write_pairs(out, graph_metadata, notes.metadata);
  graph_inputs(out);
  in_.expect_arrow();
  graph_outputs(out);
  graph_values(out);
  nodes(out, node_field);
  return out;
}

// Type and name, either of which the caller may want to know; then notes in [ ].
pb::Writer Parser::value_info(ParsedType* type, std::string& name) {
  pb::Writer out;
  if (sees_type()) {
    *type = this->type();
    out.message(2, type->proto);
  }
  const size_t where = in_.position();
  name = in_.name("the name of a value");
  out.text(1, name);
  if (in_.peek() == '[' && type->proto.size() == 0 && is_identifier(name) && !in_.sees_notes())
    in_.fail_at(where, cat("there is no type '", name, "'"));
  const Notes notes = value_notes();
  if (!notes.doc.empty()) out.text(3, notes.doc);
  write_pairs(out, 4, notes.metadata);
  return out;
}

void Parser::initializer(pb::Writer& graph, const ParsedType& type, const std::string& name, size_t where) {
  if (type.is_sparse) return graph.message(sparse_initializer_field, sparse_data(type.tensor, name));
  if (!type.is_tensor) in_.fail_at(where, cat("the value of '", name, "' needs the type of a tensor before the name"));
  graph.message(initializer_field, tensor_data(type.tensor, name, where));
}

void Parser::graph_inputs(pb::Writer& graph) {
  in_.expect('(', "before the inputs of a graph");
  if (in_.accept(')')) return;
  do {
    ParsedType type;
    std::string name;
    const size_t where = in_.position();
    graph.message(input_field, value_info(&type, name));
    if (in_.accept_equals()) initializer(graph, type, name, where);
  } while (in_.accept(','));
  in_.expect(')', "after the inputs of a graph");
}

void Parser::graph_outputs(pb::Writer& graph) {
  in_.expect('(', "before the outputs of a graph");
  if (in_.accept(')')) return;
  do {
    ParsedType type;
    std::string name;
    graph.message(output_field, value_info(&type, name));
  } while (in_.accept(','));
  in_.expect(')', "after the outputs of a graph");
}

void Parser::graph_values(pb::Writer& graph) {
  if (!in_.accept('<') || in_.accept('>')) return;
  do {
    ParsedType type;
    std::string name;
    const size_t where = in_.position();
    const pb::Writer info = value_info(&type, name);
    if (in_.accept('=')) initializer(graph, type, name, where);
    else graph.message(value_info_field, info);
  } while (in_.accept(','));
  in_.expect('>', "after the values of a graph");
}

}  // namespace cameo::text
