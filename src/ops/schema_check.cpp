#include "ops/schema_check.h"

#include <unordered_map>

#include "ir/describe.h"
#include "ir/verify.h"
#include "ops/op_def.h"
#include "ops/soundness.h"
#include "support/error.h"

namespace cameo::ops {

namespace {

class SchemaCheck {
 public:
  explicit SchemaCheck(const Graph& g) : g_(g) {}

  void node(NodeId id) {
    const Node& n = g_[id];
    const SchemaVersion& s = def(*n.op).newest();
    if ((n.inputs.size() < s.min_in && !has_operands(n)) || n.inputs.size() > s.max_in)
      find("graph.arity", id, cat("has ", n.inputs.size(), " operands"));
    if (n.outputs.size() < s.min_out || n.outputs.size() > s.max_out)
      find("graph.arity", id, cat("has ", n.outputs.size(), " outputs"));
    std::unordered_map<int, DType> bound;
    const auto check = [&](const Formal* f, ValueId v, std::string_view what, size_t k) {
      if (!f || !v) return;
      const Type& t = g_[v].fact.type;
      if (t.is_unknown() || (t.is_tensor() && t.elem == DType::undefined)) return;
      if (!admits(s.types_of(*f), t)) find("graph.type", id, cat("has ", what, " ", k, " of type ", t.text()));
      if (f->type_var < 0 || !t.is_tensor() || (f->option == Formal::variadic && !f->homogeneous)) return;
      if (const DType before = bound.emplace(f->type_var, t.elem).first->second; before != t.elem)
        find("graph.type", id,
             cat("has ", what, " ", k, " of ", name(t.elem), ", and the operands before are ", name(before)));
    };
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      const Formal* f = s.input(k);
      if (f && f->option == Formal::single && !n.inputs[k]) find("graph.arity", id, cat("lacks operand ", k));
      check(f, n.inputs[k], "operand", k);
    }
    for (size_t k = 0; k < n.outputs.size(); ++k) check(s.output(k), n.outputs[k], "output", k);
  }

  std::vector<Diag> findings;

 private:
  void find(std::string_view code, NodeId n, std::string_view what) {
    findings.push_back(error(code, cat(describe(g_, n), " ", what)).at(place(g_, n)).diag());
  }

  const Graph& g_;
};

}  // namespace

std::vector<Diag> node_findings(const Graph& g, NodeId n) {
  SchemaCheck c(g);
  c.node(n);
  return std::move(c.findings);
}

std::vector<Diag> schema_findings(const Model& m) {
  if (auto broken = structure_findings(m); !broken.empty()) return broken;
  SchemaCheck c(m.graph);
  for (uint32_t i = 0; i < m.graph.node_capacity(); ++i)
    if (const NodeId n(i); !m.graph[n].dead && !m.graph[n].op->is_opaque()) c.node(n);
  return std::move(c.findings);
}

}  // namespace cameo::ops
