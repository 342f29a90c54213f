#include "passes/whole_casts.h"

#include <algorithm>
#include <set>

#include "ops/infer.h"
#include "ops/on.h"
#include "ops/quant/scale.h"
#include "passes/dce.h"

namespace cameo::passes {

namespace {

using ops::On;

bool is_narrow(DType t) { return is_int(t) && (bits(t) == 8 || bits(t) == 16); }

// How many of the first operands are what is moved; none: it does more than to move.
size_t moved_operands(const Node& n) {
  if (n.is("Concat")) return n.inputs.size();
  constexpr std::string_view movers[] = {"Reshape", "Transpose",    "Flatten",      "Squeeze",  "Unsqueeze",
                                         "Slice",   "Gather",       "Split",        "Identity", "MaxPool",
                                         "Expand",  "DepthToSpace", "SpaceToDepth", "Tile"};
  return std::any_of(std::begin(movers), std::end(movers), [&](auto op) { return n.is(op); }) ? 1 : 0;
}

class Keeping {
 public:
  explicit Keeping(Model& m) : g_(m.graph) {}

  size_t run() {
    collect();
    while (drop_misfits()) continue;
    for (const ValueId v : kept_) retype(v);
    for (const ValueId v : kept_)
      for (const Use& u : std::vector<Use>(g_[v].uses))
        if (g_[u.node].is("Cast") && type_given(u.node) == DType::f32) bypass(g_[u.node].outputs[0], v);
    for (const ValueId v : kept_)
      if (const NodeId n = g_[v].def; g_[n].is("Cast")) bypass(v, g_.input(n, 0));
    remove_dead_code(g_);
    ops::infer(g_);
    return kept_.size();
  }

 private:
  DType type_of(ValueId v) const { return v ? g_[v].fact.dtype() : DType::undefined; }
  DType type_given(NodeId n) const { return g_[n].outputs.empty() ? DType::undefined : type_of(g_[n].outputs[0]); }
  bool is_rounded(ValueId v) const {
    const NodeId n = v ? g_[v].def : NodeId();
    return n && (g_[n].is("Round") || (g_[n].is("Cast") && is_int(type_of(g_.input(n, 0)))));
  }
  bool is_whole_number(ValueId v) const {
    const NodeId n = v ? g_[v].def : NodeId();
    return is_rounded(v) || (n && g_[n].is("Add") && is_rounded(g_.input(n, 0)) && is_rounded(g_.input(n, 1)));
  }
  // Clip to the range of that type, of whole numbers.
  bool is_clipped(ValueId v, DType t) const {
    if (!v || !g_[v].def || !g_[g_[v].def].is("Clip")) return false;
    const NodeId n = g_[v].def;
    if (!g_.input(n, 1) || !g_.input(n, 2) || !is_whole_number(g_.input(n, 0))) return false;
    const auto lo = g_.constant(g_.input(n, 1)), hi = g_.constant(g_.input(n, 2));
    return lo && hi && lo->count() == 1 && hi->count() == 1 && lo->double_at(0) >= ops::lowest_of(t) &&
           hi->double_at(0) <= ops::highest_of(t);
  }

  void collect() {
    for (uint32_t i = 0; i < g_.value_capacity(); ++i) {
      const ValueId v(i);
      if (g_[v].kind != Value::Kind::node_output || !is_narrow(g_[v].fact.dtype())) continue;
      const NodeId n = g_[v].def;
      const ValueId x = g_.input(n, 0);
      const bool rounded = g_[n].is("Cast") && type_of(x) == DType::f32 && is_clipped(x, g_[v].fact.dtype());
      if (rounded || moved_operands(g_[n])) kept_.insert(v);
    }
  }
  bool stays(ValueId v) const { return kept_.contains(v); }
  bool fits(ValueId v) const {
    const Node& n = g_[g_[v].def];
    for (size_t i = 0; i < moved_operands(n); ++i)
      if (!stays(n.inputs[i])) return false;
    return std::all_of(g_[v].uses.begin(), g_[v].uses.end(), [&](const Use& u) {
      if (!u.node) return false;
      const Node& reader = g_[u.node];
      if (reader.is("Cast")) {  // of a whole number: exact from f32, too
        const DType to = type_given(u.node);
        return to == DType::f32 || to == DType::i32 || to == DType::i64;
      }
      const size_t moved = moved_operands(reader);
      for (size_t i = moved; i < reader.inputs.size(); ++i)
        if (reader.inputs[i] == v) return false;
      return moved > 0 && !reader.outputs.empty() &&
             std::all_of(reader.outputs.begin(), reader.outputs.end(),
                         [&](ValueId o) { return !o || stays(o) || !is_narrow(type_of(o)); });
    });
  }
  // Down the graph and up again: what was dropped takes along what is behind it and before it.
  bool drop_misfits() {
    const size_t before = kept_.size();
    const auto drop = [&](const std::vector<ValueId>& all) {
      for (const ValueId v : all)
        if (!fits(v)) kept_.erase(v);
    };
    drop({kept_.begin(), kept_.end()});
    drop({kept_.rbegin(), kept_.rend()});
    return kept_.size() != before;
  }

  void retype(ValueId v) {
    g_.fact(v).type.elem = DType::f32;
    g_.fact(v).contents.reset();
    g_.touch(g_[v].def);
    for (const Use& u : std::vector<Use>(g_[v].uses)) g_.touch(u.node);
  }
  // Readers of `v` read `by`, which has its name where it is what a Cast gave.
  void bypass(ValueId v, ValueId by) {
    const NodeId cast = g_[v].def;
    std::string name = g_[v].name;
    g_.label(v).name.clear();
    const ValueId same = On(g_, g_[cast].home, cast).Identity(by);
    g_.replace_uses(v, same);
    g_.label(same).name = std::move(name);
  }

  Graph& g_;
  std::set<ValueId> kept_;
};

}  // namespace

size_t keep_whole_floats(Model& m) { return Keeping(m).run(); }

}  // namespace cameo::passes
