// What depends only on constants is computed once, with the operators' own kernels. The rewriter sees to it that the
// constants do not outgrow what they replace.
#include <algorithm>

#include "ops/cost.h"
#include "ops/eval.h"
#include "ops/quantises.h"
#include "passes/engine_set.h"
#include "passes/rules/tables.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

constexpr uint64_t most_bytes = uint64_t{1} << 30;
constexpr int deepest_chain = 64;

// Scales stay in a file. The engine took the products of integers out before it folds.
bool is_foldable(const Rewrite& rw, const Node& n) {
  if (n.op->is_opaque() || n.extra || !n.regions.empty() || n.outputs.empty() || n.is("Constant")) return false;
  const OpRules& rules = def(*n.op).rules;
  return rules.eval && rules.deterministic && (rw.engine || !quantises(n));
}

// What inference found. It may follow from declared sizes, which a session does not rely on.
const Tensor* contents(const Rewrite& rw, ValueId v) {
  return rw.engine && !rw.is_constant(v) ? nullptr : rw.g[v].fact.tensor();
}

// Whole numbers, or numbers that are moved: the same bits wherever they are computed.
bool keeps_bits(const Graph& g, NodeId n) {
  static constexpr std::string_view movers[] = {
      "Concat",  "ConstantOfShape", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity",  "Pad",
      "Reshape", "Slice",           "Split",  "Squeeze", "Tile",   "Transpose",      "Trilu",    "Unsqueeze", "Where"};
  const auto computed_floats = [&](ValueId v) {
    return v && !is_int(g[v].fact.dtype()) && g[v].fact.dtype() != DType::boolean && !g.is_constant(v);
  };
  if (std::any_of(std::begin(movers), std::end(movers), [&](std::string_view m) { return g[n].is(m); }))
    return std::none_of(g[n].inputs.begin(), g[n].inputs.end(), computed_floats);
  const auto has_floats = [&](ValueId v) {
    return v && g[v].fact.type.is_tensor() && !is_int(g[v].fact.dtype()) && g[v].fact.dtype() != DType::boolean;
  };
  return std::none_of(g[n].inputs.begin(), g[n].inputs.end(), has_floats) &&
         std::none_of(g[n].outputs.begin(), g[n].outputs.end(), has_floats);
}

uint64_t constant_size(const Rewrite& rw, ValueId v) {
  return rw.g[v].weight ? rw.g[v].weight->byte_size() : rw.content(v).bytes().size();
}

// Nodes are met after those they read from, so that a look at the inputs settles most of them. What was found holds for
// one round: a stale answer only means that the next one folds.
bool varies(const Rewrite& rw) {
  std::vector<bool>& known = *rw.varying;
  if (known.size() < rw.g.node_capacity()) known.resize(rw.g.node_capacity() + rw.g.node_capacity() / 2);
  const auto input_varies = [&](ValueId v) {
    if (!v || rw.is_constant(v) || contents(rw, v)) return false;
    return !rw.g[v].def || known[rw.g[v].def.index];
  };
  return known[rw.node.index] =
             !is_foldable(rw, rw.root()) || std::any_of(rw.root().inputs.begin(), rw.root().inputs.end(), input_varies);
}

// Constants in reach and the largest thing on the way; nothing when something is not constant.
struct Chain {
  uint64_t constants = 0, largest = 0;
  size_t nodes = 0;
};
bool measure(const Rewrite& rw, NodeId n, Chain& c, int depth) {
  if (!is_foldable(rw, rw.g[n]) || depth > deepest_chain || ++c.nodes > 256 || (rw.every_bit && !keeps_bits(rw.g, n)))
    return false;
  const auto bytes = result_bytes(rw.g, n);
  if (!bytes) return false;
  c.largest = std::max(c.largest, *bytes);
  for (const ValueId v : rw.g[n].inputs) {
    if (!v) continue;
    if (!rw.engine && contents(rw, v)) continue;
    if (rw.is_constant(v)) {
      if (!rw.g[v].weight && !rw.engine) return false;
      c.constants += constant_size(rw, v);
    } else if (!rw.g[v].def || !measure(rw, rw.g[v].def, c, depth + 1)) return false;
  }
  return true;
}

std::vector<Datum> compute(const Rewrite& rw, NodeId n) {
  const Node& node = rw.g[n];
  std::vector<Datum> data(node.inputs.size());
  std::vector<const Datum*> pointers(node.inputs.size(), nullptr);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (!v) continue;
    if (const Tensor* known = contents(rw, v)) data[i] = Datum(*known);
    else if (rw.is_constant(v)) data[i] = Datum(rw.content(v));
    else data[i] = compute(rw, rw.g[v].def)[rw.g[v].def_index];
    pointers[i] = &data[i];
  }
  return evaluate_node(node, pointers);
}

void fold_known(Rewrite& rw) {
  if (!is_foldable(rw, rw.root()) || rw.in_count() == 0) return;
  if (rw.every_bit && !keeps_bits(rw.g, rw.node)) return rw.no("an engine might round otherwise");
  std::vector<Tensor> known;
  for (const ValueId v : rw.root().outputs) {
    if (!rw.g.used(v)) {
      known.emplace_back();
      continue;
    }
    const Tensor* t = rw.fact(v).tensor();
    if (!t) return;
    known.push_back(*t);
  }
  std::vector<ValueId> values;
  for (size_t i = 0; i < known.size(); ++i) values.push_back(rw.wants(i) ? rw.on.constant(known[i]) : ValueId());
  rw.replace(std::move(values));
}

// A large weight in fewer bits stays as it lies until it is packed, unless a batch normalisation goes into it before.
bool stays_narrow(const Rewrite& rw) {
  const Graph& g = rw.g;
  if (!rw.engine || !deferred_constant(g, rw.out()) || constant_size(rw, rw.in(0)) <= rw.engine->small_bytes)
    return false;
  const auto is_normalised = [&](const Use& u) {
    if (!u.node || !g[u.node].is("Conv") || u.index != 1) return false;
    const auto& readers = g[g[u.node].outputs[0]].uses;
    return readers.size() == 1 && readers[0].node && g[readers[0].node].is("BatchNormalization");
  };
  return std::none_of(g[rw.out()].uses.begin(), g[rw.out()].uses.end(), is_normalised);
}

// How many bytes the result may have. For a file the rewriter judges exactly, but only after the work.
int64_t room_for(const Rewrite& rw, const Chain& chain) {
  constexpr int64_t bytes_per_node = 64;
  const auto constants = static_cast<int64_t>(chain.constants);
  if (rw.engine) return std::max(static_cast<int64_t>(rw.engine->small_bytes), 2 * constants);
  return constants + bytes_per_node * static_cast<int64_t>(chain.nodes + rw.in_count()) + rw.spare_bytes;
}

void fold_computed(Rewrite& rw) {
  if (varies(rw) || rw.in_count() == 0) return;
  if (stays_narrow(rw)) return rw.no("it is kept in fewer bits until it is packed");
  Chain chain;
  if (!measure(rw, rw.node, chain, 0) || chain.largest > most_bytes) return;
  // What a file does not hold may be large on the way; a session pays for it with every start.
  const uint64_t bytes = rw.engine ? chain.largest : *result_bytes(rw.g, rw.node);
  if (static_cast<int64_t>(bytes) > room_for(rw, chain))
    return rw.no("the result would be larger than what it is computed from");
  std::vector<Datum> results = compute(rw, rw.node);
  std::vector<ValueId> values;
  for (size_t i = 0; i < results.size(); ++i) {
    if (rw.wants(i) && results[i].kind != Datum::Kind::tensor) return;
    values.push_back(rw.wants(i) ? rw.on.constant(results[i].tensor) : ValueId());
  }
  rw.replace(std::move(values));
}

// A weight seen otherwise needs no bytes of its own: the writer follows the recipe.
const Weight* plain_weight(const Rewrite& rw, ValueId v) {
  const Weight* w = rw.weight(v);
  return w && !w->scale && !w->strings && !is_sub_byte(w->dtype) ? w : nullptr;
}

void replace_with_view(Rewrite& rw, Weight w) {
  const std::string& from = rw.g[rw.in(0)].name;
  rw.replace(rw.on.weight(std::move(w), from.empty() ? "" : cat(from, ".folded")));
}

void transposed_weight(Rewrite& rw) {
  const Weight* w = plain_weight(rw, rw.in(0));
  if (!w) return;
  std::vector<int64_t> perm;
  if (const auto& p = rw.attrs<op::Transpose>().perm) perm = *p;
  else
    for (size_t i = w->shape.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  replace_with_view(rw, w->permuted(perm));
}

void reshaped_weight(Rewrite& rw) {
  const Weight* w = plain_weight(rw, rw.in(0));
  const auto shape = w && rw.has_rank(rw.out()) ? known_shape(rw.shape(rw.out())) : std::nullopt;
  if (!shape) return;
  if (auto view = w->reshaped(*shape)) replace_with_view(rw, std::move(*view));
}

void sliced_weight(Rewrite& rw) {
  const Weight* w = plain_weight(rw, rw.in(0));
  if (!w) return;
  const auto starts = rw.ints(rw.in(1)), ends = rw.ints(rw.in(2)), steps = rw.ints(rw.in(4));
  auto axes = rw.ints(rw.in(3));
  if (!starts || !ends || (rw.has(3) && !axes) || (rw.has(4) && !steps)) return;
  Weight view = *w;
  for (size_t i = 0; i < starts->size(); ++i) {
    if (steps && (*steps)[i] != 1) return;
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    axis += axis < 0 ? static_cast<int64_t>(w->shape.size()) : 0;
    const int64_t size = view.shape[static_cast<size_t>(axis)];
    const auto place = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? std::max<int64_t>(at, -size) + size : at, 0, size);
    };
    const int64_t first = place((*starts)[i]), last = std::max(first, place((*ends)[i]));
    auto cut = view.sliced(axis, first, last - first);
    if (!cut) return;
    view = std::move(*cut);
  }
  replace_with_view(rw, std::move(view));
}

}  // namespace

Rule fold_chain() {
  Rule out = rule("fold-chain", {}, fold_computed);
  out.free_bytes = true;
  return out;
}

std::vector<Rule> fold_rules() {
  std::vector<Rule> out;
  out.push_back(rule("constant-to-weight", {"Constant"}, [](Rewrite& rw) {
    const auto& given = rw.attrs<op::Constant>().value;  // too large to be looked at, perhaps
    const Tensor* t = given ? &*given : rw.fact(rw.out()).tensor();
    RegionId outer = rw.root().home;
    while (rw.g[outer].parent) outer = rw.g[outer].parent;
    if (t && outer == rw.g.main()) rw.replace(rw.on.constant(Tensor(*t)));
  }));
  out.push_back(rule("fold-weight-transpose", {"Transpose"}, transposed_weight));
  out.push_back(rule("fold-weight-reshape", {"Reshape", "Squeeze", "Unsqueeze", "Flatten"}, reshaped_weight));
  out.push_back(rule("fold-weight-slice", {"Slice"}, sliced_weight));
  out.push_back(rule("fold", {}, fold_known));
  out.back().free_bytes = true;
  out.push_back(fold_chain());
  return out;
}

}  // namespace cameo::passes
