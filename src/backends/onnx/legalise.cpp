#include "backends/onnx/legalise.h"

#include <algorithm>

#include "backends/onnx/legaliser.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "support/budget.h"

namespace cameo::onnx {

namespace {
constexpr int most_lacked_in_a_row = 4;      // an engine may lack what the expansion is made of, too
constexpr int max_expansions_in_a_row = 16;  // an expansion that leads back to itself is a bug of ours

std::string_view words(Exactness e) {
  return e == Exactness::domain ? "is wrong on infinities, NaN or overflow" : "is only approximate";
}
}  // namespace

bool is_settled(const Graph& g, NodeId n, int64_t opset) {
  const Node& node = g[n];
  if (!node.op->domain.empty()) return true;
  return node.origin != UINT32_MAX && g.origins()[node.origin].intact && g.origins()[node.origin].opset == opset;
}

Legaliser::Root& Legaliser::root(NodeId n) {
  const auto [it, is_new] = root_of_.emplace(n, roots_.size());
  if (is_new) roots_.push_back({.name = describe(g_, n), .where = place(g_, n)});
  return roots_[it->second];
}

bool Legaliser::sayable(NodeId n, int64_t opset) const {
  if (g_[n].op->is_opaque()) return is_settled(g_, n, opset);
  const Encoding e = encode_node(g_, n, opset);
  if (e.refusal) return false;
  const auto has_to_expand = [&](const Expansion& x) {
    return opset < x.below && x.needed && x.needed(g_[n].attrs.get(), g_, n, opset);
  };
  const auto expansions = def(*g_[n].op).rules.expansions;
  if (std::any_of(expansions.begin(), expansions.end(), has_to_expand)) return false;
  const OpDef* op = find_op("", e.node.op_type);
  const SchemaVersion* schema = op ? op->at(opset) : nullptr;
  if (!schema) return false;
  for (size_t i = 0; i < e.node.inputs.size(); ++i)
    if (const Formal* f = schema->input(i);
        f && e.node.inputs[i] && !admits(schema->types_of(*f), g_[e.node.inputs[i]].fact.type))
      return false;
  for (size_t i = 0; i < g_[n].outputs.size(); ++i)
    if (const Formal* f = schema->output(i); f && !admits(schema->types_of(*f), g_[g_[n].outputs[i]].fact.type))
      return false;
  return true;
}

void Legaliser::refuse(NodeId n, std::string why, std::string hint) {
  Root& r = root(n);
  if (std::exchange(r.refused, true)) return;
  Diag d;
  d.code = "convert.refused";
  d.what = cat(r.name, " cannot be expressed in opset ", opset_);
  d.because = r.depth == 0 ? std::move(why) : cat("it would become ", g_[n].op->name, ", and ", why);
  d.where = r.where;
  int64_t works = opset_ + 1;
  while (works <= newest_opset && !sayable(n, works)) ++works;
  if (works <= newest_opset) d.hint = cat("opset ", works, " is the lowest that can", hint.empty() ? "" : "; ");
  d.hint += hint;
  result.refusals.push_back(std::move(d));
}

void Legaliser::region(RegionId r) {
  for (NodeId n = g_[r].first; n;) n = step(n);
}

NodeId Legaliser::step(NodeId n) {
  NodeId next = g_[n].next;
  const bool settled = is_settled(g_, n, opset_);
  if (settled && !(options_.limits && g_[n].op->domain.empty() && !g_[n].op->is_opaque())) return next;
  if (g_[n].op->is_opaque()) {
    if (find_op("", g_[n].op->name)) refuse(n, "it was read in an encoding that Cameo does not understand");
    else refuse(n, "Cameo does not know this operator");
    return next;
  }
  // So do older encodings. A node in a body may never run: there the encoding is tried.
  if (const auto fault = judged_.faults.find(n); fault != judged_.faults.end() && fault->second.certain) {
    result.refusals.push_back(fault->second.diag);
    return next;
  }
  if (wants_constants(n)) fold_known_inputs(n);
  if (expand(n, next)) return next;
  if (auto why = fit_types(n); why && !settled) refuse(n, std::move(*why));
  next = g_[n].next;
  for (const RegionId body : std::vector<RegionId>(g_[n].regions))
    if (body) region(body);
  return next;
}

// Older encodings want constants where the newest takes any value, and so do expansions.
bool Legaliser::wants_constants(NodeId n) const {
  const OpDef& op = def(*g_[n].op);
  if (op.first_version() > opset_ || encode_node(g_, n, opset_).refusal) return true;
  return std::any_of(op.rules.expansions.begin(), op.rules.expansions.end(), [&](const Expansion& e) {
    return opset_ < e.below && (!e.needed || e.needed(g_[n].attrs.get(), g_, n, opset_));
  });
}

// An input that inference knows becomes a constant; what computed it is removed if it has no other use.
void Legaliser::fold_known_inputs(NodeId n) {
  for (size_t i = 0; i < g_[n].inputs.size(); ++i) {
    const ValueId v = g_[n].inputs[i];
    if (!v || g_.is_constant(v) || !g_[v].def || !g_[v].fact.tensor()) continue;
    g_.set_input(n, i, on_.constant(*g_[v].fact.tensor()));
    erase_unused(g_[v].def);
  }
}

void Legaliser::erase_unused(NodeId n) {
  std::vector<NodeId> todo{n};
  while (!todo.empty()) {
    const NodeId at = todo.back();
    todo.pop_back();
    const Node& node = g_[at];
    if (node.dead || !node.regions.empty() ||
        std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return g_.used(v); }))
      continue;
    const std::vector<ValueId> inputs = node.inputs;
    g_.erase(at);
    for (const ValueId v : inputs)
      if (v && g_[v].def) todo.push_back(g_[v].def);
  }
}

bool Legaliser::expand(NodeId n, NodeId& next) {
  const OpDef& op = def(*g_[n].op);
  const NodeId before = g_[n].prev;
  const RegionId home = g_[n].home;
  std::string why, hint;
  const bool lacked = options_.limits && options_.limits->lacks(g_, n) && root(n).depth < most_lacked_in_a_row;
  bool wanted = op.first_version() > opset_ && !find_op("", encode_node(g_, n, opset_).node.op_type)->at(opset_);
  if (wanted) why = cat(op.name, " came with opset ", op.first_version());
  for (const Expansion& e : op.rules.expansions) {
    if (!(lacked ? e.exactness <= Exactness::rounding : opset_ < e.below)) continue;
    if (e.needed && !e.needed(g_[n].attrs.get(), g_, n, std::min<int64_t>(opset_, e.below - 1))) continue;
    wanted |= opset_ < e.below;
    if (e.exactness > Exactness::rounding && !options_.lossy) {
      if (why.empty() || hint.empty())
        why = cat("its expansion ", words(e.exactness)), hint = "--lossy allows the expansion";
      continue;
    }
    if (root(n).depth >= max_expansions_in_a_row)
      throw Bug("bug.expansion", cat("the expansion of ", op.name, " does not end"));
    if (expand_with(e, n, why)) {
      next = before ? g_[before].next : g_[home].first;
      ++result.expanded;
      return true;
    }
  }
  if (!wanted) return false;
  refuse(n, why, hint);
  next = g_[n].next;
  return true;
}

bool Legaliser::expand_with(const Expansion& rule, NodeId n, std::string& why) {
  // Expansions rely on what inference checks: axes inside the rank, lists of the right length.
  if (auto fault = fault_of(g_, n)) {
    why = std::move(fault->what);
    return false;
  }
  const uint32_t first_node = g_.node_capacity(), first_value = g_.value_capacity();
  const Root parent = root(n);
  const size_t root_index = root_of_.at(n);
  std::optional<std::string> refusal;
  on_.move_to(g_[n].home, n);
  Expand e(on_, g_, n, opset_);
  e.judged = rule_runs(g_, n);
  try {
    const auto attrs = g_[n].attrs;  // outlives the node
    rule.expand(attrs.get(), e);
    refusal = e.refusal;
    if (!refusal) refusal = put_in_place(n, std::move(e.replacement), first_node);
  } catch (const Error& fault) {
    if (support::is_budget(fault)) throw;
    refusal = fault.diag().what;
  }
  sweep(first_node, first_value);
  if (refusal) {
    why = *refusal;
    return false;
  }
  for (uint32_t i = first_node; i < g_.node_capacity(); ++i) {
    root_of_[NodeId(i)] = roots_.size();
  }
  roots_.push_back(
      {.name = parent.name, .where = parent.where, .depth = parent.depth + 1, .refused = roots_[root_index].refused});
  if (rule.exactness > Exactness::rounding) {
    Diag d;
    d.severity = Severity::warning;
    d.code = "convert.lossy";
    d.what = cat(parent.name, " is expanded for opset ", opset_, ", which ", words(rule.exactness));
    d.where = parent.where;
    result.notes.push_back(std::move(d));
  }
  return true;
}

// The new values take over the names and users of the node's outputs.
std::optional<std::string> Legaliser::put_in_place(NodeId n, std::vector<ValueId> values, uint32_t first_node) {
  const std::vector<ValueId> outputs = g_[n].outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (g_.used(outputs[i]) && (i >= values.size() || !values[i])) return cat("its expansion does not give output ", i);
  for (size_t i = 0; i < outputs.size() && i < values.size(); ++i) {
    if (!values[i]) continue;
    const std::string name = g_[outputs[i]].name;
    if (!g_.used(outputs[i])) continue;
    const bool own = g_[values[i]].def && g_[values[i]].def.index >= first_node && g_[values[i]].name.empty() &&
                     std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) ==
                         values.begin() + static_cast<std::ptrdiff_t>(i);
    if (!own && !name.empty()) values[i] = on_.Identity(values[i]);
    Fact& fact = g_.fact(values[i]);
    if (auto merged = merge(g_[outputs[i]].fact.type, fact.type)) fact.type = std::move(*merged);
    g_.replace_uses(outputs[i], values[i]);
    if (!name.empty()) g_.label(values[i]).name = name;
  }
  const NodeId last = g_[n].prev;
  if (last && last.index >= first_node) g_.set_name(last, g_[n].name);
  note_parts(n, first_node);
  g_.erase(n);
  return std::nullopt;
}

// What an expansion made says where it comes from; the last node has the name already, the others are called after it.
void Legaliser::note_parts(NodeId n, uint32_t first_node) {
  std::map<std::string_view, int> counts;
  const std::string whole = g_[n].name;
  for (uint32_t i = first_node; i < g_.node_capacity(); ++i) {
    const NodeId part(i);
    if (g_[part].dead) continue;
    if (!g_[part].notes) g_.set_notes(part, g_[n].notes);
    if (whole.empty() || !g_[part].name.empty()) continue;
    const int before = counts[g_[part].op->name]++;
    g_.set_name(part, before ? cat(whole, "/", g_[part].op->name, "_", before) : cat(whole, "/", g_[part].op->name));
  }
}

// Unused nodes of an expansion are removed.
void Legaliser::sweep(uint32_t first_node, uint32_t first_value) {
  const auto unused = [&](NodeId n) {
    return std::none_of(g_[n].outputs.begin(), g_[n].outputs.end(), [&](ValueId v) { return g_.used(v); });
  };
  for (uint32_t i = g_.node_capacity(); i-- > first_node;)
    if (!g_[NodeId(i)].dead && unused(NodeId(i))) g_.erase(NodeId(i));
  for (uint32_t i = g_.value_capacity(); i-- > first_value;)
    if (g_[ValueId(i)].kind == Value::Kind::initializer && !g_.used(ValueId(i))) g_.erase_initializer(ValueId(i));
}

// Upgrading makes the same small constants (axes, pads) for node after node.
void Legaliser::share_constants() {
  std::map<std::pair<RegionId, std::string>, ValueId> known;
  for (uint32_t i = 0; i < g_.value_capacity(); ++i) {
    const Value& v = g_[ValueId(i)];
    if (!v.synthetic || v.kind != Value::Kind::initializer || v.uses.empty() || v.weight->count() > 64 ||
        v.weight->strings)
      continue;
    if (std::any_of(v.uses.begin(), v.uses.end(),
                    [&](const Use& u) { return !u.node || is_settled(g_, u.node, opset_); }))
      continue;
    std::string key = cat(static_cast<int>(v.weight->dtype));
    for (const int64_t d : v.weight->shape) key += cat(",", d);
    key += ":";
    key += v.weight->dense().bytes().text();
    const auto [it, is_new] = known.emplace(std::pair(v.home, std::move(key)), ValueId(i));
    if (!is_new) g_.replace_uses(ValueId(i), it->second);
  }
}

namespace {

int64_t function_opset(const LocalFunction& f, int64_t opset, const LegaliseOptions& options) {
  const auto it = f.opsets.find("");
  return options.functions_follow || it == f.opsets.end() ? opset : it->second;
}

bool has_work(const Graph& g, RegionId r, int64_t opset) {
  for (const NodeId n : g.nodes(r)) {
    if (!is_settled(g, n, opset)) return true;
    for (const RegionId body : g[n].regions)
      if (body && has_work(g, body, opset)) return true;
  }
  return false;
}

}  // namespace

bool needs_legalising(const Model& m, int64_t opset, const LegaliseOptions& options) {
  if (has_work(m.graph, m.graph.main(), opset)) return true;
  return std::any_of(m.functions.begin(), m.functions.end(), [&](const LocalFunction& f) {
    return has_work(m.graph, f.body, function_opset(f, opset, options));
  });
}

LegaliseResult legalise(Model& m, int64_t opset, const LegaliseOptions& options) {
  const bool below = std::any_of(m.functions.begin(), m.functions.end(), [&](const LocalFunction& f) {
    const auto it = f.opsets.find("");
    return it != f.opsets.end() && function_opset(f, opset, options) < it->second;
  });
  if (below) inline_functions(m);
  const Soundness judged = judge(m);
  LegaliseResult all;
  const auto work_on = [&](RegionId r, int64_t version) {
    Legaliser work(m.graph, version, options, judged);
    work.region(r);
    work.share_constants();
    all.refusals.insert(all.refusals.end(), work.result.refusals.begin(), work.result.refusals.end());
    all.notes.insert(all.notes.end(), work.result.notes.begin(), work.result.notes.end());
    all.expanded += work.result.expanded;
    all.widened += work.result.widened;
  };
  work_on(m.graph.main(), opset);
  for (const LocalFunction& f : m.functions) work_on(f.body, function_opset(f, opset, options));
  return all;
}

}  // namespace cameo::onnx
