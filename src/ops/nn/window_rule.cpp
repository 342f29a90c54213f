#include "ops/nn/window_rule.h"

namespace cameo::ops {

Shape windowed_sizes(const Infer& c, const WindowAttrs& w, const Shape& x, std::span<const Dim> kernel) {
  if (!w.problem.empty()) c.fail("infer.attribute", w.problem);
  Shape out;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (const auto size = kernel[i].known())
      if (const std::string problem = kernel_problem(w, i, *size); !problem.empty()) c.fail("infer.attribute", problem);
    out.push_back(window_count(w, i, x[i + 2], kernel[i]));
    if (const auto d = out.back().known(); d && (*d < 0 || (*d == 0 && !x[i + 2].is(0))))
      c.fail("infer.mismatch",
             cat("a kernel of ", kernel[i].text(), " does not fit in spatial axis ", i, " of size ", x[i + 2].text()));
  }
  return out;
}

Shape kernel_of(const Infer& c, const std::optional<std::vector<int64_t>>& kernel_shape, const Shape& weight) {
  Shape out(weight.begin() + 2, weight.end());
  if (!kernel_shape) return out;
  if (kernel_shape->size() != out.size())
    c.fail("infer.attribute",
           cat("'kernel_shape' has ", kernel_shape->size(), " entries where ", out.size(), " are wanted"));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = c.same(out[i], (*kernel_shape)[i], "the weight's size and 'kernel_shape'");
  return out;
}

void want_image(const Infer& c, size_t input) {
  if (c.rank(input) < 3)
    c.fail("infer.rank",
           cat("the input has rank ", c.rank(input), ": batch, channels and at least one spatial axis are wanted"));
}

void want_image_and_weight(const Infer& c, size_t input, size_t weight) {
  want_image(c, input);
  if (c.rank(weight) != c.rank(input))
    c.fail("infer.rank", cat("the input has rank ", c.rank(input), ", the weight ", c.rank(weight)));
}

}  // namespace cameo::ops
