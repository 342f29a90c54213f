// From an archive to a model: what `cameo export` does before anything is simplified or written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontends/pt2/program.h"
#include "frontends/torchscript/program.h"
#include "ir/graph.h"
#include "staging/stager.h"

namespace cameo {

// One `--input`: a tensor's type, or a value that fixes an argument which is no tensor.
struct InputSpec {
  std::string name;               // a parameter's name, a path ("images.0"), or a new name
  std::optional<DType> dtype;     // set for tensors and for numbers that become inputs
  std::vector<std::string> dims;  // "3", "batch", "h:1..64", "w:%32", "_"
  std::optional<std::string> fixed;  // "True", "3", "None", "'text'"
};
InputSpec parse_input_spec(std::string_view text);  // "x=f32[batch,3,h,w]"; throws "use.input"

// An axis of an input or output that gets a name (torch's dynamic_axes).
struct DynamicAxis {
  std::string value;
  int64_t axis = 0;
  std::string name;
};

struct ExportOptions {
  std::vector<InputSpec> inputs;
  std::vector<DynamicAxis> dynamic_axes;  // by the names that inputs have in the result; on outputs they are labels alone
  std::vector<std::string> input_names, output_names;
  std::vector<std::pair<std::string, std::string>> rename_dims;  // symbols of a .pt2 archive: {"s77", "batch"}
  std::string method = "forward";
  bool allow_frozen = false;  // a declared dynamic dim that the program pins is a warning, not an error
  staging::StageOptions stage;
};

// Throws one Error with everything that is missing; notes and warnings go to `sink`.
Model export_torchscript(torchscript::Program& program, const ExportOptions& options, DiagSink& sink);
Model export_pt2(pt2::Program& program, const ExportOptions& options, DiagSink& sink);
// Whichever of the two the file is.
Model export_archive(const std::string& path, const ExportOptions& options, DiagSink& sink);

}  // namespace cameo
