#include "ops/computed.h"

#include <numeric>

#include "ops/infer.h"

namespace cameo::ops {

namespace {

constexpr size_t else_branch = 0, then_branch = 1;

// Adds a node with bodies where `on` emits; the caller binds them and infers.
NodeId open_node(On& on, const OpDef& op, std::vector<ValueId> inputs, size_t outputs) {
  Graph& g = on.graph();
  const NodeId place = g[on.Identity(on.int_scalar(0))].def;
  const NodeId n = g.add_node(on.region(), op, nullptr, std::move(inputs), outputs, g[place].next);
  g.erase(place);
  return n;
}

// A body gives only values of its own.
ValueId owned(On& on, ValueId v) {
  const Value& value = on.graph()[v];
  return value.home == on.region() && value.kind == Value::Kind::node_output ? v : on.Identity(v);
}

Type loose(Type t) {
  t.shape.reset();
  return t;
}

}  // namespace

ValueId if_else(On& on, ValueId condition, const Emit& then, const Emit& otherwise) {
  Graph& g = on.graph();
  const NodeId n = open_node(on, op_of<op::If>(), {condition}, 1);
  for (const size_t i : {else_branch, then_branch}) {
    const RegionId body = g.add_region(on.region(), n);
    g.set_region(n, i, body);
    On inside(g, body);
    g.set_region_outputs(body, {owned(inside, i == then_branch ? then(inside) : otherwise(inside))});
  }
  infer_node(g, n);
  return g[n].outputs[0];
}

std::vector<ValueId> repeat(On& on, ValueId trips, const std::vector<ValueId>& carried, const LoopBody& body,
                            size_t stacked) {
  Graph& g = on.graph();
  std::vector<ValueId> inputs{on.Reshape(trips, on.ints(std::vector<int64_t>{})), {}};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  const NodeId n = open_node(on, op_of<op::Loop>(), inputs, carried.size() + stacked);
  const RegionId region = g.add_region(on.region(), n);
  g.set_region(n, 0, region);
  const ValueId i = g.add_input(region, "", Type::tensor(DType::i64, Shape{}));
  const ValueId goes_on = g.add_input(region, "", Type::tensor(DType::boolean, Shape{}));
  std::vector<ValueId> before;
  for (const ValueId v : carried) before.push_back(g.add_input(region, "", loose(on.fact(v).type)));
  On inside(g, region);
  std::vector<ValueId> outputs{inside.Identity(goes_on)};
  for (const ValueId v : body(inside, i, before)) outputs.push_back(owned(inside, v));
  g.set_region_outputs(region, outputs);
  infer_node(g, n);
  return g[n].outputs;
}

ValueId when(On& on, ValueId condition, ValueId x, const std::function<ValueId(On&, ValueId)>& f) {
  return repeat(on, on.cast(condition, DType::i64), {x},
                [&](On& o, ValueId, const std::vector<ValueId>& v) { return std::vector{f(o, v[0])}; })[0];
}

ValueId iota(On& on, ValueId count) {
  if (const Tensor* known = on.fact(count).tensor(); known && known->count() == 1 && known->int_at(0) <= 4096) {
    std::vector<int64_t> numbers(static_cast<size_t>(std::max<int64_t>(known->int_at(0), 0)));
    std::iota(numbers.begin(), numbers.end(), 0);
    return on.ints(numbers);
  }
  const ValueId ones = on.ConstantOfShape(on.Reshape(count, on.ints({1})),
                                          op::ConstantOfShape{.value = Tensor::ints(std::vector<int64_t>{1})});
  return on.Reshape(on.NonZero(ones), on.ints({-1}));
}

ValueId size_of(On& on, ValueId v, int64_t axis) {
  const Dim d = on.shape(v)[static_cast<size_t>(axis)];
  return d.is_literal() ? on.ints({d.literal()}) : on.Gather(on.Shape(v), on.ints({axis}));
}

ValueId as_vector(On& on, ValueId v) {
  const ValueId wide = on.cast(v, DType::i64);
  return on.has_rank(v) && on.rank(v) == 1 ? wide : on.Reshape(wide, on.ints({-1}));
}

ValueId element(On& on, ValueId vector, int64_t i) {
  if (const Tensor* known = on.fact(vector).tensor()) return on.ints({known->int_at(i)});
  return on.Gather(vector, on.ints({i}));
}

ValueId at_least(On& on, ValueId v, ValueId least) { return on.Where(on.Less(v, least), least, v); }
ValueId at_most(On& on, ValueId v, ValueId most) { return on.Where(on.Greater(v, most), most, v); }

ValueId modulo(On& on, ValueId v, ValueId by) {
  const auto rest = [&](ValueId x) { return on.Sub(x, on.Mul(on.Div(x, by), by)); };
  return rest(on.Add(rest(v), by));
}

ValueId settled(On& on, ValueId v) {
  const Tensor* known = on.fact(v).tensor();
  return known && !on.graph().is_constant(v) ? on.constant(*known) : v;
}

ValueId join_sizes(On& on, const std::vector<ValueId>& parts) { return settled(on, on.Concat(parts, {.axis = 0})); }

ValueId clamped(On& on, ValueId v, ValueId least, ValueId most) {
  return on.Min(std::vector{on.Max(std::vector{v, least}), most});
}

ValueId along(On& on, ValueId vector, int64_t axis, int64_t rank) {
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = -1;
  return rank == 1 ? vector : on.Reshape(vector, on.ints(shape));
}

ValueId from_front(On& on, ValueId axes, int64_t rank) {
  const ValueId list = as_vector(on, axes);
  return on.Where(on.Less(list, on.int_scalar(0)), on.Add(list, on.int_scalar(rank)), list);
}

ValueId axis_mask(On& on, ValueId axes, int64_t rank) {
  const ValueId column = on.Unsqueeze(axes, on.ints({1})), row = iota(on, on.ints({rank}));
  const ValueId hits = on.cast(on.Equal(column, row), DType::f32);
  return on.Greater(on.ReduceSum(hits, on.ints({0}), {.keepdims = 0}), on.number(0, DType::f32));
}

ValueId reshape_to_kept(On& on, ValueId v, ValueId keep) {
  return on.Reshape(v, on.Compress(on.Shape(v), keep, {.axis = 0}));
}

namespace {
ValueId from_axis_on(On& on, ValueId axis, int64_t first, int64_t rank, const std::function<ValueId(On&, int64_t)>& f) {
  if (first + 1 >= rank) return f(on, first);
  const ValueId hit = on.Reshape(on.Equal(axis, on.ints({first})), on.ints(std::vector<int64_t>{}));
  return if_else(
      on, hit, [&](On& o) { return f(o, first); }, [&](On& o) { return from_axis_on(o, axis, first + 1, rank, f); });
}
}  // namespace

ValueId by_axis(On& on, ValueId axis, int64_t rank, const std::function<ValueId(On&, int64_t)>& f) {
  return from_axis_on(on, from_front(on, axis, rank), 0, rank, f);
}

}  // namespace cameo::ops
