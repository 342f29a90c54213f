#include "runtime/compare.h"

#include <cmath>

#include "support/error.h"

namespace cameo::runtime {

namespace {

std::string shape_text(const Tensor& t) {
  std::string out = cat(name(t.dtype()), "[");
  for (size_t i = 0; i < t.shape().size(); ++i) out += cat(i ? "," : "", t.shape()[i]);
  return out + "]";
}

std::string index_text(const Tensor& t, int64_t i) {
  std::string out;
  for (size_t axis = t.shape().size(); axis-- > 0;) {
    out = cat(i % t.shape()[axis], out.empty() ? "" : ",", out);
    i /= t.shape()[axis];
  }
  return cat("[", out, "]");
}

Comparison different(std::string why) { return {false, std::move(why), 1, 0, 0, true}; }

Comparison strings(const Tensor& a, const Tensor& b) {
  for (size_t i = 0; i < a.strings().size(); ++i)
    if (a.strings()[i] != b.strings()[i])
      return different(cat("element ", index_text(a, static_cast<int64_t>(i)), " is \"", a.strings()[i], "\", and \"",
                           b.strings()[i], "\" is wanted"));
  return {};
}

Comparison integers(const Tensor& a, const Tensor& b) {
  Comparison out;
  const bool wide = a.dtype() == DType::u64;  // exact in its own type: compared by bits
  const auto ia = wide ? std::vector<int64_t>() : a.to_ints(), ib = wide ? std::vector<int64_t>() : b.to_ints();
  for (int64_t i = 0; i < a.count(); ++i) {
    const auto k = static_cast<size_t>(i);
    const bool same = wide ? a.as<uint64_t>()[k] == b.as<uint64_t>()[k] : ia[k] == ib[k];
    if (same) continue;
    const double x = wide ? static_cast<double>(a.as<uint64_t>()[k]) : static_cast<double>(ia[k]),
                 y = wide ? static_cast<double>(b.as<uint64_t>()[k]) : static_cast<double>(ib[k]);
    if (out.same) out.why = cat("element ", index_text(a, i), " is ", x, ", and ", y, " is wanted");
    out.same = false;
    ++out.differing;
    out.worst = std::max(out.worst, std::fabs(x - y));
  }
  return out;
}

double largest_of(const std::vector<double>& all) {
  double out = 0;
  for (const double v : all)
    if (std::isfinite(v)) out = std::max(out, std::fabs(v));
  return out;
}

Comparison floats(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  Comparison out;
  const auto da = a.to_doubles(), db = b.to_doubles();
  Bounds bounds = bounds_for(a.dtype(), tolerance);
  out.largest = largest_of(db);
  if (tolerance.other_program && out.largest > 1) bounds.atol *= out.largest;
  // Where all numbers are tiny, as a loss in its own unit, atol would accept anything.
  else if (tolerance.other_program && out.largest > 0 && !tolerance.atol)
    bounds.atol = std::min(bounds.atol, bounds.rtol * out.largest);
  for (size_t i = 0; i < da.size(); ++i) {
    if (da[i] == db[i] || (std::isnan(da[i]) && std::isnan(db[i]))) continue;
    const double gap = std::fabs(da[i] - db[i]);
    if (std::isfinite(gap)) out.worst = std::max(out.worst, gap);
    else out.unbounded = true;
    if (std::isfinite(gap) && gap <= bounds.atol + bounds.rtol * std::fabs(db[i])) continue;
    if (out.same)
      out.why = cat("element ", index_text(a, static_cast<int64_t>(i)), " is ", da[i], ", and ", db[i], " is wanted");
    out.same = false;
    ++out.differing;
  }
  return out;
}

Comparison tensors(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return different(cat("it is ", shape_text(a), ", and ", shape_text(b), " is wanted"));
  if (a.dtype() == DType::string) return strings(a, b);
  if (is_complex(a.dtype())) {  // pairs of real numbers
    std::vector<int64_t> shape = a.shape();
    shape.push_back(2);
    const DType part = a.dtype() == DType::c64 ? DType::f32 : DType::f64;
    return tensors(Tensor(part, shape, a.bytes()), Tensor(part, shape, b.bytes()), tolerance);
  }
  Comparison out = is_float(a.dtype()) ? floats(a, b, tolerance) : integers(a, b);
  if (!out.same && out.differing > 1)
    out.why += cat(" (", out.differing, " of ", a.count(), " elements differ, by at most ", out.worst, ")");
  return out;
}

}  // namespace

Bounds bounds_for(DType t, const Tolerance& wanted) {
  struct Row {
    DType type;
    Bounds same_program, other_program;
  };
  static constexpr Row rows[] = {
      {DType::f64, {1e-9, 1e-12}, {1e-6, 1e-8}},
      {DType::f32, {1e-4, 1e-5}, {1e-3, 1e-5}},
      {DType::f16, {5e-3, 1e-3}, {1e-2, 1e-2}},
      {DType::bf16, {2e-2, 1e-2}, {4e-2, 4e-2}},
  };
  Bounds b{0.13, 0.1};  // 8 bits and fewer: one step of the coarsest mantissa
  for (const Row& row : rows)
    if (row.type == t) b = wanted.other_program ? row.other_program : row.same_program;
  return {wanted.rtol.value_or(b.rtol), wanted.atol.value_or(b.atol)};
}

Comparison compare(const Datum& a, const Datum& b, const Tolerance& tolerance) {
  if (a.kind != b.kind) return different("the two are of different kinds: a tensor, a sequence, a map, or nothing");
  switch (a.kind) {
    case Datum::Kind::none: return {};
    case Datum::Kind::tensor: return tensors(a.tensor, b.tensor, tolerance);
    case Datum::Kind::sequence: {
      if (a.items->size() != b.items->size())
        return different(cat("it has ", a.items->size(), " elements, and ", b.items->size(), " are wanted"));
      Comparison all;
      for (size_t i = 0; i < a.items->size(); ++i) {
        Comparison one = compare((*a.items)[i], (*b.items)[i], tolerance);
        all.worst = std::max(all.worst, one.worst);
        all.largest = std::max(all.largest, one.largest);
        all.unbounded |= one.unbounded;
        if (!one.same && all.same) all.why = cat("item ", i, ": ", one.why), all.same = false;
        all.differing += one.differing;
      }
      return all;
    }
    case Datum::Kind::map: {
      if (a.entries->size() != b.entries->size())
        return different(cat("it has ", a.entries->size(), " entries, and ", b.entries->size(), " are wanted"));
      for (size_t i = 0; i < a.entries->size(); ++i) {
        const auto& [ka, va] = (*a.entries)[i];
        const auto& [kb, vb] = (*b.entries)[i];
        if (!compare(ka, kb, tolerance).same) return different(cat("key ", i, " differs"));
        if (Comparison one = compare(va, vb, tolerance); !one.same) return one;
      }
      return {};
    }
  }
  return {};
}

}  // namespace cameo::runtime
