// Shape and Size: where sizes become data.
#include <algorithm>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

// Both ends are clamped into the shape, so that no slice is an error.
std::pair<int64_t, int64_t> window(const op::Shape& a, int64_t rank) {
  const auto place = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? std::max<int64_t>(at, -rank) + rank : at, 0, rank);
  };
  const int64_t start = place(a.start), end = a.end ? place(*a.end) : rank;
  return {start, std::max(start, end)};
}

struct ShapeOp : Rules<op::Shape> {
  static constexpr bool partial = true;
  static void infer(const op::Shape& a, Infer& c) {
    if (!c.has_rank(0)) return c.out(0, {c.fresh("rank")});
    const auto [start, end] = window(a, c.rank(0));
    const Shape& all = c.shape(0);
    c.out(0, {end - start});
    c.out_contents(0, std::vector<Dim>(all.begin() + start, all.begin() + end));
  }

  static void eval(const op::Shape& a, Eval& k) {
    const auto& shape = k.in(0).shape();
    const auto [start, end] = window(a, k.in(0).rank());
    k.out(0, Tensor::ints(std::span<const int64_t>(shape).subspan(static_cast<size_t>(start),
                                                                  static_cast<size_t>(end - start))));
  }

  static constexpr Revision revisions[] = {
      {15, nullptr,
       [](Downgrade& d) {
         d.drop_default("start", int64_t{0});
         d.drop_default("end", {});
       }},
  };
  static constexpr Expansion expansions[] = {
      expansion<op::Shape>(
          15, Exactness::exact,
          [](const op::Shape& a, Expand& e) {
            const ValueId whole = e.on.Shape(e.in(0));
            e.replace(
                {e.on.Slice(whole, e.on.ints({a.start}), e.on.ints({a.end.value_or(INT64_MAX)}), e.on.ints({0}))});
          },
          [](const op::Shape& a, const Graph&, NodeId, int64_t) { return a.start != 0 || a.end; }),
  };
};

struct Size : Rules<op::Size> {
  static constexpr bool partial = true;
  static void infer(const op::Size&, Infer& c) {
    c.out(0, Shape{});
    if (c.has_rank(0)) c.out_contents(0, {element_count(c.shape(0))});
  }
  static void eval(const op::Size&, Eval& k) { k.out(0, Tensor::int_scalar(k.in(0).count())); }
};

constexpr OpRules table[] = {rules<ShapeOp>(), rules<Size>()};

}  // namespace

std::span<const OpRules> shape_rules() { return table; }

}  // namespace cameo::ops
