// Whether a file keeps ONNX's rules, judged by the schemas of the opsets it imports itself, before any upgrade.
#pragma once

#include <string>
#include <vector>

#include "cameo/diag.h"
#include "support/bytes.h"

namespace cameo::frontends {

struct CheckOptions {
  bool types = true;    // also infer types and shapes and hold them against the schemas and what the file declares
  bool strict = false;  // what breaks a rule is an error where onnx.checker and the engines take it, too
};

// Every finding, in the order of the file: errors are broken rules, warnings what engines may stumble over.
// Throws file.* when the bytes are no whole ONNX model, so that nothing can be said about it.
std::vector<Diag> check_onnx(const std::string& path, const CheckOptions& options = {});
std::vector<Diag> check_onnx(Bytes bytes, const std::string& path, const CheckOptions& options = {});

}  // namespace cameo::frontends
