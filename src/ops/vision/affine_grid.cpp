// AffineGrid.
#include "ops/computed.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/nn/window.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct AffineGrid : Rules<op::AffineGrid> {
  using A = op::AffineGrid;

  static void infer(const A&, Infer& c) {
    want_rank(c, 0, 3, "theta");
    want_rank(c, 1, 1, "'size'");
    const auto sizes = c.ints(1);
    const auto known = c.dim(0, 1).known();
    const auto length = sizes         ? std::optional<int64_t>(static_cast<int64_t>(sizes->size()))
                        : c.length(1) ? c.length(1)
                        : known       ? std::optional(*known + 2)
                                      : std::nullopt;
    if (!length) return;
    if (*length != 4 && *length != 5)
      c.fail("infer.mismatch", cat("'size' has ", *length, " elements: 4 or 5 are wanted"));
    c.same(c.dim(0, 1), *length - 2, "theta's rows and the spatial axes");
    c.same(c.dim(0, 2), *length - 1, "theta's columns and the spatial axes with a constant");
    Shape out{sizes ? c.same((*sizes)[0], c.dim(0, 0), "the batch and theta's") : c.dim(0, 0)};
    for (int64_t i = 2; i < *length; ++i) out.push_back(sizes ? (*sizes)[static_cast<size_t>(i)] : c.fresh("grid"));
    out.push_back(*length - 2);
    c.out(0, std::move(out));
  }

  // The untransformed positions [points, axes + 1], innermost axis first, with a one at the end.
  static std::vector<double> base(const A& a, const std::vector<int64_t>& sizes) {
    std::vector<double> out;
    std::vector<int64_t> at(sizes.size(), 0);
    if (product(sizes) == 0) return out;
    do {
      for (size_t d = sizes.size(); d-- > 0;) {
        const auto n = static_cast<double>(sizes[d]), i = static_cast<double>(at[d]);
        out.push_back(a.align_corners ? (sizes[d] > 1 ? 2 * i / (n - 1) - 1 : -1) : (2 * i + 1) / n - 1);
      }
      out.push_back(1);
    } while (next_index(at, sizes));
    return out;
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& theta = k.in(0);
    const auto size = k.ints(1);
    const auto n = static_cast<int64_t>(size.size()) - 2;
    if ((n != 2 && n != 3) || theta.shape() != std::vector<int64_t>{size[0], n, n + 1})
      k.fail("eval.shape", "theta does not suit 'size'");
    const std::vector<int64_t> sizes(size.begin() + 2, size.end());
    std::vector<int64_t> shape{size[0]};
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    shape.push_back(n);
    if (element_count(shape) == 0) return k.out(0, zeros(theta.dtype(), shape));
    const auto points = base(a, sizes);
    const Loaded<double> t(theta);
    std::vector<double> y;
    for (int64_t b = 0; b < size[0]; ++b)
      for (size_t p = 0; p < points.size(); p += static_cast<size_t>(n + 1))
        for (int64_t r = 0; r < n; ++r) {
          double sum = 0;
          for (int64_t j = 0; j <= n; ++j) sum += t[(b * n + r) * (n + 1) + j] * points[p + static_cast<size_t>(j)];
          y.push_back(sum);
        }
    k.out(0, store(theta.dtype(), shape, y));
  }

  // The untransformed positions as values, for a size that the model computes.
  static void expand_computed(const A& a, Expand& e) {
    On& on = e.on;
    const Fact& theta = e.fact(0);
    const auto axes = theta.has_rank() && theta.rank() == 3 ? theta.shape()[1].known() : std::nullopt;
    if (!axes || (*axes != 2 && *axes != 3))
      return e.refuse("'size' is known only when the model runs, and so are the axes");
    const DType t = e.dtype(0);
    const ValueId size = as_vector(on, e.in(1)),
                  space = on.Slice(size, on.ints({2}), on.ints({2 + *axes}), on.ints({0}));
    std::vector<ValueId> columns;
    for (int64_t d = *axes; d-- > 0;) {
      const ValueId n = element(on, size, d + 2), i = on.cast(iota(on, n), t), count = on.cast(n, t);
      const ValueId one = on.number(1, t), two = on.number(2, t);
      const ValueId step = a.align_corners ? on.Div(on.Mul(i, two), on.Max(std::vector{on.Sub(count, one), one}))
                                           : on.Div(on.Add(on.Mul(i, two), one), count);
      columns.push_back(on.Reshape(on.Expand(along(on, on.Sub(step, one), d, *axes), space), on.ints({-1, 1})));
    }
    columns.push_back(on.Reshape(on.Expand(on.number(1, t), space), on.ints({-1, 1})));
    const ValueId points = on.Concat(columns, {.axis = 1});
    const ValueId shape = join_sizes(on, {on.ints({0}), space, on.ints({*axes})});
    e.replace({on.Reshape(on.MatMul(points, transpose(on, e.in(0), {0, 2, 1})), shape)});
  }

  static void expand(const A& a, Expand& e) {
    On& on = e.on;
    constexpr int64_t most_points = 1 << 20;
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const auto size = e.graph.constant(e.in(1));
    if (!size) return expand_computed(a, e);
    const auto all = size->to_ints();
    const std::vector<int64_t> sizes(all.begin() + 2, all.end());
    if (product(sizes) > most_points) return expand_computed(a, e);
    const auto n = static_cast<int64_t>(sizes.size());
    const ValueId points = on.constant(store(e.dtype(0), {product(sizes), n + 1}, base(a, sizes)));
    std::vector<int64_t> shape{0};
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    shape.push_back(n);
    e.replace({on.Reshape(on.MatMul(points, transpose(on, e.in(0), {0, 2, 1})), on.ints(shape))});
  }
  static constexpr Expansion expansions[] = {
      expansion<A>(20, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<AffineGrid>()};

}  // namespace

std::span<const OpRules> affine_grid_rules() { return table; }

}  // namespace cameo::ops
