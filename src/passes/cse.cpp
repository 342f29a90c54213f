// Equal nodes and equal weights are made once.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "ops/op_def.h"
#include "support/file_bytes.h"
#include "passes/simplify.h"

namespace cameo::passes {

namespace {

size_t mix(size_t h, size_t v) { return h ^ (v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2)); }

bool same_attrs(const Node& a, const Node& b) {
  if (a.extra || b.extra) return a.extra && b.extra && *a.extra == *b.extra && a.op->is_opaque();
  return a.attrs == b.attrs || std::all_of(a.op->fields.begin(), a.op->fields.end(), [&](const AttrField& f) {
           return f.get(a.attrs.get()) == f.get(b.attrs.get());
         });
}

// May be merged at all: known, the same result every time, without bodies.
bool mergeable(const Node& n) {
  return !n.op->is_opaque() && !n.extra && def(*n.op).rules.deterministic && n.regions.empty() && !n.outputs.empty() &&
         !n.is("Constant");
}

class Merger {
 public:
  Merger(Graph& g, Rewriter& e) : g_(g), e_(e) {}

  // Nodes of outer regions that come before are visible to inner ones.
  void region(RegionId r) {
    const size_t mark = log_.size();
    std::vector<NodeId> nodes;
    for (const NodeId n : g_.nodes(r)) nodes.push_back(n);
    for (const NodeId n : nodes) {
      if (g_[n].dead) continue;
      for (const RegionId body : std::vector<RegionId>(g_[n].regions))
        if (body && !g_[n].dead) region(body);
      if (!g_[n].dead && mergeable(g_[n])) node(n);
    }
    for (; log_.size() > mark; log_.pop_back()) {
      auto& bucket = known_[log_.back()];
      bucket.pop_back();
    }
  }

  // Once for each value: it may have as many users as there were equal nodes.
  void push_users() {
    std::set<ValueId> seen;
    for (const ValueId v : kept_) {
      if (!seen.insert(v).second) continue;
      for (const Use& u : g_[v].uses)
        if (u.node) e_.push(u.node);
    }
  }

  size_t merged = 0;

 private:
  size_t hash(const Node& n) const {
    size_t h = std::hash<const void*>()(n.op);
    for (const ValueId v : n.inputs) h = mix(h, v.index);
    return mix(h, n.outputs.size());
  }

  void node(NodeId n) {
    const size_t h = hash(g_[n]);
    auto& bucket = known_[h];
    for (const NodeId other : bucket) {
      const Node &a = g_[other], &b = g_[n];
      if (a.dead || a.op != b.op || a.inputs != b.inputs || a.outputs.size() != b.outputs.size() || !same_attrs(a, b))
        continue;
      if (merge(other, n)) return;
    }
    bucket.push_back(n);
    log_.push_back(h);
  }

  static bool given_out(const Value& v) {
    return std::any_of(v.uses.begin(), v.uses.end(), [](const Use& u) { return u.region.valid(); });
  }

  bool merge(NodeId kept, NodeId gone) {
    const auto outputs = g_[gone].outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value &a = g_[g_[kept].outputs[i]], &b = g_[outputs[i]];
      if (!given_out(b)) continue;
      // The name of an output moves to the node that stays, unless that has one to keep.
      if (given_out(a) || a.home != b.home) return false;
    }
    if (!e_.may_apply("common-subexpression", outputs[0])) return false;
    const std::string label = value_label(g_, outputs[0]);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId keep = g_[kept].outputs[i];
      const bool rename = given_out(g_[outputs[i]]);
      const std::string name = g_[outputs[i]].name;
      // A value from outside of a body is not what the body knows of it.
      if (g_[keep].home == g_[outputs[i]].home) {
        if (auto type = ir::merge(g_[keep].fact.type, g_[outputs[i]].fact.type)) g_.fact(keep).type = std::move(*type);
        if (!g_[keep].fact.contents) g_.fact(keep).contents = g_[outputs[i]].fact.contents;
      }
      g_.replace_uses(outputs[i], keep);
      kept_.push_back(keep);
      if (rename && !name.empty()) g_.label(outputs[i]).name.clear(), g_.rename(keep, name);
    }
    g_.erase(gone);
    e_.record("common-subexpression", RuleClass::exact, label, 1, 0);
    ++merged;
    return true;
  }

  Graph& g_;
  Rewriter& e_;
  std::unordered_map<size_t, std::vector<NodeId>> known_;
  std::vector<size_t> log_;
  std::vector<ValueId> kept_;  // values that got the users of another
};

size_t outline(const Weight& w) {
  size_t h = mix(static_cast<size_t>(w.dtype), w.shape.size());
  for (const int64_t d : w.shape) h = mix(h, static_cast<size_t>(d));
  return h;
}

// Only both ends: weights that differ hardly ever agree there, so most are never read in full.
size_t ends(const Weight& w) {
  constexpr size_t few = 64;
  const auto size = static_cast<size_t>(w.byte_size());
  if (w.strings || !w.is_dense() || w.start != 0 || length_of(w.source) < size) return 0;
  const auto hash = [&](uint64_t from, uint64_t bytes) {
    return std::hash<std::string_view>()(w.source.slice(from, bytes).text());
  };
  return size <= 2 * few ? hash(0, size) : mix(hash(0, few), hash(size - few, few));
}

bool same_bytes(const Weight& a, const Weight& b) {
  if (a.same_recipe(b)) return true;
  if (a.strings || b.strings || !a.is_dense() || !b.is_dense() || a.start != 0 || b.start != 0) return false;
  const uint64_t size = a.byte_size();
  if (length_of(a.source) < size || length_of(b.source) < size) return false;
  constexpr uint64_t piece = uint64_t{1} << 20;  // a file's bytes may not be in memory
  for (uint64_t at = 0; at < size; at += piece) {
    const Bytes mine = a.source.slice(at, std::min(piece, size - at)), theirs = b.source.slice(at, length_of(mine));
    if (std::memcmp(mine.data(), theirs.data(), mine.size()) != 0) return false;
  }
  return true;
}

}  // namespace

size_t merge_equal_nodes(Graph& g, Rewriter& e) {
  Merger merger(g, e);
  for (uint32_t i = 0; i < g.region_capacity(); ++i)
    if (const RegionId r(i); !g[r].parent && !g[r].dead) merger.region(r);
  merger.push_users();
  return merger.merged;
}

namespace {

bool may_merge(const Graph& g, ValueId v) {
  return g[v].kind == Value::Kind::initializer && g.used(v) &&
         std::none_of(g[v].uses.begin(), g[v].uses.end(), [](const Use& u) { return u.region.valid(); });
}

// Weights of one type and shape in one region; those that may be the same as another one.
using Alike = std::map<std::pair<RegionId, size_t>, std::vector<ValueId>>;
Alike alike_weights(const Graph& g) {
  Alike out;
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (const ValueId v(i); may_merge(g, v)) out[{g[v].home, outline(*g[v].weight)}].push_back(v);
  return out;
}

}  // namespace

size_t merge_equal_weights(Graph& g, Rewriter& e) {
  size_t merged = 0;
  for (const auto& [key, values] : alike_weights(g)) {
    if (values.size() < 2) continue;
    std::unordered_map<size_t, std::vector<ValueId>> known;
    for (const ValueId v : values) {
      auto& bucket = known[ends(*g[v].weight)];
      const auto same = std::find_if(bucket.begin(), bucket.end(), [&](ValueId o) {
        return g[o].weight->dtype == g[v].weight->dtype && g[o].weight->shape == g[v].weight->shape &&
               same_bytes(*g[o].weight, *g[v].weight);
      });
      if (same == bucket.end()) bucket.push_back(v);
      else if (g[v].synthetic) {  // the reader's, not the file's: nothing to tell
        g.replace_uses(v, *same);
        g.erase_initializer(v);
      } else merged += e.forward(v, *same, "equal-weights", RuleClass::exact);
    }
  }
  return merged;
}

}  // namespace cameo::passes
