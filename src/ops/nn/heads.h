// What the attention operators ask of their heads.
#pragma once

#include "ops/preconditions.h"

namespace cameo::ops {

// Each head of keys and values serves the same number of query heads, one at least.
inline void want_heads(const Infer& c, Dim heads, Dim kv_heads) {
  for (const Dim d : {heads, kv_heads})
    if (d.is_literal() && d.literal() < 1) c.fail("infer.mismatch", cat("there are ", d.text(), " heads"));
  if (heads.is_literal() && kv_heads.is_literal() && heads.literal() % kv_heads.literal())
    c.fail("infer.mismatch", cat(heads.text(), " query heads are not a multiple of ", kv_heads.text(), " key heads"));
}

}  // namespace cameo::ops
