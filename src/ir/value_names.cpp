#include "ir/value_names.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/order.h"
#include "support/error.h"

namespace cameo::ir {

namespace {

class Namer {
 public:
  Namer(const Graph& g, NodeOrder order) : out(g.value_capacity()), g_(g), order_(order), canonical_(g) {
    for (uint32_t i = 0; i < g.value_capacity(); ++i)
      if (g[ValueId(i)].kind != Value::Kind::dead) reserved_.insert(g[ValueId(i)].name);
  }

  std::vector<std::string> out;

  void region(RegionId r) {
    Scope scope;
    std::vector<RegionId> bodies;
    for (const ValueId v : g_[r].inputs) name(v, true, scope);
    std::vector<NodeId> nodes;
    if (order_ == NodeOrder::canonical) nodes = canonical_.nodes(r);
    else
      for (const NodeId n : g_.nodes(r)) nodes.push_back(n);
    for (const ValueId v : order_ == NodeOrder::canonical ? canonical_.initializers(r) : g_[r].initializers)
      name(v, true, scope);
    for (const NodeId n : nodes) {
      for (const ValueId v : g_[n].outputs) name(v, g_.used(v), scope);
      for (const RegionId b : g_[n].regions)
        if (b) bodies.push_back(b);
    }
    for (const RegionId b : bodies) region(b);
    for (const auto& n : scope.added) visible_.erase(n);
    for (size_t i = scope.counted.size(); i-- > 0;) numbers_[scope.counted[i].first] = scope.counted[i].second;
  }

 private:
  // What ends with a region.
  struct Scope {
    std::vector<std::string> added;
    std::vector<std::pair<std::string, size_t>> counted;  // what the number of a name was before
  };

  void name(ValueId v, bool wanted, Scope& scope) {
    const std::string& own = g_[v].name;
    std::string& n = out[v.index];
    if (own.empty() && !wanted) return;
    if (!own.empty() && !visible_.count(own)) n = own;
    else if (own.empty()) n = fresh("v", unnamed_);
    else {
      size_t& number = numbers_.try_emplace(own, 1).first->second;  // a file may have one name very often
      scope.counted.emplace_back(own, number);
      n = fresh(cat(own, "_"), number);
    }
    visible_.insert(n);
    scope.added.push_back(n);
  }

  std::string fresh(std::string_view stem, size_t& number) {
    std::string n;
    do n = cat(stem, number++);
    while (reserved_.count(n) || visible_.count(n));
    return n;
  }

  const Graph& g_;
  NodeOrder order_;
  CanonicalOrder canonical_;
  std::unordered_set<std::string> reserved_, visible_;
  std::unordered_map<std::string, size_t> numbers_;  // of the next value that is called alike
  size_t unnamed_ = 0;
};

}  // namespace

std::vector<std::string> value_names(const Graph& g, NodeOrder order) {
  Namer namer(g, order);
  for (uint32_t i = 0; i < g.region_capacity(); ++i)
    if (const Region& r = g[RegionId(i)]; !r.dead && !r.parent && !r.owner) namer.region(RegionId(i));
  return std::move(namer.out);
}

}  // namespace cameo::ir
