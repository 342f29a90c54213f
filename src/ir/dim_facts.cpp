#include "ir/dim_facts.h"

#include "ir/dim_fact_index.h"
#include "ir/dim_poly.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

std::string origin_text(const FactOrigin& o) {
  std::string place = o.where.file;
  if (o.where.line) place += cat(place.empty() ? "line " : ":", o.where.line);
  if (o.said.empty() && place.empty()) return {};
  return cat(" (", o.said, o.said.empty() || place.empty() ? "" : ", ", place, ")");
}

std::string range_text(const DimFact& f) {
  const std::string d = f.a.text();
  if (f.lo && f.hi) return *f.lo == *f.hi ? cat(d, " == ", *f.lo) : cat(*f.lo, " <= ", d, " <= ", *f.hi);
  if (f.lo) return cat(d, " >= ", *f.lo);
  return f.hi ? cat(d, " <= ", *f.hi) : cat(d, " is any size");
}

Poly difference(Dim a, Dim b) { return add(Poly(a), Poly(b), -1); }

Answer inverse(Answer a) { return a == Answer::unknown ? a : a == Answer::yes ? Answer::no : Answer::yes; }

}  // namespace

std::string DimFact::text() const {
  switch (kind) {
    case Kind::range: return range_text(*this) + origin_text(origin);
    case Kind::multiple: return cat("mod(", a.text(), ", ", modulus, ") == ", remainder, origin_text(origin));
    case Kind::equal: return cat(a.text(), " == ", b.text(), origin_text(origin));
    case Kind::not_equal: break;
  }
  return cat(a.text(), " != ", b.text(), origin_text(origin));
}

DimFacts::DimFacts() : index_(std::make_unique<FactIndex>()) {}
DimFacts::DimFacts(const DimFacts& o)
    : facts_(o.facts_),
      marks_(o.marks_),
      conventional_(o.conventional_),
      index_(std::make_unique<FactIndex>(*o.index_)) {}
DimFacts::DimFacts(DimFacts&& o) noexcept : DimFacts() { swap(o); }
DimFacts& DimFacts::operator=(DimFacts o) noexcept {
  swap(o);
  return *this;
}
void DimFacts::swap(DimFacts& o) noexcept {
  facts_.swap(o.facts_);
  marks_.swap(o.marks_);
  conventional_.swap(o.conventional_);
  index_.swap(o.index_);
}
DimFacts::~DimFacts() = default;

// Adds a fact that is neither proved nor refuted. `infer` draws the conclusions and returns false on a contradiction.
template <class Infer>
Answer DimFacts::record(DimFact fact, const Infer& infer) {
  const size_t before = index_->mark();
  try {
    if (!infer()) {
      index_->rewind(before);
      return Answer::no;
    }
  } catch (const Error&) {
    // Conclusions beyond 64 bits are not drawn; those drawn so far hold.
  }
  facts_.push_back(std::move(fact));
  marks_.push_back(before);
  return Answer::unknown;
}

// First with the dims as the equalities have them, then with all that simplification can do.
template <class Decide>
Answer DimFacts::ask(Dim a, Dim b, const Decide& decide) const {
  const Dim ra = index_->resolve(a), rb = index_->resolve(b);
  common_table(ra, rb);
  try {
    const Answer first = decide(difference(ra, rb));
    if (first != Answer::unknown) return first;
    const Dim sa = index_->simplify(ra), sb = index_->simplify(rb);
    return sa == ra && sb == rb ? first : decide(difference(sa, sb));
  } catch (const Error&) {
    return Answer::unknown;  // the difference does not fit into 64 bits
  }
}

Answer DimFacts::equal(Dim a, Dim b) const {
  if (a == b) return Answer::yes;
  return ask(a, b, [&](const Poly& p) { return index_->is_zero(p); });
}

Answer DimFacts::less(Dim a, Dim b) const {
  if (a.is_literal() && b.is_literal()) return a.literal() < b.literal() ? Answer::yes : Answer::no;
  return ask(b, a, [&](const Poly& p) {
    const Interval i = index_->range(p);
    return i.lo >= 1 ? Answer::yes : i.hi <= 0 ? Answer::no : Answer::unknown;
  });
}

Answer DimFacts::less_equal(Dim a, Dim b) const { return inverse(less(b, a)); }

// An answer that a convention gives changes when its symbol is 0.
template <class Question>
Answer DimFacts::without_conventions(Dim a, Dim b, const Question& question) const {
  const Answer answer = question(a, b);
  if (answer == Answer::unknown || conventional_.empty()) return answer;
  for (const Dim symbol : conventional_) {
    const Substitution zero[] = {{symbol, Dim(0)}};
    try {
      const Dim x = substitute(a, zero), y = substitute(b, zero);
      if ((x == a && y == b) || question(x, y) == answer) continue;
    } catch (const Error&) {
      continue;  // a size that divides is not asked for at 0
    }
    return Answer::unknown;
  }
  return answer;
}

Answer DimFacts::surely_equal(Dim a, Dim b) const {
  return without_conventions(a, b, [&](Dim x, Dim y) { return equal(x, y); });
}
Answer DimFacts::surely_less(Dim a, Dim b) const {
  return without_conventions(a, b, [&](Dim x, Dim y) { return less(x, y); });
}
Answer DimFacts::surely_less_equal(Dim a, Dim b) const { return inverse(surely_less(b, a)); }

Answer DimFacts::divisible(Dim a, int64_t by) const {
  if (by == 0) return Answer::unknown;
  if (by == INT64_MIN) return a.is_literal() && a.literal() != 0 && a.literal() != by ? Answer::no : Answer::unknown;
  const Congruence c = index_->congruence(Poly(index_->simplify(a)));
  const int64_t m = by < 0 ? -by : by;
  if (const auto r = c.remainder_of(m)) return *r == 0 ? Answer::yes : Answer::no;
  return c.contradicts(Congruence::modulo(m, 0)) ? Answer::no : Answer::unknown;
}

DimRange DimFacts::range(Dim d) const {
  const Dim resolved = index_->resolve(d), simple = index_->simplify(resolved);
  Interval i = index_->range(Poly(resolved));
  if (!(simple == resolved)) i = intersect(i, index_->range(Poly(simple)));
  return i.range();
}

Dim DimFacts::simplify(Dim d) const { return index_->simplify(d); }

Answer DimFacts::assume_range(Dim d, std::optional<int64_t> lo, std::optional<int64_t> hi, FactOrigin origin) {
  const Interval wanted = Interval::from({lo, hi}), now = Interval::from(range(d));
  if (wanted.empty() || intersect(wanted, now).empty()) return Answer::no;
  if (wanted.contains(now)) return Answer::yes;
  if (origin.source == FactSource::convention && d.is_symbol()) conventional_.push_back(d);
  DimFact fact{DimFact::Kind::range, d, 0, lo, hi, 1, 0, std::move(origin)};
  return record(std::move(fact), [&] {
    const Dim r = index_->simplify(d);
    return index_->add_range(*r.expr()->table, Poly(r), wanted);
  });
}

Answer DimFacts::assume_multiple(Dim d, int64_t modulus, int64_t remainder, FactOrigin origin) {
  invariant(modulus > 0, "a modulus is positive");
  const Congruence wanted = Congruence::modulo(modulus, remainder);
  const Dim r = index_->simplify(d);
  const Congruence now = index_->congruence(Poly(r));
  if (now.contradicts(wanted)) return Answer::no;
  if (now.remainder_of(modulus)) return Answer::yes;
  DimFact fact{DimFact::Kind::multiple, d, 0, {}, {}, modulus, wanted.remainder, std::move(origin)};
  return record(std::move(fact), [&] { return index_->add_congruence(*r.expr()->table, Poly(r), wanted); });
}

Answer DimFacts::assume_equal(Dim a, Dim b, FactOrigin origin) {
  if (const Answer known = equal(a, b); known != Answer::unknown) return known;
  DimFact fact{DimFact::Kind::equal, a, b, {}, {}, 1, 0, std::move(origin)};
  return record(std::move(fact), [&] {
    const Dim x = index_->simplify(a), y = index_->simplify(b);
    DimTable* const table = common_table(x, y);
    return table ? index_->add_zero(*table, difference(x, y)) : x == y;
  });
}

Answer DimFacts::assume_not_equal(Dim a, Dim b, FactOrigin origin) {
  if (const Answer known = equal(a, b); known != Answer::unknown) return inverse(known);
  // What is not the least (or the most) that it can be lies beyond: products of such sizes are known not to be 0, too.
  if (a.is_symbol() && b.is_literal()) {
    const DimRange r = range(a);
    if (r.lo && *r.lo == b.literal()) return assume_range(a, b.literal() + 1, std::nullopt, std::move(origin));
    if (r.hi && *r.hi == b.literal()) return assume_range(a, std::nullopt, b.literal() - 1, std::move(origin));
  }
  DimFact fact{DimFact::Kind::not_equal, a, b, {}, {}, 1, 0, std::move(origin)};
  return record(std::move(fact), [&] {
    const Dim x = index_->simplify(a), y = index_->simplify(b);
    DimTable* const table = common_table(x, y);
    return table ? index_->add_nonzero(*table, difference(x, y)) : !(x == y);
  });
}

void DimFacts::rewind(size_t mark) {
  if (mark >= facts_.size()) return;
  index_->rewind(marks_[mark]);
  facts_.erase(facts_.begin() + static_cast<ptrdiff_t>(mark), facts_.end());
  marks_.resize(mark);
}

}  // namespace cameo::ir
