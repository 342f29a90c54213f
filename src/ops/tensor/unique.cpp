// Unique: how much comes out depends on the data.
#include <algorithm>
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/tensor/axis_maps.h"

namespace cameo::ops {

namespace {

// Compares elements by number, in an order that holds NaN (last, all alike) too.
class Order {
 public:
  explicit Order(const Tensor& t) : t_(t) {
    if (t.dtype() == DType::string) return;
    if (is_complex(t.dtype())) {
      const DType part = t.dtype() == DType::c64 ? DType::f32 : DType::f64;
      numbers_ = Tensor(part, {t.count() * 2}, t.bytes()).to_doubles();
      step_ = 2;
    } else if (carrier_of(t.dtype()) == Carrier::i64 || carrier_of(t.dtype()) == Carrier::u64) {
      // Wide integers do not fit a double: the sign bit is turned so that both kinds compare as unsigned.
      const Loaded<uint64_t> bits(t);
      const uint64_t flip = is_signed_int(t.dtype()) ? uint64_t{1} << 63 : 0;
      for (const uint64_t b : bits.span()) integers_.push_back(b ^ flip);
    } else {
      numbers_ = t.to_doubles();
    }
  }

  int compare(int64_t a, int64_t b) const {
    if (t_.dtype() == DType::string)
      return t_.strings()[static_cast<size_t>(a)].compare(t_.strings()[static_cast<size_t>(b)]);
    if (!integers_.empty()) return three_way(integers_[static_cast<size_t>(a)], integers_[static_cast<size_t>(b)]);
    for (int64_t i = 0; i < step_; ++i) {
      const double x = numbers_[static_cast<size_t>(a * step_ + i)], y = numbers_[static_cast<size_t>(b * step_ + i)];
      const int order = std::isnan(x) || std::isnan(y) ? three_way(std::isnan(x), std::isnan(y)) : three_way(x, y);
      if (order) return order;
    }
    return 0;
  }

 private:
  template <class T>
  static int three_way(T a, T b) {
    return a < b ? -1 : b < a ? 1 : 0;
  }
  const Tensor& t_;
  std::vector<double> numbers_;
  std::vector<uint64_t> integers_;
  int64_t step_ = 1;
};

struct Unique : Rules<op::Unique> {
  static constexpr bool partial = true;
  static void infer(const op::Unique& a, Infer& c) {
    const Dim count = c.fresh("unique");
    for (const size_t i : {1, 3}) c.out(i, {count});
    if (!c.has_rank(0)) {
      if (!a.axis) c.out(0, {count});
      return c.out(2, {c.fresh()});
    }
    const int64_t axis = a.axis ? c.axis(*a.axis, c.rank(0)) : -1;
    Shape out = axis < 0 ? Shape{count} : c.shape(0);
    if (axis >= 0) out[static_cast<size_t>(axis)] = count;
    c.out(0, out);
    c.out(2, {axis < 0 ? element_count(c.shape(0)) : c.dim(0, axis)});
  }

  static void eval(const op::Unique& a, Eval& k) {
    const Tensor x = a.axis ? k.in(0) : k.in(0).reshaped({k.in(0).count()});
    const auto axis = static_cast<size_t>(k.axis(a.axis.value_or(0), x.rank()));
    const int64_t rows = x.shape()[axis], stride = row_major_strides(x.shape())[axis];
    // Row r is made of the elements at r * stride + each of these.
    auto off_axis = x.shape();
    off_axis[axis] = 1;
    const auto places = strided_indices(off_axis, row_major_strides(x.shape()));
    const Order order(x);
    const auto compare = [&](int64_t p, int64_t q) {
      for (const int64_t at : places)
        if (const int c = order.compare(p * stride + at, q * stride + at)) return c;
      return 0;
    };
    std::vector<int64_t> sorted = identity_map(rows);
    std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t p, int64_t q) { return compare(p, q) < 0; });

    std::vector<int64_t> first, inverse(static_cast<size_t>(rows)), counts;
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (i == 0 || compare(sorted[i - 1], sorted[i]) != 0) first.push_back(sorted[i]), counts.push_back(0);
      ++counts.back();
      inverse[static_cast<size_t>(sorted[i])] = static_cast<int64_t>(first.size()) - 1;
    }
    if (!a.sorted) by_appearance(first, inverse, counts);
    std::vector<AxisMap> maps;
    for (const int64_t size : x.shape()) maps.push_back(identity_map(size));
    maps[axis] = first;
    k.out(0, take_by_axes(x, maps));
    k.out(1, Tensor::ints(first));
    k.out(2, Tensor::ints(inverse));
    k.out(3, Tensor::ints(counts));
  }

  static void by_appearance(std::vector<int64_t>& first, std::vector<int64_t>& inverse, std::vector<int64_t>& counts) {
    auto order = identity_map(static_cast<int64_t>(first.size()));
    std::sort(order.begin(), order.end(),
              [&](int64_t p, int64_t q) { return first[static_cast<size_t>(p)] < first[static_cast<size_t>(q)]; });
    std::vector<int64_t> rank(order.size()), old_first = first, old_counts = counts;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto from = static_cast<size_t>(order[i]);
      rank[from] = static_cast<int64_t>(i);
      first[i] = old_first[from];
      counts[i] = old_counts[from];
    }
    for (int64_t& i : inverse) i = rank[static_cast<size_t>(i)];
  }
};

constexpr OpRules table[] = {rules<Unique>()};

}  // namespace

std::span<const OpRules> unique_rules() { return table; }

}  // namespace cameo::ops
