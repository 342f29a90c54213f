#include "passes/half/units.h"

#include <algorithm>

#include "ops/cost.h"
#include "ops/on.h"
#include "passes/half/min_cut.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

const Type* innermost(const Type& t) { return t.inner && !t.is_tensor() ? innermost(*t.inner) : &t; }

// They name the type of their result: f32 is made, and cast where that is needed.
constexpr std::string_view makers[] = {"BlackmanWindow",  "HammingWindow", "HannWindow",
                                       "MelWeightMatrix", "RandomNormal",  "RandomUniform"};
// So do these if they have a dtype; without, their operand tells.
constexpr std::string_view likes[] = {"Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"};
// They take any type, and their result does not depend on it.
constexpr std::string_view type_blind[] = {"Cast", "Shape", "Size", "SequenceLength", "OptionalHasElement"};
// What PyTorch's autocast computes in f32.
constexpr std::string_view autocast_f32[] = {"Acos",
                                             "Asin",
                                             "Cosh",
                                             "CumSum",
                                             "Erf",
                                             "Exp",
                                             "Log",
                                             "LogSoftmax",
                                             "LpNormalization",
                                             "Pow",
                                             "Reciprocal",
                                             "ReduceL1",
                                             "ReduceL2",
                                             "ReduceLogSum",
                                             "ReduceLogSumExp",
                                             "ReduceProd",
                                             "ReduceSum",
                                             "ReduceSumSquare",
                                             "ReduceMean",
                                             "Sinh",
                                             "Softmax",
                                             "Softplus",
                                             "Sqrt",
                                             "Tan",
                                             "LayerNormalization",
                                             "GroupNormalization",
                                             "InstanceNormalization",
                                             "MeanVarianceNormalization",
                                             "RMSNormalization"};

template <size_t N>
bool listed(const std::string_view (&names)[N], const Node& n) {
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view name) { return n.is(name); });
}

class Builder {
 public:
  Builder(const Graph& g, const HalfOptions& options) : g_(g), options_(options) {}

  std::vector<Unit> run() {
    const RegionId main = g_.main();
    for (const ValueId v : g_[main].inputs)
      if (is_f32(g_[v].fact.type)) border(v).gives.push_back(v);
    body(main);
    for (uint32_t i = 0; i < g_[main].outputs.size(); ++i)
      if (const ValueId v = g_[main].outputs[i]; v && is_f32(g_[v].fact.type))
        border(v).reads.push_back({v, Use{{}, main, i}});
    return std::move(units_);
  }

 private:
  Unit& border(ValueId v) {
    Unit& u = units_.emplace_back();
    u.value = v;
    u.form = options_.keep_io ? Form::f32 : Form::half;
    u.fixed = options_.keep_io;
    if (options_.keep_io) u.why = "inputs and outputs stay f32";
    return u;
  }

  void body(RegionId r) {
    for (const NodeId n : g_.nodes(r)) {
      for (const RegionId inner : g_[n].regions)
        if (inner) body(inner);
      if (g_[n].regions.empty()) plain(n);
      else structured(n);
    }
  }

  bool f32_operand(NodeId n, size_t i) const {
    const ValueId v = g_.input(n, i);
    return v && is_f32(g_[v].fact.type);
  }
  bool f32_result(NodeId n, size_t i) const {
    return i < g_[n].outputs.size() && is_f32(g_[g_[n].outputs[i]].fact.type);
  }

  Unit::Read operand(NodeId n, size_t i) const { return {g_[n].inputs[i], Use{n, {}, static_cast<uint32_t>(i)}}; }

  const SchemaVersion* schema(const Node& n) const {
    if (n.op->is_opaque() || !n.op->domain.empty()) return nullptr;
    const SchemaVersion* at = options_.opset ? def(*n.op).at(options_.opset) : nullptr;
    return at ? at : &def(*n.op).newest();
  }

  bool takes_half(const SchemaVersion& s, const Formal* f, ValueId v) const {
    return f && admits(s.types_of(*f), with_element(g_[v].fact.type, options_.to));
  }

  // An operand whose type nobody knows, as custom operators give, and which the schema binds to the others' type.
  ValueId unknown_operand(const Node& n, const SchemaVersion& s) const {
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const ValueId v = n.inputs[i];
      const Formal* f = v ? s.input(i) : nullptr;
      if (f && f->type_var >= 0 && innermost(g_[v].fact.type)->elem == DType::undefined) return v;
    }
    return {};
  }

  static bool names_type(const Node& n) {
    if (listed(makers, n)) return true;
    if (!listed(likes, n)) return false;
    return std::any_of(n.op->fields.begin(), n.op->fields.end(), [&](const AttrField& f) {
      return f.name == "dtype" && std::holds_alternative<int64_t>(f.get(n.attrs.get()));
    });
  }

  std::string no_form(const Node& n) const {
    return cat("ONNX has no ", ir::name(options_.to), " form of ", n.op->name,
               options_.opset ? cat(" in opset ", options_.opset) : "");
  }

  void plain(NodeId id) {
    const Node& n = g_[id];
    if (n.as<op::Constant>()) return;
    const SchemaVersion* s = schema(n);
    Unit main, rigid;
    main.node = rigid.node = id;
    const bool maker = s && names_type(n);
    const bool blind = s && (listed(type_blind, n) || (maker && listed(likes, n)));
    const bool as_bits = n.is("BitCast");
    const ValueId unknown = s && !blind ? unknown_operand(n, *s) : ValueId();
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (!f32_operand(id, i) || blind || (n.as<op::CastLike>() && i == 0)) continue;
      (s && !unknown && !as_bits && takes_half(*s, s->input(i), n.inputs[i]) ? main : rigid)
          .reads.push_back(operand(id, i));
    }
    for (size_t i = 0; i < n.outputs.size(); ++i)
      if (f32_result(id, i))
        (s && !unknown && !as_bits && !maker && takes_half(*s, s->output(i), n.outputs[i]) ? main : rigid)
            .gives.push_back(n.outputs[i]);
    rigid.form = Form::f32;
    rigid.fixed = true;
    rigid.why =
        unknown   ? cat("the type of '", g_[unknown].name, "' is not known")
        : as_bits ? "its bits are read as another type's"
        : s       ? no_form(n)
                  : cat(n.op->domain.empty() ? "" : cat(n.op->domain, "."), n.op->name, " is not ONNX's own operator");
    judge(main);
    for (Unit* u : {&main, &rigid})
      if (!u->reads.empty() || !u->gives.empty()) units_.push_back(std::move(*u));
  }

  void judge(Unit& u) const {
    const Node& n = g_[u.node];
    u.heavy = multiplies(n);
    if (options_.products_only && listed(autocast_f32, n)) {
      u.form = Form::f32;
      u.why = "mixed precision computes this operator in f32";
    }
  }

  Unit& carried(NodeId n) {
    Unit& u = units_.emplace_back();
    u.node = n;
    return u;
  }

  void read_result(Unit& u, RegionId r, size_t i) const {
    if (i >= g_[r].outputs.size() || !g_[r].outputs[i] || !is_f32(g_[g_[r].outputs[i]].fact.type)) return;
    u.reads.push_back({g_[r].outputs[i], Use{{}, r, static_cast<uint32_t>(i)}});
  }
  void give_input(Unit& u, RegionId r, size_t i) const {
    if (i < g_[r].inputs.size() && is_f32(g_[g_[r].inputs[i]].fact.type)) u.gives.push_back(g_[r].inputs[i]);
  }

  // A value that goes round: operand -> the body's input, the body's output -> the same and the node's output.
  void state(NodeId n, size_t in, size_t body_in, size_t body_out, size_t out) {
    Unit& u = carried(n);
    const RegionId r = g_[n].regions[0];
    if (f32_operand(n, in)) u.reads.push_back(operand(n, in));
    give_input(u, r, body_in);
    read_result(u, r, body_out);
    if (f32_result(n, out)) u.gives.push_back(g_[n].outputs[out]);
    drop_empty();
  }
  void collected(NodeId n, std::span<const RegionId> bodies, size_t body_out, size_t out) {
    Unit& u = carried(n);
    for (const RegionId r : bodies)
      if (r) read_result(u, r, body_out);
    if (f32_result(n, out)) u.gives.push_back(g_[n].outputs[out]);
    drop_empty();
  }
  void drop_empty() {
    if (units_.back().reads.empty() && units_.back().gives.empty()) units_.pop_back();
  }

  void structured(NodeId id) {
    const Node& n = g_[id];
    if (n.is("If")) {
      for (size_t i = 0; i < n.outputs.size(); ++i) collected(id, n.regions, i, i);
    } else if (n.is("Loop") && n.inputs.size() >= 2) {
      const size_t states = n.inputs.size() - 2;
      for (size_t i = 0; i < states; ++i) state(id, 2 + i, 2 + i, 1 + i, i);
      for (size_t i = states; i < n.outputs.size(); ++i) collected(id, n.regions, 1 + i, i);
    } else if (const auto* scan = n.as<op::Scan>();
               scan && scan->num_scan_inputs >= 0 && static_cast<size_t>(scan->num_scan_inputs) <= n.inputs.size()) {
      const size_t states = n.inputs.size() - static_cast<size_t>(scan->num_scan_inputs);
      for (size_t i = 0; i < states; ++i) state(id, i, i, i, i);
      for (size_t i = states; i < n.inputs.size(); ++i) state(id, i, i, SIZE_MAX, SIZE_MAX);
      for (size_t i = states; i < n.outputs.size(); ++i) collected(id, n.regions, i, i);
    } else {
      rigid(id);
    }
  }

  void rigid(NodeId id) {
    Unit& u = carried(id);
    u.form = Form::f32;
    u.fixed = true;
    u.why = cat("the body of ", g_[id].op->name, " stays as it is");
    for (size_t i = 0; i < g_[id].inputs.size(); ++i)
      if (f32_operand(id, i)) u.reads.push_back(operand(id, i));
    for (size_t i = 0; i < g_[id].outputs.size(); ++i)
      if (f32_result(id, i)) u.gives.push_back(g_[id].outputs[i]);
    for (const RegionId r : g_[id].regions) {
      if (!r) continue;
      for (size_t i = 0; i < g_[r].inputs.size(); ++i) give_input(u, r, i);
      for (size_t i = 0; i < g_[r].outputs.size(); ++i) read_result(u, r, i);
    }
    drop_empty();
  }

  const Graph& g_;
  const HalfOptions& options_;
  std::vector<Unit> units_;
};

// Sizes that are not known count as 32.
double estimated_bytes(const Type& t) {
  const Type* inner = innermost(t);
  double out = 4;
  if (inner->has_rank())
    for (const Dim d : *inner->shape) out *= d.is_literal() ? static_cast<double>(d.literal()) : 32;
  return out;
}

constexpr double per_cast = 1 << 17;  // bytes that a cast counts for, however small: it is a kernel of its own
constexpr double per_product = 64;    // a product in f32 counts for so many times the bytes of its result

}  // namespace

bool is_f32(const Type& t) {
  const Type* inner = innermost(t);
  return inner->is_tensor() && inner->elem == DType::f32;
}

Type with_element(Type t, DType to) {
  if (t.inner && !t.is_tensor()) t.inner = std::make_shared<const Type>(with_element(*t.inner, to));
  else t.elem = to;
  return t;
}

std::vector<Unit> half_units(const Graph& g, const HalfOptions& options) { return Builder(g, options).run(); }

namespace {

double f32_cost(const Graph& g, const Unit& u) {
  double bytes = per_cast / 16;
  for (const ValueId v : u.gives) bytes += estimated_bytes(g[v].fact.type);
  return bytes * (u.heavy ? per_product : 1);
}

double cast_cost(const Type& t) { return t.is_tensor() ? per_cast + estimated_bytes(t) : MinCut::unbounded; }

// Of every value that some unit gives: the one that gives it, and those that read it.
struct Link {
  size_t giver = SIZE_MAX;
  std::vector<size_t> readers;
};
std::map<ValueId, Link> links_of(const std::vector<Unit>& units) {
  std::map<ValueId, Link> out;
  for (size_t i = 0; i < units.size(); ++i)
    for (const ValueId v : units[i].gives) out[v].giver = i;
  for (size_t i = 0; i < units.size(); ++i)
    for (const Unit::Read& r : units[i].reads)
      if (const auto it = out.find(r.value); it != out.end()) it->second.readers.push_back(i);
  return out;
}

bool is_cut(const std::vector<Unit>& units, const Link& link) {
  return std::any_of(link.readers.begin(), link.readers.end(),
                     [&](size_t r) { return units[r].form != units[link.giver].form; });
}

double cost_of(const Graph& g, const std::vector<Unit>& units, const std::map<ValueId, Link>& links) {
  double out = 0;
  for (const Unit& u : units)
    if (u.form == Form::f32 && !u.fixed) out += f32_cost(g, u);
  for (const auto& [v, link] : links)
    if (is_cut(units, link)) out += cast_cost(g[v].fact.type);
  return out;
}

}  // namespace

size_t cast_count(const Graph& g, const std::vector<Unit>& units) {
  const auto links = links_of(units);
  auto out = static_cast<size_t>(
      std::count_if(links.begin(), links.end(), [&](const auto& link) { return is_cut(units, link.second); }));
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const Node& n = g[NodeId(i)];
    if (n.dead || !n.as<op::Cast>()) continue;
    const auto from = links.find(g.input(NodeId(i), 0)), to = links.find(n.outputs[0]);
    const bool same = from != links.end() && to != links.end() && from->second.giver < units.size() &&
                      to->second.giver < units.size() && units[from->second.giver].form == units[to->second.giver].form;
    out += !same;  // those go
  }
  return out;
}

size_t usual_casts(const Graph& g, std::vector<Unit> units) {
  constexpr std::string_view kept[] = {"CumSum", "Max", "Min", "NonMaxSuppression", "Range", "RoiAlign", "TopK"};
  size_t out = 0;
  for (Unit& u : units) {
    if (u.node && listed(kept, g[u.node]))
      out += static_cast<size_t>(std::count_if(u.reads.begin(), u.reads.end(),
                                               [&](const Unit::Read& r) { return !g.is_constant(r.value); })) +
             u.gives.size();
    if (u.node && u.fixed)  // scales of a Resize in Constant nodes
      out += static_cast<size_t>(std::count_if(u.reads.begin(), u.reads.end(), [&](const Unit::Read& r) {
        return g.is_constant(r.value) && g[r.value].def.valid();
      }));
    if (!u.fixed) u.form = Form::half;
  }
  return out + cast_count(g, units);
}

double place_casts(const Graph& g, std::vector<Unit>& units, double price) {
  MinCut cut;  // source: f32, sink: half
  std::vector<size_t> nodes;
  for (const Unit& u : units) {
    const size_t node = nodes.emplace_back(cut.add_node());
    if (u.form == Form::f32) cut.add_edge(MinCut::source, node, MinCut::unbounded);
    else cut.add_edge(node, MinCut::sink, u.form == Form::half ? MinCut::unbounded : f32_cost(g, u));
  }
  const std::map<ValueId, Link> links = links_of(units);
  for (const auto& [v, link] : links) {
    // A value is cast once, if any reader is on the other side than what gives it.
    const size_t from = nodes[link.giver], down = cut.add_node(), up = cut.add_node();
    cut.add_edge(from, down, price * cast_cost(g[v].fact.type));
    cut.add_edge(up, from, price * cast_cost(g[v].fact.type));
    for (const size_t reader : link.readers) {
      cut.add_edge(down, nodes[reader], MinCut::unbounded);
      cut.add_edge(nodes[reader], up, MinCut::unbounded);
    }
  }
  const std::vector<bool> f32 = cut.source_side();
  for (size_t i = 0; i < units.size(); ++i) {
    if (f32[nodes[i]] && units[i].form == Form::open) units[i].why = "fewer bytes are cast that way";
    units[i].form = f32[nodes[i]] ? Form::f32 : Form::half;
  }
  return cost_of(g, units, links);
}

}  // namespace cameo::passes
