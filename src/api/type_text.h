// Types as people write them: "f32[batch,3,224,224]".
#pragma once

#include <string>
#include <vector>

#include "ir/type.h"

namespace cameo::api {

std::string type_text(const Type& t);   // "seq(i64[?])"; sizes without a name of their own are '?'
std::string dtype_text(const Type& t);  // "f32"; empty for what is not a tensor, or unknown
// Each size of a shape: "8", "batch", "2*h + 1", "?".
std::vector<std::string> size_texts(const Shape& shape);

}  // namespace cameo::api
