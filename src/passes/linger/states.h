// Which values of a graph hold quantised numbers, and on which grid: linger's nodes say it, and operators that only
// move numbers carry it on.
#pragma once

#include <map>
#include <optional>

#include "ops/linger/grids.h"

namespace cameo::passes::linger {

using ops::linger::Quantised;

class States {
 public:
  const Quantised* of(ValueId v) const {
    const auto it = v ? grids_.find(v) : grids_.end();
    return it == grids_.end() ? nullptr : &it->second;
  }
  void set(ValueId v, const Quantised& q) { grids_[v] = q; }
  // The results of a node whose operands are known.
  void follow(const Graph& g, NodeId n);

 private:
  std::map<ValueId, Quantised> grids_;
};

}  // namespace cameo::passes::linger
