#include "ops/infer.h"

#include <algorithm>

#include "kernels/carrier.h"
#include "ops/control/body_types.h"

namespace cameo::ops {

namespace {
constexpr uint64_t small_weight_bytes = 1 << 16;  // what rules may read: axes, pads, scales, repeats

void check_sizes(const Infer& c, const Shape& shape) {
  std::vector<int64_t> known;
  for (const Dim d : shape) {
    if (!d.is_literal()) continue;
    if (d.literal() < 0) c.fail("infer.shape", cat("an output would have a size of ", d.literal()));
    known.push_back(d.literal());
  }
  try {
    element_count(known);
  } catch (const Error&) {
    c.fail("infer.shape", cat("an output would be [", shape_text(shape), "], more than any memory holds"));
  }
}

}  // namespace

const Fact& Infer::in(size_t i) const {
  static const Fact absent;
  const ValueId v = graph_.input(node_, i);
  if (!v) return absent;
  Fact& f = graph_.fact(v);
  // The contents of small initializers are made available once.
  if (!f.contents && graph_[v].kind == Value::Kind::initializer && graph_[v].weight->byte_size() <= small_weight_bytes)
    f.contents = std::make_shared<const Contents>(graph_[v].weight->dense());
  return f;
}

std::optional<std::vector<int64_t>> Infer::literal_ints(size_t i) const {
  const auto dims = ints(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim d : *dims) {
    if (!d.is_literal()) return std::nullopt;
    out.push_back(d.literal());
  }
  return out;
}

const Tensor* Infer::constant(size_t i) const { return in(i).tensor(); }

std::optional<int64_t> Infer::length(size_t i) const {
  const Fact& f = in(i);
  if (!f.has_rank() || f.rank() != 1) return std::nullopt;
  return f.shape()[0].known();
}

void Infer::out(size_t i, Shape shape) {
  if (i >= out_count()) return;
  check_sizes(*this, shape);
  Type& t = graph_.fact(graph_[node_].outputs[i]).type;
  t.kind = Type::Kind::tensor;
  t.shape = std::move(shape);
}

void Infer::out(size_t i, DType dtype, Shape shape) { out(i, Type::tensor(dtype, std::move(shape))); }

void Infer::out(size_t i, Type type) {
  if (type.shape) check_sizes(*this, *type.shape);
  if (i < out_count()) graph_.fact(graph_[node_].outputs[i]).type = std::move(type);
}

void Infer::out_like(size_t i, size_t input) { out(i, type(input)); }

void Infer::out_contents(size_t i, std::vector<Dim> elements) {
  if (i >= out_count()) return;
  const Fact& f = graph_[graph_[node_].outputs[i]].fact;
  const bool literal = std::all_of(elements.begin(), elements.end(), [](Dim d) { return d.is_literal(); });
  if (const auto shape = f.has_rank() ? known_shape(f.shape()) : std::nullopt;
      literal && shape && (is_int(f.dtype()) || f.dtype() == DType::boolean)) {
    std::vector<int64_t> numbers;
    for (const Dim d : elements) numbers.push_back(d.literal());
    if (element_count(*shape) == static_cast<int64_t>(numbers.size()))
      return out_contents(i, std::make_shared<const Contents>(store(f.dtype(), *shape, numbers)));
  }
  out_contents(i, std::make_shared<const Contents>(std::move(elements)));
}

void Infer::out_contents(size_t i, std::shared_ptr<const Contents> contents) {
  if (i < out_count()) graph_.fact(graph_[node_].outputs[i]).contents = std::move(contents);
}

int64_t Infer::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) fail("infer.axis", cat("axis ", axis, " is outside a tensor of rank ", rank));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> Infer::axes(std::span<const int64_t> list, int64_t rank) const {
  std::vector<int64_t> out;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t a : list) {
    const int64_t ax = axis(a, rank);
    if (seen[static_cast<size_t>(ax)]) fail("infer.axis", cat("axis ", ax, " is given twice"));
    seen[static_cast<size_t>(ax)] = true;
    out.push_back(ax);
  }
  return out;
}

Dim Infer::same(Dim a, Dim b, std::string_view what) const {
  if (a == b) return a;
  if ((a.is_literal() && b.is_literal()) || graph_.facts.equal(a, b) == Answer::no)
    fail("infer.mismatch", cat(what, " differ: ", a.text(), " and ", b.text()));
  if (!a.is_literal() || !b.is_literal()) {
    const Node& n = graph_[node_];
    graph_.facts.assume_equal(a, b, {FactSource::op, std::string(n.op->name), place(graph_, node_)});
  }
  return more_telling(a, b);
}

Shape Infer::broadcast_shapes(const Shape& a, const Shape& b) const {
  if (a.size() < b.size()) return broadcast_shapes(b, a);
  Shape out = a;
  const size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    const Dim x = a[i + shift], y = b[i];
    if (x.is_literal() && y.is_literal() && x != y && !x.is(1) && !y.is(1))
      fail("infer.broadcast", cat("sizes ", x.text(), " and ", y.text(), " of shapes [", shape_text(a), "] and [",
                                  shape_text(b), "] do not broadcast"));
    out[i + shift] = ir::broadcast(x, y);
  }
  return out;
}

Shape Infer::broadcast(std::span<const size_t> inputs) const {
  Shape out = shape(inputs[0]);
  for (const size_t i : inputs.subspan(1)) out = broadcast_shapes(out, shape(i));
  return out;
}

Shape Infer::fresh_shape(int64_t rank) const {
  constexpr int64_t most = 1024;  // a shape vector's declared length is the file's word: no memory is taken on it
  if (rank > most) fail("infer.rank", cat("an output would have rank ", rank));
  Shape out;
  for (int64_t i = 0; i < rank; ++i) out.push_back(fresh());
  return out;
}

std::vector<Fact> Infer::region(size_t i, std::span<const Fact> inputs) {
  const RegionId r = region_id(i);
  const Region& body = graph_[r];
  for (size_t k = 0; k < inputs.size() && k < body.inputs.size(); ++k) {
    Fact& f = graph_.fact(body.inputs[k]);
    f.contents = inputs[k].contents;
    if (real) {
      f.type = inputs[k].type.is_unknown() ? without_sizes(f.type) : inputs[k].type;
      continue;
    }
    auto merged = merge(f.type, inputs[k].type);
    if (!merged && findings) findings->push_back(body_contradiction(graph_, node_, body.inputs[k], inputs[k].type));
    f.type = merged ? *merged : inputs[k].type;
  }
  infer_region(r);
  std::vector<Fact> out;
  for (const ValueId v : graph_[r].outputs) out.push_back(v ? graph_[v].fact : Fact{});
  return out;
}

void Infer::fail(std::string_view code, std::string what) const {
  throw error(code, cat(describe(graph_, node_), ": ", what)).at(place(graph_, node_));
}

}  // namespace cameo::ops
