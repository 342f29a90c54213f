// torch.vmap as torch.export records it: calls of torch._functorch.predispatch around the mapped function's own.
#pragma once

#include "frontends/pt2/program.h"

namespace cameo::staging {

enum class VmapStep { none, load, begin, end, add, remove };

VmapStep vmap_step(json::Value node);

}  // namespace cameo::staging
