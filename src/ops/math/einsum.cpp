#include <algorithm>
#include <map>

#include "ops/families.h"
#include "ops/math/einsum_equation.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

bool holds(const std::string& letters, char c) { return letters.find(c) != letters.npos; }

// A tensor of sums whose axes have letters.
template <class S>
struct Lettered {
  std::string letters;
  std::vector<int64_t> sizes;
  std::vector<S> values;

  // Steps along `order`'s axes; letters that are not there, and axes of size 1, do not move.
  std::vector<int64_t> steps(const std::string& order) const {
    const auto strides = row_major_strides(sizes);
    std::vector<int64_t> out(order.size(), 0);
    for (size_t i = 0; i < letters.size(); ++i)
      if (const size_t at = order.find(letters[i]); at != order.npos && sizes[i] != 1)
        out[at] += strides[i];  // a repeated letter walks the diagonal
    return out;
  }
};

using Sizes = std::map<char, int64_t>;

std::vector<int64_t> sizes_of(const std::string& letters, const Sizes& sizes) {
  std::vector<int64_t> out;
  for (const char c : letters) out.push_back(sizes.at(c));
  return out;
}

// Operands of size 1 are repeated: a product may be far larger than both, and than the result.
void need_room(const std::vector<int64_t>& sizes, size_t given) {
  constexpr int64_t most = int64_t{1} << 28;
  if (const int64_t count = element_count(sizes); count > most && count / 64 > static_cast<int64_t>(given))
    Eval::fail("eval.size", cat("a product on the way has ", count, " elements"));
}

// The product of two operands, summed over every letter that `kept` lacks.
template <class S>
Lettered<S> contract(const Lettered<S>& a, const Lettered<S>& b, const std::string& kept, const Sizes& sizes) {
  std::string summed;
  for (const char c : a.letters + b.letters)
    if (!holds(kept, c) && !holds(summed, c)) summed += c;
  Lettered<S> out{kept, sizes_of(kept, sizes), {}};
  const auto inner_sizes = sizes_of(summed, sizes);
  need_room(out.sizes, a.values.size() + b.values.size());
  if (element_count(out.sizes) == 0) return out;
  const auto a_outer = strided_indices(out.sizes, a.steps(kept)), b_outer = strided_indices(out.sizes, b.steps(kept));
  const auto a_inner = strided_indices(inner_sizes, a.steps(summed)),
             b_inner = strided_indices(inner_sizes, b.steps(summed));
  for (size_t i = 0; i < a_outer.size(); ++i) {
    S sum = 0;
    for (size_t j = 0; j < a_inner.size(); ++j)
      sum += a.values[static_cast<size_t>(a_outer[i] + a_inner[j])] *
             b.values[static_cast<size_t>(b_outer[i] + b_inner[j])];
    out.values.push_back(sum);
  }
  return out;
}

// The letters of `have` that the result or a later operand still asks for, each once.
std::string still_needed(const EinsumEquation& e, const std::string& have, size_t next) {
  std::string out;
  for (const char c : have) {
    bool needed = holds(e.result, c);
    for (size_t i = next; i < e.operands.size(); ++i) needed = needed || holds(e.operands[i], c);
    if (needed && !holds(out, c)) out += c;
  }
  return out;
}

struct Einsum : Rules<op::Einsum> {
  static void infer(const op::Einsum& a, Infer& c) {
    std::vector<int64_t> ranks;
    for (size_t i = 0; i < c.in_count(); ++i) ranks.push_back(c.rank(i));
    const EinsumEquation e = [&] {
      try {
        return EinsumEquation(a.equation, ranks);
      } catch (const Error& wrong) {
        c.fail(wrong.diag().code, wrong.diag().what);
      }
    }();
    std::map<char, Dim> sizes;
    for (size_t i = 0; i < e.operands.size(); ++i)
      for (size_t k = 0; k < e.operands[i].size(); ++k) {
        const char letter = e.operands[i][k];
        const Dim d = c.shape(i)[k];
        const auto [it, is_new] = sizes.emplace(letter, d);
        if (is_new) continue;
        const bool may_repeat = (letter >= '0' && letter <= '9') || it->second.is(1) || d.is(1);
        it->second = may_repeat ? c.broadcast_shapes({it->second}, {d})[0]
                                : c.same(it->second, d, cat("sizes of '", letter, "'"));
      }
    Shape out;
    for (const char letter : e.result) out.push_back(sizes.at(letter));
    c.out(0, std::move(out));
  }

  static void eval(const op::Einsum& a, Eval& k) {
    std::vector<int64_t> ranks;
    for (size_t i = 0; i < k.in_count(); ++i) ranks.push_back(k.in(i).rank());
    const EinsumEquation e(a.equation, ranks);
    Sizes sizes;
    for (size_t i = 0; i < ranks.size(); ++i)
      for (size_t d = 0; d < e.operands[i].size(); ++d) {
        int64_t& size = sizes.emplace(e.operands[i][d], 1).first->second;
        const int64_t more = k.in(i).shape()[d];
        if (size != 1 && more != 1 && size != more)
          k.fail("eval.shape", cat("'", e.operands[i][d], "' is ", size, " and ", more));
        if (more != 1) size = more;
      }
    const DType type = k.in(0).dtype();
    k.out(0, NumberCarriers::with(type, [&](auto c) {
            using C = decltype(c);
            using S = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;
            const auto operand = [&](size_t i) {
              const Loaded<C> in(k.in(i));
              Lettered<S> out{e.operands[i], k.in(i).shape(), {}};
              for (const C v : in.span()) out.values.push_back(static_cast<S>(v));
              return out;
            };
            Lettered<S> sum{"", {}, {S{1}}};
            for (size_t i = 0; i < ranks.size(); ++i) {
              const bool last = i + 1 == ranks.size();
              const Lettered<S> next = operand(i);
              sum = contract(sum, next, last ? e.result : still_needed(e, sum.letters + next.letters, i + 1), sizes);
            }
            return store(type, sum.sizes, sum.values);
          }));
  }

  struct Term {
    ValueId value;
    std::string letters;
  };

  // The axes in the order of `letters`, new ones of size 1 where the term has none.
  static ValueId aligned(On& on, const Term& t, const std::string& letters) {
    std::vector<int64_t> perm, missing;
    for (size_t i = 0; i < letters.size(); ++i) {
      if (const size_t at = t.letters.find(letters[i]); at != t.letters.npos) perm.push_back(static_cast<int64_t>(at));
      else missing.push_back(static_cast<int64_t>(i));
    }
    const ValueId turned =
        std::is_sorted(perm.begin(), perm.end()) ? t.value : on.Transpose(t.value, op::Transpose{.perm = perm});
    return missing.empty() ? turned : on.Unsqueeze(turned, on.ints(missing));
  }

  static Term summed(On& on, const Term& t, const std::string& kept) {
    std::vector<int64_t> axes;
    std::string left;
    for (size_t i = 0; i < t.letters.size(); ++i) {
      if (holds(kept, t.letters[i])) left += t.letters[i];
      else axes.push_back(static_cast<int64_t>(i));
    }
    return axes.empty() ? t : Term{on.ReduceSum(t.value, on.ints(axes), op::ReduceSum{.keepdims = 0}), left};
  }

  static Term joined(On& on, const Term& a, const Term& b, const std::string& kept) {
    std::string stack, inner, left, right;
    for (const char c : a.letters) (holds(b.letters, c) ? holds(kept, c) ? stack : inner : left) += c;
    for (const char c : b.letters)
      if (!holds(a.letters, c)) right += c;
    if (inner.size() == 1 && left.size() == 1 && right.size() == 1)
      return {on.MatMul(aligned(on, a, stack + left + inner), aligned(on, b, stack + inner + right)),
              stack + left + right};
    const std::string all = stack + left + right + inner;
    return summed(on, {on.Mul(aligned(on, a, all), aligned(on, b, all)), all}, kept);
  }

  static void expand(const op::Einsum& a, Expand& e) {
    std::vector<int64_t> ranks;
    const size_t count = e.graph[e.node].inputs.size();
    for (size_t i = 0; i < count; ++i) {
      if (!e.fact(i).has_rank()) return e.refuse("the rank of an operand is not known");
      ranks.push_back(e.fact(i).rank());
    }
    const EinsumEquation equation(a.equation, ranks);
    for (const auto& o : equation.operands)
      for (const char c : o)
        if (std::count(o.begin(), o.end(), c) > 1) return e.refuse("a diagonal is asked for");
    const auto alone = [&](size_t i) {
      return summed(e.on, {e.in(i), equation.operands[i]}, still_needed_elsewhere(equation, i));
    };
    Term all = alone(0);
    for (size_t i = 1; i < count; ++i) {
      const Term next = alone(i);
      all = joined(e.on, all, next, still_needed(equation, all.letters + next.letters, i + 1));
    }
    e.replace({aligned(e.on, all, equation.result)});
  }

  // The letters of operand `i` that the result or another operand asks for.
  static std::string still_needed_elsewhere(const EinsumEquation& e, size_t i) {
    std::string out;
    for (const char c : e.operands[i]) {
      bool needed = holds(e.result, c);
      for (size_t k = 0; k < e.operands.size(); ++k) needed = needed || (k != i && holds(e.operands[k], c));
      if (needed) out += c;
    }
    return out;
  }

  static constexpr Expansion expansions[] = {
      expansion<op::Einsum>(12, Exactness::rounding, [](const op::Einsum& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<Einsum>()};

}  // namespace

std::span<const OpRules> einsum_rules() { return table; }

}  // namespace cameo::ops
