#include "backends/onnx/graph_writer.h"

#include <algorithm>

#include "frontends/onnx/proto.h"
#include "ir/dim_name.h"
#include "ops/generated/attributes.h"

namespace cameo::onnx {

namespace {

bool same_dim(const DimProto& p, Dim d) {
  if (p.value) return d.is(*p.value);  // -1 is read as a size that is not known, and written so
  if (p.param && !p.param->empty()) return !d.is_literal() && (d.text() == *p.param || name_or_text(d) == *p.param);
  return d.is_symbol() && is_fresh(d);
}

// Whether the message still says what is known of the value.
bool same_type(const TypeProto& p, const Type& t) {
  using enum TypeProto::Kind;
  static constexpr TypeProto::Kind kinds[] = {none, tensor, sparse_tensor, sequence, optional, map};
  if (p.kind != kinds[static_cast<int>(t.kind)]) return false;
  if (t.kind == Type::Kind::tensor || t.kind == Type::Kind::sparse_tensor || t.kind == Type::Kind::map)
    if (p.elem != static_cast<int64_t>(t.elem)) return false;
  if (p.shape.has_value() != t.shape.has_value() || p.inner.empty() != !t.inner) return false;
  if (t.inner) return same_type(p.inner.front(), *t.inner);
  return !t.shape || std::equal(p.shape->begin(), p.shape->end(), t.shape->begin(), t.shape->end(), same_dim);
}

bool same_info(const ValueInfoProto& p, const Value& v, const Type& type) {
  const bool same_metadata =
      v.metadata ? std::equal(p.metadata.begin(), p.metadata.end(), v.metadata->begin(), v.metadata->end(),
                              [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; })
                 : p.metadata.empty();
  return p.doc == v.doc && same_metadata && (p.type.kind == TypeProto::Kind::opaque || same_type(p.type, type));
}

}  // namespace

int64_t GraphWriter::version_of(std::string_view domain) const {
  const auto it = target_->find(std::string(domain));
  return it == target_->end() ? 0 : it->second;
}

ChunkedMessage GraphWriter::main(const Opsets& target, int64_t ir_version) {
  target_ = &target;
  return graph(g_.main(), ir_version < 4 || options_.initializers_as_inputs);
}

bool GraphWriter::is_sparse_initializer(NodeId n) const {
  const Node& node = g_[n];
  if (node.origin != UINT32_MAX || !node.name.empty() || function_body_) return false;
  const auto* c = node.as<op::Constant>();
  return c && c->sparse_value && version_of("") >= 11;
}

ChunkedMessage GraphWriter::graph(RegionId r, bool initializers_are_inputs) {
  const Region& region = g_[r];
  ChunkedMessage out;
  nodes(out, 1, r);
  // Graphs need a name; one that was read without stays as it was.
  if (!region.name.empty()) out.text(2, region.name);
  else if (r == g_.main() || region.origin.empty()) out.text(2, r == g_.main() ? "main" : "body");
  initializers(out, r);
  if (!region.doc.empty()) out.text(10, region.doc);
  interface(out, r, initializers_are_inputs);
  value_infos(out, r, 13);
  annotations(out, r);
  for (const NodeId n : g_.nodes(r))
    if (is_sparse_initializer(n))
      out.message(15, sparse_tensor_message(names_.of(g_[n].outputs[0]), *g_[n].as<op::Constant>()->sparse_value));
  write_pairs(out.small(), 16, region.metadata);
  return out;
}

bool GraphWriter::wanted(ValueId v) const {
  const Value& value = g_[v];
  if (value.synthetic) return referenced_[v.index];
  return referenced_[v.index] || value.uses.empty();  // unused as it came; what only became unused here goes
}

void GraphWriter::initializers(ChunkedMessage& out, RegionId r) {
  for (const ValueId v : g_[r].initializers)
    if (wanted(v)) out.message(5, weights_.tensor(names_.of(v), g_[v].weight));
  for (const ValueId v : g_[r].inputs)
    if (g_[v].weight) out.message(5, weights_.tensor(names_.of(v), g_[v].weight));
}

const Type& GraphWriter::declared_type(ValueId v) const {
  const Type& is = g_[v].fact.type;
  if (options_.value_info == WriteOptions::ValueInfo::all || v.index >= declared_.value_capacity()) return is;
  const Type& was = declared_[v].fact.type;
  if (was.is_unknown())
    return g_[g_[v].home].origin.empty() ? is : was;  // bodies that an upgrade made declare nothing yet
  return was.elem == is.elem ? was : is;              // else it is computed in a wider type now
}

void GraphWriter::info(ChunkedMessage& out, uint32_t field, ValueId v) {
  write_value_info(out.small(), field, names_.of(v), g_[v], declared_type(v), options_.fresh_dims);
}

void GraphWriter::interface(ChunkedMessage& out, RegionId r, bool initializers_are_inputs) {
  std::unordered_map<std::string_view, ValueInfoProto> known;
  pb::Reader as_read(g_[r].origin.text());
  while (auto f = as_read.next()) {
    if (f.number != 11 && f.number != 12) continue;
    auto info = read_value_info(f.message());
    known.emplace(info.name, std::move(info));
  }
  const auto write = [&](uint32_t field, ValueId v) {
    const auto it = known.find(names_.of(v));
    if (it != known.end() && same_info(it->second, g_[v], declared_type(v))) out.small().bytes(field, it->second.whole);
    else info(out, field, v);
  };
  for (const ValueId v : g_[r].inputs) write(11, v);
  if (initializers_are_inputs)
    for (const ValueId v : g_[r].initializers)
      if (wanted(v)) info(out, 11, v);
  for (const ValueId v : g_[r].outputs) write(12, v);
}

void GraphWriter::value_infos(ChunkedMessage& out, RegionId r, uint32_t field) {
  if (options_.value_info == WriteOptions::ValueInfo::none) return;
  const auto first_time = [&](ValueId v) {
    const bool before = described_[v.index];
    described_[v.index] = true;
    return !before;
  };
  for (const ValueId v : g_[r].outputs)
    if (g_[v].home == r) described_[v.index] = true;
  if (function_body_ != r)
    for (const ValueId v : g_[r].inputs) described_[v.index] = true;
  pb::Reader in(g_[r].origin.text());
  while (auto f = in.next()) {
    if (f.number != (function_body_ == r ? 12u : 13u)) continue;
    const ValueInfoProto p = read_value_info(f.message());
    const ValueId v = names_.visible(p.name, r);
    if (!v || g_[v].home != r || names_.of(v) != p.name || !first_time(v)) continue;
    if (g_[v].kind == Value::Kind::initializer && !wanted(v)) continue;
    if (same_info(p, g_[v], declared_type(v)) || declared_type(v).is_unknown()) out.small().bytes(field, p.whole);
    else info(out, field, v);
  }
  if (options_.value_info != WriteOptions::ValueInfo::all) return;
  for (const NodeId n : g_.nodes(r))
    for (const ValueId v : g_[n].outputs) {
      const Type& t = g_[v].fact.type;
      const bool tells = !t.is_unknown() && (!t.is_tensor() || t.elem != DType::undefined);
      if (tells && computed_[v.index] && first_time(v)) info(out, field, v);
    }
}

// Quantisation parameters by tensor name: kept for the values that are still there.
void GraphWriter::annotations(ChunkedMessage& out, RegionId r) {
  if (g_[r].origin.empty()) return;
  pb::Reader origin(g_[r].origin.text());
  while (auto f = origin.next()) {
    if (f.number != 14) continue;
    auto in = f.message();
    while (auto name = in.next())
      if (name.number == 1 && names_.visible(name.text(), r)) out.small().raw(f.raw());
  }
}

ChunkedMessage GraphWriter::function(const LocalFunction& f, const Opsets& target) {
  target_ = &target;
  function_body_ = f.body;
  function_constants_ = g_[f.body].initializers;
  ChunkedMessage body;
  nodes(body, 7, f.body);
  ChunkedMessage out;
  out.text(1, f.name);
  for (const ValueId v : g_[f.body].inputs) out.text(4, names_.of(v));
  for (const ValueId v : g_[f.body].outputs) out.text(5, names_.of(v));
  for (const auto& a : f.attributes) out.text(6, a);
  for (const ValueId v : function_constants_) {  // functions have no initializers
    if (!referenced_[v.index]) continue;
    ChunkedMessage constant, attribute;
    constant.text(2, names_.of(v));
    constant.text(4, "Constant");
    attribute.text(1, "value");
    attribute.message(5, tensor_message("", g_[v].weight));
    attribute.small().int64(20, static_cast<int64_t>(AttrKind::tensor));
    constant.message(5, std::move(attribute));
    out.message(7, std::move(constant));
  }
  out.append(std::move(body));
  if (!f.doc.empty()) out.text(8, f.doc);
  for (const auto& [domain, version] : target) {
    const auto import = out.small().begin(9);
    out.text(1, domain);
    out.small().int64(2, version);
    out.small().end(import);
  }
  out.text(10, f.domain);
  for (const NamedAttr& a : f.attribute_defaults) out.message(11, attribute_message(a));
  value_infos(out, f.body, 12);
  if (!f.overload.empty()) out.text(13, f.overload);
  write_pairs(out.small(), 14, f.metadata);
  function_body_ = {};
  return out;
}

}  // namespace cameo::onnx
