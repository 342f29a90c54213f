// Statistics of a model whose types are inferred.
#pragma once

#include "ir/graph.h"

#include "cameo/stats.h"

namespace cameo {

Stats stats_of(const ir::Model& m);

}  // namespace cameo
