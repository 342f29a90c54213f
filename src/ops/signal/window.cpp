// Window functions.
#include "ops/signal/window.h"

#include <cmath>
#include <numbers>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
struct Cosines {
  double a0, a1, a2;
};

void eval_window(Eval& k, const Cosines& w, bool periodic, DType to) {
  const int64_t size = k.int_scalar(0);
  if (size < 0 || size > most_elements) k.fail("eval.size", cat("a window of ", size, " elements"));
  const double step = 2 * std::numbers::pi / static_cast<double>(periodic ? size : size - 1);
  std::vector<double> out(static_cast<size_t>(size));
  for (size_t n = 0; n < out.size(); ++n) {
    const double angle = size == 1 ? 0 : static_cast<double>(n) * step;
    out[n] = w.a0 - w.a1 * std::cos(angle) + w.a2 * std::cos(2 * angle);
  }
  k.out(0, store(to, {size}, out));
}

void expand_window(Expand& e, const Cosines& w, bool periodic, DType to) {
  On& on = e.on;
  const auto number = [&](double v) { return on.number(v, DType::f32); };
  const ValueId size = on.cast(e.in(0), DType::f32);
  const ValueId step = on.Div(number(2 * std::numbers::pi), periodic ? size : on.Sub(size, number(1)));
  const ValueId angle = on.Mul(on.Range(number(0), size, number(1)), step);
  ValueId out = on.Sub(number(w.a0), on.Mul(number(w.a1), on.Cos(angle)));
  if (w.a2 != 0) out = on.Add(out, on.Mul(number(w.a2), on.Cos(on.Mul(angle, number(2)))));
  e.replace({on.cast(out, to)});
}

constexpr Cosines hann() { return {0.5, 0.5, 0}; }

constexpr Cosines hamming() { return {25.0 / 46, 21.0 / 46, 0}; }

constexpr Cosines blackman() { return {0.42, 0.5, 0.08}; }

template <class Attrs, Cosines (*cosines)()>
struct Window : Rules<Attrs> {
  static void infer(const Attrs& a, Infer& c) {
    c.out(0, output_type(c, a.output_datatype), {size_from(c, 0, "window")});
  }
  static void eval(const Attrs& a, Eval& k) {
    eval_window(k, cosines(), a.periodic != 0, output_type(a.output_datatype));
  }
  static constexpr Expansion expansions[] = {expansion<Attrs>(17, Exactness::rounding, [](const Attrs& a, Expand& e) {
    expand_window(e, cosines(), a.periodic != 0, output_type(a.output_datatype));
  })};
};

constexpr OpRules table[] = {rules<Window<op::HannWindow, hann>>(), rules<Window<op::HammingWindow, hamming>>(),
                             rules<Window<op::BlackmanWindow, blackman>>()};

}  // namespace

std::span<const OpRules> window_rules() { return table; }

}  // namespace cameo::ops
