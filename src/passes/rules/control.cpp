// Control flow that is decided beforehand: branches that are always or never taken, loops that run at most once, and,
// when asked, loops with a known number of rounds.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "ir/clone.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

std::optional<bool> known_bool(const Rewrite& rw, ValueId v) {
  const auto t = rw.scalar(v);
  if (t) return *t != 0;
  const Tensor* known = v ? rw.fact(v).tensor() : nullptr;
  return known && known->count() == 1 ? std::optional(known->double_at(0) != 0) : std::nullopt;
}

void decided_branch(Rewrite& rw) {
  const auto taken = known_bool(rw, rw.in(0));
  if (!taken) return rw.no("its condition is not known");
  // Regions are in the order of graph_attrs: else before then.
  const auto names = rw.root().op->graph_attrs;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != (*taken ? "then_branch" : "else_branch")) continue;
    const RegionId branch = i < rw.root().regions.size() ? rw.root().regions[i] : RegionId();
    if (!branch || !rw.g[branch].inputs.empty() || rw.g[branch].outputs.size() < rw.root().outputs.size())
      return rw.no("the branch is not there, takes inputs, or gives too little");
    rw.replace(clone_body(rw.g, branch, rw.g, {}, rw.root().home, rw.node));
  }
  rw.shape_is_kept();
}

// The body never ends the loop by itself: its condition is true, or what it was given.
bool goes_on(const Rewrite& rw, RegionId body) {
  ValueId c = rw.g[body].outputs[0];
  while (c && rw.made_by<op::Identity>(c)) c = rw.operand(c, 0);
  return c == rw.g[body].inputs[1] || known_bool(rw, c).value_or(false);
}

// Rules rely on what the shape rule of Loop checks.
bool has_body(const Rewrite& rw) {
  const Node& loop = rw.root();
  if (loop.regions.empty() || !loop.regions[0]) return false;
  const Region& body = rw.g[loop.regions[0]];
  return body.inputs.size() >= 2 && body.outputs.size() + 1 >= body.inputs.size() &&
         loop.outputs.size() < body.outputs.size();
}

std::optional<int64_t> rounds(Rewrite& rw, RegionId body) {
  if (rw.has(1) && known_bool(rw, rw.in(1)) == false) return 0;
  if (rw.has(1) && !known_bool(rw, rw.in(1))) return std::nullopt;
  if (!rw.has(0)) return std::nullopt;
  const auto count = rw.ints(rw.in(0));
  if (!count || count->size() != 1) return std::nullopt;
  const int64_t most = std::max<int64_t>(0, (*count)[0]);
  return most <= 1 || goes_on(rw, body) ? std::optional(most) : std::nullopt;
}

void run_loop(Rewrite& rw, int64_t times) {
  const RegionId body = rw.root().regions[0];
  const size_t carried = rw.g[body].inputs.size() - 2, scans = rw.g[body].outputs.size() - 1 - carried;
  if (rw.in_count() < carried + 2) return;
  if (times == 0)
    for (size_t i = carried; i < rw.root().outputs.size(); ++i)
      if (rw.wants(i)) return rw.no("it gathers nothing, of a shape that is not known");
  std::vector<ValueId> state;
  for (size_t i = 0; i < carried; ++i) state.push_back(rw.in(i + 2));
  std::vector<std::vector<ValueId>> gathered(scans);
  for (int64_t round = 0; round < times; ++round) {
    std::vector<ValueId> inputs{rw.on.int_scalar(round), rw.on.constant(Tensor::bool_scalar(true))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const auto results = clone_body(rw.g, body, rw.g, inputs, rw.root().home, rw.node,
                                    {.prefix = times > 1 && round > 0 ? std::to_string(round) + "/" : ""});
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (size_t i = 0; i < scans; ++i)
      if (rw.wants(carried + i)) gathered[i].push_back(rw.on.Unsqueeze(results[1 + carried + i], rw.on.ints({0})));
  }
  for (const auto& parts : gathered)
    state.push_back(parts.empty()       ? ValueId()
                    : parts.size() == 1 ? parts[0]
                                        : rw.on.Concat(parts, op::Concat{.axis = 0}));
  rw.shape_is_kept();
  rw.replace(std::move(state));
}

void loop_once(Rewrite& rw) {
  if (!has_body(rw)) return rw.no("it has no body that fits");
  const auto times = rounds(rw, rw.root().regions[0]);
  if (!times) return rw.no("the number of rounds is not known");
  if (*times > 1) return rw.no("it runs more than once; --unroll N unrolls it");
  run_loop(rw, *times);
}

void unroll(Rewrite& rw) {
  if (!has_body(rw)) return;
  const auto times = rounds(rw, rw.root().regions[0]);
  if (times && *times > 1 && *times <= rw.unroll) run_loop(rw, *times);
}

// The values of a body that these outputs of it need; a node with bodies of its own needs all that they use.
std::unordered_set<uint32_t> needed_for(const Graph& g, RegionId body, std::vector<ValueId> wanted) {
  std::unordered_set<uint32_t> seen;
  while (!wanted.empty()) {
    const ValueId v = wanted.back();
    wanted.pop_back();
    if (!v || !g.is_inside(g[v].home, body) || !seen.insert(v.index).second || g[v].kind != Value::Kind::node_output)
      continue;
    const std::function<void(NodeId)> add = [&](NodeId n) {
      for (const ValueId input : g[n].inputs) wanted.push_back(input);
      for (const RegionId r : g[n].regions) {
        if (!r) continue;
        for (const ValueId output : g[r].outputs) wanted.push_back(output);
        for (const NodeId inner : g.nodes(r)) add(inner);
      }
    };
    add(g[v].def);
  }
  return seen;
}

// What a loop carries or stacks but is never read: not after the loop, and not in an iteration for another value.
void loop_unread(Rewrite& rw) {
  if (!has_body(rw)) return rw.no("it has no body that fits");
  const RegionId body = rw.root().regions[0];
  const std::vector<ValueId> inputs = rw.g[body].inputs, outputs = rw.g[body].outputs;
  const size_t carried = inputs.size() - 2;
  if (rw.in_count() < carried + 2) return rw.no("it gives its body too little");
  std::vector<bool> kept(outputs.size());
  kept[0] = true;
  for (size_t i = 1; i < outputs.size(); ++i) kept[i] = rw.wants(i - 1);
  for (bool more = true; more;) {
    more = false;
    std::vector<ValueId> wanted;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (kept[i]) wanted.push_back(outputs[i]);
    const auto needed = needed_for(rw.g, body, std::move(wanted));
    for (size_t i = 0; i < carried; ++i)
      if (!kept[i + 1] && needed.contains(inputs[i + 2].index)) kept[i + 1] = more = true;
  }
  if (std::all_of(kept.begin(), kept.end(), [](bool k) { return k; })) return rw.no("all that it carries is read");
  const NodeId loop = rw.g.add_node(rw.root().home, *rw.root().op, rw.root().attrs, {rw.in(0), rw.in(1)}, 0, rw.node);
  const RegionId smaller = rw.g.add_region(rw.root().home);
  std::vector<ValueId> given, results, replaced(rw.root().outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    given.push_back(i >= 2 && !kept[i - 1] ? ValueId()
                                           : rw.g.add_input(smaller, rw.g[inputs[i]].name, rw.g[inputs[i]].fact.type));
  const auto made = clone_body(rw.g, body, rw.g, given, smaller);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!kept[i]) continue;
    results.push_back(made[i]);
    if (i == 0) continue;
    if (i <= carried) rw.g.set_input(loop, rw.g[loop].inputs.size(), rw.in(i + 1));
    const ValueId out = rw.g.add_output(loop);
    rw.g.fact(out) = Fact(rw.g[rw.out(i - 1)].fact);
    replaced[i - 1] = out;
  }
  rw.g.set_region(loop, 0, smaller);
  rw.g.label(smaller).name = rw.g[body].name;
  rw.g.set_region_outputs(smaller, std::move(results));
  std::vector<NodeId> nodes;
  for (const NodeId n : rw.g.nodes(smaller)) nodes.push_back(n);
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n)  // those that made what is gone
    if (std::none_of(rw.g[*n].outputs.begin(), rw.g[*n].outputs.end(), [&](ValueId v) { return v && rw.g.used(v); }))
      rw.g.erase(*n);
  rw.shape_is_kept();
  rw.replace(std::move(replaced));
}

}  // namespace

std::vector<Rule> control_rules() {
  std::vector<Rule> out{
      rule("if-decided", {"If"}, decided_branch).trading(),
      rule("loop-once", {"Loop"}, loop_once),
      rule("loop-unread", {"Loop"}, loop_unread),
      rule("loop-unroll", {"Loop"}, unroll),
  };
  for (Rule& r : out)
    if (r.name.starts_with("loop")) r.gain = INT32_MIN;  // what runs straight on is worth its nodes
  return out;
}

}  // namespace cameo::passes
