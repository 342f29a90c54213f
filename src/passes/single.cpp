#include "passes/single.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "ops/on.h"
#include "ops/soundness.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

constexpr double most = std::numeric_limits<float>::max();
constexpr auto f32_number = static_cast<int64_t>(DType::f32), f64_number = static_cast<int64_t>(DType::f64);

Type in_single(Type t) {
  if (t.inner) t.inner = std::make_shared<const Type>(in_single(*t.inner));
  if (t.elem == DType::f64) t.elem = DType::f32;
  return t;
}

Tensor narrowed(const Tensor& t) {
  std::vector<float> out;
  for (const double v : t.to_doubles())
    out.push_back(static_cast<float>(std::isfinite(v) ? std::clamp(v, -most, most) : v));
  return store(DType::f32, t.shape(), out);
}

std::shared_ptr<const Weight> narrowed(const Weight& w) {
  return std::make_shared<const Weight>(Weight::of(narrowed(w.dense())));
}

AttrValue narrowed(AttrValue value) {
  if (const auto* t = std::get_if<Tensor>(&value); t && t->dtype() == DType::f64) return narrowed(*t);
  return value;
}

// Attributes that hold f64, or name it as the type of a result.
void convert_attributes(Graph& g, NodeId n) {
  const OpInfo& op = *g[n].op;
  const auto changed = [&](const AttrField& f, AttrValue& value) {
    const AttrValue before = value;
    const auto* number = std::get_if<int64_t>(&value);
    if ((f.name == "to" || f.name == "dtype" || f.name == "output_datatype") && number && *number == f64_number)
      value = f32_number;
    value = narrowed(std::move(value));
    return !(before == value);
  };
  std::shared_ptr<void> copy;
  for (const AttrField& f : op.fields) {
    AttrValue value = f.get(g[n].attrs.get());
    if (std::holds_alternative<std::monostate>(value) || !changed(f, value)) continue;
    if (!copy) {
      copy = op.make();
      for (const AttrField& other : op.fields)
        if (AttrValue v = other.get(g[n].attrs.get()); !std::holds_alternative<std::monostate>(v))
          other.set(copy.get(), std::move(v));
    }
    f.set(copy.get(), std::move(value));
  }
  if (copy) g.set_attrs(n, std::move(copy));
}

bool holds_f64(const Type& t) { return !(in_single(t) == t); }

void refuse_unknown(const Graph& g, const Node& n) {
  if (!n.op->is_opaque() && n.op->domain.empty()) return;
  const auto is = [&](ValueId v) { return v && holds_f64(g[v].fact.type); };
  if (std::any_of(n.inputs.begin(), n.inputs.end(), is) || std::any_of(n.outputs.begin(), n.outputs.end(), is))
    throw error("convert.float", cat(n.op->name, " of ", n.op->domain, " takes or gives f64"));
}

}  // namespace

size_t to_single(Model& m) {
  inline_functions(m);
  admit(m);
  Graph& g = m.graph;
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (!g[NodeId(i)].dead) refuse_unknown(g, g[NodeId(i)]);
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (!g[NodeId(i)].dead && !g[NodeId(i)].op->is_opaque()) convert_attributes(g, NodeId(i));
  size_t count = 0;
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const ValueId v(i);
    if (g[v].kind == Value::Kind::dead || !holds_f64(g[v].fact.type)) continue;
    ++count;
    if (g[v].weight) g.set_weight(v, narrowed(*g[v].weight));
    g.fact(v).type = in_single(g[v].fact.type);
    g.fact(v).contents.reset();
    if (g[v].def) g.touch(g[v].def);
    for (const Use& u : std::vector<Use>(g[v].uses))
      if (u.node) g.touch(u.node);
  }
  infer(g);
  return count;
}

}  // namespace cameo::passes
