// Operators on strings.
#include <algorithm>
#include <set>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/text/regex.h"
#include "ops/text/utf8.h"
#include "support/budget.h"

namespace cameo::ops {

namespace {

const std::vector<std::string>& strings(const Tensor& t) {
  if (t.dtype() != DType::string)
    Eval::fail("eval.type", cat("a tensor of ", name(t.dtype()), " where strings are wanted"));
  return t.strings();
}

// Strings of one tensor: a few long ones, or a row that is wide because one string has many parts, must not take all
// memory.
void need_strings(uint64_t count, uint64_t bytes) {
  constexpr uint64_t most_count = 1 << 24, most_bytes = uint64_t{1} << 30;
  if (count > most_count) throw over_budget("strings", cat("a tensor of ", count, " strings"), "");
  if (bytes > most_bytes) throw over_budget("strings", cat("a tensor whose strings have ", bytes, " bytes"), "");
}

struct StringConcat : Rules<op::StringConcat> {
  static void infer(const op::StringConcat&, Infer& c) { c.out(0, c.broadcast_shapes(c.shape(0), c.shape(1))); }
  static void eval(const op::StringConcat&, Eval& k) {
    const auto shape = broadcast_shape(k.in(0).shape(), k.in(1).shape());
    const Tensor a = expand_to(k.in(0), shape), b = expand_to(k.in(1), shape);
    std::vector<std::string> out = strings(a);
    uint64_t bytes = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      need_strings(out.size(), bytes += out[i].size() + strings(b)[i].size());
      out[i] += strings(b)[i];
    }
    k.out(0, Tensor(shape, std::move(out)));
  }
};

struct StringNormalizer : Rules<op::StringNormalizer> {
  static void infer(const op::StringNormalizer& a, Infer& c) {
    if (c.rank(0) != 1 && !(c.rank(0) == 2 && c.graph().facts.equal(c.dim(0, 0), 1) != Answer::no))
      c.fail("infer.shape", cat("the input has shape [", shape_text(c.shape(0)), "]; [C] or [1,C] is wanted"));
    Shape out = c.shape(0);
    // Nothing left is one empty string.
    out.back() = a.stopwords && !a.stopwords->empty() ? c.fresh("kept") : max(out.back(), Dim(int64_t{1}));
    c.out(0, out);
  }

  static void eval(const op::StringNormalizer& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() != 1 && !(x.rank() == 2 && x.shape()[0] == 1))
      k.fail("eval.shape", "StringNormalizer wants [C] or [1,C]");
    const auto key = [&](const std::string& s) { return a.is_case_sensitive ? s : lower(s); };
    std::set<std::string> stopwords;
    if (a.stopwords)
      for (const auto& s : *a.stopwords) stopwords.insert(key(s));
    std::vector<std::string> kept;
    for (const auto& s : strings(x)) {
      if (stopwords.count(key(s))) continue;
      kept.push_back(a.case_change_action == "LOWER" ? lower(s) : a.case_change_action == "UPPER" ? upper(s) : s);
    }
    if (kept.empty()) kept.emplace_back();  // an empty result is one empty string
    auto shape = x.shape();
    shape.back() = static_cast<int64_t>(kept.size());
    k.out(0, Tensor(shape, std::move(kept)));
  }
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::vector<std::string> split_at_spaces(std::string_view s, int64_t most) {
  std::vector<std::string> out;
  size_t at = 0;
  const auto skip = [&] {
    while (at < s.size() && is_space(s[at])) ++at;
  };
  for (skip(); at < s.size(); skip()) {
    size_t end = at;
    if (static_cast<int64_t>(out.size()) == most) {  // the rest as it is, without the spaces at its end
      end = s.size();
      while (end > at && is_space(s[end - 1])) --end;
      out.emplace_back(s.substr(at, end - at));
      return out;
    }
    while (end < s.size() && !is_space(s[end])) ++end;
    out.emplace_back(s.substr(at, end - at));
    at = end;
  }
  return out;
}

std::vector<std::string> split_at(std::string_view s, std::string_view delimiter, int64_t most) {
  std::vector<std::string> out;
  for (size_t at = 0;;) {
    const size_t end = static_cast<int64_t>(out.size()) == most ? std::string_view::npos : s.find(delimiter, at);
    out.emplace_back(s.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + delimiter.size();
  }
}

struct StringSplit : Rules<op::StringSplit> {
  static void infer(const op::StringSplit&, Infer& c) {
    Shape out = c.shape(0);
    out.push_back(c.fresh("parts"));
    c.out(0, DType::string, out);
    c.out(1, DType::i64, c.shape(0));
  }

  static void eval(const op::StringSplit& a, Eval& k) {
    const Tensor& x = k.in(0);
    const int64_t most = a.maxsplit.value_or(INT64_MAX);
    std::vector<std::vector<std::string>> all;
    std::vector<int64_t> counts;
    size_t widest = 0;
    for (const auto& s : strings(x)) {
      checkpoint();
      all.push_back(a.delimiter && !a.delimiter->empty() ? split_at(s, *a.delimiter, most) : split_at_spaces(s, most));
      counts.push_back(static_cast<int64_t>(all.back().size()));
      widest = std::max(widest, all.back().size());
    }
    need_strings(all.size() * uint64_t{widest}, 0);
    std::vector<std::string> out;
    for (auto& parts : all) {
      parts.resize(widest);
      out.insert(out.end(), parts.begin(), parts.end());
    }
    auto shape = x.shape();
    shape.push_back(static_cast<int64_t>(widest));
    k.out(0, Tensor(shape, std::move(out)));
    k.out(1, store(DType::i64, x.shape(), counts));
  }
};

struct RegexFullMatch : Rules<op::RegexFullMatch> {
  static void infer(const op::RegexFullMatch&, Infer& c) { c.out(0, DType::boolean, c.shape(0)); }
  static void eval(const op::RegexFullMatch& a, Eval& k) {
    const Regex regex(a.pattern.value_or(""));
    std::vector<uint8_t> out;
    for (const auto& s : strings(k.in(0))) out.push_back(regex.matches_all_of(s));
    k.out(0, store(DType::boolean, k.in(0).shape(), out));
  }
};

constexpr OpRules table[] = {rules<StringConcat>(), rules<StringNormalizer>(), rules<StringSplit>(),
                             rules<RegexFullMatch>()};

}  // namespace

std::span<const OpRules> string_rules() { return table; }

}  // namespace cameo::ops
