// Sizes as data: computed shapes that are constants after all, or that one Shape node gives.
#include <algorithm>

#include "passes/rules/reshape_form.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

// Reshape(x, Concat(Gather(Shape(x), 0), ...)) -> Reshape(x, [0, ...]).
void reshape_by_constant(Rewrite& rw) {
  if (rw.is_constant(rw.in(1)) || rw.attrs<op::Reshape>().allowzero || !rw.has_rank(rw.in(0))) return;
  const auto sizes = rw.fact(rw.in(1)).ints();
  if (!sizes) return rw.no("its shape is not known");
  const Shape from = rw.shape(rw.in(0));
  std::vector<int64_t> form;
  size_t open = 0;
  bool others_nonzero = true;
  for (size_t i = 0; i < sizes->size(); ++i) {
    const Dim d = (*sizes)[i];
    if (d.is_literal()) {
      form.push_back(d.literal());
      open += d.is(-1);
      if (d.is(0)) others_nonzero &= i < from.size() && at_least_one(rw, from[i]);
    } else if (i < from.size() && rw.equal(from[i], d)) form.push_back(0), others_nonzero &= at_least_one(rw, d);
    else form.push_back(-1), ++open;
  }
  if (open > 1) return rw.no("more than one size is neither known nor the input's");
  if (open == 1 && !others_nonzero) return rw.no("a size may be 0, beside which -1 cannot be solved");
  const auto type = rw.fact(rw.out()).type;
  const ValueId v = rw.on.Reshape(rw.in(0), rw.on.ints(form));
  if (type.has_rank()) rw.g.fact(v).type = type;
  rw.replace(v);
}

// Expand broadcasts both ways, so an axis that stays may be written as 1.
void expand_by_constant(Rewrite& rw) {
  if (rw.is_constant(rw.in(1)) || !rw.has_rank(rw.in(0)) || !rw.has_rank(rw.out())) return;
  const auto sizes = rw.fact(rw.in(1)).ints();
  if (!sizes) return;
  const Shape from = rw.shape(rw.in(0)), to = rw.shape(rw.out());
  std::vector<int64_t> form;
  for (size_t i = 0; i < sizes->size(); ++i) {
    const int64_t at =
        static_cast<int64_t>(i) - (static_cast<int64_t>(sizes->size()) - static_cast<int64_t>(from.size()));
    if ((*sizes)[i].is_literal()) form.push_back((*sizes)[i].literal());
    else if (at >= 0 && rw.equal(from[static_cast<size_t>(at)], (*sizes)[i])) form.push_back(1);
    else return rw.no("it widens to a size that is not known");
  }
  const ValueId v = rw.on.Expand(rw.in(0), rw.on.ints(form));
  rw.g.fact(v).type.shape = to;
  rw.replace(v);
}

// Bounds that are the axis's own size are "to the end".
void slice_by_constant(Rewrite& rw) {
  const auto ends = rw.fact(rw.in(2)).ints(), starts = rw.fact(rw.in(1)).ints();
  const auto axes = rw.ints(rw.in(3)), steps = rw.ints(rw.in(4));
  if (rw.is_constant(rw.in(2)) || !ends || !starts || !rw.has_rank(rw.in(0)) || (rw.has(3) && !axes) ||
      (rw.has(4) && !steps))
    return;
  std::vector<int64_t> form;
  for (size_t i = 0; i < ends->size(); ++i) {
    if ((*ends)[i].is_literal()) {
      form.push_back((*ends)[i].literal());
      continue;
    }
    if (steps && (*steps)[i] < 0) return;
    const int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    const Dim size = rw.shape(rw.in(0))[static_cast<size_t>(axis < 0 ? axis + rw.rank(rw.in(0)) : axis)];
    if (rw.g.facts.less_equal(size, (*ends)[i]) != Answer::yes) return rw.no("an end is not the axis's own size");
    form.push_back(INT64_MAX);
  }
  const auto type = rw.fact(rw.out()).type;
  const ValueId v = rw.on.Slice(rw.in(0), rw.in(1), rw.on.ints(form), rw.in(3), rw.in(4));
  if (type.has_rank()) rw.g.fact(v).type = type;
  rw.replace(v);
}

// Sizes that are whole multiples of the input's are scales.
void resize_by_scales(Rewrite& rw) {
  const auto& a = rw.attrs<op::Resize>();
  if (!rw.has(3) || rw.is_constant(rw.in(3)) || !rw.has_rank(rw.in(0)) || a.keep_aspect_ratio_policy != "stretch" ||
      rw.has(1))
    return;
  const auto sizes = rw.fact(rw.in(3)).ints();
  if (!sizes) return;
  std::vector<float> scales;
  for (size_t i = 0; i < sizes->size(); ++i) {
    const int64_t axis = a.axes ? (*a.axes)[i] : static_cast<int64_t>(i);
    const Dim from = rw.shape(rw.in(0))[static_cast<size_t>(axis < 0 ? axis + rw.rank(rw.in(0)) : axis)];
    int64_t times = 0;
    for (int64_t k = 1; k <= 16 && !times; ++k)
      if (rw.equal((*sizes)[i], from * Dim(k))) times = k;
    if (!times || !at_least_one(rw, from)) return rw.no("a size is not a multiple of the input's");
    scales.push_back(static_cast<float>(times));
  }
  const auto type = rw.fact(rw.out()).type;
  const ValueId factors = rw.on.constant(Tensor::of<float>(DType::f32, {static_cast<int64_t>(scales.size())}, scales));
  const ValueId v = rw.on.Resize(rw.in(0), ValueId(), factors, ValueId(), a);
  if (type.has_rank()) rw.g.fact(v).type = type;
  rw.replace(v);
}

// Tensors whose sizes a computation reads: behind the Shape nodes it comes from.
void sources(const Rewrite& rw, ValueId v, std::vector<ValueId>& out, int depth) {
  const NodeId n = v ? rw.g[v].def : NodeId();
  if (!n || depth > 12 || out.size() > 8) return;
  if (rw.understood(n) && rw.g[n].is("Shape")) {
    const ValueId x = rw.g.input(n, 0);
    if (std::find(out.begin(), out.end(), x) == out.end()) out.push_back(x);
    return;
  }
  for (const ValueId in : rw.g[n].inputs) sources(rw, in, out, depth + 1);
}

// Where consecutive axes of `x` have these sizes.
std::optional<int64_t> window(const Rewrite& rw, ValueId x, const std::vector<Dim>& sizes) {
  if (!rw.has_rank(x)) return std::nullopt;
  const Shape& s = rw.shape(x);
  for (size_t at = 0; at + sizes.size() <= s.size(); ++at) {
    bool same = true;
    for (size_t i = 0; i < sizes.size() && same; ++i) same = rw.equal(s[at + i], sizes[i]);
    if (same) return static_cast<int64_t>(at);
  }
  return std::nullopt;
}

// A vector of sizes, however it was put together, that consecutive axes of some tensor have: one Shape node.
void shape_of_source(Rewrite& rw) {
  const Fact& f = rw.fact(rw.out());
  if (!f.has_rank() || f.rank() != 1 || f.dtype() != DType::i64 || rw.root().is("Shape")) return;
  const auto sizes = f.ints();
  if (!sizes || sizes->empty() || f.tensor()) return;
  std::vector<ValueId> tensors;
  sources(rw, rw.out(), tensors, 0);
  for (const ValueId x : tensors) {
    const auto at = window(rw, x, *sizes);
    if (!at) continue;
    const bool whole = *at == 0 && static_cast<int64_t>(sizes->size()) == rw.rank(x);
    constexpr int64_t parts_since = 15;
    if (!whole && rw.opset < parts_since) continue;
    return rw.replace(whole
                          ? rw.on.Shape(x)
                          : rw.on.Shape(x, op::Shape{.end = *at + static_cast<int64_t>(sizes->size()), .start = *at}));
  }
}

// The sizes of what only moved, or of what an elementwise operator gave, are those of its operand.
void shape_of_earlier(Rewrite& rw) {
  const ValueId x = rw.in(0);
  const NodeId n = rw.g[x].def;
  if (!n || !rw.has_rank(x) || rw.g[n].op->is_opaque()) return;
  for (const ValueId v : rw.g[n].inputs) {
    if (!v || rw.is_constant(v) || !rw.has_rank(v) || !rw.same_shape(rw.shape(v), rw.shape(x))) continue;
    return rw.replace(rw.on.Shape(v, rw.attrs<op::Shape>()));
  }
}

void size_of_known(Rewrite& rw) {
  if (rw.made_by<op::Shape>(rw.in(0)) && rw.has_rank(rw.in(0)))
    if (const auto n = rw.shape(rw.in(0))[0].known()) rw.replace(rw.on.int_scalar(*n));
}

// Sizes are not negative.
void abs_of_size(Rewrite& rw) {
  const auto sizes = rw.fact(rw.in(0)).ints();
  if (!sizes) return;
  if (!std::all_of(sizes->begin(), sizes->end(),
                   [&](Dim d) { return rw.g.facts.less_equal(Dim(0), d) == Answer::yes; }))
    return rw.no("a number may be negative");
  rw.replace(rw.in(0)), rw.shape_is_kept();
}

}  // namespace

std::vector<Rule> size_rules() {
  return {
      rule("reshape-by-constant", {"Reshape"}, reshape_by_constant).trading(),
      rule("expand-by-constant", {"Expand"}, expand_by_constant).trading(),
      rule("slice-by-constant", {"Slice"}, slice_by_constant).trading(),
      rule("resize-by-scales", {"Resize"}, resize_by_scales).trading(),
      rule("shape-of-source",
           {"Concat", "Gather", "Slice", "Unsqueeze", "Squeeze", "Reshape", "Cast", "Mul", "Add", "Div", "Sub", "Where",
            "Max", "Min"},
           shape_of_source)
          .making({"Shape"}),
      rule("shape-of-earlier", {"Shape"}, shape_of_earlier).trading(),
      rule("size-of-known", {"Size"}, size_of_known),
      rule("abs-of-size", {"Abs"}, abs_of_size),
  };
}

}  // namespace cameo::passes
