// A Loop in a lowering: state of fixed types goes round and round.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

class LoopWriter {
 public:
  LoopWriter(Lower& on, V trips, Vs state);
  V turn() const;
  Vs state() const;                         // as the body sees it
  Vs finish(const Vs& next, V going = {});  // what the body leaves, and whether to go on; gives the final state outside

 private:
  Lower& on_;
  V trips_;
  Vs initial_;
  RegionId outer_, region_;
};

// Runs `body(turn, state) -> state` `trips` times.
template <class Body>
Vs loop(Lower& on, V trips, const Vs& state, const Body& body) {
  LoopWriter w(on, trips, state);
  return w.finish(body(w.turn(), w.state()));
}

}  // namespace cameo::lowering
