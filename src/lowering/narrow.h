// Weights that the file holds in a smaller type than the model computes with: ints with a scale, or f16.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

// While it lives, nodes go to the main graph: the turns of a loop need not make the same weight again.
struct InMain {
  explicit InMain(Lower& lower) : on(lower), region(lower.region()) { on.move_to(on.graph().main()); }
  ~InMain() { on.move_to(region); }
  InMain(const InMain&) = delete;
  InMain& operator=(const InMain&) = delete;
  Lower& on;
  RegionId region;
};

struct NarrowWeight {
  V data;
  V scale, zero_point;  // none: a Cast makes floats of the data
  int64_t axis = -1;    // along which scales differ; -1: one scale for all
};

// How floats are made of the weight; none where it is stored as it is used, or computed.
Opt<NarrowWeight> narrow_weight(const Lower& on, V w);

// The f32 numbers: a node that is not folded, however small the weight is.
V widened(Lower& on, const NarrowWeight& w);

// A matrix whose axes are exchanged, as it is stored where that is in a smaller type.
V transposed_weight(Lower& on, V w);

}  // namespace cameo::lowering
