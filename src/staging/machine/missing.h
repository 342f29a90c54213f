// Operators that the model uses and that have no lowering: all are listed at the end.
#pragma once

#include <map>
#include <set>
#include <string>

#include "staging/machine/journal.h"
#include "support/error.h"

namespace cameo::staging {

struct Missing {
  std::string op;
  size_t count = 0;
  Loc first;
  std::string user;              // the first place in the user's own code, when the archive tells
  std::string hint;              // of the lowering that could not
  std::set<std::string> scopes;  // module paths, some of them
};
std::string nearest_operators(std::string_view op);  // "aten::linalg_norm, aten::norm"; empty when none is near

class MissingOperators {
 public:
  explicit MissingOperators(Journals& journals) { journals.add(*this); }
  MissingOperators(const MissingOperators&) = delete;

  const std::map<std::string, Missing>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  // One more use. The first one is to say where it is.
  struct Used {
    Missing& op;
    bool first;
  };
  Used use(const std::string& op, const std::string& scope);

  size_t mark() const { return uses_.size(); }
  void rewind(size_t mark);

  struct Use {
    std::map<std::string, Missing>::iterator op;
    std::set<std::string>::iterator scope;  // that it added; the end: none
  };

 private:
  std::map<std::string, Missing> all_;
  std::vector<Use> uses_;
};

}  // namespace cameo::staging
