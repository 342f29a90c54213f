// Making errors: `throw error("lower.no-rule", cat("no lowering for ", name)).at(loc).help("...")`.
#pragma once

#include <concepts>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cameo/diag.h"
#include "support/layers.h"

namespace cameo::support {

Error error(std::string_view code, std::string what);

// Collects findings that do not stop the work.
class DiagSink {
 public:
  Diag& add(Diag d) { return all_.emplace_back(std::move(d)); }
  Diag& warn(std::string_view code, std::string what, Loc where = {});
  Diag& note(std::string_view code, std::string what, Loc where = {});
  Diag& err(std::string_view code, std::string what, Loc where = {});
  const std::vector<Diag>& all() const { return all_; }
  std::vector<Diag>& all() { return all_; }
  bool has_errors() const;

 private:
  std::vector<Diag> all_;
};

namespace detail {
void append(std::string& out, std::string_view s);
void append(std::string& out, char c);
void append(std::string& out, long long v);
void append(std::string& out, unsigned long long v);
void append(std::string& out, double v);
template <class T>
void append_any(std::string& out, const T& v) {
  if constexpr (std::same_as<T, bool>) append(out, v ? "true" : "false");
  else if constexpr (std::same_as<T, char>) append(out, v);
  else if constexpr (std::is_enum_v<T>) append(out, static_cast<long long>(v));
  else if constexpr (std::signed_integral<T>) append(out, static_cast<long long>(v));
  else if constexpr (std::unsigned_integral<T>) append(out, static_cast<unsigned long long>(v));
  else if constexpr (std::floating_point<T>) append(out, static_cast<double>(v));
  else append(out, std::string_view(v));
}
}  // namespace detail

// Joins text and numbers into a string.
template <class... T>
std::string cat(const T&... parts) {
  std::string out;
  (detail::append_any(out, parts), ...);
  return out;
}

// A broken promise of ours, not a fault of the caller's model or call. It is no Error, so what goes on after an Error
// does not go on after a Bug: it ends the call (exit 4).
class Bug : public std::logic_error {
 public:
  // `code` begins with "bug."; `what` says what should have held.
  Bug(std::string_view code, std::string_view what, Loc where = {});
  const Diag& diag() const { return diag_; }

 private:
  Diag diag_;
};

// What only a bug of ours can break: throws a Bug with code "bug.invariant".
// The builtins stand in for std::source_location, which clang 14 lacks.
[[noreturn]] void invariant_failed(std::string_view what, std::string_view file, uint32_t line);
inline void invariant(bool holds, std::string_view what, const char* file = __builtin_FILE(),
                      uint32_t line = __builtin_LINE()) {
  if (!holds) [[unlikely]]
    invariant_failed(what, file, line);
}

[[noreturn]] void narrow_failed(long long value);

// The only way from a wide integer to a narrower one. Throws "value.range" when the value does not fit.
template <std::integral To, std::integral From>
constexpr To narrow(From v) {
  if (!std::in_range<To>(v)) [[unlikely]]
    narrow_failed(static_cast<long long>(v));
  return static_cast<To>(v);
}

}  // namespace cameo::support
