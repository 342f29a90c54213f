// What a torch.export archive holds, for people: inputs, outputs, sizes with their ranges, operators, weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/archive_info.h"
#include "frontends/pt2/program.h"

namespace cameo::api {

struct Pt2Value {
  std::string name, type;  // "x", "f32[s77,3,224,224]"
};

struct Pt2Size {
  std::string symbol;  // "s77", or an expression that has a range: "2*s77"
  std::optional<int64_t> lo, hi;
  std::string place;  // "axis 0 of x": the first input that has it alone; empty where none does
};

struct Pt2Info {
  std::string model, torch_version, schema;  // "model", "2.13.0", "8.20"
  std::vector<std::string> models;           // all of the package
  bool training_ir = false;
  std::vector<Pt2Value> inputs, outputs;
  std::vector<std::string> written;  // buffers, weights and inputs that are written, as far as the signature tells
  std::vector<Pt2Size> sizes;
  std::vector<ArchiveOperator> operators;  // most frequent first; bodies of control flow included
  size_t tensors = 0;
  uint64_t parameters = 0, weight_bytes = 0;  // tied tensors once
};

Pt2Info pt2_info(pt2::Program& program);

// The program as text: one line per call, with the archive's own names.
std::string pt2_text(const pt2::Program& program);

}  // namespace cameo::api
