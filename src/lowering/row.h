// A lowering is a row: a torch overload and a function whose parameter types say how to bind its arguments.
//
//   constexpr Row table[] = {
//     {"aten::relu",       [](Lower& on, V x) { return on.Relu(x); }},
//     {"aten::add.Tensor", [](Lower& on, V a, V b, Num alpha) { ... }, promote(0, 1)},
//   };
//
// Parameters are taken in schema order; a function may stop early when it does not need the rest. `Rest` as the last
// parameter takes everything. Results: V, Dim, bool, double, Vs (a list), a std::tuple of those (several results), Arg.
#pragma once

#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "lowering/arg.h"
#include "lowering/lower.h"
#include "lowering/promotion.h"
#include "lowering/schema.h"

namespace cameo::lowering {

// The arguments of one call, in schema order, defaults filled in.
struct LoweredCall {
  const Schema* schema;
  std::vector<Arg> args;
};

// Conversions of one argument, by the type a function asks for. Each throws "lower.argument" naming the parameter.
struct ArgRef {
  Lower& on;
  const LoweredCall& call;
  size_t index;

  const Arg& get() const { return call.args[index]; }
  bool is_none() const { return get().is_none(); }
  [[noreturn]] void wrong(std::string_view wanted) const;

  void to(V& out) const;
  void to(Vs& out) const;
  void to(std::vector<Opt<V>>& out) const;
  void to(Num& out) const;
  void to(Dim& out) const;
  void to(Dims& out) const;
  void to(int64_t& out) const;  // must be a known number
  void to(Ints& out) const;     // likewise
  void to(Floats& out) const;
  void to(double& out) const;
  void to(bool& out) const;
  void to(Str& out) const;
  void to(DType& out) const;  // of a ScalarType
  void to(Arg& out) const { out = get(); }
  template <class T>
  void to(Opt<T>& out) const {
    if (is_none()) out.reset();
    else to(out.emplace());
  }
};

// All arguments from here on, unconverted.
struct Rest {
  std::span<const Arg> args;
};

namespace detail {
template <class F>
struct signature;
template <class R, class C, class... A>
struct signature<R (C::*)(Lower&, A...) const> {
  using result = R;
  using args = std::tuple<std::decay_t<A>...>;
};

inline void give(std::vector<Arg>& out, V v) { out.emplace_back(v); }
inline void give(std::vector<Arg>& out, ValueId v) { out.emplace_back(V(v)); }
inline void give(std::vector<Arg>& out, Dim v) { out.emplace_back(v); }
inline void give(std::vector<Arg>& out, bool v) { out.emplace_back(v); }
inline void give(std::vector<Arg>& out, double v) { out.emplace_back(v); }
inline void give(std::vector<Arg>& out, Arg v) { out.push_back(std::move(v)); }
inline void give(std::vector<Arg>& out, const Vs& v) { out.push_back(Arg::list(std::vector<Arg>(v.begin(), v.end()))); }
inline void give(std::vector<Arg>& out, const Dims& v) {
  out.push_back(Arg::list(std::vector<Arg>(v.begin(), v.end())));
}
template <class... T>
void give(std::vector<Arg>& out, const std::tuple<T...>& v) {
  std::apply([&](const auto&... part) { (give(out, part), ...); }, v);
}

template <class F, size_t... I>
std::vector<Arg> bind_and_call(Lower& on, const LoweredCall& call, std::index_sequence<I...>) {
  using S = signature<decltype(&F::operator())>;
  typename S::args values{};
  const auto bind = [&](auto& slot, size_t i) {
    if constexpr (std::is_same_v<std::decay_t<decltype(slot)>, Rest>)
      slot.args = std::span<const Arg>(call.args).subspan(i);
    else ArgRef{on, call, i}.to(slot);
  };
  (bind(std::get<I>(values), I), ...);
  std::vector<Arg> out;
  if constexpr (std::is_void_v<typename S::result>) F{}(on, std::get<I>(values)...);
  else give(out, F{}(on, std::get<I>(values)...));
  return out;
}
}  // namespace detail

// A named function in a row: {"aten::add.Tensor", fn<add>}.
template <auto F>
struct Fn;
template <class R, class... A, R (*F)(Lower&, A...)>
struct Fn<F> {
  R operator()(Lower& on, std::decay_t<A>... args) const { return F(on, std::move(args)...); }
};
template <auto F>
inline constexpr Fn<F> fn{};

using LowerFunction = std::vector<Arg> (*)(Lower&, const LoweredCall&);

struct Row {
  std::string_view name;  // "aten::add.Tensor"
  LowerFunction call;
  Promotion promotion;
  size_t arity;  // parameters the function takes

  template <class F>
  constexpr Row(std::string_view n, F, Promotion p = {})
      : name(n),
        call([](Lower& on, const LoweredCall& c) {
          return detail::bind_and_call<F>(
              on, c,
              std::make_index_sequence<
                  std::tuple_size_v<typename detail::signature<decltype(&F::operator())>::args>>());
        }),
        promotion(p),
        arity(std::tuple_size_v<typename detail::signature<decltype(&F::operator())>::args>) {}
};

const Row* find_row(std::string_view overload);
std::vector<std::string_view> all_row_names();
// Applies the row's promotion, then calls it.
std::vector<Arg> lower_call(Lower& on, const Row& row, LoweredCall call);

}  // namespace cameo::lowering
