// Types as people write them: "f32[batch,3,224,224]".
#pragma once

#include <string>

#include "ir/type.h"

namespace cameo::api {

std::string type_text(const Type& t);  // "seq(i64[?])"; sizes without a name of their own are '?'

}  // namespace cameo::api
