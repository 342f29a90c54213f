#include <cmath>
#include <limits>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/pool_expand.h"
#include "ops/nn/window_rule.h"
#include "ops/on.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

template <class A>
WindowAttrs attrs_of(const A& a, size_t spatial) {
  return window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, a.ceil_mode != 0, spatial);
}

template <class A>
void infer_pool(const A& a, Infer& c) {
  want_image(c, 0);
  const Shape& x = c.shape(0);
  const size_t n = x.size() - 2;
  if (a.kernel_shape.size() != n)
    c.fail("infer.attribute", cat("'kernel_shape' has ", a.kernel_shape.size(), " entries where ", n, " are wanted"));
  Shape out{x[0], x[1]};
  for (const Dim d : windowed_sizes(c, attrs_of(a, n), x, Shape(a.kernel_shape.begin(), a.kernel_shape.end())))
    out.push_back(d);
  for (size_t i = 0; i < c.out_count(); ++i) c.out(i, out);
}

template <class A>
Windows windows_of(const A& a, Eval& k, const Tensor& x) {
  if (x.rank() < 3) k.fail("eval.shape", cat("the input has rank ", x.rank()));
  Windows w = make_windows(attrs_of(a, static_cast<size_t>(x.rank() - 2)), spatial_of(x.shape()), a.kernel_shape);
  if (!w.problem.empty()) k.fail("eval.shape", w.problem);
  return w;
}

std::vector<int64_t> out_shape(const Tensor& x, const Windows& w) {
  std::vector<int64_t> shape{x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), w.out.begin(), w.out.end());
  return shape;
}

// Calls f(output index, plane's first input index, window number, its reach) for every output element in order.
template <class F>
void for_each_window(const Windows& w, int64_t planes, F&& f) {
  const int64_t in_plane = w.in_count(), out_plane = w.out_count();
  if (out_plane == 0 || planes == 0) return;
  Reach reach(w);
  for (int64_t p = 0; p < planes; ++p) {
    std::vector<int64_t> o(w.rank(), 0);
    int64_t at = p * out_plane;
    do {
      reach.at(w, o);
      f(at++, p * in_plane, o, reach);
    } while (next_index(o, w.out));
  }
}

// Floats narrower than f64 and 8-bit integers fit in float.
template <class F>
void with_pool_carrier(DType t, F&& f) {
  if (t == DType::f64) f(double{});
  else f(float{});
}

int64_t column_major(int64_t row_major, const std::vector<int64_t>& shape) {
  int64_t out = 0;
  for (size_t i = shape.size(); i-- > 0; row_major /= shape[i]) {
    int64_t stride = 1;
    for (size_t j = 0; j < i; ++j) stride *= shape[j];
    out += row_major % shape[i] * stride;
  }
  return out;
}

void drop_dilations(Downgrade& d) {
  const auto dilations = d.take_ints("dilations");
  if (!dilations) return;
  for (const int64_t v : *dilations)
    if (v != 1) return d.refuse("dilated pooling did not exist there");
}

struct MaxPool : Rules<op::MaxPool> {
  static void infer(const op::MaxPool& a, Infer& c) { infer_pool(a, c); }

  static void eval(const op::MaxPool& a, Eval& k) {
    const Tensor& x = k.in(0);
    const Windows w = windows_of(a, k, x);
    const auto shape = out_shape(x, w);
    with_pool_carrier(x.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const C lowest = is_float(x.dtype())      ? -std::numeric_limits<C>::infinity()
                       : x.dtype() == DType::u8 ? C(0)
                                                : C(-128);
      const Loaded<C> v(x);
      std::vector<C> y(static_cast<size_t>(element_count(shape)), lowest);
      std::vector<int64_t> where(y.size(), 0);
      for_each_window(w, shape[0] * shape[1], [&](int64_t at, int64_t plane, const auto&, Reach& r) {
        C best = lowest;
        int64_t best_at = -1;
        for_each_position(r, [&](int64_t i) {
          const C e = v[plane + i];
          if (best_at < 0 || e > best || (e != e && best == best)) best = e, best_at = i;
        });
        y[static_cast<size_t>(at)] = best;
        where[static_cast<size_t>(at)] = plane + (best_at < 0       ? 0
                                                  : a.storage_order ? column_major(best_at, w.in)
                                                                    : best_at);
      });
      k.out(0, store(x.dtype(), shape, y));
      if (k.out_count() > 1) k.out(1, store(DType::i64, shape, where));
    });
  }

  static constexpr Revision revisions[] = {
      {8, nullptr,
       [](Downgrade& d) {
         d.drop_default("storage_order", int64_t{0});
         if (d.outputs > 1) d.refuse("MaxPool gives no indices before opset 8");
       }},
      {10, nullptr,
       [](Downgrade& d) {
         d.drop_default("ceil_mode", int64_t{0});
         drop_dilations(d);
       }},
  };

  static void by_taps(const op::MaxPool& a, Expand& e) {
    On& on = e.on;
    if (e.wants(1)) return e.refuse("the indices of a dilated pool");
    const DType t = e.dtype(0);
    const double lowest = is_float(t) ? -std::numeric_limits<double>::infinity() : t == DType::u8 ? 0 : -128;
    const auto pooled =
        pooled_taps(e, e.in(0), attrs_of(a, a.kernel_shape.size()), a.kernel_shape, on.number(lowest, t));
    if (pooled.taps.empty()) return;
    std::vector<ValueId> results(e.outputs());
    results[0] = pooled.taps.size() == 1 ? pooled.taps[0] : on.Max(pooled.taps);
    e.replace(std::move(results));
  }
  static constexpr Expansion expansions[] = {
      expansion<op::MaxPool>(
          10, Exactness::exact, [](const op::MaxPool& a, Expand& e) { by_taps(a, e); },
          [](const op::MaxPool& a, const Graph&, NodeId, int64_t) { return a.ceil_mode || is_dilated(a.dilations); }),
      two_axes<op::MaxPool>(),
      expansion<op::MaxPool>(
          0, Exactness::exact, [](const op::MaxPool& a, Expand& e) { by_taps(a, e); },
          [](const op::MaxPool& a, const Graph&, NodeId, int64_t) { return a.auto_pad != "NOTSET"; })};
};

// Per window what `of(zero, windows, the window's index, each)` makes of its elements; each(f) calls f with every one.
template <class Attrs, class F>
void eval_sums(const Attrs& a, Eval& k, F of) {
  const Tensor& x = k.in(0);
  const Windows w = windows_of(a, k, x);
  const auto shape = out_shape(x, w);
  with_pool_carrier(x.dtype(), [&](auto zero) {
    using C = decltype(zero);
    const Loaded<C> v(x);
    std::vector<C> y(static_cast<size_t>(element_count(shape)));
    for_each_window(w, shape[0] * shape[1], [&](int64_t at, int64_t plane, const auto& o, Reach& r) {
      y[static_cast<size_t>(at)] =
          of(C(0), w, o, [&](auto f) { for_each_position(r, [&](int64_t i) { f(v[plane + i]); }); });
    });
    k.out(0, store(x.dtype(), shape, y));
  });
}

// Summed tap by tap.
ValueId add_taps(On& on, const std::vector<ValueId>& taps) {
  ValueId sum = taps[0];
  for (size_t i = 1; i < taps.size(); ++i) sum = on.Add(sum, taps[i]);
  return sum;
}

struct AveragePool : Rules<op::AveragePool> {
  static void infer(const op::AveragePool& a, Infer& c) { infer_pool(a, c); }

  static void eval(const op::AveragePool& a, Eval& k) {
    eval_sums(a, k, [&](auto sum, const Windows& w, const auto& o, const auto& each) {
      int64_t count = 0;
      each([&](auto v) { sum += v, ++count; });
      if (a.count_include_pad) count = padded_count(w, o);
      return sum / static_cast<decltype(sum)>(count);
    });
  }

  // Positions inside the input or its padding: what ceil_mode adds beyond that does not count.
  static int64_t padded_count(const Windows& w, const std::vector<int64_t>& o) {
    int64_t count = 1;
    for (size_t i = 0; i < w.rank(); ++i) {
      const int64_t room = w.in[i] + w.end[i] + w.begin[i] - o[i] * w.strides[i];
      count *= std::min(w.kernel[i], (room + w.dilations[i] - 1) / w.dilations[i]);
    }
    return count;
  }

  static constexpr Revision revisions[] = {
      {7, nullptr, [](Downgrade& d) { d.drop_default("count_include_pad", int64_t{0}); }},
      {10, nullptr, [](Downgrade& d) { d.drop_default("ceil_mode", int64_t{0}); }},
      {19, nullptr, [](Downgrade& d) { drop_dilations(d); }},
  };

  static void by_taps(const op::AveragePool& a, Expand& e) {
    On& on = e.on;
    const auto pooled =
        pooled_taps(e, e.in(0), attrs_of(a, a.kernel_shape.size()), a.kernel_shape, on.number_like(0, e.in(0)));
    if (pooled.taps.empty()) return;
    ValueId count = on.number_like(static_cast<double>(pooled.taps.size()), e.in(0));
    if (pooled.windows) {
      std::vector<double> counts;
      std::vector<int64_t> shape{1, 1};
      shape.insert(shape.end(), pooled.windows->out.begin(), pooled.windows->out.end());
      for_each_window(*pooled.windows, 1, [&](int64_t, int64_t, const auto& o, Reach& r) {
        int64_t inside = 0;
        for_each_position(r, [&](int64_t) { ++inside; });
        counts.push_back(static_cast<double>(a.count_include_pad ? padded_count(*pooled.windows, o) : inside));
      });
      count = on.constant(store(e.dtype(0), shape, counts));
    } else if (pooled.padded && !a.count_include_pad) {
      return e.refuse("how much of a window is padding is known only when the model runs");
    }
    e.replace({on.Div(add_taps(on, pooled.taps), count)});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::AveragePool>(
          19, Exactness::rounding, [](const op::AveragePool& a, Expand& e) { by_taps(a, e); },
          [](const op::AveragePool& a, const Graph&, NodeId, int64_t target) {
            return is_dilated(a.dilations) || (target < 10 && a.ceil_mode);
          }),
      two_axes<op::AveragePool>(),
      expansion<op::AveragePool>(
          0, Exactness::rounding, [](const op::AveragePool& a, Expand& e) { by_taps(a, e); },
          [](const op::AveragePool& a, const Graph&, NodeId, int64_t) {
            return a.ceil_mode || a.auto_pad != "NOTSET";
          })};
};

struct LpPool : Rules<op::LpPool> {
  static void infer(const op::LpPool& a, Infer& c) { infer_pool(a, c); }

  static void eval(const op::LpPool& a, Eval& k) {
    eval_sums(a, k, [&](auto sum, const Windows&, const auto&, const auto& each) {
      using C = decltype(sum);
      const auto p = static_cast<C>(a.p);
      each([&](C v) { sum += std::pow(std::abs(v), p); });
      return std::pow(sum, C(1) / p);
    });
  }

  static constexpr Revision revisions[] = {
      exponent_was_float,
      {18, nullptr,
       [](Downgrade& d) {
         d.drop_default("ceil_mode", int64_t{0});
         drop_dilations(d);
       }},
  };

  static void by_taps(const op::LpPool& a, Expand& e) {
    On& on = e.on;
    const auto pooled =
        pooled_taps(e, e.in(0), attrs_of(a, a.kernel_shape.size()), a.kernel_shape, on.number_like(0, e.in(0)));
    if (pooled.taps.empty()) return;
    std::vector<ValueId> powers;
    for (const ValueId v : pooled.taps)
      powers.push_back(on.Pow(on.Abs(v), on.number_like(static_cast<double>(a.p), v)));
    e.replace({on.Pow(add_taps(on, powers), on.number_like(1 / static_cast<double>(a.p), e.in(0)))});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::LpPool>(
          18, Exactness::rounding, [](const op::LpPool& a, Expand& e) { by_taps(a, e); },
          [](const op::LpPool& a, const Graph&, NodeId, int64_t) { return a.ceil_mode || is_dilated(a.dilations); }),
      two_axes<op::LpPool>()};
};

constexpr OpRules table[] = {rules<MaxPool>(), rules<AveragePool>(), rules<LpPool>()};

}  // namespace

std::span<const OpRules> pool_rules() { return table; }

}  // namespace cameo::ops
