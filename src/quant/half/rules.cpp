#include "quant/half/rules.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "passes/half/half.h"
#include "runtime/watch.h"

namespace cameo::quant {

namespace {

constexpr double most_rounding = 0.1;  // an epsilon may be that far off

struct Magnitudes {
  double largest = 0;   // masks excepted
  double rounding = 0;  // of the largest number
};

Magnitudes magnitudes(const Tensor& t, DType half) {
  Magnitudes out;
  const Loaded<float> x(t);
  for (const float v : x.span()) {
    const double a = std::fabs(static_cast<double>(v));
    if (a < mask_like) out.largest = std::max(out.largest, a);  // NaN is not
  }
  if (out.largest > 0) {
    const std::vector<float> one{static_cast<float>(out.largest)};
    out.rounding = std::fabs(store(half, {1}, one).double_at(0) / out.largest - 1);
  }
  return out;
}

// Operators between sizes and positions.
constexpr std::string_view index_arithmetic[] = {
    "Abs",   "Add",    "Cast",       "Ceil",      "Clip",      "Concat",     "Div",       "Expand",
    "Floor", "Gather", "Identity",   "Max",       "Min",       "Mod",        "Mul",       "Neg",
    "Pow",   "Range",  "Reciprocal", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Reshape",
    "Round", "Slice",  "Sqrt",       "Squeeze",   "Sub",       "Tile",       "Unsqueeze", "Where"};
constexpr std::string_view angles[] = {"Cos", "Sin"};

bool listed(std::span<const std::string_view> names, const Node& n) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return n.is(name); });
}

bool to_integer(const Graph& g, NodeId n) {
  const auto* cast = g[n].as<op::Cast>();
  const ValueId v = cast ? g.input(n, 0) : ValueId();
  const DType to = cast ? dtype_from_number(cast->to).value_or(DType::undefined) : DType::undefined;
  return v && g[v].fact.dtype() == DType::f32 && carrier_of(to) == Carrier::i64;
}

}  // namespace

void keep_f32(Unit& u, std::string why) {
  if (u.form == Form::f32) return;
  u.form = Form::f32;
  u.why = std::move(why);
}

void keep_asked(const Graph& g, std::span<Unit> units, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    bool any = find_op("", pattern) != nullptr;
    for (Unit& u : units) {
      const std::string& name = u.node ? g[u.node].name : g[u.value].name;
      const bool by_result =
          std::any_of(u.gives.begin(), u.gives.end(), [&](ValueId v) { return runtime::matches(g[v].name, pattern); });
      if (!(u.node && g[u.node].op->name == pattern) && !runtime::matches(name, pattern) && !by_result) continue;
      keep_f32(u, "kept as asked");
      any = true;
    }
    if (!any)
      throw error("use.value", cat("there is no operator and no node '", pattern, "'"))
          .help("operators as ONNX spells them, or names of nodes; * and ? stand for any text and any letter");
  }
}

void keep_constants(const Graph& g, std::span<Unit> units, DType half) {
  std::map<ValueId, Magnitudes> seen;
  for (Unit& u : units) {
    if (!u.node || u.form == Form::f32) continue;
    for (const Unit::Read& r : u.reads) {
      if (!g.is_constant(r.value) || !g[r.value].fact.type.is_tensor()) continue;
      auto it = seen.find(r.value);
      if (it == seen.end()) it = seen.emplace(r.value, magnitudes(*g.constant(r.value), half)).first;
      const auto [largest, rounding] = it->second;
      const auto shown = static_cast<float>(largest);
      if (largest > passes::largest_half(half))
        keep_f32(u, cat("the constant '", g[r.value].name, "' reaches ", shown));
      else if (rounding > most_rounding)
        keep_f32(u, cat("the constant '", g[r.value].name, "' of ", shown, " is too small for ", ir::name(half)));
    }
  }
}

void keep_refused(const Graph& g, std::span<Unit> units) {
  const auto reduces = [](const auto* attrs) { return attrs && attrs->reduction != "none"; };
  for (Unit& u : units) {
    if (!u.node) continue;
    if (reduces(g[u.node].as<op::ScatterElements>()) || reduces(g[u.node].as<op::ScatterND>()))
      keep_f32(u, "engines have no half precision for a scatter with a reduction");
    if (g[u.node].is("AffineGrid")) keep_f32(u, "engines have no half precision for it");
  }
}

void keep_index_arithmetic(const Graph& g, std::span<Unit> units) {
  std::map<ValueId, size_t> givers;
  for (size_t i = 0; i < units.size(); ++i)
    for (const ValueId v : units[i].gives) givers[v] = i;
  // Units whose operands are constants, and what was computed from integers only.
  std::vector<bool> from_integers(units.size());
  std::set<size_t> work;
  const auto open = [&](ValueId v) {
    const auto it = givers.find(v);
    return it != givers.end() && !from_integers[it->second];
  };
  for (size_t i = 0; i < units.size(); ++i) {
    const Unit& u = units[i];
    if (!u.node || u.gives.empty() || !g[u.node].regions.empty()) continue;
    const bool light = listed(index_arithmetic, g[u.node]) || listed(angles, g[u.node]);
    const bool from_bool = g[u.node].as<op::Cast>() && g[g[u.node].inputs[0]].fact.dtype() == DType::boolean;
    const bool from_float = g[u.node].as<op::Cast>() && carrier_of(g[g[u.node].inputs[0]].fact.dtype()) != Carrier::i64;
    from_integers[i] = light && !from_bool && !from_float &&
                       std::none_of(u.reads.begin(), u.reads.end(), [&](const auto& r) { return open(r.value); });
    if (from_integers[i] && listed(angles, g[u.node])) work.insert(i);
  }
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (!g[NodeId(i)].dead && to_integer(g, NodeId(i)))
      if (const auto it = givers.find(g[NodeId(i)].inputs[0]); it != givers.end()) work.insert(it->second);
  while (!work.empty()) {
    const size_t i = *work.begin();
    work.erase(work.begin());
    if (!from_integers[i] || units[i].form == Form::f32) continue;
    keep_f32(units[i], "arithmetic on sizes or positions");
    for (const Unit::Read& r : units[i].reads)
      if (const auto it = givers.find(r.value); it != givers.end()) work.insert(it->second);
  }
}

}  // namespace cameo::quant
