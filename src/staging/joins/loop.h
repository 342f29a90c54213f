// Recording one loop as `Loop`.
#pragma once

#include "staging/joins/leaves.h"

namespace cameo::staging {

// Thrown inside an attempt: this loop cannot be a Loop, and why.
struct Inexpressible {
  std::string why;
  std::optional<Error> cause;
};

struct LoopToRecord {
  const Dim* trip;                // null for a while loop
  std::optional<Leaf> counter;    // where the number of the turn goes
  std::optional<Leaf> condition;  // of a while loop: where it is, before it and after each turn
  std::function<void()> body;     // runs one turn
};

// A strict attempt takes only what is better kept than unrolled: locals and tensors that change, nothing picked by the
// counter. Throws Inexpressible with everything taken back.
void record_loop(Machine& s, const LoopToRecord& loop, bool strict);

}  // namespace cameo::staging
