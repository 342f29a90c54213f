#include "passes/rewriter.h"

#include <algorithm>
#include <unordered_set>

#include "ops/cost.h"
#include "ops/infer.h"
#include "passes/engine_set.h"
#include "support/budget.h"
#include "support/progress.h"

namespace cameo::passes {

namespace {

constexpr int64_t node_bytes = 64;        // what a node takes in a file, about
constexpr int64_t small_bytes = 64;       // a shape or a few axes: attributes in another form
constexpr size_t max_uses_followed = 64;  // a value with more users than that hardly dies with one of them

bool is_region_output(const Graph& g, ValueId v) {
  return std::any_of(g[v].uses.begin(), g[v].uses.end(), [](const Use& u) { return u.region.valid(); });
}

size_t nodes_inside(const Graph& g, RegionId r) {
  size_t out = 0;
  for (const NodeId n : g.nodes(r)) {
    ++out;
    for (const RegionId body : g[n].regions)
      if (body) out += nodes_inside(g, body);
  }
  return out;
}

// Values that a body and the bodies in it read from anywhere.
void captured_by(const Graph& g, RegionId r, std::vector<ValueId>& out) {
  for (const NodeId n : g.nodes(r)) {
    out.insert(out.end(), g[n].inputs.begin(), g[n].inputs.end());
    for (const RegionId body : g[n].regions)
      if (body) captured_by(g, body, out);
  }
  out.insert(out.end(), g[r].outputs.begin(), g[r].outputs.end());
}

}  // namespace

std::string value_label(const Graph& g, ValueId v) { return g[v].name.empty() ? cat("#", v.index) : g[v].name; }

std::string Application::key() const { return cat(rule, "@", value); }

Rewriter::Rewriter(Graph& g, const RewriterOptions& options)
    : g_(g), options_(options), first_made_(g.node_capacity()) {
  if (options.judged) standing_ = Standing(*options.judged);
  for (const Rule* r : *options.rules) {
    const bool sayable = std::all_of(r->makes.begin(), r->makes.end(), [&](std::string_view op) {
      const OpDef* made = find_op("", op);
      return options.engine ? options.engine->is_fast(*made) : made->at(options.opset) != nullptr;
    });
    if (!sayable) continue;
    for (const std::string_view root : r->roots) by_root_[root].push_back(r);
    if (r->roots.empty()) for_all_.push_back(r);
  }
}

void Rewriter::push(NodeId n) {
  if (queued_.size() <= n.index) queued_.resize(g_.node_capacity());
  if (queued_[n.index]) return;
  queued_[n.index] = true;
  work_.push_back(n);
}

namespace {
void in_order(const Graph& g, RegionId r, bool bodies, Rewriter& e) {
  for (const NodeId n : g.nodes(r)) {
    for (const RegionId body : g[n].regions)
      if (body && bodies) in_order(g, body, bodies, e);
    e.push(n);
  }
}
}  // namespace

void Rewriter::push_all() {
  for (uint32_t i = 0; i < g_.region_capacity(); ++i)
    if (const RegionId r(i); !g_[r].parent && !g_[r].dead && (options_.bodies || r == g_.main()))
      in_order(g_, r, options_.bodies, *this);
}

void Rewriter::push_users(ValueId v) {
  for (const Use& u : g_[v].uses)
    if (u.node) push(u.node);
    else if (const NodeId owner = g_[u.region].owner) push(owner);
}

size_t Rewriter::run() {
  const size_t before = ledger.size();
  const size_t most = before + 50 * g_.node_count() + 1000;
  constexpr size_t told_every = 1024;
  for (size_t seen = 1; !work_.empty(); ++seen) {
    if (seen % told_every == 0 && !options_.engine) tell_progress("simplifying", seen, seen + work_.size());
    checkpoint();
    const NodeId n = work_.front();
    work_.pop_front();
    queued_[n.index] = false;
    if (!g_[n].dead) visit(n);
    if (ledger.size() > most)
      throw Bug("bug.rules",
                cat("rewriting does not end: ", ledger.back().rule, " and ", ledger[ledger.size() - 2].rule,
                    " may undo each other at '", ledger.back().value, "'"));
  }
  return ledger.size() - before;
}

void Rewriter::visit(NodeId n) {
  if (std::none_of(g_[n].outputs.begin(), g_[n].outputs.end(), [&](ValueId v) { return g_.used(v); })) {
    if (options_.erase_unused) erase_dead(n);
    return;
  }
  if (!options_.bodies && g_[n].home != g_.main()) return;
  if (!understood(n)) return;
  const auto it = g_[n].op->domain.empty() ? by_root_.find(g_[n].op->name) : by_root_.end();
  if (it != by_root_.end())
    for (const Rule* r : it->second)
      if (attempt(*r, n)) return;
  for (const Rule* r : for_all_)
    if (attempt(*r, n)) return;
}

bool Rewriter::may_apply(std::string_view rule, ValueId root) const {
  return ledger.size() < options_.limit &&
         (!options_.veto || !options_.veto->count(cat(rule, "@", value_label(g_, root))));
}

void Rewriter::record(std::string_view rule, RuleClass exactness, std::string value, size_t removed, size_t added) {
  ledger.push_back({rule, exactness, std::move(value), removed, added});
}

bool Rewriter::attempt(const Rule& r, NodeId n) {
  const GraphMark mark = g_.mark();
  Rewrite rw(g_, n, options_.opset, options_.keep_misses);
  rw.spare_bytes = r.free_bytes ? spare_bytes : 0;
  rw.unroll = options_.unroll;
  rw.every_bit = options_.exact;
  rw.varying = &varying_;
  rw.engine = options_.engine;
  rw.real_sizes = options_.real_sizes;
  rw.first_made = first_made_;
  rw.standing = &standing_;
  std::string why;
  try {
    r.apply(rw);
    why = rw.replacement.empty() ? rw.why : refuse(r, rw, mark);
  } catch (const Error& e) {
    if (is_budget(e)) throw;
    rw.replacement.clear();
    why = e.diag().what;
  }
  if (!rw.replacement.empty() && why.empty() && may_apply(r.name, rw.out())) {
    commit(r, rw, mark);
    return true;
  }
  if (g_.node_capacity() != mark.nodes || g_.value_capacity() != mark.values || g_.region_capacity() != mark.regions)
    g_.rollback(mark);
  if (options_.keep_misses && !why.empty())
    misses.push_back({r.name, value_label(g_, g_[n].outputs[0]), std::move(why)});
  return false;
}

std::string Rewriter::refuse(const Rule& r, Rewrite& rw, const GraphMark& mark) {
  rw.replacement.resize(rw.root().outputs.size());
  if (std::string why = refuse_types(rw); !why.empty()) return why;
  if (std::string why = refuse_outputs(rw, mark); !why.empty()) return why;
  sweep(rw, mark);
  gain_old_ = dying(rw.node);
  gain_new_ = added(mark);
  const int64_t saved = static_cast<int64_t>(gain_old_.nodes) - static_cast<int64_t>(gain_new_.nodes);
  if (saved < r.gain)
    return cat("no node would be saved: ", gain_new_.nodes, " for ", gain_old_.nodes,
               ", since inner values are used elsewhere");
  if (r.gain < 0 || options_.engine) return "";  // the engine packs its weights anyway
  const int64_t room =
      static_cast<int64_t>(gain_old_.bytes) + node_bytes * saved + small_bytes + (r.free_bytes ? spare_bytes : 0);
  if (static_cast<int64_t>(gain_new_.bytes) > room)
    return cat("constants would grow from ", gain_old_.bytes, " to ", gain_new_.bytes, " bytes");
  return "";
}

std::string Rewriter::refuse_types(const Rewrite& rw) const {
  for (size_t i = 0; i < rw.replacement.size(); ++i) {
    const ValueId old = rw.out(i), now = rw.replacement[i];
    if (!g_.used(old)) continue;
    if (!now) return cat("it does not give output ", i);
    const Type &a = g_[old].fact.type, &b = g_[now].fact.type;
    if (rw.trusted_shape && (a.is_unknown() || b.is_unknown())) continue;
    if (a.kind != b.kind || a.elem != b.elem || (a.is_tensor() && a.elem == DType::undefined && !rw.trusted_shape))
      return cat("the type would change from ", a.text(), " to ", b.text());
    if (!a.is_tensor()) continue;
    const bool ranks = a.has_rank() && b.has_rank();
    if (rw.trusted_shape && (!ranks || a.rank() == b.rank())) continue;  // a rule knows sizes better, never the rank
    if (!ranks || a.rank() != b.rank()) return cat("the shape would change from ", a.text(), " to ", b.text());
    if (!rw.same_shape(*a.shape, *b.shape)) return cat("the shape may change from ", a.text(), " to ", b.text());
  }
  return "";
}

// What a region gives out is made by a node of that region, and given out once.
bool Rewriter::stands_for_output(const Rewrite& rw, ValueId old, ValueId value) const {
  const Value& v = g_[value];
  if (v.kind != Value::Kind::node_output || v.home != g_[rw.node].home || is_region_output(g_, value)) return false;
  return std::count_if(g_[old].uses.begin(), g_[old].uses.end(), [](const Use& u) { return u.region.valid(); }) == 1;
}

std::string Rewriter::refuse_outputs(Rewrite& rw, const GraphMark& mark) {
  for (size_t i = 0; i < rw.replacement.size(); ++i) {
    const ValueId old = rw.out(i);
    ValueId& now = rw.replacement[i];
    if (!g_.used(old)) {
      now = {};
      continue;
    }
    const bool twice = std::count(rw.replacement.begin(), rw.replacement.end(), now) > 1;
    const bool fresh = now.index >= mark.values && g_[now].kind == Value::Kind::node_output;
    if (!is_region_output(g_, old) || (!twice && (fresh || stands_for_output(rw, old, now)))) continue;
    if (rw.root().is("Identity")) return "it carries the name of an output";
    now = rw.on.Identity(now);
  }
  return "";
}

// What a rule emitted and did not use goes again.
void Rewriter::sweep(const Rewrite& rw, const GraphMark& mark) {
  const std::unordered_set<ValueId> kept(rw.replacement.begin(), rw.replacement.end());
  for (uint32_t i = g_.node_capacity(); i-- > mark.nodes;) {
    const Node& n = g_[NodeId(i)];
    if (!n.dead &&
        std::none_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return g_.used(v) || kept.count(v); }))
      g_.erase(NodeId(i));
  }
  for (uint32_t i = g_.value_capacity(); i-- > mark.values;)
    if (const ValueId v(i); g_[v].kind == Value::Kind::initializer && !g_.used(v) && !kept.count(v))
      g_.erase_initializer(v);
}

// The nodes that become unused once the root's outputs are replaced, and their constants.
Rewriter::Cost Rewriter::dying(NodeId root) const {
  std::unordered_set<NodeId> dead{root};
  const auto is_dead = [&](const Use& u) {
    NodeId n = u.node ? u.node : g_[u.region].owner;
    for (; n; n = g_[g_[n].home].owner)
      if (dead.count(n)) return true;
    return false;
  };
  const auto unneeded = [&](ValueId v) { return std::all_of(g_[v].uses.begin(), g_[v].uses.end(), is_dead); };
  Cost out;
  std::unordered_set<ValueId> constants;
  std::vector<NodeId> work{root};
  const auto operand = [&](ValueId v) {
    if (!v) return;
    const NodeId n = g_[v].def;
    if (n && !dead.count(n)) {
      const auto& outputs = g_[n].outputs;
      if (g_[v].uses.size() <= max_uses_followed && std::all_of(outputs.begin(), outputs.end(), unneeded))
        dead.insert(n), work.push_back(n);
    }
    if (g_.is_constant(v) && g_[v].uses.size() <= max_uses_followed && unneeded(v) && constants.insert(v).second)
      out.bytes += constant_bytes(g_, v);
  };
  while (!work.empty()) {
    const NodeId n = work.back();
    work.pop_back();
    ++out.nodes;
    if (const auto* c = g_[n].as<op::Constant>(); c && c->value && c->value->dtype() != DType::string)
      out.bytes += packed_bytes(c->value->dtype(), c->value->count());
    for (const ValueId v : g_[n].inputs) operand(v);
    for (const RegionId r : g_[n].regions)
      if (r) out.nodes += nodes_inside(g_, r);
  }
  return out;
}

Rewriter::Cost Rewriter::added(const GraphMark& mark) const {
  Cost out;
  for (uint32_t i = mark.nodes; i < g_.node_capacity(); ++i) out.nodes += !g_[NodeId(i)].dead;
  for (uint32_t i = mark.values; i < g_.value_capacity(); ++i) {
    const ValueId v(i);
    if (g_[v].kind == Value::Kind::initializer) out.bytes += constant_bytes(g_, v);
  }
  return out;
}

void Rewriter::commit(const Rule& r, Rewrite& rw, const GraphMark& mark) {
  const std::string label = value_label(g_, rw.out());
  note_origin(rw, mark);
  for (size_t i = 0; i < rw.replacement.size(); ++i)
    if (rw.replacement[i]) take_place(rw, i, mark);
  record(r.name, r.exactness, label, gain_old_.nodes, gain_new_.nodes);
  const int64_t saved = static_cast<int64_t>(gain_old_.nodes) - static_cast<int64_t>(gain_new_.nodes);
  spare_bytes += static_cast<int64_t>(gain_old_.bytes) + node_bytes * saved - static_cast<int64_t>(gain_new_.bytes);
  standing_.judge_new(g_, mark.nodes);  // what a rule emits was inferred as it was made; copies of a body were not
  for (uint32_t i = mark.nodes; i < g_.node_capacity(); ++i)
    if (!g_[NodeId(i)].dead) push(NodeId(i));
  const bool in_body = g_[g_[rw.node].home].owner.valid();
  erase_dead(rw.node);
  // What the new nodes need of sizes holds where the body runs, and nowhere else.
  if (in_body) g_.facts.rewind(mark.facts);
}

// The new value takes over the old one's name, type and users.
void Rewriter::take_place(const Rewrite& rw, size_t output, const GraphMark& mark) {
  const ValueId old = rw.out(output), now = rw.replacement[output];
  const bool fresh = now.index >= mark.values;
  const bool given_out = is_region_output(g_, old);
  // A value from outside of a body is not what the body knows of it.
  if (g_[now].home == g_[rw.node].home || !g_[g_[rw.node].home].owner.valid()) {
    Fact& fact = g_.fact(now);
    if (auto merged = merge(g_[old].fact.type, fact.type)) fact.type = std::move(*merged);
    if (!fact.contents) fact.contents = g_[old].fact.contents;
  }
  const std::string name = g_[old].name;
  const auto metadata = g_[old].metadata;
  if (!name.empty() && ((fresh && g_[now].name.empty()) || given_out)) {
    g_.label(old).name.clear();
    g_.rename(now, name);
    g_.label(now).metadata = metadata;
    g_.label(now).doc = g_[old].doc;
  }
  g_.replace_uses(old, now);
  if (options_.judged)
    for (const Use& use : g_[now].uses)
      if (use.node) standing_.ask_again(use.node);
  push_users(now);
  if (g_[now].def) push(g_[now].def);
}

// New nodes say where they come from; the last one takes the name.
void Rewriter::note_origin(const Rewrite& rw, const GraphMark& mark) {
  NodeId last;
  for (uint32_t i = mark.nodes; i < g_.node_capacity(); ++i) {
    const NodeId n(i);
    if (g_[n].dead) continue;
    if (!g_[n].notes) g_.set_notes(n, rw.root().notes);
    if (g_[n].name.empty() && g_[n].home == rw.root().home) last = n;
  }
  if (last) g_.set_name(last, rw.root().name);
}

void Rewriter::erase_dead(NodeId first) {
  std::vector<NodeId> work{first};
  while (!work.empty()) {
    const NodeId n = work.back();
    work.pop_back();
    const Node& node = g_[n];
    if (node.dead || std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return g_.used(v); }))
      continue;
    std::vector<ValueId> read = node.inputs;
    for (const RegionId r : node.regions)
      if (r) captured_by(g_, r, read);
    g_.erase(n);
    for (const ValueId v : read) {
      if (!v || g_[v].kind == Value::Kind::dead) continue;
      if (g_[v].def) {
        work.push_back(g_[v].def);
        push(g_[v].def);
      }
      if (g_[v].uses.size() == 1) push_users(v);  // the only user left may now change what it reads
      if (g_[v].kind == Value::Kind::initializer && !g_.used(v)) g_.erase_initializer(v);
    }
  }
}

bool Rewriter::forward(ValueId old, ValueId replacement, std::string_view rule, RuleClass exactness) {
  if (!may_apply(rule, old)) return false;
  const std::string label = value_label(g_, old);
  const NodeId n = g_[old].def;
  g_.replace_uses(old, replacement);
  push_users(replacement);
  const size_t before = n ? 1 : 0;
  if (n) erase_dead(n);
  else if (g_[old].kind == Value::Kind::initializer) g_.erase_initializer(old);
  record(rule, exactness, label, before, 0);
  return true;
}

}  // namespace cameo::passes
