#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct Concat : Rules<op::Concat> {
  static void infer(const op::Concat& a, Infer& c) {
    Shape out = c.shape(0);
    const int64_t axis = c.axis(a.axis, c.rank(0));
    const auto ax = static_cast<size_t>(axis);
    for (size_t i = 1; i < c.in_count(); ++i) {
      if (c.rank(i) != c.rank(0))
        c.fail("infer.rank", cat("input ", i, " has rank ", c.rank(i), ", input 0 has ", c.rank(0)));
      for (size_t d = 0; d < out.size(); ++d)
        out[d] = d == ax ? out[d] + c.shape(i)[d] : c.same(out[d], c.shape(i)[d], "sizes off the axis");
    }
    c.out(0, out);
    if (out.size() == 1) join_contents(c);
  }

  // Shape -> Gather -> Concat stays known.
  static void join_contents(Infer& c) {
    std::vector<Dim> all;
    for (size_t i = 0; i < c.in_count(); ++i) {
      const auto part = c.ints(i);
      if (!part) return;
      all.insert(all.end(), part->begin(), part->end());
    }
    c.out_contents(0, std::move(all));
  }

  static void eval(const op::Concat& a, Eval& k) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < k.in_count(); ++i) parts.push_back(k.in(i));
    k.out(0, concat(parts, k.axis(a.axis, parts[0].rank())));
  }

  static constexpr Revision revisions[] = {
      // Before 4 the axis was optional (default: 1).
      {4,
       [](Upgrade& u) {
         if (!u.has("axis")) u.set("axis", int64_t{1});
       }},
      // Before 11 the axis could not be negative.
      {11, nullptr,
       [](Downgrade& d) {
         const auto axis = d.take_int("axis").value_or(0);
         const Fact& x = d.fact(d.inputs[0]);
         if (axis < 0 && !x.has_rank()) return d.refuse("a negative axis on a tensor of unknown rank");
         d.set("axis", axis < 0 ? axis + x.rank() : axis);
       }},
  };
};

constexpr OpRules table[] = {rules<Concat>()};

}  // namespace

std::span<const OpRules> concat_rules() { return table; }

}  // namespace cameo::ops
