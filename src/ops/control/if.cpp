#include <algorithm>

#include "ops/control/body_types.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "support/budget.h"

namespace cameo::ops {

namespace {

constexpr size_t else_branch = 0, then_branch = 1;

struct If : Rules<op::If> {
  static constexpr bool partial = true;

  static void infer(const op::If&, Infer& c) {
    for (const size_t i : {else_branch, then_branch})
      if (!c.region_id(i))
        c.fail("infer.body", i == else_branch ? "there is no else_branch" : "there is no then_branch");
    for (const size_t i : {else_branch, then_branch})
      if (!c.graph()[c.region_id(i)].inputs.empty())
        c.fail("infer.body", "a branch takes inputs: it has to read values from around it");
    if (const Tensor* known = c.constant(0); known && known->count() == 1) return infer_known(c, known->int_at(0) != 0);
    const auto on_true = branch(c, then_branch), on_false = branch(c, else_branch);
    for (size_t i = 0; i < c.out_count(); ++i) {
      if (i >= on_true.size() || i >= on_false.size())
        c.fail("infer.body", cat("the branches have ", on_true.size(), " and ", on_false.size(), " outputs, the node ",
                                 c.out_count()));
      c.out(i, joined(c, i, on_true[i].type, on_false[i].type));
    }
  }

  // The branch not taken may be wrong for the sizes at hand (a squeeze of an axis that is not 1): what it says is
  // dropped.
  static void infer_known(Infer& c, bool taken) {
    BodySnapshot before(c, c.region_id(taken ? else_branch : then_branch));
    try {
      c.region(taken ? else_branch : then_branch, {});
    } catch (const Error& e) {
      if (is_budget(e)) throw;
    }
    before.forget_dims();
    before.forget_findings();
    const auto facts = c.region(taken ? then_branch : else_branch, {});
    for (size_t i = 0; i < c.out_count() && i < facts.size(); ++i) {
      c.out(i, facts[i].type);
      c.out_contents(i, facts[i].contents);
    }
  }

  // Facts about dims that a branch needs hold only where it runs.
  static std::vector<Fact> branch(Infer& c, size_t i) {
    const size_t mark = c.graph().facts.mark();
    auto facts = c.region(i, {});
    c.graph().facts.rewind(mark);
    return facts;
  }

  static Type joined(Infer& c, size_t i, const Type& a, const Type& b) {
    if (a.is_unknown() || b.is_unknown()) return {};
    // A branch may hand out a value where the other hands out an optional one.
    if (a.is_optional() && !b.is_optional() && !a.inner->is_unknown()) return Type::optional(joined(c, i, *a.inner, b));
    if (b.is_optional() && !a.is_optional() && !b.inner->is_unknown()) return Type::optional(joined(c, i, a, *b.inner));
    if (a.kind != b.kind || (a.elem != b.elem && a.elem != DType::undefined && b.elem != DType::undefined))
      c.fail("infer.branch-type", cat("output ", i, " is ", a.text(), " if true and ", b.text(), " if false"));
    return join(a, b, c.graph().dims());
  }

  static void eval(const op::If&, Eval& k) {
    auto results = k.run_region(k.int_scalar(0) != 0 ? then_branch : else_branch, {});
    for (size_t i = 0; i < results.size(); ++i) k.out(i, std::move(results[i]));
  }

  static bool differ(const Type& a, const Type& b) {
    if (!a.is_tensor() || !b.is_tensor() || !a.has_rank() || !b.has_rank()) return false;
    return !std::equal(a.shape->begin(), a.shape->end(), b.shape->begin(), b.shape->end(),
                       [](Dim x, Dim y) { return !x.is_literal() || !y.is_literal() || x == y; });
  }
  static bool branches_differ(const Graph& g, NodeId n) {
    const auto& regions = g[n].regions;
    if (regions.size() != 2 || !regions[0] || !regions[1]) return false;
    const auto &a = g[regions[0]].outputs, &b = g[regions[1]].outputs;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (differ(g[a[i]].fact.type, g[b[i]].fact.type)) return true;
    return false;
  }

  // "must be of the same shape", say the versions 1 of both branches' outputs.
  static constexpr Expansion expansions[] = {expansion<op::If>(
      11, Exactness::exact,
      [](const op::If&, Expand& e) { e.refuse("both branches have to give the same shape before opset 11"); },
      [](const op::If&, const Graph& g, NodeId n, int64_t) { return branches_differ(g, n); })};
};

constexpr OpRules table[] = {rules<If>()};

}  // namespace

std::span<const OpRules> if_rules() { return table; }

}  // namespace cameo::ops
