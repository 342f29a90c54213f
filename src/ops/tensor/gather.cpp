// Gather, GatherElements, GatherND: elements picked by index.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/tensor/contents.h"
#include "ops/tensor/linear_index.h"

namespace cameo::ops {

namespace {

struct Gather : Rules<op::Gather> {
  static void infer(const op::Gather& a, Infer& c) {
    const int64_t axis = c.axis(a.axis, c.rank(0));
    const Shape& data = c.shape(0);
    Shape out(data.begin(), data.begin() + axis);
    out.insert(out.end(), c.shape(1).begin(), c.shape(1).end());
    out.insert(out.end(), data.begin() + axis + 1, data.end());
    check_bounds(c, data[static_cast<size_t>(axis)]);
    c.out(0, out);
    move_contents(c);
  }

  static void check_bounds(Infer& c, Dim size) {
    const auto indices = size.is_literal() ? c.literal_ints(1) : std::nullopt;
    if (!indices) return;
    for (const int64_t i : *indices)
      if (i < -size.literal() || i >= size.literal())
        c.fail("infer.index", cat("index ", i, " is outside an axis of size ", size.literal()));
  }

  static void eval(const op::Gather& a, Eval& k) {
    const Tensor &x = k.in(0), &indices = k.in(1);
    const int64_t axis = k.axis(a.axis, x.rank());
    const std::span<const int64_t> shape(x.shape());
    const int64_t size = shape[static_cast<size_t>(axis)];
    const int64_t outer = element_count(shape.first(static_cast<size_t>(axis))),
                  inner = element_count(shape.subspan(static_cast<size_t>(axis) + 1));
    std::vector<int64_t> out(shape.begin(), shape.begin() + axis);
    out.insert(out.end(), indices.shape().begin(), indices.shape().end());
    out.insert(out.end(), shape.begin() + axis + 1, shape.end());
    const Loaded<int64_t> index(indices);
    std::vector<int64_t> places;
    places.reserve(static_cast<size_t>(element_count(out)));
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < index.size(); ++i) {
        if (index[i] < -size || index[i] >= size)
          k.fail("eval.index", cat("index ", index[i], " is outside an axis of size ", size));
        const int64_t row = o * size + (index[i] < 0 ? index[i] + size : index[i]);
        for (int64_t e = 0; e < inner; ++e) places.push_back(row * inner + e);
      }
    k.out(0, take(x, out, places));
  }

  static constexpr Revision revisions[] = {{11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axis"); }}};
};

struct GatherElements : Rules<op::GatherElements> {
  static void infer(const op::GatherElements& a, Infer& c) {
    check_indices_fit(c, a.axis);
    c.out(0, c.shape(1));
    move_contents(c);
  }
  static void eval(const op::GatherElements& a, Eval& k) {
    const Tensor &x = k.in(0), &indices = k.in(1);
    k.out(0, take(x, indices.shape(), places_along(x.shape(), indices, k.axis(a.axis, x.rank()))));
  }

  static void expand(const op::GatherElements& a, Expand& e) {
    const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
    const auto indices = e.fact(1).has_rank() ? known_shape(e.fact(1).shape()) : std::nullopt;
    if (!shape || !indices) return e.refuse("sizes are not known before the model runs");
    const ValueId places = emit_places_along(e.on, *shape, e.in(1), a.axis < 0 ? a.axis + e.fact(0).rank() : a.axis);
    e.replace({e.on.Gather(e.on.Reshape(e.in(0), e.on.ints({-1})), places)});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::GatherElements>(11, Exactness::exact, [](const op::GatherElements& a, Expand& e) { expand(a, e); }),
  };
};

struct GatherND : Rules<op::GatherND> {
  static void infer(const op::GatherND& a, Infer& c) {
    const Shape &data = c.shape(0), &indices = c.shape(1);
    if (indices.empty() || data.empty()) c.fail("infer.rank", "a tensor without an axis");
    if (a.batch_dims < 0 || a.batch_dims >= std::min(c.rank(0), c.rank(1)))
      c.fail("infer.axis", cat(a.batch_dims, " batch axes for ranks ", c.rank(0), " and ", c.rank(1)));
    Shape out(indices.begin(), indices.end() - 1);
    for (size_t i = 0; i < static_cast<size_t>(a.batch_dims); ++i) out[i] = c.same(out[i], data[i], "batch sizes");
    if (!indices.back().is_literal()) return;  // how deep the indices reach decides the rank
    const int64_t depth = a.batch_dims + indices.back().literal();
    if (depth > c.rank(0))
      c.fail("infer.rank", cat("indices of ", indices.back().literal(), " numbers for data of rank ", c.rank(0)));
    out.insert(out.end(), data.begin() + depth, data.end());
    c.out(0, out);
    move_contents(c);
  }

  static void eval(const op::GatherND& a, Eval& k) {
    const Tensor &x = k.in(0), &indices = k.in(1);
    const Rows rows = rows_at(x.shape(), indices, a.batch_dims);
    std::vector<int64_t> shape(indices.shape().begin(), indices.shape().end() - 1), places;
    shape.insert(shape.end(), x.shape().begin() + a.batch_dims + indices.shape().back(), x.shape().end());
    places.reserve(static_cast<size_t>(element_count(shape)));
    for (const int64_t start : rows.starts)
      for (int64_t i = 0; i < rows.length; ++i) places.push_back(start + i);
    k.out(0, take(x, shape, places));
  }

  static void expand(const op::GatherND& a, Expand& e) {
    const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
    const auto indices = e.fact(1).has_rank() ? known_shape(e.fact(1).shape()) : std::nullopt;
    if (!shape || !indices) return e.refuse("sizes are not known before the model runs");
    const auto depth = static_cast<size_t>(a.batch_dims + indices->back());
    std::vector<int64_t> rows{element_count(std::span<const int64_t>(*shape).first(depth))};
    rows.insert(rows.end(), shape->begin() + static_cast<int64_t>(depth), shape->end());
    const ValueId data = e.on.Reshape(e.in(0), e.on.ints(rows));
    e.replace({e.on.Gather(data, emit_rows_at(e.on, *shape, e.in(1), a.batch_dims))});
  }

  static constexpr Revision revisions[] = {
      {12, nullptr, [](Downgrade& d) { d.drop_default("batch_dims", int64_t{0}); }}};
  static constexpr Expansion expansions[] = {
      expansion<op::GatherND>(11, Exactness::exact, [](const op::GatherND& a, Expand& e) { expand(a, e); }),
      expansion<op::GatherND>(
          12, Exactness::exact, [](const op::GatherND& a, Expand& e) { expand(a, e); },
          [](const op::GatherND& a, const Graph&, NodeId, int64_t) { return a.batch_dims != 0; }),
  };
};

constexpr OpRules table[] = {rules<Gather>(), rules<GatherElements>(), rules<GatherND>()};

}  // namespace

std::span<const OpRules> gather_rules() { return table; }

}  // namespace cameo::ops
