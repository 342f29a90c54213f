#include "staging/machine/missing.h"

namespace cameo::staging {

MissingOperators::Used MissingOperators::use(const std::string& op, const std::string& scope) {
  constexpr size_t most_scopes = 8;
  const auto [it, first] = all_.try_emplace(op);
  Missing& m = it->second;
  m.op = op;
  ++m.count;
  auto added = m.scopes.end();
  if (!scope.empty() && m.scopes.size() < most_scopes)
    if (const auto [at, made] = m.scopes.insert(scope); made) added = at;
  uses_.push_back({it, added});
  return {m, first};
}

void MissingOperators::rewind(size_t mark) {
  for (; uses_.size() > mark; uses_.pop_back()) {
    const Use& u = uses_.back();
    Missing& m = u.op->second;
    if (u.scope != m.scopes.end()) m.scopes.erase(u.scope);
    if (--m.count == 0) all_.erase(u.op);
  }
}

}  // namespace cameo::staging
