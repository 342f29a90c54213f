// What a PyTorch archive holds, before it is exported.
//
//   const auto archive = cameo::load("net.pt");
//   for (const auto& m : cameo::torchscript_info(archive).methods) std::cout << m.signature << '\n';
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cameo/model.h"

namespace cameo {

struct ArchiveOperator {
  std::string name;  // "aten::conv2d"
  size_t count = 0;  // calls in the program's text
  bool lowers = false;
};

// Of both kinds of archives.
struct ArchiveContents {
  std::vector<ArchiveOperator> operators;  // most frequent first; bodies of control flow included
  size_t tensors = 0;
  uint64_t parameters = 0, weight_bytes = 0;  // tied tensors once
};

struct ArchiveMethod {
  std::string name;
  std::string signature;             // "forward(x: Tensor, flag: bool = False) -> Tensor"
  std::vector<std::string> example;  // shapes of the recorded example inputs: "f32[1,3,8,8]"
};

struct TorchScriptInfo : ArchiveContents {
  int version = 0;
  std::string class_name;
  std::vector<ArchiveMethod> methods;
};

// A size of a torch.export archive that is not fixed.
struct ArchiveSize {
  std::string symbol;  // "s77", or an expression that has a range: "2*s77"
  std::optional<int64_t> lo, hi;
  std::string place;  // "axis 0 of x": the first input that is this size; empty where none is
};

struct TorchExportInfo : ArchiveContents {
  std::string program, torch_version, schema;  // "model", "2.13.0", "8.20"
  std::vector<std::string> programs;           // all of the package
  bool training_ir = false;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<std::string> written;  // buffers, weights and inputs that are written, as far as the signature tells
  std::vector<ArchiveSize> sizes;
};

// Throw use.archive for another kind of model. `method`: which program of a package that holds several.
TorchScriptInfo torchscript_info(const Model& archive);
TorchExportInfo torch_export_info(const Model& archive, const std::string& method = "forward");
// The program as text; of a torch.export archive one line per call, with the archive's own names.
std::string archive_text(const Model& archive, const std::string& method = "forward");

// One object each.
std::string to_json(const TorchScriptInfo& info, const std::string& file);
std::string to_json(const TorchExportInfo& info, const std::string& file);

}  // namespace cameo
