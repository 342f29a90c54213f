#include <algorithm>
#include <array>

#include "ops/eval.h"
#include "ir/clone.h"
#include "ops/custom.h"
#include "ops/gate.h"
#include "ops/inline.h"
#include "ops/infer.h"
#include "ops/quantises.h"
#include "ops/soundness.h"
#include "support/budget.h"

namespace cameo::ops {

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
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    Fact& out = g.fact(n.outputs[i]);
    out.type = {};
    out.contents.reset();
    const Formal* f = schema.output(i);
    if (!f || (f->option == Formal::variadic && !f->homogeneous)) continue;
    if (f->type_var >= 0 && bound[static_cast<size_t>(f->type_var)]) {
      const Type& type = *bound[static_cast<size_t>(f->type_var)];
      out.type.kind = type.kind;
      out.type.elem = type.elem;
      out.type.inner = type.inner;
      continue;
    }
    const TypeSet set = schema.types_of(*f);
    if (!only_tensors(set)) continue;
    out.type.kind = Type::Kind::tensor;
    out.type.elem = only_dtype(set);
  }
}

// Whether the operand may be a tensor, a sequence, ... at all; which element type it has is for `check` to judge.
bool admits_kind(const TypeSet& set, const Type& type) {
  if (admits(set, type)) return true;
  if (!type.is_tensor()) return false;
  for (const DTypeInfo& t : all_dtypes())
    if (t.dtype != DType::undefined && admits(set, Type::tensor(t.dtype))) return true;
  return false;
}

// Rules rely on the operands that the schema demands being there, and being of a kind that it takes.
void check_operands(const Graph& g, NodeId id) {
  const Node& n = g[id];
  const SchemaVersion& schema = def(*n.op).newest();
  const auto fail = [&](std::string what) {
    throw error("infer.operands", cat(describe(g, id), ": ", what)).at(place(g, id));
  };
  for (size_t i = 0; i < n.regions.size() && !n.extra; ++i)
    if (!n.regions[i] && def(*n.op).needs_body(i)) fail("a body is missing");
  if (n.inputs.size() < schema.min_in && !has_operands(n))
    fail(cat("it has ", n.inputs.size(), " inputs and needs ", schema.min_in));
  if (n.outputs.size() < schema.min_out) fail(cat("it has ", n.outputs.size(), " outputs and needs ", schema.min_out));
  if (n.outputs.size() > schema.max_out)
    fail(cat("it has ", n.outputs.size(), " outputs and the most are ", schema.max_out));
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const Formal* f = schema.input(i);
    if (!f) fail(cat("it has ", n.inputs.size(), " inputs, too many"));
    if (!n.inputs[i] && f->option != Formal::optional) fail(cat("input ", i, " is missing"));
    if (n.inputs[i] && !admits_kind(schema.types_of(*f), g[n.inputs[i]].fact.type))
      fail(cat("input ", i, " cannot be ", g[n.inputs[i]].fact.type.text()));
  }
}

// Kernels read the elements as what the schema says they are. Empty where nothing is wrong with them.
std::string element_problem(const Graph& g, NodeId id) {
  const Node& n = g[id];
  const SchemaVersion& schema = def(*n.op).newest();
  std::array<DType, 16> bound{};
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (!n.inputs[i]) continue;
    const Formal& f = *schema.input(i);
    const Type& t = g[n.inputs[i]].fact.type;
    if (!admits(schema.types_of(f), t)) return cat("input ", i, " cannot be ", t.text());
    if (f.type_var < 0 || !t.is_tensor() || (f.option == Formal::variadic && !f.homogeneous)) continue;
    DType& first = bound[static_cast<size_t>(f.type_var)];
    if (first == DType::undefined) first = t.elem;
    if (t.elem != DType::undefined && t.elem != first)
      return cat("input ", i, " cannot be ", t.text(), ", since an input before it is ", name(first));
  }
  return "";
}

void check_elements(const Graph& g, NodeId id) {
  if (const std::string problem = element_problem(g, id); !problem.empty())
    throw error("infer.elements", cat(describe(g, id), ": ", problem)).at(place(g, id));
}

// Evaluates a node whose inputs are all known when the result is small.
void fold_contents(Graph& g, NodeId id, Infer& c, const InferOptions& options) {
  const Node& n = g[id];
  const OpRules& rules = def(*n.op).rules;
  if (!rules.eval || !rules.deterministic || quantises(n)) return;
  if (!n.regions.empty() || n.extra || n.inputs.empty()) return;
  for (const ValueId v : n.outputs) {
    const Fact& f = g[v].fact;
    if (!f.has_rank()) return;
    int64_t count = 1;
    for (const Dim d : f.shape()) {
      if (!d.is_literal()) return;
      if (d.literal() != 0 && count > options.max_fold_elements / d.literal()) return;
      count *= d.literal();
    }
  }
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (n.inputs[i] && !c.constant(i)) return;
  if (!options.real && !element_problem(g, id).empty()) return;  // for `check` to say
  std::vector<Datum> data(n.inputs.size());
  std::vector<const Datum*> pointers(n.inputs.size(), nullptr);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (!n.inputs[i]) continue;
    data[i] = Datum(*c.constant(i));
    pointers[i] = &data[i];
  }
  std::vector<Type> types;
  for (const ValueId v : n.outputs) types.push_back(g[v].fact.type);
  auto nothing = results_of_nothing(types);
  const auto results = nothing ? *std::move(nothing) : evaluate_checked(n, pointers);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind != Datum::Kind::tensor) continue;
    const Tensor& t = results[i].tensor;
    Fact& f = g.fact(n.outputs[i]);
    if ((f.dtype() != DType::undefined && t.dtype() != f.dtype()) || t.shape() != known_shape(f.shape()))
      c.fail("eval.result", cat("output ", i, " is not what its shape rule says: ", f.type.text()));
    f.contents = std::make_shared<const Contents>(t);
  }
}

class Driver {
 public:
  // `functions` have their bodies in `home`, which is `g` or the graph that `g` is a part of.
  Driver(Graph& g, const InferOptions& options, const FunctionTable* functions = nullptr, const Graph* home = nullptr)
      : g_(g), options_(options), functions_(functions), home_(home) {}

  void region(RegionId r) {
    if (++depth_ > 200) throw error("infer.depth", "bodies are nested more than 200 deep");
    for (const NodeId n : g_.nodes(r)) node(n);
    --depth_;
  }

  void node(NodeId id) {
    checkpoint();
    // Bodies in bodies are inferred several times each, until their types hold.
    if (++result.nodes > 1'000'000 + 200 * size_t{g_.node_capacity()})
      throw over_budget("steps", cat("inference visits more than ", result.nodes, " nodes of nested bodies"), "");
    const Node& n = g_[id];
    std::vector<Type> declared;  // empty when nothing is
    if (std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return !g_[v].fact.type.is_unknown(); }))
      for (const ValueId v : n.outputs) declared.push_back(g_[v].fact.type);
    if (const CustomOp* op = custom(*n.op)) return custom_node(id, *op, declared);
    if (n.op->is_opaque()) {
      if (const LocalFunction* f = functions_ ? functions_->called_by(n) : nullptr) call(id, *f, declared);
      return;
    }
    Infer c(g_, id);
    c.infer_region = [this](RegionId r) { region(r); };
    c.findings = &result.findings;
    c.real = options_.real;
    types_from_schema(g_, id);
    try {
      check_operands(g_, id);
      if (options_.real) check_elements(g_, id);
      const OpRules& rules = def(*n.op).rules;
      if (rules.infer && rule_runs(g_, id)) {
        rules.infer(n.attrs.get(), c);
        if (options_.fold) fold_contents(g_, id, c, options_);
      }
    } catch (const Error& e) {
      if (throws() || is_budget(e)) throw;
      result.findings.push_back(e.diag());
    }
    if (options_.keep_declared) merge_declared(id, declared);
  }

  InferResult result;

 private:
  bool throws() const { return options_.strict && (depth_ == 0 || !options_.real); }

  // A call is inferred by instantiating the function's body in a graph of its own: types and sizes differ per call, and
  // rules further up hold references into this one.
  void call(NodeId id, const LocalFunction& f, const std::vector<Type>& declared) {
    const Node& n = g_[id];
    const size_t formals = (*home_)[f.body].inputs.size();
    if (calls_.size() > 50 || *instantiated_ > 1'000'000 || n.inputs.size() > formals) return;
    if (std::find(calls_.begin(), calls_.end(), &f) != calls_.end()) return;  // it calls itself: never runs
    Graph scratch = g_.empty_like();
    std::vector<ValueId> inputs(formals);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (!n.inputs[i]) continue;
      inputs[i] = scratch.add_input(scratch.main(), g_[n.inputs[i]].name, g_[n.inputs[i]].fact.type);
      scratch.fact(inputs[i]).contents = Infer(g_, id).in(i).contents;
    }
    try {
      const NamedAttrs bindings = call_bindings(n, f);
      const auto outputs = clone_body(*home_, f.body, scratch, inputs, scratch.main(), {}, {.bindings = &bindings});
      *instantiated_ += scratch.node_capacity();
      Driver inner(scratch, options_, functions_, home_);
      inner.calls_ = calls_;
      inner.calls_.push_back(&f);
      inner.instantiated_ = instantiated_;
      inner.region(scratch.main());
      for (size_t i = 0; i < n.outputs.size() && i < outputs.size(); ++i)
        if (outputs[i]) g_.fact(n.outputs[i]) = scratch[outputs[i]].fact;
      for (Diag& d : inner.result.findings) {
        d.notes.push_back({cat("in a call of the function ", f.name), place(g_, id)});
        result.findings.push_back(std::move(d));
      }
    } catch (const Error& e) {
      if (throws() || is_budget(e)) throw;
      result.findings.push_back(e.diag());
    }
    if (options_.keep_declared) merge_declared(id, declared);
  }

  // A kernel of the program around us: by its own rule, or by that of the operator whose place it takes.
  void custom_node(NodeId id, const CustomOp& op, const std::vector<Type>& declared) {
    for (const ValueId v : g_[id].outputs) g_.fact(v) = {};
    try {
      if (op.kernel.types) custom_types(id, op);
      else if (op.replaces) replaced_types(id, op);
    } catch (const Error& e) {
      if (throws() || is_budget(e)) throw;
      result.findings.push_back(e.diag());
    }
    if (options_.keep_declared && !declared.empty()) merge_declared(id, declared);
  }

  void custom_types(NodeId id, const CustomOp& op) {
    const auto& inputs = g_[id].inputs;
    if (!std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) { return !v || is_settled(g_[v].fact.type); }))
      return;
    std::vector<Type> types = op.kernel.types(g_, id);
    const auto& outputs = g_[id].outputs;
    if (types.size() < outputs.size())
      throw error("kernel.types", cat("the shape rule of the kernel of ", op.name, " gives ", types.size(),
                                      " types, and the node has ", outputs.size(), " outputs"))
          .at(place(g_, id));
    for (size_t i = 0; i < outputs.size(); ++i) g_.fact(outputs[i]).type = std::move(types[i]);
  }

  void replaced_types(NodeId id, const CustomOp& op) {
    struct Back {
      Graph& g;
      NodeId id;
      const CustomOp& op;
      ~Back() { g.set_op(id, op, g[id].attrs); }
    } back{g_, id, op};
    g_.set_op(id, *op.replaces, g_[id].attrs);
    InferOptions unfolded = options_;
    unfolded.fold = false;
    unfolded.strict = true;
    Driver own(g_, unfolded);
    own.node(id);
    for (const ValueId v : g_[id].outputs) g_.fact(v).contents.reset();  // the kernel decides
  }

  static bool is_settled(const Type& t) {
    return !t.is_unknown() && (!t.is_tensor() || (t.has_rank() && t.elem != DType::undefined));
  }

  void merge_declared(NodeId id, const std::vector<Type>& declared) {
    const Node& n = g_[id];
    for (size_t i = 0; i < declared.size(); ++i) {
      Fact& f = g_.fact(n.outputs[i]);
      if (auto merged = merge(declared[i], f.type)) f.type = std::move(*merged);
      else report_contradiction(id, i, declared[i]);
    }
  }

  void report_contradiction(NodeId id, size_t i, const Type& declared) {
    const ValueId v = g_[id].outputs[i];
    Error e = error("infer.declared", cat(describe(g_, id), ": '", g_[v].name, "' is declared as ", declared.text(),
                                          " but computes ", g_[v].fact.type.text()));
    e.diag().where = place(g_, id);
    if (options_.strict) throw e;
    const Type& t = g_[v].fact.type;
    const bool only_sizes = t.is_tensor() && t.has_rank() && declared.is_tensor() && declared.elem == t.elem;
    const bool known =
        only_sizes && std::all_of(t.shape->begin(), t.shape->end(), [](Dim d) { return d.is_literal(); });
    // Engines take the shapes of inner values for hints, and know no others before a run.
    if (only_sizes && (!known || !is_model_output(v))) e.diag().severity = Severity::warning;
    result.findings.push_back(e.diag());
  }

  bool is_model_output(ValueId v) const {
    return std::any_of(g_[v].uses.begin(), g_[v].uses.end(),
                       [&](const Use& u) { return !u.node && u.region == g_.main(); });
  }

  Graph& g_;
  const InferOptions& options_;
  const FunctionTable* functions_;  // null: none
  const Graph* home_;
  int depth_ = 0;
  std::vector<const LocalFunction*> calls_;  // that this one is inside of
  size_t own_instantiated_ = 0;
  size_t* instantiated_ = &own_instantiated_;  // nodes in all calls: functions that call each other may explode
};

}  // namespace

void infer_node(Graph& graph, NodeId node, const InferOptions& options) {
  InferOptions strict = options;
  strict.strict = true;
  strict.keep_declared = false;
  Driver(graph, strict).node(node);
}

InferResult infer(Graph& graph, std::span<const LocalFunction> functions, const InferOptions& options) {
  check_expansion(graph, functions);
  const FunctionTable table(functions);
  Driver driver(graph, options, &table, &graph);
  driver.region(graph.main());
  for (uint32_t i = 0; i < graph.value_capacity(); ++i) {
    const Value& v = graph[ValueId(i)];
    if (!functions.empty() && !graph.is_inside(v.home, graph.main())) continue;
    if (v.kind != Value::Kind::dead &&
        (v.fact.type.is_unknown() || (v.fact.type.is_tensor() && !v.fact.type.has_rank())))
      ++driver.result.unknown_values;
  }
  return std::move(driver.result);
}

}  // namespace cameo::ops
