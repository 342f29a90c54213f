// Attention as smaller operators.
#pragma once

#include "ops/generated/attributes.h"
#include "ops/revision.h"

namespace cameo::ops {

void expand_attention(const op::Attention& a, Expand& e);
void expand_rotary(const op::RotaryEmbedding& a, Expand& e);

}  // namespace cameo::ops
