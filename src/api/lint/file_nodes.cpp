#include "api/lint/file_nodes.h"

#include "backends/onnx/encode.h"
#include "backends/onnx/graph_writer.h"
#include "backends/onnx/legalise.h"
#include "frontends/onnx/attributes.h"
#include "frontends/onnx/proto.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "ops/op_def.h"
#include "support/budget.h"

namespace cameo::linting {

namespace {

// Contents of tensors and bodies are left out: rules look at operands for those.
AttrValue plain_value(const onnx::AttributeProto& a) {
  switch (onnx::attribute_kind(a)) {
    case AttrKind::floating: return a.f.value_or(0.0F);
    case AttrKind::integer: return a.i.value_or(0);
    case AttrKind::string: return std::string(a.s.value_or(""));
    case AttrKind::floats: return a.floats;
    case AttrKind::ints: return a.ints;
    case AttrKind::strings: return std::vector<std::string>(a.strings.begin(), a.strings.end());
    default: return {};
  }
}

class Walk {
 public:
  explicit Walk(FileModel& out) : out_(out), g_(out.model.graph), names_(g_), originals_(g_, names_) {
    out_.places.resize(g_.node_capacity());
  }

  void region(RegionId r, int depth) {
    originals_.enter(r, out_.opsets);
    for (const NodeId n : g_.nodes(r)) {
      support::checkpoint();
      out_.places[n.index] = next_++;
      if (originals_.copies(n)) {
        if (originals_.is_last(n)) add(copied(n), n, depth);
      } else add(encoded(n), n, depth);
      for (const RegionId body : g_[n].regions)
        if (body) region(body, depth + 1);
    }
  }

 private:
  void add(FileNode node, NodeId n, int depth) {
    node.id = n;
    node.depth = depth;
    if (node.domain == "ai.onnx") node.domain.clear();
    const auto opset = out_.opsets.find(node.domain);
    node.version = opset == out_.opsets.end() ? 0 : opset->second;
    if (const OpDef* op = find_op(node.domain, node.op)) node.schema = op->at(node.version);
    out_.nodes.push_back(std::move(node));
  }

  FileNode copied(NodeId n) const {
    const onnx::NodeProto proto{pb::Reader(originals_.bytes(n).text())};
    FileNode out;
    out.domain = proto.domain;
    out.op = proto.op_type;
    for (const auto& a : proto.attributes) out.attrs.push_back({std::string(a.name), plain_value(a)});
    for (const auto name : proto.inputs) out.inputs.push_back(found(name, n));
    for (const auto name : proto.outputs) out.outputs.push_back(found(name, n));
    return out;
  }
  ValueId found(std::string_view name, NodeId n) const {
    return name.empty() ? ValueId() : names_.visible(name, g_[n].home);
  }

  FileNode encoded(NodeId n) const {
    FileNode out;
    out.domain = g_[n].op->domain;
    const auto opset = out_.opsets.find(out.domain);
    auto e = onnx::encode_node(g_, n, opset == out_.opsets.end() ? 0 : opset->second);
    out.op = std::move(e.node.op_type);
    out.attrs = std::move(e.node.attrs);
    out.inputs = std::move(e.node.inputs);
    for (size_t i = 0; i < e.node.outputs && i < g_[n].outputs.size(); ++i) out.outputs.push_back(g_[n].outputs[i]);
    return out;
  }

  FileModel& out_;
  const Graph& g_;
  size_t next_ = 0;
  onnx::Names names_;
  onnx::Originals originals_;
};

}  // namespace

AttrValue FileNode::attribute(std::string_view name) const {
  if (const AttrValue* set = find_attr(attrs, name)) return *set;
  const ops::AttrSpec* spec = schema ? schema->attribute(name) : nullptr;
  return spec && spec->fallback.has ? spec->default_value() : AttrValue();
}

FileModel file_model(ir::Model model, int64_t opset) {
  FileModel out;
  out.model = std::move(model);
  out.functions = out.model.functions.size();
  if (out.functions) inline_functions(out.model);
  if (onnx::needs_legalising(out.model, opset)) {
    auto result = onnx::legalise(out.model, opset);
    if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  }
  out.opsets = out.model.opsets;
  out.opsets[""] = opset;
  for (const Diag& d : infer(out.model.graph, out.model.functions).findings)
    out.contradicted |= d.code == "infer.declared";
  Walk(out).region(out.model.graph.main(), 0);
  for (const FileNode& n : out.nodes) out.operators.insert(n.op);
  return out;
}

}  // namespace cameo::linting
