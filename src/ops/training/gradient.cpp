// The preview of training: gradients, of which only the shapes are known here.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

// The gradient of y by each of xs has the shape of that x, which is among the inputs in order.
struct Gradient : Rules<op::Gradient> {
  static void infer(const op::Gradient& a, Infer& c) {
    for (size_t i = 0; i < c.out_count() && i < a.xs.size() && i < c.in_count(); ++i) c.out_like(i, i);
  }
  static void eval(const op::Gradient& a, Eval&) {
    throw error("eval.gradient", cat("the gradient of '", a.y, "' is asked for"))
        .why("Gradient differentiates the graph around it, which engines for training do; Cameo runs models forward")
        .help("take the gradient in the training framework, or cut the node off with `cameo extract`");
  }
};

constexpr OpRules table[] = {rules<Gradient>()};

}  // namespace

std::span<const OpRules> gradient_rules() { return table; }

}  // namespace cameo::ops
