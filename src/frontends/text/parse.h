// Models from ONNX's text syntax (docs/text-form.md).
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"
#include "ir/tensor_table.h"
#include "support/error.h"

namespace cameo::frontends {

struct ParseOptions {
  const TensorTable* tensors = nullptr;  // what #hashes stand for
};

// The bytes of the .onnx file that says the same, in the opset of the text's header; without one, the newest released
// opset. Throws "file.syntax" with line and column.
Bytes text_to_onnx(std::string_view text, const std::string& name, const ParseOptions& options = {});

// The model, upgraded to the canonical encoding as any file. `name` stands for the text in messages and is the path
// that external data lie beside. Throws as text_to_onnx and read_onnx do; findings say line and column.
Model parse_text(std::string_view text, const std::string& name, DiagSink& diags, const ParseOptions& options = {});

// Functions without a model around them, in a model without nodes; `opset` is that of calls outside of them.
Model parse_functions(std::string_view text, const std::string& name, int64_t opset, DiagSink& diags);

}  // namespace cameo::frontends
