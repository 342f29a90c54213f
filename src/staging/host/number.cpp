// Arithmetic and comparisons on numbers. Ints are expressions; floats that depend on data are 0-d graph values.
#include <cmath>

#include "staging/host/reals.h"
#include "staging/host/tables.h"
#include "staging/joins/staged_list.h"
#include "staging/joins/truth.h"

namespace cameo::staging {

namespace {

// A binary operator on numbers: ints by `on_ints`, known floats by `on_floats`, else as nodes by `on_graph`.
template <class I, class F, class G>
Results binary(HostCall& c, I on_ints, F on_floats, G on_graph) {
  if (!two(c, is_real)) return std::nullopt;
  if (is_int(c[0]) && is_int(c[1])) return one(on_ints(c.s.int_from(c[0]), c.s.int_from(c[1])));
  if (is_known_real(c[0]) && is_known_real(c[1])) return one(on_floats(real(c[0]), real(c[1])));
  return one(Value(StagedFloat{on_graph(c.s.on, staged(c, c[0]), staged(c, c[1]))}));
}

Results join_lists(HostCall& c) {
  if (const StagedList* l = staged_of(c.s, c[0])) return one(make_staged(c.s, concatenated(c.s, StagedList(*l), c[1])));
  if (const StagedList* l = staged_of(c.s, c[1])) {
    StagedList all = *l;
    const auto first = c.s.items(c[0]);
    for (size_t i = first.size(); i-- > 0;) all = with_inserted(c.s, all, Dim(0), first[i]);
    return one(make_staged(c.s, std::move(all)));
  }
  auto all = c.s.items(c[0]);
  const auto& more = c.s.items(c[1]);
  all.insert(all.end(), more.begin(), more.end());
  return one(c.s.list(std::move(all)));
}

Results joined_text(HostCall& c) {
  const auto &a = c[0].need<std::string>(), &b = c[1].need<std::string>();
  c.s.need_text(a.size() + b.size());
  return one(a + b);
}

Results add(HostCall& c) {
  if (c.size() == 2 && c[0].is<ListRef>() && c[1].is<ListRef>()) return join_lists(c);
  if (c.size() == 2 && c[0].is<Tuple>() && c[1].is<Tuple>()) {
    auto all = c.s.items(c[0]);
    const auto& more = c.s.items(c[1]);
    all.insert(all.end(), more.begin(), more.end());
    return one(Value::tuple(std::move(all)));
  }
  if (c.size() == 2 && c[0].is<std::string>() && c[1].is<std::string>()) return joined_text(c);
  return binary(
      c, [](Dim a, Dim b) { return Value(a + b); }, [](double a, double b) { return Value(a + b); },
      [](Lower& on, V a, V b) { return V(on.Add(a, b)); });
}

// A list n times, with n from data.
Results repeated(HostCall& c, const Value& list, Dim n) {
  auto all = staged_from(c.s, list);
  if (!all || all->sequence)
    c.s.fail("stage.list-length",
             "a list, which is not a list of numbers or of tensors of one size, is repeated a number of times that "
             "depends on the inputs");
  const Dim times = max(n, Dim(0));
  for (V& array : all->arrays) {
    Dims sizes = c.s.on.shape(array), rows = sizes;
    rows.insert(rows.begin(), times);
    sizes[0] = sizes[0] * times;
    array = rows[1].is(1) ? c.s.on.expand(array, sizes)
                          : c.s.on.reshape(c.s.on.expand(c.s.on.unsqueeze(array, {0}), rows), sizes);
  }
  return one(make_staged(c.s, std::move(*all)));
}

Results mul(HostCall& c) {
  if (c.size() == 2 && (c[0].is<ListRef>() || c[1].is<ListRef>())) {
    const size_t l = c[0].is<ListRef>() ? 0 : 1;
    if (!is_int(c[1 - l])) return std::nullopt;
    const Dim n = c.s.int_from(c[1 - l]);
    if (!n.is_literal()) return repeated(c, c[l], n);
    const auto parts = c.s.items(c[l]);
    std::vector<Value> all;
    constexpr int64_t most = INT64_MAX / 1024;
    if (n.literal() > 0 && !parts.empty())
      c.s.heap.need(n.literal() > most / static_cast<int64_t>(parts.size())
                        ? SIZE_MAX
                        : static_cast<size_t>(n.literal()) * parts.size() * sizeof(Value));
    for (int64_t i = 0; i < n.literal() && !parts.empty(); ++i) all.insert(all.end(), parts.begin(), parts.end());
    return one(c.s.list(std::move(all)));
  }
  return binary(
      c, [](Dim a, Dim b) { return Value(a * b); }, [](double a, double b) { return Value(a * b); },
      [](Lower& on, V a, V b) { return V(on.Mul(a, b)); });
}

Results divide(HostCall& c) {
  if (!two(c, is_real) || c.size() > 2) return std::nullopt;
  if (is_known_real(c[0]) && is_known_real(c[1])) {
    if (real(c[1]) == 0) c.s.fail("stage.division-by-zero", "division by zero");
    return one(real(c[0]) / real(c[1]));
  }
  // A quotient of sizes that is whole stays a size in disguise until int() asks; as a float it is data.
  return one(Value(StagedFloat{c.s.on.Div(staged(c, c[0]), staged(c, c[1]))}));
}

Results floordiv(HostCall& c) {
  return binary(
      c, [](Dim a, Dim b) { return Value(floor_div(a, b)); },
      [](double a, double b) { return Value(std::floor(a / b)); },
      [](Lower& on, V a, V b) { return V(on.Floor(on.Div(a, b))); });
}

Results remainder(HostCall& c) {
  return binary(
      c, [](Dim a, Dim b) { return Value(mod(a, b)); },
      [](double a, double b) { return Value(std::fmod(b + std::fmod(a, b), b)); },
      [](Lower& on, V a, V b) {
        const op::Mod like_c{.fmod = 1};
        return V(on.Mod(on.Add(b, on.Mod(a, b, like_c)), b, like_c));
      });  // PyTorch's own form
}

Results negate(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_int(c[0])) return one(-c.s.int_from(c[0]));
  if (is_known_real(c[0])) return one(-real(c[0]));
  return one(Value(StagedFloat{c.s.on.Neg(staged(c, c[0]))}));
}

template <bool Greater>
Results extremum(HostCall& c) {
  std::vector<Value> all;
  if (c.size() == 1 && staged_of(c.s, c[0])) {
    const StagedList l = *staged_of(c.s, c[0]);
    const bool whole = l.element.is(Form::Kind::integer);
    if (l.sequence || l.arrays.size() != 1 || (!whole && !l.element.is(Form::Kind::floating))) return std::nullopt;
    const V best = Greater ? c.s.on.ReduceMax(l.arrays[0], {}, op::ReduceMax{.keepdims = 0})
                           : c.s.on.ReduceMin(l.arrays[0], {}, op::ReduceMin{.keepdims = 0});
    return one(whole ? Value(c.s.on.int_of(best)) : Value(StagedFloat{best}));
  }
  if (c.size() == 1 && c[0].is<ListRef>()) all = c.s.items(c[0]);
  else all = c.args;
  if (all.empty() && c.size() == 1) c.s.raise(cat(Greater ? "max" : "min", "() of an empty list"));
  for (const Value& v : all)
    if (!is_real(v)) return std::nullopt;
  Value best = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    std::vector<Value> pair{best, all[i]};
    HostCall next{c.s, pair, c.keywords};
    best = (*binary(
        next, [](Dim a, Dim b) { return Value(Greater ? max(a, b) : min(a, b)); },
        [](double a, double b) { return Value((Greater ? a > b : a < b) ? a : b); },
        [](Lower& on, V a, V b) {
          return V(on.Where(Greater ? V(on.Greater(a, b)) : V(on.Less(a, b)), a, b));
        }))[0];  // so with a nan too
  }
  return one(best);
}

Results of_equal(HostCall& c, std::string_view op) {
  if (op != "eq" && op != "ne") return std::nullopt;
  const Value same = equal(c.s, c[0], c[1]);
  return one(op == "eq" ? same : negated(c.s, same));
}

template <char const* Op>
Results compare(HostCall& c) {
  const std::string_view op = Op;
  if (c.size() != 2 || c[0].is<TensorRef>() || c[1].is<TensorRef>() || c[0].is<Poison>() || c[1].is<Poison>())
    return std::nullopt;
  if (c[0].is<Maybe>() || c[1].is<Maybe>() || (is_truth(c[0]) && is_truth(c[1]) && (op == "eq" || op == "ne")))
    return of_equal(c, op);
  if (is_int(c[0]) && is_int(c[1])) return one(c.s.compare_ints(op, c.s.int_from(c[0]), c.s.int_from(c[1])));
  const auto answer = [&](auto a, auto b) -> Results {
    if (op == "eq") return one(a == b);
    if (op == "ne") return one(a != b);
    if (op == "lt") return one(a < b);
    if (op == "le") return one(a <= b);
    if (op == "gt") return one(a > b);
    return one(a >= b);
  };
  if (is_known_real(c[0]) && is_known_real(c[1])) return answer(real(c[0]), real(c[1]));
  if (c[0].is<std::string>() && c[1].is<std::string>())
    return answer(c[0].need<std::string>(), c[1].need<std::string>());
  if (is_real(c[0]) && is_real(c[1])) {
    auto& on = c.s.on;
    const V a = staged(c, c[0]), b = staged(c, c[1]);
    if (op == "eq") return one(Value(StagedBool{on.Equal(a, b)}));
    if (op == "ne") return one(Value(StagedBool{on.Not(on.Equal(a, b))}));
    if (op == "lt") return one(Value(StagedBool{on.Less(a, b)}));
    if (op == "le") return one(Value(StagedBool{on.LessOrEqual(a, b)}));
    if (op == "gt") return one(Value(StagedBool{on.Greater(a, b)}));
    return one(Value(StagedBool{on.GreaterOrEqual(a, b)}));
  }
  return of_equal(c, op);
}
constexpr char eq_name[] = "eq", ne_name[] = "ne", lt_name[] = "lt", le_name[] = "le", gt_name[] = "gt",
               ge_name[] = "ge";

// and, or, xor on bools; those on ints are in host_integer.cpp.
Results logical_and(HostCall& c) { return two(c, is_truth) ? one(both(c.s, c[0], c[1])) : std::nullopt; }
Results logical_or(HostCall& c) { return two(c, is_truth) ? one(either(c.s, c[0], c[1])) : std::nullopt; }
Results logical_xor(HostCall& c) { return two(c, is_truth) ? one(negated(c.s, equal(c.s, c[0], c[1]))) : std::nullopt; }
Results logical_not(HostCall& c) { return c.size() == 1 && is_truth(c[0]) ? one(negated(c.s, c[0])) : std::nullopt; }

template <double (*F)(double), bool Up>
Results rounded(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_int(c[0])) return one(c.s.int_from(c[0]));
  if (is_known_real(c[0])) return one(c.s.int_from(Value(F(real(c[0])))));
  auto& on = c.s.on;
  const V x = staged(c, c[0]);
  return one(on.int_of(on.to(Up ? on.Ceil(x) : on.Floor(x), DType::i64)));
}

Results to_int(HostCall& c) {
  return c.size() == 1 && !c[0].is<std::string>() && !c[0].is<Poison>() ? one(c.s.int_from(c[0])) : std::nullopt;
}
Results to_float(HostCall& c) { return c.size() == 1 && !c[0].is<Poison>() ? one(c.s.float_from(c[0])) : std::nullopt; }
Results to_bool(HostCall& c) { return c.size() == 1 && !c[0].is<Poison>() ? one(c.s.bool_from(c[0])) : std::nullopt; }
Results to_scalar(HostCall& c) {
  if (c.size() != 1 || !c[0].is<TensorRef>()) return std::nullopt;
  const V x = c.s.read(c[0].need<TensorRef>());
  if (c.s.on.is_bool(x)) return one(c.s.bool_from(c[0]));
  return c.s.on.is_float(x) ? one(c.s.float_from(c[0])) : one(c.s.int_from(c[0]));
}

Results range_length(HostCall& c) {
  const Dim lo = c.s.int_from(c[0]), hi = c.s.int_from(c[1]), step = c.s.int_from(c[2]);
  if (step.is(0)) c.s.raise("a range's step is 0");
  const bool up = step.is_literal() && step.literal() > 0, down = step.is_literal() && !up;
  const Dim n = up ? ceil_div(hi - lo, step) : down ? ceil_div(lo - hi, -step) : -floor_div(lo - hi, step);
  return one(max(n, Dim(0)));
}
Results derive_index(HostCall& c) { return one(c.s.int_from(c[1]) + c.s.int_from(c[0]) * c.s.int_from(c[2])); }

Results absolute(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_int(c[0])) {
    const Dim d = c.s.int_from(c[0]);
    return one(max(d, -d));
  }
  if (is_known_real(c[0])) return one(std::fabs(real(c[0])));
  return one(Value(StagedFloat{c.s.on.Abs(staged(c, c[0]))}));
}

Results subtract(HostCall& c) {
  return binary(
      c, [](Dim a, Dim b) { return Value(a - b); }, [](double a, double b) { return Value(a - b); },
      [](Lower& on, V a, V b) { return V(on.Sub(a, b)); });
}

Results round_number(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_known_real(c[0])) return one(std::nearbyint(real(c[0])));
  return one(Value(StagedFloat{c.s.on.Round(staged(c, c[0]))}));
}

constexpr HostRow table[] = {
    {"aten::add", add},
    {"aten::sub", subtract},
    {"aten::mul", mul},
    {"aten::div", divide},
    {"aten::floordiv", floordiv},
    {"aten::floor_divide", floordiv},
    {"aten::remainder", remainder},
    {"aten::neg", negate},
    {"prim::max", extremum<true>},
    {"prim::min", extremum<false>},
    {"prim::abs", absolute},
    {"aten::abs", absolute},
    {"aten::eq", compare<eq_name>},
    {"aten::ne", compare<ne_name>},
    {"aten::lt", compare<lt_name>},
    {"aten::le", compare<le_name>},
    {"aten::gt", compare<gt_name>},
    {"aten::ge", compare<ge_name>},
    {"aten::__and__", logical_and},
    {"aten::__or__", logical_or},
    {"aten::__xor__", logical_xor},
    {"aten::__not__", logical_not},
    {"aten::ceil", rounded<std::ceil, true>},
    {"aten::floor", rounded<std::floor, false>},
    {"aten::round", round_number},
    {"aten::Int", to_int},
    {"aten::IntImplicit", to_int},
    {"aten::Float", to_float},
    {"aten::FloatImplicit", to_float},
    {"aten::Bool", to_bool},
    {"aten::ScalarImplicit", to_scalar},
    {"aten::item", to_scalar},
    {"aten::_local_scalar_dense", to_scalar},
    {"aten::__range_length", range_length},
    {"aten::__derive_index", derive_index},
};

}  // namespace

std::span<const HostRow> host_number_rows() { return table; }

}  // namespace cameo::staging
