// What is wrong with a model, and the types of its values.
#pragma once

#include <string>
#include <vector>

#include "cameo/model.h"

namespace cameo {

// Everything that is wrong with a file, as `cameo check` finds it.
std::vector<Diag> check(const std::string& path);
// The same of the bytes of an .onnx file.
std::vector<Diag> check(const Buffer& bytes);
// The same of a model at its own opset.
std::vector<Diag> check(const Model& model);

// Types and shapes of every value, symbolic; where and why it had to stop is in the result's findings().
Model infer(const Model& model);

}  // namespace cameo
