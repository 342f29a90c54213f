#include "api/page/numbers.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/carrier.h"
#include "support/budget.h"
#include "support/text.h"

#include "api/state.h"

namespace cameo::page {

namespace {

template <class C>
Summary summary(std::span<const C> all) {
  Summary out;
  out.count = all.size();
  double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
  constexpr size_t stretch = 1 << 20;  // between two looks whether to stop
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % stretch == 0) support::checkpoint();
    const auto v = static_cast<double>(all[i]);
    if (std::isnan(v)) ++out.nan;
    else if (std::isinf(v)) ++out.infinite;
    else {
      out.zeros += v == 0;
      least = std::min(least, v);
      most = std::max(most, v);
      sum += v;
      squares += v * v;
    }
  }
  const uint64_t finite = out.count - out.nan - out.infinite;
  if (!finite) return out;
  const auto n = static_cast<double>(finite);
  out.least = least;
  out.most = most;
  out.mean = sum / n;
  out.deviation = std::sqrt(std::max(0.0, squares / n - out.mean * out.mean));
  out.bins.assign(bin_count, 0);
  const double width = (most - least) / bin_count;
  for (const C& c : all)
    if (const auto v = static_cast<double>(c); std::isfinite(v))
      ++out.bins[width > 0 ? std::min(bin_count - 1, static_cast<size_t>((v - least) / width)) : bin_count / 2];
  return out;
}

bool is_real(const ir::Tensor& t) { return kernels::carrier_of(t.dtype()) != kernels::Carrier::none; }

Summary summary_of(const ir::Tensor& t) {
  return kernels::with_carrier(
      t.dtype(), [&](auto zero) { return summary<decltype(zero)>(kernels::Loaded<decltype(zero)>(t).span()); });
}

void write_summary(json::Writer& w, const Summary& s) {
  w.key("count").value(s.count).key("min").value(s.least).key("max").value(s.most).key("mean").value(s.mean);
  w.key("std").value(s.deviation).key("zeros").value(s.zeros).key("nan").value(s.nan).key("inf").value(s.infinite);
  w.key("bins").array();
  for (const uint64_t b : s.bins) w.value(b);
  w.end();
}

}  // namespace

Summary summary_of(const SharedArray& a, const std::string& name) { return summary_of(tensor_of(a, name)); }

void write_array(json::Writer& w, const SharedArray& a, const std::string& name) {
  constexpr int64_t shown = 64;
  w.object().key("dtype").value(a.dtype).key("shape").array();
  for (const int64_t s : a.shape) w.value(s);
  w.end();
  const ir::Tensor t = tensor_of(a, name);
  if (t.dtype() == ir::DType::string) {
    w.key("count").value(t.count()).key("first").array();
    for (int64_t i = 0; i < std::min(shown, t.count()); ++i)
      w.value(support::printable(t.strings()[static_cast<size_t>(i)]));
    w.end();
  } else if (is_real(t)) {
    write_summary(w, summary_of(t));
    w.key("first").array();
    for (int64_t i = 0; i < std::min(shown, t.count()); ++i) w.value(t.double_at(i));
    w.end();
  } else w.key("count").value(t.count());
  w.end();
}

}  // namespace cameo::page
