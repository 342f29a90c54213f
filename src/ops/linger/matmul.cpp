// linger's matrix products, its joining of tensors on different scales, and what only moves quantised numbers.
#include "ops/families.h"
#include "ops/linger/number.h"

namespace cameo::ops {

namespace linger {

namespace {

template <class A>
struct Product : Rules<A> {
  static void infer(const A& a, Infer& c) {
    if constexpr (std::is_same_v<A, op::linger::QBmm>)
      for (const size_t i : {0, 1}) want_rank(c, i, 3, i ? "the second operand" : "the first operand");
    promise(c, a, shape_by(op::MatMul{}, c));
  }
  static void eval(const A& a, Eval& k) {
    const Rounding how = rounding_of(a.quant_mode);
    const Tensor sides[] = {whole_tensor(k.in(0), x_of(a), how), whole_tensor(k.in(1), y_of(a), how)};
    const Tensor sums = computed(op::MatMul{}, sides);
    const Loaded<double> v(sums);
    k.out(0, result(a, sums.shape(), v.span(), x_of(a).scale * y_of(a).scale));
  }
};

struct QCat : Rules<op::linger::QCat> {
  using A = op::linger::QCat;

  // scale_x_N and x_N_bits of operand number N; the output's where they are left out.
  static Grid grid_of(const A& a, size_t i) {
    Grid out = o_of(a);
    for (const AttrField& f : op_of<A>().fields) {
      if (f.name != cat("scale_x_", i) && f.name != cat("x_", i, "_bits")) continue;
      const AttrValue v = f.get(&a);
      if (const auto* scale = std::get_if<float>(&v)) out.scale = static_cast<double>(*scale);
      if (const auto* bits = std::get_if<int64_t>(&v)) out.bits = *bits;
    }
    return out;
  }

  static void infer(const A& a, Infer& c) {
    for (size_t i = 0; i < c.in_count(); ++i) {
      const Grid grid = grid_of(a, i);
      want_grid(c, cat("x_", i), grid.scale, grid.bits);
    }
    promise(c, a, shape_by(op::Concat{.axis = a.axis}, c));
  }

  static void eval(const A& a, Eval& k) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < k.in_count(); ++i) {
      const Grid grid = grid_of(a, i);
      const std::vector<double> x = whole(k.in(i), grid, rounding_of(a.quant_mode));
      parts.push_back(result(a, k.in(i).shape(), x, grid.scale));
    }
    k.out(0, computed(op::Concat{.axis = a.axis}, parts));
  }
};

// Rows of a table, as nn.Embedding takes them.
struct QGather : Rules<op::linger::Gather> {
  using A = op::linger::Gather;
  static void infer(const A& a, Infer& c) {
    want_numbers(c, a);
    c.out(0, type_of(a.w_bits), shape_by(op::Gather{}, c));
  }
  static void eval(const A& a, Eval& k) {
    const Tensor table = store(type_of(a.w_bits), k.in(0).shape(), whole(k.in(0), w_of(a), Rounding::even));
    const Tensor operands[] = {table, k.in(1)};
    k.out(0, computed(op::Gather{}, operands));
  }
};

// Axes as an attribute, as in opsets below 13. Without them every axis of size 1 goes.
struct QSqueeze : Rules<op::linger::Squeeze> {
  using A = op::linger::Squeeze;
  static std::optional<std::vector<int64_t>> axes_of(const A& a) {
    if (a.axes && !a.axes->empty()) return a.axes;
    return a.axis ? std::optional(std::vector<int64_t>{*a.axis}) : std::nullopt;
  }

  static void infer(const A& a, Infer& c) {
    const auto given = axes_of(a);
    const auto axes = given ? c.axes(*given, c.rank(0)) : std::vector<int64_t>();
    Shape out;
    for (int64_t i = 0; i < c.rank(0); ++i) {
      const Dim size = c.dim(0, i);
      const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
      if (named) c.same(size, 1, "the size of a squeezed axis");
      else if (!given && !size.is_literal()) return c.out(0, Type::tensor(c.dtype(0)));  // the rank depends on it
      else if (given || !size.is(1)) out.push_back(size);
    }
    c.out(0, c.dtype(0), std::move(out));
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto given = axes_of(a);
    const auto axes = given ? k.axes(*given, x.rank()) : std::vector<int64_t>();
    std::vector<int64_t> shape;
    for (size_t i = 0; i < x.shape().size(); ++i) {
      const bool named = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
      if (named && x.shape()[i] != 1) k.fail("eval.shape", cat("a squeezed axis has the size ", x.shape()[i]));
      if (!named && (given || x.shape()[i] != 1)) shape.push_back(x.shape()[i]);
    }
    k.out(0, x.reshaped(std::move(shape)));
  }
};

constexpr OpRules table[] = {
    rules<Product<op::linger::QMatmul>>(),
    rules<Product<op::linger::QBmm>>(),
    rules<QCat>(),
    rules<QGather>(),
    rules<QSqueeze>(),
};

}  // namespace

}  // namespace linger

std::span<const OpRules> linger_matmul_rules() { return linger::table; }

}  // namespace cameo::ops
