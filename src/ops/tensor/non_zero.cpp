// NonZero: how much comes out depends on the data.
#include "ops/tensor/non_zero.h"

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct NonZero : Rules<op::NonZero> {
  static void infer(const op::NonZero&, Infer& c) { c.out(0, {c.rank(0), c.fresh("nonzero")}); }

  static void eval(const op::NonZero&, Eval& k) {
    const Tensor& x = k.in(0);
    const auto places = nonzero_places(x);
    const auto count = static_cast<int64_t>(places.size());
    const auto strides = row_major_strides(x.shape());
    std::vector<int64_t> out;
    for (size_t axis = 0; axis < strides.size(); ++axis)
      for (const int64_t p : places) out.push_back(p / strides[axis] % x.shape()[axis]);
    k.out(0, store(DType::i64, {x.rank(), count}, out));
  }
};

constexpr OpRules table[] = {rules<NonZero>()};

}  // namespace

std::span<const OpRules> non_zero_rules() { return table; }

}  // namespace cameo::ops
