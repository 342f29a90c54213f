#include "ops/custom.h"

#include <algorithm>

#include "ops/gate.h"
#include "ops/inline.h"

namespace cameo::ops {

namespace {
// Tells these operators from others that Cameo does not know, which have no such function.
std::shared_ptr<void> no_attributes() { return nullptr; }
}  // namespace

const CustomOp* custom(const OpInfo& op) {
  return op.make == no_attributes ? static_cast<const CustomOp*>(&op) : nullptr;
}

CustomOp::CustomOp(std::string in_domain, std::string called, CustomKernel given)
    : own_domain(std::move(in_domain)),
      own_name(std::move(called)),
      kernel(std::move(given)),
      replaces(find_op(own_domain, own_name)) {
  domain = own_domain;
  name = own_name;
  make = no_attributes;
}

void bind_kernels(Model& m, const CustomOps& ops) {
  if (ops.empty()) return;
  const auto find = [&](std::string_view domain, std::string_view name) -> const CustomOp* {
    for (const auto& op : ops)
      if (op->name == name && op->domain == domain) return op.get();
    return nullptr;
  };
  std::erase_if(m.functions, [&](const LocalFunction& f) { return f.overload.empty() && find(f.domain, f.name); });
  if (!m.functions.empty()) inline_functions(m);
  for (uint32_t i = 0; i < m.graph.node_capacity(); ++i) {
    const Node& n = m.graph[NodeId(i)];
    const CustomOp* op = n.dead ? nullptr : find(n.op->domain, n.op->name);
    if (op) m.graph.set_op(NodeId(i), *op, n.attrs);
  }
}

NamedAttrs custom_attributes(const Node& n) {
  NamedAttrs out;
  const CustomOp& op = *custom(*n.op);
  if (op.replaces && n.attrs)
    for (const AttrField& f : op.replaces->fields)
      if (AttrValue v = f.get(n.attrs.get()); !std::holds_alternative<std::monostate>(v))
        out.push_back({std::string(f.name), std::move(v)});
  if (n.extra) out.insert(out.end(), n.extra->begin(), n.extra->end());
  return out;
}

Error no_kernel(const Node& node) {
  const std::string op = cat(node.op->domain, node.op->domain.empty() ? "" : "::", node.op->name);
  return error("eval.no-kernel", cat("there is no kernel for ", op))
      .help("a session takes kernels of your own: docs/library.md for C++ and C, docs/python.md for Python");
}

std::vector<Datum> run_custom(const Graph& g, NodeId n, std::span<const Datum* const> inputs) {
  const Node& node = g[n];
  const CustomOp& op = *custom(*node.op);
  std::vector<Datum> out = op.kernel.run(g, n, inputs);
  const auto wrong = [&](std::string what) {
    return error("kernel.result", cat("the kernel of ", op.name, " gives ", what));
  };
  if (out.size() < node.outputs.size())
    throw wrong(cat(out.size(), " outputs, and the node has ", node.outputs.size()));
  out.resize(node.outputs.size());
  const std::vector<Type> promised = op.kernel.types || op.replaces ? called_types(node, inputs) : std::vector<Type>();
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].kind == Datum::Kind::none && !g[node.outputs[i]].name.empty())
      throw wrong(cat("nothing for output ", i));
    const Type type = real_type(out[i]);
    if (i < promised.size() && !merge(promised[i], type))
      throw wrong(cat("output ", i, " as ", type.text(), ", and its shape rule says ", promised[i].text()));
  }
  return out;
}

}  // namespace cameo::ops
