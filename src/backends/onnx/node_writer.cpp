// Nodes as messages.
#include <algorithm>
#include <deque>

#include "backends/onnx/encode.h"
#include "backends/onnx/graph_writer.h"
#include "frontends/onnx/proto.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "support/budget.h"

namespace cameo::onnx {

namespace {
// Fields that stand one after the other in the file are written as the run of bytes that they are.
class FieldRun {
 public:
  FieldRun(ChunkedMessage& out, uint32_t field, const Bytes& file) : out_(out), field_(field), file_(file) {}
  void add(const Bytes& body) {
    const size_t lead = static_cast<size_t>(pb::field_size(field_, body.size())) - body.size();
    const size_t at = reinterpret_cast<uintptr_t>(body.data()) - reinterpret_cast<uintptr_t>(file_.data());
    const bool inside = at >= lead && at <= file_.size() && file_.size() - at >= body.size();
    if (!inside || !pb::is_header(file_.text().substr(at - lead, lead), field_, body.size())) {
      flush();
      return out_.bytes(field_, body);
    }
    if (at - lead != end_) flush();
    if (begin_ == end_) begin_ = at - lead;
    end_ = at + body.size();
  }
  void flush() {
    if (begin_ != end_) out_.raw(file_.slice(begin_, end_ - begin_));
    begin_ = end_ = 0;
  }

 private:
  ChunkedMessage& out_;
  uint32_t field_;
  const Bytes& file_;
  size_t begin_ = 0, end_ = 0;
};
}  // namespace

void GraphWriter::nodes(ChunkedMessage& out, uint32_t field, RegionId r) {
  originals_.enter(r, *target_);
  std::vector<NodeId> written;
  std::deque<ChunkedMessage> encoded;  // of the nodes that are not copied, in order
  for (const NodeId n : g_.nodes(r)) {
    support::checkpoint();
    if (is_sparse_initializer(n)) continue;
    const bool copied = originals_.copies(n);
    if (copied) mark_copied(n);
    else encoded.push_back(node(n));
    if (!copied || originals_.is_last(n)) written.push_back(n);
  }
  for (const ValueId v : g_[r].outputs) referenced_[v.index] = true;
  FieldRun run(out, field, g_[r].origin);
  for (const NodeId n : written) {
    if (originals_.copies(n)) {
      run.add(originals_.bytes(n));
      continue;
    }
    run.flush();
    if (!is_spent_constant(n)) out.message(field, std::move(encoded.front()));
    encoded.pop_front();
  }
  run.flush();
}

// A Constant whose users have all taken its value as an attribute.
bool GraphWriter::is_spent_constant(NodeId n) const {
  if (!g_[n].is("Constant")) return false;
  const ValueId v = g_[n].outputs[0];
  return g_.used(v) && !referenced_[v.index];
}

// Values the bytes may name: the node's operands, those its bodies capture, and what the upgrade left out.
void GraphWriter::mark_copied(NodeId n) {
  for (const ValueId v : g_[n].inputs)
    if (v && !g_[v].synthetic) referenced_[v.index] = true;
  for (const RegionId r : g_[n].regions) {
    if (!r) continue;
    for (const NodeId inner : g_.nodes(r)) mark_copied(inner);
    for (const ValueId v : g_[r].outputs) referenced_[v.index] = true;
  }
  if (g_[n].origin == UINT32_MAX || g_.origins()[g_[n].origin].verbatim) {
    for (const ValueId v : g_[n].outputs) computed_[v.index] = true;
    return;
  }
  pb::Reader in(g_.origins()[g_[n].origin].bytes.text());
  while (auto f = in.next())
    if (f.number == 1 || f.number == 2)
      if (const ValueId v = names_.visible(f.text(), g_[n].home))
        (f.number == 1 ? referenced_ : computed_)[v.index] = true;
}

void GraphWriter::refuse(NodeId n, const std::string& why, int64_t version) {
  int64_t works = 0;
  for (int64_t v = version + 1; v <= newest_opset && !works && g_[n].op->domain.empty(); ++v)
    if (!encode_node(g_, n, v).refusal) works = v;
  Diag d;
  d.code = "convert.refused";
  d.what = cat(describe(g_, n), " cannot be expressed in opset ", version);
  d.because = why;
  if (works) d.hint = cat("opset ", works, " is the lowest that can");
  d.where = place(g_, n);
  refusals.push_back(std::move(d));
}

ChunkedMessage GraphWriter::node(NodeId id) {
  const Node& n = g_[id];
  const int64_t version = version_of(n.op->domain);
  Encoding e = encode_node(g_, id, version);
  if (e.refusal) refuse(id, *e.refusal, version);
  ChunkedMessage out;
  for (const ValueId v : e.node.inputs) {
    out.text(1, v ? names_.of(v) : "");
    if (!v) continue;
    referenced_[v.index] = true;
    const bool foreign =
        function_body_ && g_[v].kind == Value::Kind::initializer && !g_.is_inside(g_[v].home, function_body_);
    if (foreign && std::find(function_constants_.begin(), function_constants_.end(), v) == function_constants_.end())
      function_constants_.push_back(v);
  }
  const SchemaVersion* schema = n.op->is_opaque() ? nullptr : &def(*n.op).newest();
  for (size_t i = 0; i < e.node.outputs && i < n.outputs.size(); ++i) {
    const Formal* f = schema ? schema->output(i) : nullptr;
    const bool silent =
        !g_.used(n.outputs[i]) && g_[n.outputs[i]].name.empty() && (!schema || (f && f->option == Formal::optional));
    if (!silent) computed_[n.outputs[i].index] = true;
    out.text(2, silent ? "" : names_.of(n.outputs[i]));
  }
  if (!n.name.empty()) out.text(3, n.name);
  out.text(4, e.node.op_type);
  for (const NamedAttr& a : e.node.attrs) out.message(5, attribute_message(a));
  bodies(out, id);
  if (n.notes && !n.notes->doc.empty()) out.text(6, n.notes->doc);
  if (!n.op->domain.empty()) out.text(7, n.op->domain);
  if (n.notes && !n.notes->overload.empty()) out.text(8, n.notes->overload);
  if (n.notes) write_pairs(out.small(), 9, n.notes->metadata);
  return out;
}

void GraphWriter::bodies(ChunkedMessage& out, NodeId id) {
  const Node& n = g_[id];
  std::vector<std::string_view> names(n.op->graph_attrs.begin(), n.op->graph_attrs.end());
  if (n.op->is_opaque() && n.extra)
    for (const NamedAttr& a : *n.extra)
      if (std::holds_alternative<std::monostate>(a.value)) names.push_back(a.name);
  for (size_t i = 0; i < n.regions.size() && i < names.size();) {
    size_t end = i + 1;  // several of one name are a list
    while (end < names.size() && end < n.regions.size() && names[end] == names[i]) ++end;
    std::vector<ChunkedMessage> graphs;
    for (size_t k = i; k < end; ++k)
      if (n.regions[k]) graphs.push_back(graph(n.regions[k], false));
    const bool list = end - i > 1;
    if (!graphs.empty()) out.message(5, graph_attribute_message(names[i], std::move(graphs), list));
    i = end;
  }
}

}  // namespace cameo::onnx
