#include "ir/size_relation.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::ir {

namespace {

struct Sign {
  std::string_view text;
  SizeRelation::Is is;
  bool swapped;  // a > b is b < a
};
// Longer ones first.
constexpr Sign signs[] = {{"==", SizeRelation::Is::equal, false},      {"!=", SizeRelation::Is::not_equal, false},
                          {"<=", SizeRelation::Is::less_equal, false}, {">=", SizeRelation::Is::less_equal, true},
                          {"<", SizeRelation::Is::less, false},        {">", SizeRelation::Is::less, true}};

const Sign* sign_at(std::string_view text, size_t i) {
  for (const Sign& s : signs)
    if (text.substr(i).starts_with(s.text)) return &s;
  return nullptr;
}

}  // namespace

std::string SizeRelation::text() const {
  const auto* sign =
      std::find_if(std::begin(signs), std::end(signs), [&](const Sign& s) { return s.is == is && !s.swapped; });
  return cat(a.text(), " ", sign->text, " ", b.text());
}

std::optional<bool> SizeRelation::holds(std::span<const Substitution> sizes) const {
  const auto x = evaluate(a, sizes), y = evaluate(b, sizes);
  if (!x || !y) return std::nullopt;
  switch (is) {
    case Is::equal: return *x == *y;
    case Is::not_equal: return *x != *y;
    case Is::less: return *x < *y;
    case Is::less_equal: break;
  }
  return *x <= *y;
}

Answer SizeRelation::assume(DimFacts& facts, FactOrigin origin) const {
  switch (is) {
    case Is::equal: return facts.assume_equal(a, b, std::move(origin));
    case Is::not_equal: return facts.assume_not_equal(a, b, std::move(origin));
    case Is::less: return facts.assume_range(b - a, 1, std::nullopt, std::move(origin));
    case Is::less_equal: break;
  }
  return facts.assume_range(b - a, 0, std::nullopt, std::move(origin));
}

std::vector<SizeRelation> parse_conditions(DimContext& context, std::string_view text) {
  std::vector<SizeRelation> out;
  std::vector<Dim> parts;
  std::vector<const Sign*> between;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const Sign* sign = sign_at(text, i);
    if (!sign) continue;
    parts.push_back(parse_dim(context, text.substr(from, i - from)));
    between.push_back(sign);
    from = i + sign->text.size();
    i = from - 1;
  }
  if (between.empty())
    throw error("text.dim", cat("'", text, "' is not a condition on sizes"))
        .help("write t != 1, n == 2*m or 2 <= t <= 64");
  parts.push_back(parse_dim(context, text.substr(from)));
  for (size_t i = 0; i < between.size(); ++i) {
    SizeRelation c{between[i]->is, parts[i], parts[i + 1]};
    if (between[i]->swapped) std::swap(c.a, c.b);
    out.push_back(c);
  }
  return out;
}

std::string joined_text(std::span<const SizeRelation> conditions) {
  std::string out;
  for (const SizeRelation& c : conditions) out += cat(out.empty() ? "" : "; ", c.text());
  return out;
}

std::vector<SizeRelation> split_conditions(DimContext& context, std::string_view text) {
  std::vector<SizeRelation> out;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    try {
      for (SizeRelation& c : parse_conditions(context, one)) out.push_back(std::move(c));
    } catch (const Error&) {
      // Another program's text under our key.
    }
  }
  return out;
}

}  // namespace cameo::ir
