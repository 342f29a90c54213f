// PRelu.
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

// Integers wrap around.
template <class C>
C scaled(C v, C by) {
  if constexpr (std::is_integral_v<C>) return static_cast<C>(static_cast<uint64_t>(v) * static_cast<uint64_t>(by));
  else return v * by;
}

struct PRelu : Rules<op::PRelu> {
  static void infer(const op::PRelu&, Infer& c) {
    want_broadcast(c, c.shape(1), c.shape(0), "the slope");
    infer_like_first(c);
  }

  static void eval(const op::PRelu&, Eval& k) {
    const Tensor &x = k.in(0), &slope = k.in(1);
    if (broadcast_shape(x.shape(), slope.shape()) != x.shape()) k.fail("eval.shape", "the slope does not fit the data");
    k.out(0, NumberCarriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            return zip_elements<C, C>(x, slope, x.dtype(), [](C v, C s) { return v < C{} ? scaled(v, s) : v; });
          }));
  }

  // Before 7 a slope of length C belonged to axis 1.
  static void channels_to_axis_1(Upgrade& u) {
    const Fact &x = u.fact(u.input(0)), &slope = u.fact(u.input(1));
    if (!slope.has_rank() || slope.rank() != 1 || slope.shape()[0].is(1)) return;
    if (!x.has_rank())
      throw error("model.old-broadcast",
                  "PRelu has a slope per channel as before opset 7, and the rank of its data is not declared");
    std::vector<int64_t> axes;
    for (int64_t i = 1; i + 1 < x.rank(); ++i) axes.push_back(i);
    if (!axes.empty()) u.set_input(1, u.on.Unsqueeze(u.input(1), u.constant(Tensor::ints(axes))));
  }
  static void only_channels(Downgrade& d) {
    if (!d.input(0) || !d.input(1)) return d.refuse("an operand is missing");
    const Fact &x = d.fact(d.input(0)), &slope = d.fact(d.input(1));
    const bool one = slope.has_rank() && element_count(slope.shape()).is(1);
    const bool matrix = slope.has_rank() && slope.rank() == 1 && x.has_rank() && x.rank() == 2;
    if (!one && !matrix) d.refuse("the slope must have one element, or one for each channel of a matrix");
  }
  static constexpr Revision revisions[] = {{6, drop_consumed_inputs}, {7, channels_to_axis_1, only_channels}};
};

constexpr OpRules table[] = {rules<PRelu>()};

}  // namespace

std::span<const OpRules> prelu_rules() { return table; }

}  // namespace cameo::ops
