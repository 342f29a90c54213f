#include "lowering/emptiness.h"

#include <algorithm>

namespace cameo::lowering {

namespace {

bool is_declared_with_zero(const DimFacts& facts, Dim symbol) {
  const auto& all = facts.all();
  return std::any_of(all.begin(), all.end(), [&](const DimFact& f) {
    return f.kind == DimFact::Kind::range && f.a == symbol && f.lo && *f.lo == 0;
  });
}

}  // namespace

bool may_be_empty(const Lower& on, Dim size) {
  const DimFacts& facts = on.graph().facts;
  if (size.is_literal()) return size.is(0);
  if (facts.less(Dim(0), size) == Answer::yes) return false;
  return !size.is_symbol() || is_fresh(size) || is_declared_with_zero(facts, size);
}

void assume_windows(const Lower& on, const OpDef& op, ValueId result) {
  static constexpr std::string_view windows[] = {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "Resize"};
  if (std::find(std::begin(windows), std::end(windows), op.name) == std::end(windows)) return;
  const Fact& fact = on.graph()[result].fact;
  if (!fact.has_rank()) return;
  DimFacts& facts = on.graph().facts;
  for (size_t k = 2; k < fact.shape().size(); ++k)
    if (const Dim d = fact.shape()[k]; !d.is_literal() && !d.is_symbol())
      facts.assume_range(d, 1, std::nullopt, {FactSource::op, cat("a window of ", op.name), {}});
}

}  // namespace cameo::lowering
