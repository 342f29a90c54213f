#include "runtime/reference.h"

#include "ops/control/stack.h"
#include "ops/eval.h"
#include "ops/foreign.h"
#include "ops/gate.h"
#include "ops/infer.h"
#include "runtime/assumptions.h"
#include "support/budget.h"

namespace cameo::runtime {

namespace {

class Interpreter {
 public:
  Interpreter(const Graph& g, const ReferenceOptions& options)
      : g_(g),
        options_(options),
        values_(g.value_capacity()),
        remaining_(g.value_capacity(), 0),
        random_(options.seed) {
    for (uint32_t i = 0; i < g.value_capacity(); ++i) remaining_[i] = g[ValueId(i)].uses.size();
  }

  std::vector<Datum> region(RegionId r, std::span<const Datum> inputs) {
    if (!r) throw error("eval.body", "there is no body");
    if (++depth_ > 200) throw error("eval.depth", "bodies are nested more than 200 deep");
    const Region& body = g_[r];
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const ValueId v = body.inputs[i];
      const bool given = i < inputs.size() && (inputs[i].kind != Datum::Kind::none || !g_[v].weight);
      values_[v.index] = given ? inputs[i] : g_[v].weight ? Datum(g_[v].weight->dense()) : Datum();
    }
    for (const ValueId v : body.initializers)
      if (values_[v.index].kind == Datum::Kind::none) values_[v.index] = Datum(g_[v].weight->dense());
    for (const NodeId n : g_.nodes(r)) node(n, r == g_.main());
    std::vector<Datum> out;
    for (const ValueId v : body.outputs) out.push_back(values_[v.index]);
    --depth_;
    return out;
  }

 private:
  void node(NodeId id, bool in_main) {
    checkpoint();
    const Node& n = g_[id];
    std::vector<const Datum*> inputs;
    for (const ValueId v : n.inputs) inputs.push_back(v ? &values_[v.index] : nullptr);
    try {
      if (custom(*n.op)) return keep(id, run_custom(g_, id, inputs), in_main);
      if (n.op->is_opaque() || !def(*n.op).rules.eval) throw no_kernel(n);
      if (auto nothing = results_of_nothing(check_call(g_, id, inputs))) return keep(id, *std::move(nothing), in_main);
      Eval k(inputs, n.outputs.size());
      k.run_region = [&](size_t i, std::vector<Datum> args) {
        return region(i < n.regions.size() ? n.regions[i] : RegionId(), args);
      };
      k.out_type = [&](size_t i) { return stacked_type(g_, id, i); };
      k.has_region = [&](size_t i) { return i < n.regions.size() && n.regions[i].valid(); };
      k.seed = [this] { return random_ = random_ * 6364136223846793005u + 1442695040888963407u; };
      def(*n.op).rules.eval(n.attrs.get(), k);
      keep(id, std::move(k.results()), in_main);
    } catch (Error& e) {
      add_place(e, g_, id);
      throw;
    }
  }

  void keep(NodeId id, std::vector<Datum> results, bool in_main) {
    const Node& n = g_[id];
    for (size_t i = 0; i < n.outputs.size(); ++i) values_[n.outputs[i].index] = std::move(results[i]);
    if (!in_main) return;
    if (options_.observe)
      for (const ValueId v : n.outputs) options_.observe(v, values_[v.index]);
    // In the main graph a value is gone after its last use; bodies may run again.
    for (const ValueId v : n.inputs)
      if (v && g_[v].home == g_.main() && --remaining_[v.index] == 0) values_[v.index] = Datum();
  }

  const Graph& g_;
  const ReferenceOptions& options_;
  std::vector<Datum> values_;
  std::vector<size_t> remaining_;
  uint64_t random_;
  int depth_ = 0;
};

}  // namespace

namespace {

// Nodes with bodies too, which the interpreter does not judge one by one: a loop that would never end is reported now.
void check_main(const Graph& model, std::span<const Datum> inputs) {
  const std::lock_guard lock(inferring());
  Graph g = model;
  forget_before_run(g);
  const auto& params = g[g.main()].inputs;
  for (size_t i = 0; i < params.size(); ++i) {
    const bool given = i < inputs.size() && inputs[i].kind != Datum::Kind::none;
    const auto& fallback = g[params[i]].weight;
    Type& t = g.fact(params[i]).type;
    t = given || !fallback ? given_type(given ? inputs[i] : Datum(), t)
                           : Type::tensor(fallback->dtype, Shape(fallback->shape.begin(), fallback->shape.end()));
  }
  for (const NodeId n : g.nodes(g.main())) check_node(g, n);
}

std::vector<Datum> run_own(const Model& model, std::span<const Datum> inputs, const ReferenceOptions& options) {
  check_main(model.graph, inputs);
  check_assumptions(model, model.graph[model.graph.main()].inputs, inputs);
  return Interpreter(model.graph, options).region(model.graph.main(), inputs);
}

}  // namespace

std::vector<Datum> run_reference(const Model& model, std::span<const Datum> inputs, const ReferenceOptions& options) {
  if (options.kernels.empty() && !has_foreign(model.graph)) return run_own(model, inputs, options);
  Model spelled = model;
  {
    const std::lock_guard lock(inferring());
    bind_kernels(spelled, options.kernels);
    spell_foreign(spelled.graph);
  }
  ReferenceOptions watched = options;
  if (options.observe)
    watched.observe = [&](ValueId v, const Datum& d) {
      if (v.index < model.graph.value_capacity()) options.observe(v, d);
    };
  return run_own(spelled, inputs, watched);
}

}  // namespace cameo::runtime
