// SwiGLU.
#include <cmath>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

struct SwiGLU : Rules<op::SwiGLU> {
  static void infer(const op::SwiGLU&, Infer& c) {
    if (c.rank(0) != c.rank(1)) c.fail("infer.rank", cat("the gate has rank ", c.rank(0), ", the value ", c.rank(1)));
    ir::Shape out;
    for (int64_t i = 0; i < c.rank(0); ++i) out.push_back(c.same(c.dim(0, i), c.dim(1, i), "sizes of gate and value"));
    c.out(0, std::move(out));
  }
  static void eval(const op::SwiGLU& a, Eval& k) {
    const Tensor &gate = k.in(0), &value = k.in(1);
    if (gate.shape() != value.shape()) k.fail("eval.shape", "gate and value have different shapes");
    k.out(0, with_float_carrier(gate.dtype(), [&](auto c) {
            using C = decltype(c);
            return zip_elements<C, C>(gate, value, gate.dtype(),
                                      [&](C x, C y) { return x / (1 + std::exp(-static_cast<C>(a.alpha) * x)) * y; });
          }));
  }
  static constexpr Expansion expansions[] = {
      expansion<op::SwiGLU>(28, Exactness::rounding, [](const op::SwiGLU& a, Expand& e) {
        e.replace({e.on.Mul(e.on.Swish(e.in(0), op::Swish{.alpha = a.alpha}), e.in(1))});
      })};
};

constexpr OpRules table[] = {rules<SwiGLU>()};

}  // namespace

std::span<const OpRules> swiglu_rules() { return table; }

}  // namespace cameo::ops
