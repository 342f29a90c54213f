#include "engine/runner.h"

#include "engine/parallel.h"
#include "engine/part.h"
#include "engine/prepare.h"
#include "ir/node_name.h"
#include "ops/foreign.h"
#include "ops/gate.h"
#include "ops/inline.h"
#include "ops/op_def.h"
#include "runtime/assumptions.h"
#include "runtime/inputs.h"
#include "support/error.h"

namespace cameo::engine {

constexpr int rests_planned = 3;       // how often a run may stop to plan anew; beyond, reference kernels do it
constexpr int most_ruleless = 100;     // custom kernels without a shape rule, each of which may stop it once more
constexpr size_t bodies_planned = 48;  // a body whose sizes change on and on gets one plan for all sizes
constexpr int deepest = 200;           // bodies in bodies

namespace {

// As outputs, which rewrites leave in place: those to return, then those to observe.
void keep_values(Graph& g, const SessionOptions& options) {
  if (options.keep.empty() && options.observe.empty()) return;
  std::vector<ValueId> outputs = g[g.main()].outputs;
  outputs.insert(outputs.end(), options.keep.begin(), options.keep.end());
  outputs.insert(outputs.end(), options.observe.begin(), options.observe.end());
  g.set_region_outputs(g.main(), std::move(outputs));
}

std::vector<NodeId> nodes_of(const Graph& g, RegionId r) {
  std::vector<NodeId> out;
  for (const NodeId n : g.nodes(r)) out.push_back(n);
  return out;
}

// Kernels whose results' sizes are not known before they run: what follows each is planned then.
int ruleless_kernels(const Graph& g) {
  int count = 0;
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const CustomOp* op = g[NodeId(i)].dead ? nullptr : custom(*g[NodeId(i)].op);
    if (op && !op->kernel.types && !op->replaces && count < most_ruleless) ++count;
  }
  return count;
}

// Which implementation, for profiles.
std::string how(const Graph& g, const Step& s) {
  if (s.kernel) return s.kernel->about();
  return s.node && custom(*g[s.node].op) ? "custom" : "reference";
}

Fact given_fact(const Datum& d, const Type& declared) { return {given_type(d, declared), nullptr}; }

// Inputs that have a default, and are not given, never change.
void freeze_defaults(Graph& g) {
  for (const ValueId v : std::vector<ValueId>(g[g.main()].inputs))
    if (g[v].weight) g.promote_to_initializer(v);
}

}  // namespace

Runner::Runner(Model m, const SessionOptions& o) : model(std::move(m)), options(o), random_(o.seed) {
  const std::lock_guard lock(inferring());
  bind_kernels(model, options.kernels);
  if (!model.functions.empty()) inline_functions(model);
  if (has_foreign(model.graph)) spell_foreign(model.graph);
  base_ = model.graph;
  empty_ = model.graph.empty_like();
  empty_.facts = {};  // real sizes need none
  rests_planned_ = rests_planned + ruleless_kernels(base_);
  if (options.threads <= 0) options.threads = hardware_threads();
  keep_values(base_, options);
  freeze_defaults(base_);
  forget_before_run(base_);
  if (options.fast) prepare_once(base_, options.onednn && !onednn_version().empty());
}

const Graph& Runner::open_base() {
  const std::lock_guard lock(open_mutex_);
  if (!open_base_) {
    open_base_ = std::make_unique<Graph>(model.graph);
    forget_before_run(*open_base_);
    keep_values(*open_base_, options);
  }
  return *open_base_;
}

std::shared_ptr<Compiled> Runner::finish(std::shared_ptr<Graph> g, const CheckedNodes& nodes,
                                         std::span<const ValueId> inputs, const Wanted& wanted, bool interpret,
                                         BaseValues base) {
  CompileOptions how;
  how.fast = options.fast;
  how.onednn = options.onednn;
  how.base = base;
  how.interpret = interpret;
  Compiler c(std::move(g), store, how);
  for (const ValueId v : inputs) c.add_input(v);
  c.compile(nodes, wanted);
  auto out = std::make_shared<Compiled>();
  auto plan = c.finish();
  plan->base = std::move(base);
  out->plan = std::move(plan);
  const uint64_t bytes = out->plan->arena_bytes;
  for (uint64_t seen = largest_arena; seen < bytes && !largest_arena.compare_exchange_weak(seen, bytes);) {}
  return out;
}

std::shared_ptr<Compiled> Runner::plan_main(const Graph& base, std::span<const ValueId> given,
                                            std::span<const Datum> inputs) {
  check_assumptions(model, given, inputs);
  const std::lock_guard lock(inferring());
  auto g = std::make_shared<Graph>(base);
  for (size_t i = 0; i < given.size(); ++i) g->fact(given[i]).type = given_type(inputs[i], g->fact(given[i]).type);
  CheckedNodes nodes(*g, nodes_of(*g, g->main()));
  if (options.fast) fuse_operators(*g, nodes, options.onednn && !onednn_version().empty());
  const std::vector<ValueId>& all = (*g)[g->main()].outputs;
  const auto returned = all.end() - static_cast<std::ptrdiff_t>(options.observe.size());
  Wanted wanted{{all.begin(), returned}, {}};
  for (auto v = returned; v != all.end(); ++v) wanted.observed.emplace_back(*v, static_cast<uint32_t>(v - returned));
  return finish(std::move(g), nodes, given, wanted, false, BaseValues(base.value_capacity()));
}

std::shared_ptr<Compiled> Runner::plan_rest(const Plan& outer, std::span<const ValueId> inputs,
                                            std::span<const Datum> values, const Wanted& wanted, bool interpret) {
  const std::lock_guard lock(inferring());
  auto g = std::make_shared<Graph>(*outer.graph);
  for (size_t i = 0; i < inputs.size(); ++i) g->fact(inputs[i]) = given_fact(values[i], g->fact(inputs[i]).type);
  const CheckedNodes checked(*g, outer.rest->nodes);
  return finish(std::move(g), checked, inputs, wanted, interpret, outer.base);
}

std::shared_ptr<Compiled> Runner::plan_body(const Plan& outer, RegionId body, std::span<const ValueId> inputs,
                                            std::span<const Datum> values, bool any_sizes) {
  const std::lock_guard lock(inferring());
  Part part = cut_body(*outer.graph, outer.base, body, inputs, empty_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Fact& f = part.graph->fact(part.inputs[i]);
    f = given_fact(values[i], f.type);
    if (any_sizes && f.type.is_tensor()) f.type = Type::tensor(f.type.elem);
  }
  const CheckedNodes checked(*part.graph, std::move(part.nodes));
  return finish(std::move(part.graph), checked, part.inputs, {part.outputs, {}}, any_sizes, std::move(part.base));
}

// One run: what its bodies and its rests share.
class Run {
 public:
  Run(Runner& r, std::vector<StepTime>* times, const Observer& observer) : r_(r) {
    hooks_.observed = observer;
    hooks_.run_region = [this](const Plan& p, RegionId region, std::vector<Datum> args,
                               const std::function<Datum(ValueId)>& outer) {
      return body(p, region, std::move(args), outer);
    };
    hooks_.seed = [this] {
      uint64_t now = r_.random_, next;
      do next = now * 6364136223846793005u + 1442695040888963407u;
      while (!r_.random_.compare_exchange_weak(now, next));
      return next;
    };
    if (times)
      hooks_.timed = [this, times](const Plan& p, const Step& s, double start, double length) {
        const Graph& g = *p.graph;
        std::string name = s.node ? node_name(g, s.node) : "";
        times->push_back({std::move(name), s.label, how(g, s), start, length});
      };
  }

  std::vector<Datum> execute(Compiled& c, std::span<const Datum> inputs, int depth = 0, const OutputMemory& lent = {}) {
    auto frame = c.borrow(r_.arenas);
    Compiled* before = current_;
    current_ = &c;
    std::vector<Datum> out = frame->run(inputs, hooks_, lent);
    if (c.plan->rest) out = rest(c, *frame, std::move(out), depth);
    current_ = before;
    c.give_back(std::move(frame), r_.arenas);
    return out;
  }

 private:
  // The nodes that had to wait for sizes.
  std::vector<Datum> rest(Compiled& c, const Frame& f, std::vector<Datum> out, int depth) {
    const Rest& rest = *c.plan->rest;
    std::vector<ValueId> inputs;
    Wanted wanted{{}, rest.observed};
    std::vector<Datum> values;
    std::string key = "rest";
    for (const auto& [value, slot] : rest.live) {
      inputs.push_back(value);
      append_key(key, values.emplace_back(f.read(slot)));
    }
    for (size_t i = 0; i < out.size(); ++i)
      if (c.plan->outputs[i] == no_slot) wanted.returned.push_back(c.plan->output_values[i]);
    const auto plan =
        c.rests.get(key, [&] { return r_.plan_rest(*c.plan, inputs, values, wanted, depth >= r_.rests_planned_); });
    std::vector<Datum> late = execute(*plan, values, depth + 1);
    for (size_t i = 0, k = 0; i < out.size(); ++i)
      if (c.plan->outputs[i] == no_slot) out[i] = std::move(late[k++]);
    return out;
  }

  std::vector<Datum> body(const Plan& plan, RegionId region, std::vector<Datum> args,
                          const std::function<Datum(ValueId)>& outer) {
    if (!region) throw error("eval.body", "there is no body");
    if (++nested_ > deepest) throw error("eval.depth", cat("bodies are nested more than ", deepest, " deep"));
    const Graph& g = *plan.graph;
    std::vector<ValueId> inputs = g[region].inputs;
    args.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (args[i].kind == Datum::Kind::none && g[inputs[i]].weight) args[i] = Datum(g[inputs[i]].weight->dense());
    for (const ValueId v : captured_values(g, region))
      if (!g.is_constant(v) && !g[v].fact.tensor()) {
        inputs.push_back(v);
        args.push_back(outer(v));
      }
    PlanCache& plans = current_->bodies(region);
    const bool any_sizes = plans.made() > bodies_planned;
    std::string key = any_sizes ? "any" : "";
    for (const Datum& d : args)
      if (!any_sizes) append_key(key, d);
    const auto compiled = plans.get(key, [&] { return r_.plan_body(plan, region, inputs, args, any_sizes); });
    std::vector<Datum> out = execute(*compiled, args);
    --nested_;
    return out;
  }

  Runner& r_;
  Hooks hooks_;
  Compiled* current_ = nullptr;
  int nested_ = 0;
};

std::vector<Datum> Runner::run(std::span<const Datum> inputs, std::vector<StepTime>* times, const OutputMemory& lent,
                               const Observer& observer) {
  const ThreadScope scope(options.threads);
  const auto params = run_inputs(model.graph);
  std::vector<Datum> all(inputs.begin(), inputs.end());
  all.resize(params.size());
  check_inputs(model.graph, params, all);
  bool overrides = false;
  for (size_t i = 0; i < params.size(); ++i)
    overrides = overrides || (all[i].kind != Datum::Kind::none && model.graph[params[i]].weight);
  std::vector<ValueId> given;
  std::vector<Datum> values;
  std::string key = overrides ? "open:" : "";
  for (size_t i = 0; i < params.size(); ++i) {
    const auto& fallback = model.graph[params[i]].weight;
    if (fallback && !overrides) continue;
    given.push_back(params[i]);
    append_key(key,
               values.emplace_back(fallback && all[i].kind == Datum::Kind::none ? Datum(fallback->dense()) : all[i]));
  }
  const auto plan = plans_.get(key, [&] { return plan_main(overrides ? open_base() : base_, given, values); });
  return Run(*this, times, observer).execute(*plan, values, 0, lent);
}

}  // namespace cameo::engine
