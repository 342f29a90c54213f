// PyTorch archives to ONNX, without PyTorch.
//
//   auto net = cameo::export_onnx(cameo::load("net.pt"), {.inputs = {"x=f32[batch,3,224,224]"}, .opset = 20});
//   net.save("net.onnx");
#pragma once

#include <string>
#include <vector>

#include "cameo/model.h"

namespace cameo {

// As the flags of `cameo export`.
struct ExportSettings {
  std::vector<std::string> inputs;  // "x=f32[batch,3,h,w]", "n=3"; a traced archive remembers its own
  std::vector<std::string> input_names = {}, output_names = {};  // in order
  std::string method = "forward";
  int opset = 18;
  enum class Training : uint8_t { eval, preserve, train } training = Training::eval;
  bool fold = true;             // false: constants and weights as the program uses them
  bool simplify = true;         // false: the graph as recorded
  bool params = true;           // false: weights become inputs, in state_dict order
  bool unroll = false;          // scripted loops with a known count
  bool allow_frozen = false;    // a declared dynamic size that the program pins is a warning
  std::vector<std::string> assumptions = {};  // conditions on sizes that will hold: "t != 1", "2 <= t <= 64"
  bool assume = true;           // false: what one model can do for some sizes only is an error, not a guess with a note
  bool state_outputs = false;   // what the program writes into the module becomes outputs NAME_out
  bool doc_strings = false;     // the user's file and line in every node
  std::vector<std::string> keep_outputs = {};  // inner values to output too, by module path or name, with * and ?
};

// Throws lower.no-rule with every operator that has no lowering, use.input-missing when a size is not known, and what else
// an archive can have wrong. Notes and warnings are in the result's findings().
Net export_onnx(const Net& archive, const ExportSettings& settings = {});

}  // namespace cameo
