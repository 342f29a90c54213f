// What a deployment target does not take, before the model gets there.
//
//   auto report = cameo::lint(cameo::load("net.onnx"), {.targets = {"tensorrt", "openvino"}});
//   for (const auto& f : report.findings) std::cout << f.rule << ' ' << f.node << ": " << f.what << '\n';
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cameo/model.h"
#include "cameo/progress.h"

namespace cameo {

struct LintSettings {
  // "tensorrt", "onnxruntime:1.20" for another version than the one that is judged by default, or "all".
  std::vector<std::string> targets = {"onnxruntime"};
  // Rules to leave out: "tensorrt.double", "*.license", or at some nodes only: "openvino.type@/head/*". The model's
  // metadata may have the same under the key "cameo: ignore", and so may a node's.
  std::vector<std::string> ignore = {};
};

struct LintFinding {
  Severity severity = Severity::error;  // error: it fails or is wrong there; warning: it may, or is slow
  std::string target, rule;             // rule: "tensorrt.resize-cubic"
  std::string version;                  // of the target
  std::string node, op;                 // empty where it is about the model
  std::string what;                     // "TensorRT has no cubic Resize"
  std::string source;                   // where that is known from: a document, or "measured with 1.31.1, 2026-11-18"
  std::string cure;                     // a command of ours, or what else to do; empty: none is known
  bool fixable = false;                 // by a command of ours
  Loc where;
};

struct LintTarget {
  std::string name, version, title;  // "tensorrt", "10.1", "TensorRT"
};

struct LintReport {
  std::vector<LintTarget> targets;
  std::vector<LintFinding> findings;  // by target, then in the order of the model
  size_t ignored = 0;                 // findings that were left out

  size_t count(Severity severity) const;
};

// Types are inferred first. An archive is exported first, in memory. Throws use.target for a target that there is not.
LintReport lint(const Model& model, const LintSettings& settings = {});

// Findings of one rule joined to one, with the nodes in its notes: what the command prints.
std::vector<Diag> findings_of(const LintReport& report, const std::string& file = "");
std::string to_json(const LintReport& report, const std::string& file = "");   // one object
std::string to_sarif(const LintReport& report, const std::string& file = "");  // SARIF 2.1.0, for code scanning

struct LintRule {
  std::string rule, when, what, source, cure;
  Severity severity = Severity::error;
};
std::vector<LintTarget> lint_targets();
// Rows of the targets' files; what is measured operator by operator is not among them.
std::vector<LintRule> lint_rules(const std::vector<std::string>& targets = {"all"});

struct LintStep {
  std::string cure;     // "opset 17", "fixed-sizes", as the last cell of a row
  std::string command;  // the same as a command of ours
  bool done = false;
  std::string why;  // it was not done
};

struct LintFixed {
  Model model;
  LintReport before, after;
  std::vector<LintStep> steps;  // in order
};

struct LintFixSettings {
  std::vector<std::string> targets = {"onnxruntime"}, ignore = {};  // as LintSettings'
  // Where a target wants fixed sizes: those of inputs, {"x", {"1", "3", "224", "224"}}, or named sizes; others are
  // free_sizes.
  std::map<std::string, std::vector<std::string>> input_shapes = {};
  std::map<std::string, int64_t> sizes = {};
  bool verify = true;  // after each step the outputs are compared with those of the model as given
  Progress progress = {};
};
// Applies the cures of errors and warnings, until none is left that was not tried. A step that changes results or adds
// errors is undone.
LintFixed fix_lint(const Model& model, const LintFixSettings& settings = {});
std::string to_json(const LintFixed& fixed, const std::string& file = "");  // one object: steps, before and after

}  // namespace cameo
