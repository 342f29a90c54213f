// An .onnx file without its large weights, for files that are read in pieces (support/pieced_bytes.h): the same
// message, in which each large `raw_data` of the main graph's initializers is empty. What was left out is read when it
// is needed.
#pragma once

#include <map>
#include <optional>

#include "formats/protobuf.h"
#include "support/bytes.h"

namespace cameo::onnx {

struct Outline {
  struct Cut {
    uint64_t tensor, tensor_length;  // the TensorProto, in the file
    uint64_t data, data_length;      // its raw_data there
  };
  Bytes text;
  std::map<const char*, Cut> cuts;  // by the place of the empty raw_data in `text`
};

// Weights of `from` bytes and more are left out. None where the file has none, or is no message that can be taken apart
// so; a reader of all of it says what is wrong then.
std::optional<Outline> outline_of(const Bytes& file, uint64_t from);
// Of one TensorProto, what it says besides: without its raw_data where that has `from` bytes or more.
Bytes outline_of_tensor(const Bytes& message, uint64_t from);

}  // namespace cameo::onnx
