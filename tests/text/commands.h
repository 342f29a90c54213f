// What a text test can run. A command is a row of the table in commands.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/tensor_table.h"
#include "ops/op_def.h"

namespace cameo::tests {

struct Outcome {
  std::optional<Model> model;       // compared with `after:` by structure, types included where `types`
  std::optional<std::string> text;  // compared with `after:` letter by letter
  bool types = false;
  std::vector<std::string> errors;   // compared with `error:`
  std::vector<std::string> refused;  // compared with `refused:`
};

using Arguments = std::vector<std::string>;

// Of a case of simplify or engine: the rules it names with --only=, and those of them that applied.
struct RulesOfCase {
  std::vector<std::string> named, applied;
  size_t runs = 0;         // sets of inputs on which both models ran
  std::string difference;  // between what they computed; empty: none
};
RulesOfCase rules_of_case(std::string_view command, const std::string& before, const Arguments& arguments);
std::vector<std::string> all_rule_names(std::string_view command);

// A case of legalise: its model with types, and how far down it goes.
struct LegaliseCase {
  Model model;
  int64_t opset;
  bool lossy;
};
// The expansions that the case makes; none where it is refused.
std::vector<std::string> expansions_of_case(const std::string& before, const Arguments& arguments);
std::string expansion_name(const OpDef& op, const Expansion& e);  // "Gelu below 20"

struct Command {
  std::string_view name, help;
  Outcome (*run)(const std::string& before, const Arguments& arguments);
};

std::span<const Command> commands();

// lint_command.cpp
Outcome run_lint(const std::string& before, const Arguments& arguments);
std::vector<std::string> all_lint_rows();

Model parse(const std::string& text);
std::string print(const Model& m, bool types);  // on one line where it fits
std::string error_line(const Diag& d);          // "file.syntax 1:12: expected ..."

}  // namespace cameo::tests
