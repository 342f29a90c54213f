// PyTorch archives to ONNX, without PyTorch.
//
//   auto exported = cameo::export_model(cameo::load("net.pt"), {.inputs = {"x=f32[batch,3,224,224]"}, .opset = 20});
//   exported.model.save("net.onnx");
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cameo/lowering.h"
#include "cameo/model.h"

namespace cameo {

enum class Training : uint8_t { eval, preserve, train };

// Operators without a lowering: refused, or kept as nodes of a foreign domain.
enum class Fallback : uint8_t { none, aten, all_aten, custom };

// An axis of an input or output that gets a name, as torch.onnx's dynamic_axes.
struct DynamicAxis {
  std::string value;
  int64_t axis = 0;
  std::string name;
};

// An array that the caller has at hand: says type and sizes where nothing else does, and fixes plain numbers.
struct ExampleInput {
  std::string name;   // a parameter's name or path, the input's name in the result, or x0, x1, ... in order
  std::string dtype;  // "f32"
  std::vector<int64_t> sizes = {};
  std::string number = {};  // of a single element: its value, as text: "True", "3", "0.5"
};

// Weights that stay in the caller's memory. In place of each the archive has a storage of 16 bytes, two little-endian
// numbers: `stamp`, and the weight's index.
struct BorrowedWeights {
  struct Tensor {
    Buffer memory;
    std::vector<int64_t> sizes, strides;  // in elements, from the memory's first byte on
  };
  uint64_t stamp = 0;
  std::vector<Tensor> tensors = {};
};

// As the flags of `cameo export`.
struct ExportSettings {
  std::vector<std::string> inputs = {};     // "x=f32[batch,3,h,w]", "n=3"; a traced archive remembers its own
  std::string example_inputs = {};          // .npz, .npy or a test_data_set folder: types and sizes come from it
  std::vector<ExampleInput> examples = {};  // the same, at hand
  std::vector<std::string> input_names = {}, output_names = {};  // in order
  std::vector<DynamicAxis> dynamic_axes = {};
  std::vector<std::pair<std::string, std::string>> rename_dims = {};  // {"s77", "batch"}
  std::string method = "forward";
  int opset = 18;
  Training training = Training::eval;
  bool change_literals = false;               // training=False in the program's text counts as said by `training` too
  bool fold = true;                           // false: constants and weights as the program uses them
  bool simplify = true;                       // false: the graph as recorded
  bool params = true;                         // false: weights become inputs, in state_dict order
  bool initializers_as_inputs = false;        // list the weights as inputs too, as IR version 3 did
  bool number_params = false;                 // weights are called 0, 1, ...
  bool unroll = false;                        // scripted loops with a known count
  bool allow_frozen = false;                  // a declared dynamic size that the program pins is a warning
  std::vector<std::string> assumptions = {};  // conditions on sizes that will hold: "t != 1", "2 <= t <= 64"
  bool assume = true;          // false: what one model can do for some sizes only is an error, not a guess with a note
  bool asserts = false;        // what the program raises on makes a run fail too; false: dropped, with a note
  bool state_outputs = false;  // what the program writes into the module becomes outputs NAME_out
  Fallback fallback = Fallback::none;
  std::map<std::string, int64_t> custom_opsets = {};       // versions of custom domains
  std::string rules = {};                                  // user lowerings, a text file (docs/export.md)
  std::optional<std::vector<std::string>> functions = {};  // module classes that become ONNX functions; empty list: all
  std::vector<std::string> keep_outputs = {};  // inner values to output too, by module path or name, with * and ?
  bool lossy = false;        // allow expansions that are wrong on inf, NaN or overflow, or approximate
  bool doc_strings = false;  // the user's file and line in every node
  bool trace = false;        // fill Exported::recorded and report
  Lowerings lowerings = {};  // of operators that the caller lowers
  BorrowedWeights borrowed = {};
};

struct Exported {
  Model model;
  std::vector<Diag> findings;  // notes and warnings
  std::string recorded = {};   // with `trace`: the graph before it was simplified, with source lines
  std::string report = {};     // with `trace`: JSON, which torch operators became which nodes, and where
};

// Throws lower.no-rule with every operator that has no lowering, use.input-missing when a size is not known, and what
// else an archive can have wrong.
Exported export_model(const Model& archive, const ExportSettings& settings = {});

}  // namespace cameo
