// PyTorch archives to ONNX, without PyTorch.
//
//   auto exported = cameo::export_model(cameo::load("net.pt"), {.inputs = {"x=f32[batch,3,224,224]"}, .opset = 20});
//   exported.model.save("net.onnx");
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cameo/lowering.h"
#include "cameo/model.h"
#include "cameo/opset.h"
#include "cameo/progress.h"
#include "cameo/verify.h"

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

// An array of the caller: gives type and sizes of an input that are not known otherwise, and fixes plain numbers.
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
  int opset = opsets::standard;
  Training training = Training::eval;
  bool change_literals = false;         // `training` also replaces training=False that is written in the program's text
  bool fold = true;                     // false: constants and weights as the program uses them
  bool simplify = true;                 // false: the graph as recorded
  bool params = true;                   // false: weights become inputs, in state_dict order
  bool initializers_as_inputs = false;  // list the weights as inputs too, as IR version 3 did
  bool number_params = false;           // weights are called 0, 1, ...
  bool unroll = false;                  // scripted loops with a known count
  bool allow_frozen = false;            // a declared dynamic size that the program pins is a warning
  std::vector<std::string> assumptions = {};  // conditions on sizes that will hold: "t != 1", "2 <= t <= 64"
  bool assume = true;    // false: an error if one model cannot be right for all sizes; true: a guess with a warning
  bool asserts = false;  // a run of the model fails where the program would raise; false: dropped, with a note
  bool linger = true;    // linger's nodes are finished as linger.onnx.export does; false: as its modules write them
  bool state_outputs = false;  // what the program writes into the module becomes outputs NAME_out
  Fallback fallback = Fallback::none;
  // Of results of operators that `fallback` keeps: "mylib::op=f32[batch,3]", "mylib::pair=f32[n];i64[n]", or
  // "mylib::op=arg0", the type of its first argument. Several for one operator are for its calls in order.
  std::vector<std::string> types = {};
  std::map<std::string, int64_t> custom_opsets = {};       // versions of custom domains
  std::string rules = {};                                  // user lowerings, a text file (docs/export.md)
  std::optional<std::vector<std::string>> functions = {};  // module classes that become ONNX functions; empty list: all
  std::vector<std::string> keep_outputs = {};  // inner values to output too, by module path or name, with * and ?
  bool lossy = false;                    // allow expansions that are wrong on inf, NaN or overflow, or approximate
  bool doc_strings = false;              // the user's file and line in every node
  Weights weights = Weights::automatic;  // where they will go; in_place needs Transpose nodes for some
  bool trace = false;                    // remember what the model was made from: Exported::recorded and ::lowered
  Lowerings lowerings = {};              // of operators that the caller lowers
  BorrowedWeights borrowed = {};
  std::function<void(const Diag&)> on_finding = {};  // called with each note and warning, also of an export that fails
  Progress progress = {};
};

// torch.onnx's dynamic_axes as JSON: {"x": [0, 2]}, {"x": {"0": "batch"}}, or both mixed. Throws use.dynamic-axes.
std::vector<DynamicAxis> dynamic_axes_of(std::string_view json);

struct ExportState;

struct Exported {
  Model model;
  std::vector<Diag> findings;  // notes and warnings
  std::string recorded = {};   // with `trace`: the graph before it was simplified, with source lines
  std::map<std::string, std::set<std::string>> lowered = {};  // with `trace`: what each torch overload became
  std::shared_ptr<const ExportState> state = {};              // for save_checked and verify_saved
};

// Throws lower.no-rule with every operator that has no lowering, use.input-missing when a size is not known, and the
// findings about a faulty archive.
Exported export_model(const Model& archive, const ExportSettings& settings = {});

// Model::save, with a check against ONNX's rules: of the model before it is written, and of the file then. Throws
// export.check with all findings; gives notes and warnings.
std::vector<Diag> save_checked(const Exported& exported, const std::string& path, const SaveSettings& settings = {});
std::vector<Diag> save_checked(const Model& model, const std::string& path, const SaveSettings& settings = {});
// Throws what verify_saved would throw about `expected` and the example inputs: to be asked before anything is written.
void require_comparable(const Exported& exported, const std::string& expected);
// Runs what was saved to `path` on the example inputs by the reference kernels, and compares with recorded outputs (an
// .npz, an .npy or a test_data_set folder). Of the settings only the tolerance counts.
Verified verify_saved(const Exported& exported, const std::string& path, const std::string& expected,
                      const VerifySettings& settings = {});

// What an export did: as a JSON object, or as a page that needs nothing else. Needs `trace`.
struct ExportReport {
  std::string source = {}, target = {}, command = {};
  double seconds = 0;
  std::vector<Diag> findings = {};
  std::optional<Verified> verified = {};
};
std::string report_json(const Exported& exported, const ExportReport& report);
std::string report_html(const Exported& exported, const ExportReport& report);

}  // namespace cameo
