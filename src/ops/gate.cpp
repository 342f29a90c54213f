#include "ops/gate.h"

#include "kernels/carrier.h"
#include "ops/control/stack.h"
#include "ops/infer.h"

namespace cameo::ops {

namespace {

constexpr int64_t looked_at = 1024;  // elements of shape vectors and the like; rules do not read more

// A graph of one node, for rules that look at nothing else.
class Scratch {
 public:
  Scratch(const Node& n, std::span<const Datum* const> inputs) {
    std::vector<ValueId> operands;
    for (const Datum* d : inputs) operands.push_back(d ? operand(*d) : ValueId());
    node = g.add_node(g.main(), *n.op, n.attrs, std::move(operands), n.outputs.size());
    if (n.extra) g.set_extra(node, *n.extra);
    g.set_name(node, n.name);
    g.set_notes(node, n.notes);
  }

  std::vector<Type> check() {
    infer_node(g, node, {.fold = false, .real = true});
    std::vector<Type> out;
    for (const ValueId v : g[node].outputs) out.push_back(g[v].fact.type);
    return out;
  }

  Graph g;
  NodeId node;

 private:
  ValueId operand(const Datum& d) {
    const ValueId v = g.add_input(g.main(), "", real_type(d));
    if (d.kind == Datum::Kind::tensor && is_int(d.tensor.dtype()) && d.tensor.count() <= looked_at)
      g.fact(v).contents = std::make_shared<const Contents>(d.tensor);
    return v;
  }
};

bool is_judged(const Node& n) { return !n.op->is_opaque() && n.regions.empty(); }

}  // namespace

void forget_declared(Graph& g) {
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    Fact& fact = g.fact(ValueId(i));
    if (v.kind == Value::Kind::node_output) fact = {};
    else if (v.kind == Value::Kind::initializer)
      fact.type = Type::tensor(v.weight->dtype, Shape(v.weight->shape.begin(), v.weight->shape.end()));
    else if (v.kind == Value::Kind::region_input && (v.home != g.main() || !fact.type.is_tensor()))
      fact.type = without_sizes(fact.type);
  }
}

void forget_before_run(Graph& g) {
  note_declared_stacks(g);
  forget_declared(g);
}

Type real_type(const Datum& d) {
  const auto inside = [](const Datum& item) { return without_sizes(real_type(item)); };
  switch (d.kind) {
    case Datum::Kind::tensor:
      return Type::tensor(d.tensor.dtype(), Shape(d.tensor.shape().begin(), d.tensor.shape().end()));
    case Datum::Kind::sequence: return d.items->empty() ? Type() : Type::sequence(inside(d.items->front()));
    case Datum::Kind::map:
      return d.entries->empty() ? Type()
                                : Type::map(d.entries->front().first.tensor.dtype(), inside(d.entries->front().second));
    case Datum::Kind::none: break;
  }
  return {};
}

std::recursive_mutex& inferring() {
  static std::recursive_mutex one;
  return one;
}

Type given_type(const Datum& d, const Type& declared) {
  Type t = real_type(d);
  return t.is_unknown() && !declared.is_tensor() ? without_sizes(declared) : t;
}

void check_node(Graph& g, NodeId n) { infer_node(g, n, {.real = true}); }

std::vector<Type> check_call(const Graph& g, NodeId n, std::span<const Datum* const> inputs) {
  if (!is_judged(g[n])) return {};
  Scratch s(g[n], inputs);
  for (size_t i = 0; i < g[n].outputs.size(); ++i) s.g.label(s.g[s.node].outputs[i]).name = g[g[n].outputs[i]].name;
  return s.check();
}

std::vector<Type> check_call(const Node& n, std::span<const Datum* const> inputs) {
  return is_judged(n) ? called_types(n, inputs) : std::vector<Type>();
}

std::vector<Type> called_types(const Node& n, std::span<const Datum* const> inputs) {
  return Scratch(n, inputs).check();
}

std::optional<std::vector<Datum>> results_of_nothing(std::span<const Type> types) {
  std::vector<Datum> out;
  for (const Type& t : types) {
    const auto dims = t.is_tensor() && t.has_rank() ? known_shape(*t.shape) : std::nullopt;
    if (!dims || t.elem == DType::undefined || element_count(*dims) != 0) return std::nullopt;
    out.emplace_back(zeros(t.elem, *dims));
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

}  // namespace cameo::ops
