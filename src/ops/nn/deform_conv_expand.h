// DeformConv as Gather and a matrix product, for opsets without it.
#pragma once

#include "ops/generated/attributes.h"
#include "ops/revision.h"

namespace cameo::ops {

void expand_deform_conv(const op::DeformConv& a, Expand& e);

}  // namespace cameo::ops
