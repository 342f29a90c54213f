// From an archive to a model: what `cameo export` does before anything is simplified or written.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/pt2/program.h"
#include "frontends/torchscript/program.h"
#include "ir/graph.h"
#include "staging/options.h"

namespace cameo::staging {

// One `--input`: a tensor's type, or a value that fixes an argument which is not a tensor.
struct InputSpec {
  std::string name;                  // a parameter's name, a path ("images.0"), or a new name
  std::optional<DType> dtype;        // set for tensors and for numbers that become inputs
  std::vector<std::string> dims;     // "3", "batch", "h:1..64", "w:%32", "_"
  std::optional<std::string> fixed;  // "True", "3", "None", "'text'"
};
InputSpec parse_input_spec(std::string_view text);  // "x=f32[batch,3,h,w]"; throws "use.input"

ForeignType parse_foreign_type(std::string_view text);  // "mylib::op=f32[batch,3]"; throws "use.type"

// An array the user has at hand (`--inputs`): says type and sizes where no InputSpec does, and fixes plain numbers.
struct ExampleInput {
  std::string name;  // a parameter's name or path, the input's name in the result, or x0, x1, ... in order
  DType dtype = DType::undefined;
  std::vector<int64_t> sizes;
  std::string number;  // of a single element: its value, as text
};

// An axis of an input or output that gets a name (torch's dynamic_axes).
struct DynamicAxis {
  std::string value;
  int64_t axis = 0;
  std::string name;
};

// What an export tells beyond the model.
struct ExportTrace {
  struct Origin {
    std::string op;               // the torch overload: "aten::conv2d"; empty for what the interpreter itself recorded
    torchscript::UserFrame user;  // where the user wrote it; file empty when the archive does not say
  };
  std::vector<Origin> nodes;             // by NodeId::index
  std::vector<std::string> input_names;  // per graph input: the example it was given by, or empty
};

struct ExportOptions {
  std::vector<InputSpec> inputs;
  std::vector<ExampleInput> examples;
  std::vector<DynamicAxis>
      dynamic_axes;  // by the names that inputs have in the result; on outputs they are only labels
  std::vector<std::string> input_names, output_names;
  std::vector<std::pair<std::string, std::string>> rename_dims;  // sizes that have a name already: {"s77", "batch"}
  std::string method = "forward";
  bool allow_frozen = false;  // a declared dynamic dim that the program pins is a warning, not an error
  bool state_outputs =
      false;  // what forward writes into the module becomes outputs NAME_out, else it is dropped with a note
  staging::StageOptions stage;
};

// Throws one Error with everything that is missing; notes and warnings go to `sink`. `trace` may be null.
Model export_torchscript(torchscript::Program& program, const ExportOptions& options, DiagSink& sink,
                         ExportTrace* trace = nullptr);
Model export_pt2(pt2::Program& program, const ExportOptions& options, DiagSink& sink, ExportTrace* trace = nullptr);

}  // namespace cameo::staging
