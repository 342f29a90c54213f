// min, max, broadcast and opaque functions: atoms with sorted arguments.
#include <algorithm>
#include <numeric>

#include "ir/checked.h"
#include "ir/dim_build.h"
#include "ir/dim_range.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

// The arguments of c*max(...) + k are arguments too, for c > 0, each times c plus k.
void flatten_into(DimTable& table, std::vector<Dim>& out, AtomKind kind, Dim d) {
  const Poly p(d);
  const DimAtom* const atom = p.terms.size() == 1 ? atom_of(*p.terms[0].monomial) : nullptr;
  const bool alone = atom && atom->expr == d.expr();
  if (!atom || atom->kind != kind || p.terms[0].coefficient < 0 || (kind == AtomKind::broadcast && !alone)) {
    out.push_back(d);
    return;
  }
  for (const Dim arg : atom->args)
    out.push_back(alone ? arg : table.intern(add(Poly(p.constant), Poly(arg), p.terms[0].coefficient)));
}

std::vector<Dim> sorted_set(DimTable& table, AtomKind kind, const std::vector<Dim>& args) {
  std::vector<Dim> flat;
  for (const Dim d : args) flatten_into(table, flat, kind, d);
  std::sort(flat.begin(), flat.end(), [](Dim a, Dim b) { return compare(a, b) < 0; });
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  return flat;
}

// Whether x never decides the extremum because y is at least as extreme.
bool beaten(Dim x, Dim y, bool is_max) { return is_max ? always_less_equal(x, y) : always_less_equal(y, x); }

void drop_beaten(std::vector<Dim>& args, bool is_max) {
  // What every int64 beats: open slices are written with it.
  const int64_t idle = is_max ? INT64_MIN : INT64_MAX;
  if (args.size() > 1) std::erase_if(args, [&](Dim d) { return d.is(idle); });
  for (size_t i = 0; i < args.size(); ++i)
    for (size_t j = 0; j < args.size(); ++j)
      if (i != j && beaten(args[i], args[j], is_max)) {
        args.erase(args.begin() + static_cast<ptrdiff_t>(i--));
        break;
      }
}

// Takes the common constant and the common positive factor out: max(2*a + 1, 2*b + 1) is 2*max(a, b) + 1.
struct Pulled {
  int64_t constant = 0, factor = 1;
};
Pulled pull_common(DimTable& table, std::vector<Dim>& args) {
  Pulled p;
  for (const Dim d : args)
    if (d.is_literal()) return p;  // max(n - 1, 0) reads better than max(n, 1) - 1
  p.constant = INT64_MAX;
  for (const Dim d : args) p.constant = std::min(p.constant, d.expr()->poly.constant);
  p.factor = 0;
  for (const Dim d : args) {
    const int64_t c = checked_sub(d.expr()->poly.constant, p.constant);
    p.factor = common_divisor(common_divisor(p.factor, content(d.expr()->poly)), c);
  }
  if (p.constant == 0 && p.factor == 1) return p;
  for (Dim& d : args) {
    Poly q(d);
    q.constant = checked_sub(q.constant, p.constant);
    d = table.intern(divide_exactly(std::move(q), p.factor));
  }
  std::sort(args.begin(), args.end(), [](Dim a, Dim b) { return compare(a, b) < 0; });
  return p;
}

bool never_one(Dim d) { return !tight_interval(d).contains(1); }

}  // namespace

Dim extremum(DimTable& table, bool is_max, std::vector<Dim> unsorted) {
  const AtomKind kind = is_max ? AtomKind::max : AtomKind::min;
  std::vector<Dim> args = sorted_set(table, kind, unsorted);
  drop_beaten(args, is_max);
  if (args.size() == 1) return args[0];
  const auto bound = is_max ? max_of : min_of;
  const Pulled pulled = pull_common(table, args);
  Interval interval = interval_of(args[0]);
  for (const Dim d : args) interval = bound(interval, interval_of(d));
  if (!DimTable::atom_fits(args)) {
    const DimOp op = is_max ? DimOp::max : DimOp::min;
    return table.stand_in(op, std::move(args), "", interval) * pulled.factor + pulled.constant;
  }
  Poly p = scale(single(table.atom(kind, "", std::move(args), interval)), pulled.factor);
  p.constant = pulled.constant;
  return table.intern(std::move(p));
}

Dim min(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return std::min(a.literal(), b.literal());
  if (a == b) return a;
  if (b.hash() < a.hash()) std::swap(a, b);
  DimTable& table = *common_table(a, b);
  return once(table, DimOp::min, a, b, [&] { return extremum(table, false, {a, b}); });
}

Dim max(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return std::max(a.literal(), b.literal());
  if (a == b) return a;
  if (b.hash() < a.hash()) std::swap(a, b);
  DimTable& table = *common_table(a, b);
  return once(table, DimOp::max, a, b, [&] { return extremum(table, true, {a, b}); });
}

Dim broadcast_all(DimTable& table, std::vector<Dim> unsorted) {
  std::vector<Dim> args = sorted_set(table, AtomKind::broadcast, unsorted);
  std::erase_if(args, [](Dim d) { return d.is(1); });
  if (args.empty()) return 1;
  if (args.size() > 1 && args[1].is_literal())  // literals sort first, and each is here once
    throw error("dim.broadcast", cat("the sizes ", args[0].literal(), " and ", args[1].literal(), " do not broadcast"));
  for (const Dim d : args)
    if (args.size() == 1 || d.is_literal() || never_one(d)) return d;
  Interval all = interval_of(args[0]), most = all;
  for (const Dim d : args) {
    all = hull(all, interval_of(d));
    most = max_of(most, interval_of(d));
  }
  const Interval interval = all.lo >= 1 ? most : all;  // with a 0 among them the result may be the smaller one
  if (!DimTable::atom_fits(args)) return table.stand_in(DimOp::broadcast, std::move(args), "", interval);
  return Dim::of(table.atom(AtomKind::broadcast, "", std::move(args), interval)->expr);
}

Dim broadcast(Dim a, Dim b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.is_literal() && b.is_literal())
    throw error("dim.broadcast", cat("the sizes ", a.literal(), " and ", b.literal(), " do not broadcast"));
  if (a.is_literal()) return a;
  if (b.is_literal()) return b;
  if (b.hash() < a.hash()) std::swap(a, b);
  DimTable& table = *common_table(a, b);
  return once(table, DimOp::broadcast, a, b, [&] { return broadcast_all(table, {a, b}); });
}

Dim opaque_in(DimTable& table, std::string_view function, std::span<const Dim> args) {
  std::vector<Dim> copy(args.begin(), args.end());
  if (!DimTable::atom_fits(copy)) return table.stand_in(DimOp::opaque, std::move(copy), function, Interval());
  return Dim::of(table.atom(AtomKind::opaque, function, std::move(copy), Interval())->expr);
}

Dim opaque(std::string_view function, std::span<const Dim> args) {
  DimTable* table = nullptr;
  for (const Dim d : args) {
    DimTable* const other = common_table(d, d);
    invariant(!table || !other || table == other, "dims of two contexts are mixed");
    if (other) table = other;
  }
  invariant(table != nullptr, "an opaque size needs a symbolic argument");
  return opaque_in(*table, function, args);
}

}  // namespace cameo::ir
