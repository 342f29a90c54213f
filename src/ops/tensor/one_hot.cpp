// OneHot.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct OneHot : Rules<op::OneHot> {
  static void infer(const op::OneHot& a, Infer& c) {
    const int64_t axis = c.axis(a.axis, c.rank(0) + 1);
    c.same(element_count(c.shape(1)), 1, "number of depths and 1");
    c.same(element_count(c.shape(2)), 2, "number of values and 2");
    Shape out = c.shape(0);
    out.insert(out.begin() + axis, depth(c));
    c.out(0, out);
  }

  static bool is_depth(double d) { return d >= 0 && d < 9e15; }

  static Dim depth(Infer& c) {
    if (const auto d = c.ints(1); d && d->size() == 1) return (*d)[0];
    if (const Tensor* t = c.constant(1); t && t->count() == 1 && is_float(t->dtype())) {
      if (!is_depth(t->double_at(0))) c.fail("infer.shape", cat("a depth of ", t->double_at(0)));
      return static_cast<int64_t>(t->double_at(0));
    }
    return c.fresh("depth");
  }

  static void eval(const op::OneHot& a, Eval& k) {
    const Tensor &indices = k.in(0), &values = k.in(2);
    const double wanted = k.double_scalar(1);
    if (!is_depth(wanted)) k.fail("eval.shape", cat("OneHot with a depth of ", wanted));
    if (values.count() != 2) k.fail("eval.shape", cat("OneHot with ", values.count(), " values where two are wanted"));
    const auto depth = static_cast<int64_t>(wanted);
    const int64_t axis = k.axis(a.axis, indices.rank() + 1);
    auto shape = indices.shape();
    shape.insert(shape.begin() + axis, depth);
    std::vector<int64_t> places(static_cast<size_t>(element_count(shape)), 0);
    const int64_t inner = element_count(std::span<const int64_t>(indices.shape()).subspan(static_cast<size_t>(axis)));
    const Loaded<int64_t> index(indices);
    for (int64_t i = 0; i < index.size(); ++i) {
      const int64_t at = index[i] < 0 ? index[i] + depth : index[i];
      if (at >= 0 && at < depth) places[static_cast<size_t>((i / inner * depth + at) * inner + i % inner)] = 1;
    }
    k.out(0, take(values, shape, places));
  }
};

constexpr OpRules table[] = {rules<OneHot>()};

}  // namespace

std::span<const OpRules> one_hot_rules() { return table; }

}  // namespace cameo::ops
