// Numbers as the host operators see them: known ones, expressions over sizes, and floats of the graph.
#pragma once

#include "staging/host/tables.h"

namespace cameo::staging {

inline bool is_int(const Value& v) { return v.is<Dim>() || v.is<bool>(); }
inline bool is_real(const Value& v) { return is_int(v) || v.is<double>() || v.is<StagedFloat>(); }
inline bool is_known_real(const Value& v) {
  return v.is<double>() || v.is<bool>() || (v.is<Dim>() && v.need<Dim>().is_literal());
}
inline double real(const Value& v) {
  if (const auto* d = v.as<Dim>()) return static_cast<double>(d->literal());
  if (const auto* b = v.as<bool>()) return *b;
  return v.need<double>();
}
inline bool two(const HostCall& c, bool (*test)(const Value&)) { return c.size() >= 2 && test(c[0]) && test(c[1]); }
// Python's floats are doubles: what is computed with them is too.
inline V staged(HostCall& c, const Value& v) { return c.s.on.scalar(Num(c.s.to_arg(v)), DType::f64); }

}  // namespace cameo::staging
