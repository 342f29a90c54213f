#include <array>

#include "ops/eval.h"
#include "ops/infer.h"

namespace cameo {

namespace {

// The outputs' types as far as the schema tells: element types bound from the inputs through the type variables.
void types_from_schema(Graph& g, NodeId id) {
  const Node& n = g[id];
  const SchemaVersion& schema = def(*n.op).newest();
  std::array<const Type*, 16> bound{};
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const Formal* f = schema.input(i);
    if (!f || f->type_var < 0 || !n.inputs[i] || (f->option == Formal::variadic && !f->homogeneous)) continue;
    const Type& t = g[n.inputs[i]].fact.type;
    auto& slot = bound[static_cast<size_t>(f->type_var)];
    if (!slot && !t.is_unknown()) slot = &t;
  }
  const auto names = schema_type_names();
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    Fact& out = g.fact(n.outputs[i]);
    out = {};
    const Formal* f = schema.output(i);
    if (!f || (f->option == Formal::variadic && !f->homogeneous)) continue;
    if (f->type_var >= 0 && bound[static_cast<size_t>(f->type_var)]) {
      out.type = *bound[static_cast<size_t>(f->type_var)];
      out.type.shape.reset();
      continue;
    }
    const TypeSet set = schema.types_of(*f);
    int only = -1, tensors = 0, others = 0;
    for (size_t k = 0; k < names.size(); ++k)
      if (set.has(static_cast<int>(k))) only = static_cast<int>(k), ++(names[k].starts_with("tensor(") ? tensors : others);
    if (others) continue;
    out.type.kind = Type::Kind::tensor;
    if (tensors == 1) out.type.elem = *dtype_from_onnx_name(names[static_cast<size_t>(only)].substr(7, names[static_cast<size_t>(only)].size() - 8));
  }
}

bool ranks_known(const Graph& g, const Node& n) {
  for (const ValueId v : n.inputs)
    if (v && (g[v].fact.type.is_unknown() || (g[v].fact.type.is_tensor() && !g[v].fact.type.has_rank()))) return false;
  return true;
}

// Evaluates a node whose inputs are all known when the result is small.
void fold_contents(Graph& g, NodeId id, Infer& c, const InferOptions& options) {
  const Node& n = g[id];
  const OpRules& rules = def(*n.op).rules;
  if (!rules.eval || !rules.deterministic || !n.regions.empty() || n.extra || n.inputs.empty()) return;
  for (const ValueId v : n.outputs) {
    const Fact& f = g[v].fact;
    if (!f.has_rank()) return;
    int64_t count = 1;
    for (const Dim d : f.shape()) {
      if (!d.is_literal()) return;
      count *= d.literal();
      if (count > options.max_fold_elements) return;
    }
  }
  std::vector<Datum> data(n.inputs.size());
  std::vector<const Datum*> pointers(n.inputs.size(), nullptr);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (!n.inputs[i]) continue;
    const Tensor* t = c.constant(i);
    if (!t) return;
    data[i] = Datum(*t);
    pointers[i] = &data[i];
  }
  const auto results = evaluate_node(n, pointers);
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].kind == Datum::Kind::tensor) g.fact(n.outputs[i]).contents = std::make_shared<const Contents>(results[i].tensor);
}

class Driver {
 public:
  Driver(Graph& g, const InferOptions& options) : g_(g), options_(options) {}

  void region(RegionId r) {
    if (++depth_ > 200) throw error("infer.depth", "bodies are nested more than 200 deep");
    for (const NodeId n : g_.nodes(r)) node(n);
    --depth_;
  }

  void node(NodeId id) {
    ++result.nodes;
    const Node& n = g_[id];
    std::vector<Type> declared;
    for (const ValueId v : n.outputs) declared.push_back(g_[v].fact.type);
    if (n.op->is_opaque()) return;
    Infer c(g_, id);
    c.infer_region = [this](RegionId r) { region(r); };
    c.findings = &result.findings;
    types_from_schema(g_, id);
    try {
      const OpRules& rules = def(*n.op).rules;
      if (rules.infer && (rules.partial || ranks_known(g_, n))) {
        rules.infer(n.attrs.get(), c);
        if (options_.fold) fold_contents(g_, id, c, options_);
      }
    } catch (const Error& e) {
      if (options_.strict || e.exit_code() == 4) throw;
      result.findings.push_back(e.diag());
    }
    if (options_.keep_declared) merge_declared(id, declared);
  }

  InferResult result;

 private:
  void merge_declared(NodeId id, const std::vector<Type>& declared) {
    const Node& n = g_[id];
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      Fact& f = g_.fact(n.outputs[i]);
      if (auto merged = merge(declared[i], f.type)) f.type = std::move(*merged);
      else report_contradiction(id, i, declared[i]);
    }
  }

  void report_contradiction(NodeId id, size_t i, const Type& declared) {
    const ValueId v = g_[id].outputs[i];
    Error e = error("infer.declared", cat(describe(g_, id), ": '", g_[v].name, "' is declared as ", declared.text(), " but computes ", g_[v].fact.type.text()));
    e.diag().where = place(g_, id);
    if (options_.strict) throw e;
    result.findings.push_back(e.diag());
  }

  Graph& g_;
  const InferOptions& options_;
  int depth_ = 0;
};

}  // namespace

void infer_node(Graph& graph, NodeId node, const InferOptions& options) {
  InferOptions strict = options;
  strict.strict = true;
  strict.keep_declared = false;
  Driver(graph, strict).node(node);
}

InferResult infer(Graph& graph, std::span<const LocalFunction>, const InferOptions& options) {
  Driver driver(graph, options);
  driver.region(graph.main());
  for (uint32_t i = 0; i < graph.value_capacity(); ++i) {
    const Value& v = graph[ValueId(i)];
    if (v.kind != Value::Kind::dead && (v.fact.type.is_unknown() || (v.fact.type.is_tensor() && !v.fact.type.has_rank()))) ++driver.result.unknown_values;
  }
  return std::move(driver.result);
}

}  // namespace cameo
