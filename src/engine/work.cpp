#include "engine/work.h"

#include "ops/cost.h"

namespace cameo::engine {

bool worth_a_team(const Graph& g, NodeId n) {
  constexpr double least = 5e5;  // ten to twenty microseconds of one thread
  const auto count = operations(g, n);
  return !count || *count >= least;
}

}  // namespace cameo::engine
