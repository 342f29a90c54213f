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
  if (!is_given(g, v) || g[v].fact.dtype() != DType::f32) return false;
  const auto t = g.constant(v);
  if (!t) return false;
  for (int64_t i = 0; i < t->count(); ++i)
    if (const double n = std::abs(t->double_at(i)); n > largest_half && std::isfinite(n)) return true;
  return false;
}

// INT64_MAX and its like are clipped everywhere: ends of slices.
bool beyond_int32(const Graph& g, ValueId v) {
  if (!is_given(g, v) || g[v].fact.dtype() != DType::i64) return false;
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

// Something is added before the first element.
bool pads_begin(const Subject& s) {
  const AttrValue pads = s.node->attribute("pads");
  const auto* p = std::get_if<std::vector<int64_t>>(&pads);
  return p && std::any_of(p->begin(), p->begin() + static_cast<std::ptrdiff_t>(p->size() / 2),
                          [](int64_t n) { return n != 0; });
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
    return is_given(g, x) && f.has_rank() && f.rank() == 4 && !f.shape()[1].is(1);
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
    if (n.is("MatMul")) return is_given(g, n.inputs[1]) ? std::optional(false) : std::nullopt;
    if (n.is("Add")) {
      const ValueId other = is_given(g, n.inputs[1]) ? n.inputs[0] : n.inputs[1];
      if (!is_given(g, n.inputs[0]) && !is_given(g, n.inputs[1])) return std::nullopt;
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

// The other operand of a node that a constant is an operand of, and whether the constant comes first.
struct WithConstant {
  ValueId other;
  bool first = false;
};
WithConstant beside_constant(const Graph& g, ValueId v, std::string_view op) {
  if (!v || !g[v].def || !g[g[v].def].is(op)) return {};
  const auto& in = g[g[v].def].inputs;
  if (is_given(g, in[0])) return {in[1], true};
  return is_given(g, in[1]) ? WithConstant{in[0]} : WithConstant{};
}

// GELU's 1 + tanh(c (x + k x³)) with x³ as a product: whether constants come first everywhere; nothing: it is none.
std::optional<bool> one_plus_tanh(const Graph& g, ValueId v) {
  const WithConstant sum = beside_constant(g, v, "Add");
  if (!sum.other || !g[sum.other].def || !g[g[sum.other].def].is("Tanh")) return std::nullopt;
  const WithConstant scaled = beside_constant(g, g[g[sum.other].def].inputs[0], "Mul");
  if (!scaled.other || !g[scaled.other].def || !g[g[scaled.other].def].is("Add")) return std::nullopt;
  for (const ValueId part : g[g[scaled.other].def].inputs)
    if (const WithConstant cube = beside_constant(g, part, "Mul");
        cube.other && g[cube.other].def && g[g[cube.other].def].is("Mul"))
      return sum.first && scaled.first && cube.first;
  return std::nullopt;
}

// The same with erf: whether the constant comes last.
std::optional<bool> one_plus_erf(const Graph& g, ValueId v) {
  const WithConstant sum = beside_constant(g, v, "Add");
  if (!sum.other || !g[sum.other].def || !g[g[sum.other].def].is("Erf")) return std::nullopt;
  return !sum.first;
}

// A constant times such a sum, or times x and such a sum. Of the latter, those are taken well whose constants all come
// first (tanh) or last (erf).
bool scaled_sum(const Subject& s, std::optional<bool> (*sum)(const Graph& g, ValueId v), bool well_first) {
  const Graph& g = s.graph();
  const WithConstant half = beside_constant(g, s.node->output(0), "Mul");
  if (!half.other || !g[half.other].def) return false;
  if (sum(g, half.other)) return true;
  if (!g[g[half.other].def].is("Mul")) return false;
  for (const ValueId part : g[g[half.other].def].inputs)
    if (const auto in_order = sum(g, part)) return !*in_order || half.first != well_first;
  return false;
}
bool scaled_tanh(const Subject& s) { return scaled_sum(s, one_plus_tanh, true); }
bool scaled_erf(const Subject& s) { return scaled_sum(s, one_plus_erf, false); }

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
  return v && !g[v].def && !is_given(g, v);
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

// Add of what a Conv gives and of a value that was computed before it, of another shape.
bool is_broadcast_residual(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId a = s.node->input(0), b = s.node->input(1);
  const auto is_conv = [&](ValueId v) { return v && g[v].def && g[g[v].def].is("Conv"); };
  if (!a || !b || is_conv(a) == is_conv(b)) return false;
  const ValueId conv = is_conv(a) ? a : b, other = is_conv(a) ? b : a;
  if (!g[other].def || is_given(g, other) || g[conv].uses.size() != 1) return false;
  if (!g[conv].fact.has_rank() || !g[other].fact.has_rank() || g[conv].fact.shape() == g[other].fact.shape())
    return false;
  const NodeId before = g[other].def, after = g[conv].def;
  return g[before].home == g[after].home && s.file.places[before.index] < s.file.places[after.index];
}

// A cast of a product one of whose operands is a Constant node, not an initializer.
bool is_scaled_by_node(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId v = s.node->input(0);
  if (!v || !g[v].def || !g[g[v].def].is("Mul")) return false;
  const auto& in = g[g[v].def].inputs;
  return std::any_of(in.begin(), in.end(), [&](ValueId x) { return x && g[x].def && g[g[x].def].is("Constant"); });
}

bool casts_integers(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId v = s.node->input(0);
  if (!v || !g[v].def || !g[g[v].def].is("Cast")) return false;
  const ValueId from = g[g[v].def].inputs[0];
  return from && !is_float(g[from].fact.dtype());
}

// A constant of one element among what is joined.
bool joins_number(const Subject& s) {
  return any_input(s, [](const Graph& g, ValueId v) {
    const Fact& f = g[v].fact;
    return is_given(g, v) && f.has_rank() &&
           std::all_of(f.shape().begin(), f.shape().end(), [](Dim d) { return d.is(1); });
  });
}

// A norm whose reader Clip is spread by Expand, as PyTorch writes normalize.
bool is_expanded_norm(const Subject& s) {
  const Graph& g = s.graph();
  const auto read_by = [&](ValueId v, std::string_view op) {
    for (const Use& u : g[v].uses)
      if (u.node && g[u.node].is(op)) return u.node;
    return NodeId();
  };
  const ValueId norm = s.node->output(0);
  const NodeId clip = norm ? read_by(norm, "Clip") : NodeId();
  return clip && !g[clip].outputs.empty() && g[clip].outputs[0] && read_by(g[clip].outputs[0], "Expand");
}

// A mean of squares: what was squared is scaled by something computed, as RMS norms do.
bool scales_itself(const Subject& s) {
  const Graph& g = s.graph();
  const ValueId square = s.node->input(0);
  const ValueId x = square && g[square].def ? g.input(g[square].def, 0) : ValueId();
  if (!x) return false;
  return std::any_of(g[x].uses.begin(), g[x].uses.end(), [&](const Use& u) {
    if (!u.node || u.node == g[square].def || (!g[u.node].is("Mul") && !g[u.node].is("Div"))) return false;
    const auto& in = g[u.node].inputs;
    return std::all_of(in.begin(), in.end(), [&](ValueId v) { return v == x || !is_given(g, v); });
  });
}

// The window of a Conv is one element.
bool is_one_by_one(const Subject& s) {
  const ValueId w = s.node->input(1);
  if (!w || !s.graph()[w].fact.has_rank() || s.graph()[w].fact.rank() < 3) return false;
  const auto& shape = s.graph()[w].fact.shape();
  return std::all_of(shape.begin() + 2, shape.end(), [](Dim d) { return d.is(1); });
}

// A reduction after which axes of more than one element stay.
bool leaves_axes(const Subject& s) {
  const ValueId v = s.node->input(0);
  const AttrValue attribute = s.node->attribute("axes");
  const auto* axes = std::get_if<std::vector<int64_t>>(&attribute);
  if (!v || !axes || axes->empty() || !s.graph()[v].fact.has_rank()) return false;
  const auto& shape = s.graph()[v].fact.shape();
  const int64_t rank = s.graph()[v].fact.rank();
  for (int64_t i = 0; i < rank; ++i)
    if (!shape[static_cast<size_t>(i)].is(1) &&
        std::none_of(axes->begin(), axes->end(), [&](int64_t a) { return a == i || a + rank == i; }))
      return true;
  return false;
}

// A constant with more than two axes of which only the last has more than one element.
bool is_wrapped_row(const Graph& g, ValueId v) {
  if (!v || !is_given(g, v) || !g[v].fact.has_rank() || g[v].fact.rank() < 3) return false;
  const auto& shape = g[v].fact.shape();
  return std::all_of(shape.begin(), shape.end() - 1, [](Dim d) { return d.is(1); });
}

// A product with constant weights, and a bias that is such a row.
bool adds_wrapped_row(const Subject& s) {
  const Graph& g = s.graph();
  const auto is_product = [&](ValueId v) {
    return v && g[v].def && g[g[v].def].is("MatMul") && is_given(g, g[g[v].def].inputs[1]);
  };
  const ValueId a = s.node->input(0), b = s.node->input(1);
  return (is_product(a) && is_wrapped_row(g, b)) || (is_product(b) && is_wrapped_row(g, a));
}

// MatMul with constant weights, with or without a bias.
bool is_behind_product(const Subject& s) {
  const Graph& g = s.graph();
  const auto is_product = [&](ValueId v) {
    return v && g[v].def && g[g[v].def].is("MatMul") && is_given(g, g[g[v].def].inputs[1]);
  };
  const ValueId v = s.node->input(0);
  if (is_product(v)) return true;
  return v && g[v].def && g[g[v].def].is("Add") &&
         (is_product(g[g[v].def].inputs[0]) || is_product(g[g[v].def].inputs[1]));
}

// The zero point of a QuantizeLinear or DequantizeLinear that is not 0.
bool has_zero_point(const Graph& g, NodeId n) {
  const auto& in = g[n].inputs;
  if (in.size() < 3) return false;
  const auto t = small_constant(g, in[2]);
  if (!t) return in[2] && !is_given(g, in[2]);
  const auto all = t->to_ints();
  return std::any_of(all.begin(), all.end(), [](int64_t z) { return z != 0; });
}

// A product of few rows (rank 2) of what another product gave, through 8 bits with a zero point.
bool chains_int8_products(const Subject& s) {
  constexpr int64_t most_rows = 8;
  const Graph& g = s.graph();
  const auto maker = [&](ValueId v, std::initializer_list<std::string_view> ops) {
    const NodeId n = v ? g[v].def : NodeId();
    return n && std::any_of(ops.begin(), ops.end(), [&](auto op) { return g[n].is(op); }) ? n : NodeId();
  };
  const ValueId x = s.node->input(0);
  if (!x || !g[x].fact.has_rank() || g[x].fact.rank() != 2) return false;
  const Dim rows = g[x].fact.shape()[0];
  if (!rows.is_literal() || rows.literal() > most_rows) return false;
  const NodeId out = maker(x, {"DequantizeLinear"});
  const NodeId in = out ? maker(g[out].inputs[0], {"QuantizeLinear"}) : NodeId();
  const NodeId first = in ? maker(g[in].inputs[0], {"MatMul", "Gemm"}) : NodeId();
  if (!first) return false;
  const NodeId before = maker(g[first].inputs[0], {"DequantizeLinear"});
  const auto& uses = g[s.node->output(0)].uses;
  return has_zero_point(g, in) || (before && has_zero_point(g, before)) ||
         std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
           return u.node && g[u.node].is("QuantizeLinear") && has_zero_point(g, u.node);
         });
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
    {"pads-begin", pads_begin},
    {"result-size-unknown", result_size_unknown},
    {"behind-stft", behind_stft},
    {"head-bias", has_head_bias},
    {"uneven-bias", has_uneven_bias},
    {"moves-first-axis", moves_first_axis},
    {"scaled-erf", scaled_erf},
    {"near-input", is_near_input},
    {"flattens", flattens},
    {"joins-number", joins_number},
    {"expanded-norm", is_expanded_norm},
    {"scales-itself", scales_itself},
    {"broadcasts-channels", broadcasts_channels},
    {"broadcast-residual", is_broadcast_residual},
    {"scaled-by-node", is_scaled_by_node},
    {"casts-integers", casts_integers},
    {"from-conv", [](const Subject& s) { return is_from_conv(s.graph(), s.node->input(0)); }},
    {"moves-last-axis", moves_last_axis},
    {"changes-first-size", changes_first_size},
    {"one-by-one", is_one_by_one},
    {"leaves-axes", leaves_axes},
    {"wrapped-row", adds_wrapped_row},
    {"behind-product", is_behind_product},
    {"chained-int8-products", chains_int8_products},
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
