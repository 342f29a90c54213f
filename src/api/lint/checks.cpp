// Conditions of rows that are code: `check NAME`.
#include <algorithm>
#include <cmath>
#include <set>

#include "api/lint/terms.h"
#include "ops/generated/attributes.h"

namespace cameo::linting {

namespace {

constexpr double largest_half = 65504;

bool any_input(const Subject& s, bool (*fits)(const Graph& g, ValueId v)) {
  const auto& inputs = s.node->inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) { return v && fits(s.graph(), v); });
}

template <class F>
bool any_number(const Subject& s, ValueId v, F fits) {
  const auto t = small_constant(s.graph(), v);
  if (!t || t->dtype() == DType::string || is_complex(t->dtype())) return false;
  const auto all = t->to_doubles();
  return std::any_of(all.begin(), all.end(), fits);
}

// Numbers that f16 turns into infinity. An infinity is meant.
bool overflows_half(const Graph& g, ValueId v) {
  if (g[v].kind == Value::Kind::node_output && !g[g[v].def].is("Constant")) return false;
  if (!g.is_constant(v) || g[v].fact.dtype() != DType::f32) return false;
  const auto t = g.constant(v);
  if (!t) return false;
  for (int64_t i = 0; i < t->count(); ++i)
    if (const double n = std::abs(t->double_at(i)); n > largest_half && std::isfinite(n)) return true;
  return false;
}

// INT64_MAX and its like are clipped everywhere: ends of slices.
bool beyond_int32(const Graph& g, ValueId v) {
  if (!g.is_constant(v) || g[v].fact.dtype() != DType::i64) return false;
  const auto t = small_constant(g, v);
  if (!t) return false;
  const auto all = t->to_ints();
  return std::any_of(all.begin(), all.end(), [](int64_t n) {
    return (n > INT32_MAX || n < INT32_MIN) && n < INT64_MAX / 2 && n > INT64_MIN / 2;
  });
}

bool elements_over_int32(const Graph& g, ValueId v) {
  const Type& t = g[v].fact.type;
  if (!t.is_tensor() || !t.has_rank()) return false;
  double count = 1;
  for (const Dim d : *t.shape) count *= d.is_literal() ? static_cast<double>(d.literal()) : 1;
  return count > INT32_MAX;
}

bool is_quantised_type(DType t) { return bits(t) == 8 && t != DType::boolean && t != DType::u8; }

// An 8-bit value that neither Q gives nor DQ reads.
bool loose_int8(const Subject& s) {
  const Graph& g = s.graph();
  const auto by = [&](NodeId n, std::string_view op) { return n && g[n].is(op); };
  return any_input(s, [](const Graph& graph, ValueId v) { return is_quantised_type(graph[v].fact.dtype()); }) &&
         s.node->op != "DequantizeLinear" && s.node->op != "QuantizeLinear" &&
         std::any_of(s.node->inputs.begin(), s.node->inputs.end(), [&](ValueId v) {
           return v && is_quantised_type(g[v].fact.dtype()) && !by(g[v].def, "QuantizeLinear");
         });
}

bool branches_differ_in_rank(const Subject& s) {
  const Graph& g = s.graph();
  const auto& regions = g[s.node->id].regions;
  if (regions.size() < 2 || !regions[0] || !regions[1]) return false;
  const auto &a = g[regions[0]].outputs, &b = g[regions[1]].outputs;
  if (a.size() != b.size()) return true;
  for (size_t i = 0; i < a.size(); ++i) {
    const Type &x = g[a[i]].fact.type, &y = g[b[i]].fact.type;
    if (x.is_tensor() && y.is_tensor() && x.has_rank() && y.has_rank() && x.rank() != y.rank()) return true;
  }
  return false;
}

// A cast whose only readers cast back: two passes over memory for nothing, or for a loss.
bool cast_there_and_back(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId from = s.node->input(0), to = s.node->output(0);
  if (!from || !to || g[to].uses.empty()) return false;
  return std::all_of(g[to].uses.begin(), g[to].uses.end(), [&](const Use& u) {
    return u.node && g[u.node].is("Cast") && g[g[u.node].outputs[0]].fact.dtype() == g[from].fact.dtype();
  });
}

bool is_channel_order(const AttrValue& perm) {
  const auto* p = std::get_if<std::vector<int64_t>>(&perm);
  return p && (*p == std::vector<int64_t>{0, 2, 3, 1} || *p == std::vector<int64_t>{0, 3, 1, 2});
}
bool changes_layout(const Subject& s) { return is_channel_order(s.node->attribute("perm")); }

bool odd_last_dim(const Subject& s) {
  const ValueId v = s.node->input(0);
  if (!v || !s.graph()[v].fact.has_rank() || !s.graph()[v].fact.rank()) return false;
  const Dim d = s.graph()[v].fact.shape().back();
  return d.is_literal() && d.literal() % 2 != 0;
}

bool channels_not_of_8(const Subject& s) {
  const ValueId v = s.node->input(1);
  if (!v || !s.graph()[v].fact.has_rank() || s.graph()[v].fact.rank() < 3) return false;
  const Dim d = s.graph()[v].fact.shape()[0];
  return d.is_literal() && d.literal() > 8 && d.literal() % 8 != 0;
}

bool pads_differ(const Subject& s) {
  const AttrValue pads = s.node->attribute("pads");
  const auto* p = std::get_if<std::vector<int64_t>>(&pads);
  if (!p || p->size() % 2) return false;
  return !std::equal(p->begin(), p->begin() + static_cast<std::ptrdiff_t>(p->size() / 2),
                     p->begin() + static_cast<std::ptrdiff_t>(p->size() / 2));
}

// Sizes that depend on contents: only running tells them.
bool result_size_unknown(const Subject& s) {
  const auto unknown = [&](ValueId v) {
    if (!v) return false;
    const Type& t = s.graph()[v].fact.type;
    if (!t.is_tensor() || !t.has_rank()) return true;
    return std::any_of(t.shape->begin(), t.shape->end(), [](Dim d) { return !d.is_literal() && mentions_fresh(d); });
  };
  return std::any_of(s.node->outputs.begin(), s.node->outputs.end(), unknown);
}

// What STFT gives, moved or cut.
bool behind_stft(const Subject& s) {
  const Graph& g = s.graph();
  ValueId v = s.node->input(0);
  for (int step = 0; step < 4 && v && g[v].def; ++step) {
    const Node& n = g[g[v].def];
    if (n.is("STFT")) return true;
    if (!n.is("Slice") && !n.is("Transpose") && !n.is("Squeeze")) return false;
    v = n.inputs[0];
  }
  return false;
}

// Softmax(x / c + a constant per head), which is relative position.
bool has_head_bias(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId v = s.node->input(0);
  if (!v || !g[v].def || !g[g[v].def].is("Add")) return false;
  const Node& add = g[g[v].def];
  // Queries that Gather picks are not taken for a part of it.
  const auto is_picked = [&](ValueId x) {
    for (int step = 0; step < 4 && x && g[x].def; ++step, x = g[g[x].def].inputs[0])
      if (g[g[x].def].is("Gather")) return true;
    return false;
  };
  const auto divided = [&](ValueId x) {
    return x && g[x].def && g[g[x].def].is("Div") && !is_picked(g[g[x].def].inputs[0]);
  };
  const auto per_head = [&](ValueId x) {
    const Fact& f = g[x].fact;
    return g.is_constant(x) && f.has_rank() && f.rank() == 4 && !f.shape()[1].is(1);
  };
  return (divided(add.inputs[0]) && per_head(add.inputs[1])) || (divided(add.inputs[1]) && per_head(add.inputs[0]));
}

// A projection as attention has it, behind what only moves or scales: whether it has a bias; nothing: it is none.
std::optional<bool> has_bias(const Graph& g, ValueId v) {
  constexpr int longest = 8;
  for (int step = 0; step < longest && v && g[v].def; ++step) {
    const Node& n = g[g[v].def];
    const bool moves = n.is("Transpose") || n.is("Reshape") || n.is("Mul") || n.is("Div") || n.is("Squeeze");
    if (n.is("Gemm")) return n.inputs.size() > 2;
    if (n.is("MatMul")) return g.is_constant(n.inputs[1]) ? std::optional(false) : std::nullopt;
    if (n.is("Add")) {
      const ValueId other = g.is_constant(n.inputs[1]) ? n.inputs[0] : n.inputs[1];
      if (!g.is_constant(n.inputs[0]) && !g.is_constant(n.inputs[1])) return std::nullopt;
      return other && g[other].def && g[g[other].def].is("MatMul") ? std::optional(true) : std::nullopt;
    }
    if (!moves) return std::nullopt;
    v = n.inputs[0];
  }
  return std::nullopt;
}

// Softmax(q k) where only one of the two projections has a bias.
bool has_uneven_bias(const Subject& s) {
  const Graph& g = s.graph();
  ValueId v = s.node->input(0);
  for (int step = 0; step < 4 && v && g[v].def; ++step) {
    const Node& n = g[g[v].def];
    if (n.is("MatMul")) {
      const auto q = has_bias(g, n.inputs[0]), k = has_bias(g, n.inputs[1]);
      return q && k && *q != *k;
    }
    if (!n.is("Add") && !n.is("Div") && !n.is("Mul")) return false;
    v = n.inputs[0];
  }
  return false;
}

bool moves_first_axis(const Subject& s) {
  const AttrValue perm = s.node->attribute("perm");
  const auto* p = std::get_if<std::vector<int64_t>>(&perm);
  if (p) return !p->empty() && p->front() != 0;
  const ValueId v = s.node->input(0);  // without perm the axes are turned round
  return v && s.graph()[v].fact.has_rank() && s.graph()[v].fact.rank() > 1;
}

bool moves_last_axis(const Subject& s) {
  const AttrValue perm = s.node->attribute("perm");
  const auto* p = std::get_if<std::vector<int64_t>>(&perm);
  if (p) return !p->empty() && p->back() != static_cast<int64_t>(p->size()) - 1;
  return moves_first_axis(s);
}

// The result has another number of rows than the operand, as far as both are known.
bool changes_first_size(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId a = s.node->input(0), b = s.node->output(0);
  if (!a || !b || !g[a].fact.has_rank() || !g[b].fact.has_rank() || !g[a].fact.rank() || !g[b].fact.rank())
    return false;
  const Dim x = g[a].fact.shape()[0], y = g[b].fact.shape()[0];
  return x != y;
}

// x (1 + tanh(...)) or its half, computed before the last factor: the half is multiplied on at the end, or to 1 +
// tanh(...).
bool scaled_tanh(const Subject& s) {
  const Graph& g = s.graph();
  const auto def = [&](ValueId v) { return v ? g[v].def : NodeId(); };
  const auto one_plus_tanh = [&](ValueId v) {
    const NodeId n = def(v);
    return n && g[n].is("Add") && std::any_of(g[n].inputs.begin(), g[n].inputs.end(), [&](ValueId x) {
             return def(x) && g[def(x)].is("Tanh");
           });
  };
  const auto product_with_it = [&](ValueId v) {
    const NodeId n = def(v);
    return n && g[n].is("Mul") && (one_plus_tanh(g[n].inputs[0]) || one_plus_tanh(g[n].inputs[1]));
  };
  const ValueId a = s.node->input(0), b = s.node->input(1);
  const auto scales = [&](ValueId c, ValueId v) {
    return c && v && g.is_constant(c) && (one_plus_tanh(v) || product_with_it(v));
  };
  return scales(a, b) || scales(b, a);
}

// Only operators that work element by element stand between the model's input and this.
bool is_near_input(const Subject& s) {
  const Graph& g = s.graph();
  ValueId v = s.node->input(0);
  constexpr std::string_view through[] = {"Pow", "Mul", "Cast", "Add", "Relu", "Identity"};
  for (int step = 0; step < 4 && v && g[v].def; ++step) {
    const Node& n = g[g[v].def];
    if (std::none_of(std::begin(through), std::end(through), [&](auto op) { return n.is(op); })) return false;
    v = n.inputs[0];
  }
  return v && !g[v].def && !g.is_constant(v);
}

// c (1 + erf(...)), before x is multiplied to it.
bool scaled_erf(const Subject& s) {
  const Graph& g = s.graph();
  const auto one_plus_erf = [&](ValueId v) {
    if (!v || !g[v].def || !g[g[v].def].is("Add")) return false;
    const auto& in = g[g[v].def].inputs;
    return std::any_of(in.begin(), in.end(), [&](ValueId x) { return x && g[x].def && g[g[x].def].is("Erf"); });
  };
  const ValueId a = s.node->input(0), b = s.node->input(1);
  return a && b && ((g.is_constant(a) && one_plus_erf(b)) || (g.is_constant(b) && one_plus_erf(a)));
}

// Axes behind the one of Softmax have more than one element.
bool flattens(const Subject& s) {
  const ValueId v = s.node->input(0);
  const AttrValue attribute = s.node->attribute("axis");
  const auto* axis = std::get_if<int64_t>(&attribute);
  if (!v || !axis || !s.graph()[v].fact.has_rank()) return false;
  const auto& shape = s.graph()[v].fact.shape();
  const int64_t rank = s.graph()[v].fact.rank(), first = *axis + (*axis < 0 ? rank : 0) + 1;
  for (int64_t i = std::max<int64_t>(first, 0); i < rank; ++i)
    if (!shape[static_cast<size_t>(i)].is(1)) return true;
  return false;
}

// What a Conv gives, behind operators that work element by element.
bool is_from_conv(const Graph& g, ValueId v) {
  constexpr std::string_view through[] = {"Relu", "Sigmoid", "Clip",      "HardSigmoid", "HardSwish",
                                          "Tanh", "Swish",   "LeakyRelu", "Gelu",        "BatchNormalization",
                                          "Elu",  "Mish",    "MaxPool",   "AveragePool"};
  for (int step = 0; step < 4 && v && g[v].def; ++step) {
    const Node& n = g[g[v].def];
    if (n.is("Conv") || n.is("ConvTranspose")) return true;
    if (std::none_of(std::begin(through), std::end(through), [&](auto op) { return n.is(op); })) return false;
    v = n.inputs[0];
  }
  return false;
}

// Two results of Conv, one with a single channel that stands for all of the other's.
bool broadcasts_channels(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId a = s.node->input(0), b = s.node->input(1);
  if (!a || !b || a == b || !g[a].fact.has_rank() || !g[b].fact.has_rank()) return false;
  if (g[a].fact.rank() < 3 || g[a].fact.rank() != g[b].fact.rank()) return false;
  const Dim x = g[a].fact.shape()[1], y = g[b].fact.shape()[1];
  return x != y && (x.is(1) || y.is(1)) && is_from_conv(g, a) && is_from_conv(g, b);
}

// Split into queries and keys, of which the keys are scaled behind their Transpose.
bool scales_keys(const Subject& s) {
  const Graph& g = s.graph();
  const auto readers = [&](ValueId v, std::initializer_list<std::string_view> ops) {
    std::vector<ValueId> out;
    for (const Use& u : g[v].uses)
      if (u.node && std::any_of(ops.begin(), ops.end(), [&](auto op) { return g[u.node].is(op); }))
        out.push_back(g[u.node].outputs[0]);
    return out;
  };
  for (const ValueId part : s.node->outputs)
    if (part)
      for (const ValueId flat : readers(part, {"Squeeze", "Reshape"}))
        for (const ValueId turned : readers(flat, {"Transpose"}))
          if (!readers(turned, {"Mul", "Div"}).empty()) return true;
  return false;
}

bool has_negative(const Subject& s, ValueId v) {
  return any_number(s, v, [](double n) { return !(n > 0); });
}

struct Check {
  std::string_view name;
  bool (*holds)(const Subject& s);
};

constexpr Check checks[] = {
    {"half-overflow", [](const Subject& s) { return any_input(s, overflows_half); }},
    {"beyond-int32", [](const Subject& s) { return any_input(s, beyond_int32); }},
    {"elements-over-int32", [](const Subject& s) { return any_input(s, elements_over_int32); }},
    {"loose-int8", loose_int8},
    {"branches-differ-in-rank", branches_differ_in_rank},
    {"cast-there-and-back", cast_there_and_back},
    {"changes-layout", changes_layout},
    {"odd-last-dim", odd_last_dim},
    {"channels-not-of-8", channels_not_of_8},
    {"pads-differ", pads_differ},
    {"result-size-unknown", result_size_unknown},
    {"behind-stft", behind_stft},
    {"head-bias", has_head_bias},
    {"uneven-bias", has_uneven_bias},
    {"moves-first-axis", moves_first_axis},
    {"scaled-erf", scaled_erf},
    {"near-input", is_near_input},
    {"flattens", flattens},
    {"broadcasts-channels", broadcasts_channels},
    {"scales-keys", scales_keys},
    {"moves-last-axis", moves_last_axis},
    {"changes-first-size", changes_first_size},
    {"scaled-tanh", scaled_tanh},
    {"scale-not-positive", [](const Subject& s) { return has_negative(s, s.node->input(1)); }},
};

const Check* find_check(std::string_view name) {
  for (const Check& c : checks)
    if (c.name == name) return &c;
  return nullptr;
}

}  // namespace

bool is_known_check(std::string_view name) { return find_check(name) != nullptr; }
bool run_check(std::string_view name, const Subject& s) { return find_check(name)->holds(s); }

}  // namespace cameo::linting
