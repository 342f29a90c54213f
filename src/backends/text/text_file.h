// ONNX files as text, message by message: nothing is upgraded, reordered or renamed.
#pragma once

#include <cstdint>
#include <string>

#include "support/bytes.h"

namespace cameo::backends {

struct TextFileOptions {
  int64_t max_elements = INT64_MAX;  // tensors with more are only named, as #hash: for people, not to be read back
};

// The text of a whole .onnx file, in ONNX's own forms wherever it has them; text_to_onnx gives a file that says the
// same. Left out: denotations, quantization annotations, training information, doc strings of attributes and tensors,
// names of tensors in attributes. `path` names the file in messages. Throws file.* as the reader does.
std::string onnx_to_text(const Bytes& file, const std::string& path, const TextFileOptions& options = {});

}  // namespace cameo::backends
