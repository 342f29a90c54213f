// User-defined lowerings: a function that makes the nodes for an operator of a program.
//
//   cameo::ExportSettings settings;
//   settings.lowerings.names = {"mylib::scale_shift"};
//   settings.lowerings.call = [](cameo::NodeBuilder&, const cameo::LoweringCall& c) {
//     return std::vector<cameo::LoweringValue>{c.tensor(0) * c.tensor(1) + 1.0};
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cameo/build.h"

namespace cameo {

// An argument or a result, as the program has it: None, a number, text, a list, or a value of the graph (a tensor, or a
// number that depends on the inputs).
struct LoweringValue {
  using List = std::vector<LoweringValue>;
  std::variant<std::monostate, bool, int64_t, double, std::string, Var, List> content;

  LoweringValue() = default;
  LoweringValue(bool v) : content(v) {}
  LoweringValue(int64_t v) : content(v) {}
  LoweringValue(double v) : content(v) {}
  LoweringValue(std::string v) : content(std::move(v)) {}
  LoweringValue(Var v) : content(v) {}
  LoweringValue(List v) : content(std::move(v)) {}
};

struct LoweringCall {
  std::string op;                             // with its overload: "mylib::scale_shift.Tensor"
  std::vector<LoweringValue> arguments = {};  // in the signature's order, defaults filled in
  // Where PyTorch has no signature of that name, arguments are as the call has them.
  bool has_signature = false;
  std::vector<std::pair<std::string, LoweringValue>> keywords = {};

  Var tensor(size_t i) const;  // of a tensor among `arguments`; throws use.lowering
};

// Tried before any other lowering. Nodes go to the graph that is being recorded; its values are valid only during the
// call.
struct Lowerings {
  std::set<std::string, std::less<>> names = {};  // "mylib::op" is all its overloads, "mylib::op.Tensor" one
  // Returns one value for each result. Those that are not a Var become constants.
  using Call = std::function<std::vector<LoweringValue>(NodeBuilder& graph, const LoweringCall& call)>;
  Call call = {};
};

}  // namespace cameo
