// Rotary position embedding that was spelt out: x * cos + concat(-x2, x1) * sin, where x is x1 and x2 side by side.
#include "kernels/carrier.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

struct Turned {
  ValueId x, cos, sin;
};

// concat(-x2, x1) of the halves of `x` along the last axis.
bool is_turned(const Rewrite& rw, ValueId v, ValueId x) {
  const auto* concat = rw.made_by<op::Concat>(v);
  if (!concat || rw.g[rw.maker(v)].inputs.size() != 2 || (concat->axis != -1 && concat->axis != 3)) return false;
  const ValueId first = rw.operand(v, 0), x1 = rw.operand(v, 1);
  if (!rw.made_by<op::Neg>(first)) return false;
  const ValueId x2 = rw.operand(first, 0);
  const auto* split = rw.made_by<op::Split>(x1);
  if (!split || rw.maker(x1) != rw.maker(x2) || rw.g[x1].def_index != 0 || rw.g[x2].def_index != 1 ||
      rw.g[rw.maker(x1)].outputs.size() != 2)
    return false;
  return (split->axis == -1 || split->axis == 3) && rw.operand(x1, 0) == x &&
         rw.equal(rw.shape(x1)[3], rw.shape(x2)[3]);
}

std::optional<Turned> turned(const Rewrite& rw) {
  for (size_t i = 0; i < 2; ++i) {
    const ValueId plain = rw.in(i), moved = rw.in(1 - i);
    if (!rw.made_by<op::Mul>(plain) || !rw.made_by<op::Mul>(moved)) return std::nullopt;
    for (size_t j = 0; j < 2; ++j)
      for (size_t k = 0; k < 2; ++k) {
        const ValueId x = rw.operand(plain, j), t = rw.operand(moved, k);
        if (rw.has_rank(x) && rw.rank(x) == 4 && rw.has_rank(t) && rw.rank(t) == 4 && is_turned(rw, t, x))
          return Turned{x, rw.operand(plain, 1 - j), rw.operand(moved, 1 - k)};
      }
  }
  return std::nullopt;
}

// Numbers per position that are the same for both halves: the first half, as [length, size / 2].
std::optional<Tensor> constant_half(const Rewrite& rw, ValueId v, int64_t length, int64_t size) {
  const auto t = rw.constant(v);
  if (!t || t->rank() < 2 || t->count() != length * size || t->shape()[static_cast<size_t>(t->rank() - 2)] != length)
    return std::nullopt;
  if (!is_float(t->dtype())) return std::nullopt;
  const auto all = t->to_doubles();
  const auto half = static_cast<size_t>(size / 2);
  std::vector<double> out;
  for (size_t row = 0; row < static_cast<size_t>(length); ++row)
    for (size_t i = 0; i < half; ++i) {
      const double a = all[row * 2 * half + i], b = all[row * 2 * half + half + i];
      if (a != b) return std::nullopt;
      out.push_back(a);
    }
  return store(t->dtype(), {length, size / 2}, out);
}

// All layers share their tables: one that an earlier application made is taken again.
ValueId table(Rewrite& rw, ValueId from, const Tensor& half) {
  const std::string name = rw.g[from].name.empty() ? "" : rw.g[from].name + ".half";
  if (!name.empty())
    for (const ValueId v : rw.g[rw.g.main()].initializers)
      if (rw.g[v].name == name && rw.g[v].kind == Value::Kind::initializer)
        if (const Tensor* known = rw.fact(v).tensor(); known && known->dtype() == half.dtype() &&
                                                       known->shape() == half.shape() &&
                                                       known->to_doubles() == half.to_doubles())
          return v;
  const ValueId made = rw.on.constant(half);
  rw.g.label(made).name = name;
  return made;
}

// The angles of cos(concat(f, f)) with an axis for the heads put in: [batch, length, size / 2].
template <class Op>
ValueId angles(const Rewrite& rw, ValueId v, const Shape& x) {
  if (!rw.has_rank(v) || rw.rank(v) != 4 || !rw.equal(rw.shape(v)[1], 1) ||
      (!rw.made_by<op::Unsqueeze>(v) && !rw.made_by<op::Reshape>(v)))
    return {};
  const ValueId wave = rw.operand(v, 0);
  if (!rw.made_by<Op>(wave) || !rw.has_rank(wave) || rw.rank(wave) != 3) return {};
  const ValueId both = rw.operand(wave, 0);
  const auto* concat = rw.made_by<op::Concat>(both);
  if (!concat || rw.g[rw.maker(both)].inputs.size() != 2 || (concat->axis != -1 && concat->axis != 2) ||
      rw.operand(both, 0) != rw.operand(both, 1))
    return {};
  const ValueId f = rw.operand(both, 0);
  return rw.equal(rw.shape(f)[0], x[0]) && rw.equal(rw.shape(f)[1], x[2]) ? f : ValueId();
}

// Positions 0, 1, ... for every element of the batch.
ValueId positions(Rewrite& rw, ValueId x, int64_t length) {
  std::vector<int64_t> row;
  for (int64_t i = 0; i < length; ++i) row.push_back(i);
  const ValueId one = rw.on.constant(Tensor::of<int64_t>(DType::i64, {1, length}, row));
  if (rw.shape(x)[0] == Dim(1)) return one;
  const ValueId batch = rw.on.Shape(x, op::Shape{.end = 1, .start = 0});
  const std::vector<ValueId> shape{batch, rw.on.ints({1})};
  return rw.on.Expand(one, rw.on.Concat(shape, op::Concat{.axis = 0}));
}

void rotary_embedding(Rewrite& rw) {
  const auto found = turned(rw);
  if (!found || !is_float(rw.dtype(found->x))) return;
  const Shape shape = rw.shape(found->x);
  const auto length = shape[2].known(), size = shape[3].known();
  if (!size || *size % 2) return rw.no("the size of a head is not known, or odd");
  if (length) {
    const auto cos = constant_half(rw, found->cos, *length, *size), sin = constant_half(rw, found->sin, *length, *size);
    if (cos && sin)
      return rw.replace(rw.on.RotaryEmbedding(found->x, table(rw, found->cos, *cos), table(rw, found->sin, *sin),
                                              positions(rw, found->x, *length), op::RotaryEmbedding{}));
  }
  const ValueId f = angles<op::Cos>(rw, found->cos, shape), g = angles<op::Sin>(rw, found->sin, shape);
  if (!f || f != g)
    return rw.no(
        "the factors are not cosine and sine of the same angles for both halves, one row for each element of the "
        "batch");
  rw.replace(rw.on.RotaryEmbedding(found->x, rw.on.Cos(f), rw.on.Sin(f), ValueId(), op::RotaryEmbedding{}));
}

}  // namespace

std::vector<Rule> rotary_fusion_rules() {
  Rule r = rule("rotary-embedding", {"Add"}, rotary_embedding).rounding().making({"RotaryEmbedding"});
  r.free_bytes = true;  // the tables of all layers are one, and shrink once the last layer has changed
  return {r};
}

}  // namespace cameo::passes
