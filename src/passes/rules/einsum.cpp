// Einsum that says what a Transpose or a MatMul says: more engines have those.
#include <algorithm>

#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

// "ab,bc->ac" as its terms: one letter per axis, each at most once. Nothing for other forms.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

bool is_plain(const std::string& term) {
  std::string sorted = term;
  std::sort(sorted.begin(), sorted.end());
  return std::all_of(term.begin(), term.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }) &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

std::optional<Equation> equation_of(const Rewrite& rw) {
  std::string text = rw.attrs<op::Einsum>().equation;
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  if (arrow == text.npos) return std::nullopt;
  Equation out{{}, text.substr(arrow + 2)};
  std::string_view rest = std::string_view(text).substr(0, arrow);
  for (size_t comma = 0; comma != rest.npos; rest.remove_prefix(std::min(comma + 1, rest.size()))) {
    comma = rest.find(',');
    out.operands.emplace_back(rest.substr(0, comma));
    if (comma == rest.npos) break;
  }
  if (!is_plain(out.result) || !std::all_of(out.operands.begin(), out.operands.end(), is_plain) ||
      out.operands.size() != rw.in_count())
    return std::nullopt;
  return out;
}

void permutation(Rewrite& rw) {
  const auto e = equation_of(rw);
  if (!e || e->operands.size() != 1 || e->operands[0].size() != e->result.size()) return;
  std::vector<int64_t> perm;
  for (const char c : e->result) {
    const size_t at = e->operands[0].find(c);
    if (at == e->result.npos) return;
    perm.push_back(static_cast<int64_t>(at));
  }
  rw.replace(rw.on.Transpose(rw.in(0), op::Transpose{.perm = perm}));
}

// batch m k, batch k n -> batch m n; the second without the batch where it is a matrix.
bool is_product(const std::string& a, const std::string& b, const std::string& out) {
  if (a.size() < 2 || out.size() != a.size() || (b.size() != a.size() && b.size() != 2)) return false;
  const std::string batch = a.substr(0, a.size() - 2);
  const char m = a[a.size() - 2], k = a.back(), n = b.back();
  const std::string wanted = (b.size() == a.size() ? batch : "") + k + n;
  return b == wanted && out == batch + m + n && n != m && batch.find(n) == batch.npos;
}

void product(Rewrite& rw) {
  const auto e = equation_of(rw);
  if (!e || e->operands.size() != 2 || !is_float(rw.dtype(rw.out()))) return;
  for (const size_t first : {0, 1}) {
    const std::string &a = e->operands[first], &b = e->operands[1 - first];
    if (!is_product(a, b, e->result)) continue;
    const ValueId x = rw.in(first), y = rw.in(1 - first);
    if (!rw.has_rank(x) || !rw.has_rank(y) || static_cast<size_t>(rw.rank(x)) != a.size() ||
        static_cast<size_t>(rw.rank(y)) != b.size())
      return;
    // Einsum widens sizes of 1; MatMul only those of the batch.
    if (!rw.equal(rw.shape(x).back(), rw.shape(y)[b.size() - 2]))
      return rw.no("the axes that are summed over may differ");
    return rw.replace(rw.on.MatMul(x, y));
  }
  rw.no("the axes are not those of a matrix product");
}

}  // namespace

std::vector<Rule> einsum_family_rules() {
  return {
      rule("einsum-to-transpose", {"Einsum"}, permutation).trading(),
      rule("einsum-to-matmul", {"Einsum"}, product).rounding().trading(),
  };
}

}  // namespace cameo::passes
