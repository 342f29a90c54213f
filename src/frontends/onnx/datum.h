// Recorded run-time values: TensorProto, SequenceProto, OptionalProto and MapProto files (test_data_set_0/input_0.pb).
#pragma once

#include <string>

#include "ir/type.h"
#include "kernels/datum.h"
#include "support/bytes.h"

namespace cameo::frontends {

// The file does not say which message it holds; the type of the input or output it belongs to does. An unknown type is
// read as a tensor. Throws file.* when the bytes are not that.
Datum read_datum(Bytes bytes, const Type& expected, const std::string& path = "");

}  // namespace cameo::frontends
