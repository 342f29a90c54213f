// What is wrong with a model, and the types of its values.
#pragma once

#include <string>
#include <vector>

#include "cameo/model.h"

namespace cameo {

struct CheckSettings {
  bool types = true;    // false: names, operators, arities and attributes only
  bool strict = false;  // what breaks a rule is an error where onnx.checker and the engines take it, too
};

// Everything that is wrong with a file, as `cameo check` finds it.
std::vector<Diag> check(const std::string& path, const CheckSettings& settings = {});
// The same of the bytes of an .onnx file.
std::vector<Diag> check(const Buffer& bytes, const CheckSettings& settings = {});
// The same of a model at its own opset.
std::vector<Diag> check(const Model& model, const CheckSettings& settings = {});

struct InferSettings {
  bool strict = false;  // throw all findings as errors where a node cannot be inferred
};

// Types and symbolic shapes of every value. The result's findings() say where and why inference stopped.
Model infer(Model model, const InferSettings& settings = {});

// How much inference found out about the results of nodes. Types are inferred first.
struct ShapeCoverage {
  size_t nodes = 0;  // that inference visited, bodies included
  size_t values = 0, values_with_shape = 0;
  size_t dims = 0, known_dims = 0, symbolic_dims = 0;  // the others depend on data
};
ShapeCoverage shape_coverage(const Model& model);

}  // namespace cameo
