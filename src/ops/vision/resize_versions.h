// Older ways of saying Resize.
#pragma once

#include "ops/generated/attributes.h"
#include "ops/revision.h"

namespace cameo::ops {

void resize_from_10(Upgrade& u);
void resize_from_12(Upgrade& u);
void resize_to_upsample(Downgrade& d);
void resize_to_10(Downgrade& d);
void resize_to_17(Downgrade& d);
void resize_to_18(Downgrade& d);

// Whether opset 10 says the same of its scales, and whether these are known to make something smaller.
bool resize_is_like_10(const op::Resize& a, const Graph& g, NodeId n);
bool resize_shrinks(const Graph& g, NodeId n);

void resize_without_axes(const op::Resize& a, Expand& e);
void resize_with_all_operands(const op::Resize& a, Expand& e);
void resize_by_scales(const op::Resize& a, Expand& e);

}  // namespace cameo::ops
