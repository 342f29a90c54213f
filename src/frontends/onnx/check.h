// Whether a file keeps ONNX's rules, judged by the schemas of the opsets it imports itself, before any upgrade.
#pragma once

#include <string>
#include <vector>

#include "cameo/diag.h"
#include "support/bytes.h"

namespace cameo::frontends {

struct CheckOptions {
  bool types = true;    // also infer types and shapes and compare them with the schemas and the file's declarations
  bool strict = false;  // what breaks a rule is an error where onnx.checker and the engines take it, too
};

// Every finding, in the order of the file: errors are broken rules, warnings what some engines refuse.
// Throws file.* when the bytes are not a whole ONNX model, so that it cannot be checked.
std::vector<Diag> check_onnx(const std::string& path, const CheckOptions& options = {});
std::vector<Diag> check_onnx(Bytes bytes, const std::string& path, const CheckOptions& options = {});

}  // namespace cameo::frontends
