// ONNX files as text, message by message: nothing is upgraded, reordered or renamed.
#pragma once

#include <string>

#include "support/bytes.h"

namespace cameo {

// The text of a whole .onnx file, in ONNX's own forms wherever it has them; text_to_onnx gives a file that says the same.
// Left out: denotations, quantization annotations, training information, doc strings of attributes and tensors, names of
// tensors in attributes. `path` names the file in messages. Throws file.* as the reader does.
std::string onnx_to_text(const Bytes& file, const std::string& path);

}  // namespace cameo
