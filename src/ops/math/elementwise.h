// Operators that work element by element: one shape rule and one kernel per arity; an operator is a row of a table.
//
//   unary_float<op::Exp>([](auto x) { return std::exp(x); })
//
// Scalar functions get carriers (float, double, int64_t, uint64_t, uint8_t) and, when they ask for it, the attributes.
#pragma once

#include <concepts>
#include <type_traits>

#include "kernels/broadcast.h"
#include "ops/eval.h"
#include "ops/infer.h"

namespace cameo::ops {

void infer_like_first(Infer& c);     // the output has the first input's shape
void infer_broadcast_all(Infer& c);  // numpy's broadcast over all inputs

// A row under construction: `unary_float<op::Exp>(exp).with(since_6)`.
struct Row : OpRules {
  constexpr Row with(std::span<const Revision> r) && { return revisions = r, *this; }
  constexpr Row with(std::span<const Expansion> e) && { return expansions = e, *this; }
  constexpr Row inferring(void (*rule)(const void*, Infer&)) && { return infer = rule, *this; }
  constexpr Row commuting() && { return commutative = true, *this; }
};

template <class F, class A, class... X>
auto apply_scalar(const F& f, const A& attrs, X... x) {
  if constexpr (std::invocable<const F&, X..., const A&>) return f(x..., attrs);
  else return f(x...);
}

template <class C, class R, class F>
Tensor map_elements(const Tensor& x, DType to, F f) {
  const Loaded<C> in(x);
  std::vector<R> out(static_cast<size_t>(in.size()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<R>(f(in.span()[i]));
  return store(to, x.shape(), out);
}

// One row of two operands, of which either may stand still. The usual cases have loops of their own: they vectorise.
template <class C, class R, class F>
void zip_row(const C* a, int64_t a_step, const C* b, int64_t b_step, R* out, int64_t count, F f) {
  if (a_step == 1 && b_step == 1)
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(f(a[i], b[i]));
  else if (a_step == 1)
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(f(a[i], b[i * b_step]));
  else
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(f(a[i * a_step], b[i * b_step]));
}

template <class C, class R, class F>
Tensor zip_elements(const Tensor& a, const Tensor& b, DType to, F f) {
  BroadcastRows rows({&a, &b});
  const Loaded<C> x(a), y(b);
  std::vector<R> out(static_cast<size_t>(rows.count()));
  for (; !rows.done(); rows.next())
    zip_row(x.data() + rows.start(0), rows.step(0), y.data() + rows.start(1), rows.step(1), out.data() + rows.out(),
            rows.row_length(), f);
  return store(to, rows.shape(), out);
}

// Which carriers an operator computes in.
struct FloatCarriers {
  template <class F>
  static Tensor with(DType t, F f) {
    return with_float_carrier(t, f);
  }
};
struct IntCarriers {
  template <class F>
  static Tensor with(DType t, F f) {
    switch (carrier_of(t)) {
      case Carrier::i64: return f(int64_t{});
      case Carrier::u64: return f(uint64_t{});
      default: no_carrier(t);
    }
  }
};
struct NumberCarriers {
  template <class F>
  static Tensor with(DType t, F f) {
    return is_float(t) ? FloatCarriers::with(t, f) : IntCarriers::with(t, f);
  }
};
struct BoolCarrier {
  template <class F>
  static Tensor with(DType t, F f) {
    if (t != DType::boolean) no_carrier(t);
    return f(uint8_t{});
  }
};
struct AllCarriers {
  template <class F>
  static Tensor with(DType t, F f) {
    return with_carrier(t, f);
  }
};

template <class Attrs, class Carriers, class F>
constexpr Row unary_over(F) {
  Row out;
  out.attrs_tag = &type_tag<Attrs>;
  out.infer = [](const void*, Infer& c) { infer_like_first(c); };
  out.eval = [](const void* attrs, Eval& k) {
    const Tensor& x = k.in(0);
    k.out(0, Carriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            return map_elements<C, C>(x, x.dtype(),
                                      [&](C v) { return apply_scalar(F{}, *static_cast<const Attrs*>(attrs), v); });
          }));
  };
  return out;
}
template <class Attrs, class F>
constexpr Row unary_float(F f) {
  return unary_over<Attrs, FloatCarriers>(f);
}
template <class Attrs, class F>
constexpr Row unary_number(F f) {
  return unary_over<Attrs, NumberCarriers>(f);
}

// A question about each element of a float tensor: the result is bool.
template <class Attrs, class F>
constexpr Row float_predicate(F f) {
  Row out = unary_over<Attrs, FloatCarriers>(f);
  out.eval = [](const void* attrs, Eval& k) {
    const Tensor& x = k.in(0);
    k.out(0, FloatCarriers::with(x.dtype(), [&](auto c) {
            using C = decltype(c);
            return map_elements<C, uint8_t>(
                x, DType::boolean, [&](C v) { return apply_scalar(F{}, *static_cast<const Attrs*>(attrs), v); });
          }));
  };
  return out;
}

// Operands of one type that broadcast; the result has that type.
template <class Attrs, class Carriers, class F>
constexpr Row binary_over(F) {
  Row out;
  out.attrs_tag = &type_tag<Attrs>;
  out.infer = [](const void*, Infer& c) { infer_broadcast_all(c); };
  out.eval = [](const void* attrs, Eval& k) {
    const Tensor &a = k.in(0), &b = k.in(1);
    k.out(0, Carriers::with(a.dtype(), [&](auto c) {
            using C = decltype(c);
            return zip_elements<C, C>(
                a, b, a.dtype(), [&](C x, C y) { return apply_scalar(F{}, *static_cast<const Attrs*>(attrs), x, y); });
          }));
  };
  return out;
}

// The same with a bool result.
template <class Attrs, class Carriers, class F>
constexpr Row comparison_over(F) {
  Row out;
  out.attrs_tag = &type_tag<Attrs>;
  out.infer = [](const void*, Infer& c) { infer_broadcast_all(c); };
  out.eval = [](const void*, Eval& k) {
    const Tensor &a = k.in(0), &b = k.in(1);
    k.out(0, Carriers::with(a.dtype(), [&](auto c) {
            using C = decltype(c);
            return zip_elements<C, uint8_t>(a, b, DType::boolean, F{});
          }));
  };
  return out;
}

}  // namespace cameo::ops
