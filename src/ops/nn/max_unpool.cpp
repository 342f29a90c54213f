// MaxUnpool: the way back from the places of a MaxPool.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/window.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct MaxUnpool : Rules<op::MaxUnpool> {
  static Shape undone(const op::MaxUnpool& a, const Shape& x, std::string& problem) {
    Shape out = x;
    const size_t n = x.size() < 2 ? 0 : x.size() - 2;
    const WindowAttrs w = window_attrs("NOTSET", a.strides, std::nullopt, a.pads, false, n);
    problem = w.problem;
    if (x.size() < 3) problem = cat("the input has rank ", x.size());
    else if (a.kernel_shape.size() != n)
      problem = cat("'kernel_shape' has ", a.kernel_shape.size(), " entries where ", n, " are wanted");
    if (!problem.empty()) return out;
    for (size_t i = 0; i < n; ++i)
      out[i + 2] = (x[i + 2] - 1) * w.strides[i] + a.kernel_shape[i] - w.pads[i] - w.pads[i + n];
    return out;
  }

  static void infer(const op::MaxUnpool& a, Infer& c) {
    std::string problem;
    Shape out = undone(a, c.shape(0), problem);
    if (!problem.empty()) c.fail("infer.attribute", problem);
    want_shape(c, 1, c.shape(0), "the tensor of indices");
    for (const Dim d : out)
      if (d.is_literal() && d.literal() < 0)
        c.fail("infer.mismatch", cat("[", shape_text(out), "] cannot have been pooled"));
    if (c.has(2)) {
      want_shape(c, 2, {c.rank(0)}, "'output_shape'");
      const auto wanted = c.ints(2);
      if (wanted && wanted->size() != out.size())
        c.fail("infer.mismatch", cat("'output_shape' has ", wanted->size(), " entries for rank ", out.size()));
      out = wanted ? *wanted : c.fresh_shape(c.rank(0));
    }
    c.out(0, std::move(out));
  }

  // Indices count in the tensor that was pooled; a larger `output_shape` pads that at the end.
  static void eval(const op::MaxUnpool& a, Eval& k) {
    const Tensor& x = k.in(0);
    std::string problem;
    const auto pooled = known_shape(undone(a, Shape(x.shape().begin(), x.shape().end()), problem));
    if (!problem.empty() || !pooled) k.fail("eval.shape", problem);
    const std::vector<int64_t> shape = k.has(2) ? k.ints(2) : *pooled;
    const int64_t places = element_count(*pooled);
    element_count(shape);  // throws on negative sizes and overflow
    const auto index = k.ints(1);
    if (shape.size() != pooled->size() || static_cast<int64_t>(index.size()) != x.count())
      k.fail("eval.shape", "indices or output_shape do not suit the input");
    const auto stride = row_major_strides(shape);
    std::vector<int64_t> to(index.size());
    for (size_t i = 0; i < index.size(); ++i) {
      if (index[i] < 0 || index[i] >= places)
        k.fail("eval.index", cat("index ", index[i], " is outside a tensor of ", places, " elements"));
      for (size_t d = shape.size(), rest = static_cast<size_t>(index[i]); d-- > 0;
           rest /= static_cast<size_t>((*pooled)[d])) {
        const auto at = static_cast<int64_t>(rest) % (*pooled)[d];
        if (at >= shape[d]) k.fail("eval.index", cat("index ", index[i], " is outside the wanted shape"));
        to[i] += at * stride[d];
      }
    }
    k.out(0, put(zeros(x.dtype(), shape), to, x));
  }
};

constexpr OpRules table[] = {rules<MaxUnpool>()};

}  // namespace

std::span<const OpRules> max_unpool_rules() { return table; }

}  // namespace cameo::ops
