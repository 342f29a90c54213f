// AttributeProto to attribute values.
#pragma once

#include "frontends/onnx/tensor.h"
#include "frontends/onnx/types.h"

namespace cameo::onnx {

AttrKind attribute_kind(const AttributeProto& a);  // as stored, or told from the field that is there (old files)

// The value of every kind but graphs, whose kind is reported by attribute_kind. Throws model.attribute for kinds that
// do not exist and for lists of sparse tensors.
AttrValue to_attribute(const AttributeProto& a, TensorSource& source, TypeReader& types);

}  // namespace cameo::onnx
