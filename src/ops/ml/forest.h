// Decision trees, read once from an operator's parallel lists.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/ml/scores.h"

namespace cameo::ops {

struct Leaf {
  int64_t target = 0;  // class or output
  double weight = 0;
};

class Forest {
 public:
  enum Mode : uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };  // numbered as TreeEnsemble's nodes_modes
  struct Branch {
    Mode mode = leaf;
    bool missing_is_true = false;
    int64_t feature = 0;
    double value = 0;
    uint32_t on_true = 0, on_false = 0;  // other branches
    std::vector<double> members;
    std::vector<Leaf> leaves;  // when the mode is `leaf`
  };
  std::vector<Branch> branches;
  std::vector<uint32_t> roots;

  // Every feature exists and every number of a branch is one; throws "model.attribute".
  void check(int64_t features) const;
  // The leaves that a sample reaches, tree by tree. Precondition: checked. Throws "model.attribute" on a cycle.
  template <class F>
  void reach(std::span<const double> sample, F each) const {
    for (const uint32_t root : roots)
      for (const Leaf& l : walk(root, sample).leaves) each(l);
  }

 private:
  const Branch& walk(uint32_t at, std::span<const double> sample) const;
};

enum class Aggregate : uint8_t { average, sum, min, max };  // numbered as TreeEnsemble's aggregate_function
// Per target what the trees say together.
std::vector<double> aggregated(const Forest& forest, const Samples& x, size_t targets, Aggregate how);

// The old operators' lists.
struct TreeLists {
  std::span<const int64_t> tree_ids, node_ids, features, on_true, on_false, missing_is_true;
  std::span<const std::string> modes;
  std::vector<double> values;
  std::span<const int64_t> leaf_trees, leaf_nodes, leaf_targets;
  std::vector<double> leaf_weights;
};
Forest read_forest(const TreeLists& lists);

}  // namespace cameo::ops
