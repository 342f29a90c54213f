// Compress: how much comes out depends on the data.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/tensor/axis_maps.h"
#include "ops/tensor/non_zero.h"

namespace cameo::ops {

namespace {

struct Compress : Rules<op::Compress> {
  static void infer(const op::Compress& a, Infer& c) {
    const Tensor* condition = c.constant(1);
    const Dim count = condition ? Dim(static_cast<int64_t>(nonzero_places(*condition).size())) : c.fresh("picked");
    if (!a.axis) return c.out(0, {count});
    Shape out = c.shape(0);
    out[static_cast<size_t>(c.axis(*a.axis, c.rank(0)))] = count;
    c.out(0, out);
  }

  static void eval(const op::Compress& a, Eval& k) {
    const Tensor x = a.axis ? k.in(0) : k.in(0).reshaped({k.in(0).count()});
    const auto axis = static_cast<size_t>(k.axis(a.axis.value_or(0), x.rank()));
    std::vector<AxisMap> maps;
    for (const int64_t size : x.shape()) maps.push_back(identity_map(size));
    maps[axis] = nonzero_places(k.in(1));
    if (!maps[axis].empty() && maps[axis].back() >= x.shape()[axis])
      k.fail("eval.index",
             cat("the condition picks place ", maps[axis].back(), " of an axis of size ", x.shape()[axis]));
    k.out(0, take_by_axes(x, maps));
  }

  static constexpr Revision revisions[] = {{11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axis"); }}};
};

constexpr OpRules table[] = {rules<Compress>()};

}  // namespace

std::span<const OpRules> compress_rules() { return table; }

}  // namespace cameo::ops
