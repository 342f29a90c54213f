// Identities of arithmetic and logic.
#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "passes/pattern.h"
#include "passes/rules/everywhere.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

bool is_float_value(const Rewrite& rw, ValueId v) { return is_float(rw.dtype(v)); }

// f(f(x)) = f(x)
void twice_is_once(Rewrite& rw) {
  const NodeId n = rw.g[rw.in(0)].def;
  if (rw.understood(n) && rw.g[n].op == rw.root().op) rw.replace(rw.in(0)), rw.shape_is_kept();
}

// (x op a) op b with constants a and b of one shape, or scalars.
void constants_in_a_row(Rewrite& rw) {
  const bool second = rw.is_constant(rw.in(1));
  const ValueId a = second ? rw.in(1) : rw.in(0), inner = second ? rw.in(0) : rw.in(1);
  if (!rw.is_constant(a) || rw.is_constant(inner) || !is_float_value(rw, rw.out())) return;
  const NodeId n = rw.g[inner].def;
  if (!n || rw.g[n].op != rw.root().op || !rw.single_use(inner)) return;
  const bool inner_second = rw.is_constant(rw.g.input(n, 1));
  const ValueId b = rw.g.input(n, inner_second ? 1 : 0), x = rw.g.input(n, inner_second ? 0 : 1);
  if (!rw.is_constant(b) || rw.is_constant(x)) return;
  const ValueId both = rw.on.emit(def(*rw.root().op), nullptr, {a, b}, 1)[0];
  if (!rw.fact(both).tensor()) return rw.no("the constants are large");
  const Tensor t = *rw.fact(both).tensor();
  for (const double v : t.to_doubles())
    if (!std::isfinite(v)) return rw.no("the constants together are not finite");
  rw.replace(rw.on.emit(def(*rw.root().op), nullptr, {x, rw.on.constant(t)}, 1)[0]);
}

void unit(Rewrite& rw, ValueId x, ValueId constant, double number) {
  const auto v = everywhere(rw, constant);
  if (v && *v == number) rw.replace(x);
}

void right_unit(Rewrite& rw, double number) { unit(rw, rw.in(0), rw.in(1), number); }
void either_unit(Rewrite& rw, double number) {
  right_unit(rw, number);
  if (rw.replacement.empty()) unit(rw, rw.in(1), rw.in(0), number);
}

// x + 0 keeps every bit but the sign of a negative zero.
void add_zero(Rewrite& rw) { either_unit(rw, 0); }

void where_not(Rewrite& rw) {
  if (rw.made_by<op::Not>(rw.in(0)))
    rw.replace(rw.on.Where(rw.operand(rw.in(0), 0), rw.in(2), rw.in(1))), rw.shape_is_kept();
}

void where_known(Rewrite& rw) {
  const auto c = everywhere(rw, rw.in(0));
  if (c) rw.replace(*c != 0 ? rw.in(1) : rw.in(2));
}

void where_same(Rewrite& rw) {
  if (rw.in(1) == rw.in(2)) rw.replace(rw.in(1));
}

// Bounds as numbers; an absent one is none.
struct Bounds {
  std::optional<double> lo, hi;
};
std::optional<Bounds> bounds_of(const Rewrite& rw, NodeId n) {
  Bounds out;
  if (rw.g[n].is("Relu")) return Bounds{0.0, std::nullopt};
  if (!rw.g[n].is("Clip")) return std::nullopt;
  if (const ValueId lo = rw.g.input(n, 1)) {
    out.lo = rw.scalar(lo);
    if (!out.lo) return std::nullopt;
  }
  if (const ValueId hi = rw.g.input(n, 2)) {
    out.hi = rw.scalar(hi);
    if (!out.hi) return std::nullopt;
  }
  if (out.lo && out.hi && *out.lo > *out.hi) return std::nullopt;
  return out;
}

// Relu and Clip in a row clamp once.
void clip_of_clip(Rewrite& rw) {
  const NodeId n = rw.g[rw.in(0)].def;
  if (!rw.understood(n)) return;
  const auto inner = bounds_of(rw, n), outer = bounds_of(rw, rw.node);
  if (!inner || !outer) return;
  Bounds both = *inner;
  const auto clamp = [&](double v) {
    return std::min(std::max(v, outer->lo.value_or(-INFINITY)), outer->hi.value_or(INFINITY));
  };
  both.lo = inner->lo ? std::optional(clamp(*inner->lo)) : outer->lo;
  both.hi = inner->hi ? std::optional(clamp(*inner->hi)) : outer->hi;
  const ValueId x = rw.g.input(n, 0);
  const DType t = rw.dtype(rw.out());
  if (!is_float(t)) return;
  rw.shape_is_kept();
  if (both.lo == 0.0 && !both.hi) return rw.replace(rw.on.Relu(x));
  rw.replace(
      rw.on.Clip(x, both.lo ? rw.on.number(*both.lo, t) : ValueId(), both.hi ? rw.on.number(*both.hi, t) : ValueId()));
}

// Min(Max(x, lo), hi) with numbers lo <= hi.
void clip_of_min_max(Rewrite& rw) {
  if (rw.in_count() != 2) return;
  const auto split = [&](NodeId n, ValueId& x) -> std::optional<double> {
    for (size_t i = 0; i < 2; ++i)
      if (const auto v = rw.scalar(rw.g.input(n, i));
          v && rw.has_rank(rw.g.input(n, i)) && rw.rank(rw.g.input(n, i)) == 0) {
        x = rw.g.input(n, 1 - i);
        return v;
      }
    return std::nullopt;
  };
  ValueId middle, x;
  const auto outer = split(rw.node, middle);
  const NodeId n = outer ? rw.g[middle].def : NodeId();
  if (!n || rw.g[n].inputs.size() != 2 || !rw.g[n].is(rw.root().is("Min") ? "Max" : "Min")) return;
  const auto inner = split(n, x);
  if (!inner || !is_float(rw.dtype(rw.out()))) return;
  const double lo = rw.root().is("Min") ? *inner : *outer, hi = rw.root().is("Min") ? *outer : *inner;
  if (lo > hi) return rw.no("the bounds cross");
  const DType t = rw.dtype(rw.out());
  rw.replace(rw.on.Clip(x, rw.on.number(lo, t), rw.on.number(hi, t)));
}

void log_of_softmax(Rewrite& rw) {
  if (const auto* s = rw.made_by<op::Softmax>(rw.in(0)))
    rw.replace(rw.on.LogSoftmax(rw.operand(rw.in(0), 0), op::LogSoftmax{.axis = s->axis}));
}

// Over one element a softmax is 1, whatever the element; its logarithm is 0.
void softmax_of_one(Rewrite& rw, int64_t axis, double result) {
  const auto shape = rw.has_rank(rw.in(0)) ? known_shape(rw.shape(rw.in(0))) : std::nullopt;
  if (!shape || shape->empty() || (*shape)[static_cast<size_t>(axis < 0 ? axis + rw.rank(rw.in(0)) : axis)] != 1)
    return rw.no("its axis has more than one element, or a size is not known");
  constexpr int64_t most = 1024;
  if (element_count(*shape) > most || !is_float(rw.dtype(rw.out()))) return;
  rw.replace(rw.on.constant(
      store(rw.dtype(rw.out()), *shape, std::vector<double>(static_cast<size_t>(element_count(*shape)), result))));
}

// Min(Min(x, a), b) = Min(x, a, b), and constants among the operands are one.
void extremum_of_extremum(Rewrite& rw) {
  constexpr int64_t broadcasts_since = 8;
  if (rw.opset < broadcasts_since) return;
  std::vector<ValueId> operands, constants;
  bool nested = false;
  const auto take = [&](ValueId v) { (rw.is_constant(v) ? constants : operands).push_back(v); };
  for (const ValueId v : rw.root().inputs) {
    const NodeId n = rw.g[v].def;
    const bool same = rw.understood(n) && rw.g[n].op == rw.root().op && rw.single_use(v);
    nested |= same;
    if (!same) take(v);
    else
      for (const ValueId inner : std::vector<ValueId>(rw.g[n].inputs)) take(inner);
  }
  if (!nested) return;
  if (constants.size() > 1) {
    const ValueId both = rw.on.emit(def(*rw.root().op), nullptr, constants, 1)[0];
    if (const Tensor* t = rw.fact(both).tensor()) constants = {rw.on.constant(Tensor(*t))};
  }
  operands.insert(operands.end(), constants.begin(), constants.end());
  rw.replace(rw.on.emit(def(*rw.root().op), nullptr, operands, 1)[0]);
}

void not_not(Rewrite& rw) {
  if (rw.made_by<op::Not>(rw.in(0))) rw.replace(rw.operand(rw.in(0), 0)), rw.shape_is_kept();
}

void neg_neg(Rewrite& rw) {
  if (rw.made_by<op::Neg>(rw.in(0))) rw.replace(rw.operand(rw.in(0), 0)), rw.shape_is_kept();
}

// An operator that broadcasts by itself needs no Expand before it. The rewriter compares the shapes.
void expand_before_broadcast(Rewrite& rw) {
  constexpr int64_t min_max_broadcast_since = 8;
  if (rw.opset < min_max_broadcast_since) return;
  std::vector<ValueId> operands = rw.root().inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!rw.made_by<op::Expand>(operands[i])) continue;
    auto narrow = operands;
    narrow[i] = rw.operand(operands[i], 0);
    const auto attrs = rw.root().attrs;
    const ValueId v = rw.on.emit(def(*rw.root().op), attrs, narrow, 1)[0];
    if (rw.has_rank(v) && rw.has_rank(rw.out()) && rw.same_shape(rw.shape(v), rw.shape(rw.out()))) return rw.replace(v);
  }
  rw.no("the result would be narrower");
}

}  // namespace

std::vector<Rule> algebra_rules() {
  return {
      rule("add-zero", {"Add"}, add_zero).algebra(),
      rule("sub-zero", {"Sub"}, [](Rewrite& rw) { right_unit(rw, 0); }),
      rule("mul-one", {"Mul"}, [](Rewrite& rw) { either_unit(rw, 1); }),
      rule("div-one", {"Div"}, [](Rewrite& rw) { right_unit(rw, 1); }),
      rule("pow-one", {"Pow"}, [](Rewrite& rw) { right_unit(rw, 1); }),
      rule("and-true", {"And"}, [](Rewrite& rw) { either_unit(rw, 1); }),
      rule("or-false", {"Or"}, [](Rewrite& rw) { either_unit(rw, 0); }),
      rule("not-not", {"Not"}, not_not),
      rule("neg-neg", {"Neg"}, neg_neg),
      rule("idempotent", {"Ceil", "Floor", "Round", "Relu", "Sign", "Abs"}, twice_is_once),
      rule("where-not", {"Where"}, where_not),
      rule("where-known", {"Where"}, where_known),
      rule("where-same", {"Where"}, where_same),
      rule("clip-clip", {"Clip", "Relu"}, clip_of_clip),
      rule("clip-of-min-max", {"Min", "Max"}, clip_of_min_max).making({"Clip"}),
      rule("min-min", {"Min"}, extremum_of_extremum),
      rule("max-max", {"Max"}, extremum_of_extremum),
      rule("softmax-of-one", {"Softmax"}, [](Rewrite& rw) { softmax_of_one(rw, rw.attrs<op::Softmax>().axis, 1); })
          .algebra(),
      rule("log-softmax-of-one", {"LogSoftmax"},
           [](Rewrite& rw) { softmax_of_one(rw, rw.attrs<op::LogSoftmax>().axis, 0); })
          .algebra(),
      rule("log-softmax", {"Log"}, log_of_softmax).rounding(),
      rule("expand-before-broadcast",
           {"Add", "Sub", "Mul", "Div", "Pow", "Where", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
            "And", "Or", "Min", "Max"},
           expand_before_broadcast)
          .trading(),
      rule("mul-mul", {"Mul"}, constants_in_a_row).rounding().last(),
      rule("add-add", {"Add"}, constants_in_a_row).rounding().last(),
  };
}

}  // namespace cameo::passes
