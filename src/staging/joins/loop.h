// Recording one loop as `Loop`.
#pragma once

#include "staging/machine/stager.h"

namespace cameo::staging {

// Thrown inside an attempt: this loop cannot be a Loop, and why.
struct Inexpressible {
  std::string why;
  std::optional<Error> cause;
};

struct LoopToRecord {
  const Dim* trip;          // null for a while loop
  const ts::Target* index;  // null for a while loop
  int32_t condition_slot;   // the local that is a while loop's condition
  ts::Block body;
};

// A strict attempt takes only what is better kept than unrolled: locals and tensors that change, nothing picked by the
// counter. Throws Inexpressible with everything taken back.
void record_loop(Stager& s, const LoopToRecord& loop, bool strict);

}  // namespace cameo::staging
