// What an export did, for people: the recorded graph with source lines, and a report as JSON or as a page.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/export_archive.h"

namespace cameo::api {

// The graph as text, every node with the torch operator it comes from and its place.
std::string recorded_text(const Exported& e);

using Lowered = std::map<std::string, std::set<std::string>>;

struct ExportReport {
  std::string source, target, command;
  int64_t opset = 0;
  double seconds = 0;
  std::vector<Diag> findings;
  struct Verified {
    size_t outputs = 0;
    double worst = 0;  // the largest difference
  };
  std::optional<Verified> verified;
};
// One JSON object: inputs, outputs, operators, which torch operators became which ONNX ones, every node with its place,
// findings.
std::string report_json(const ir::Model& m, const Lowered& lowered, const ExportReport& r);
// The same as one page that needs nothing else.
std::string report_html(const ir::Model& m, const Lowered& lowered, const std::string& recorded, const ExportReport& r);

// Which ONNX operators each torch overload became: "aten::linear" -> {"Gemm"}.
Lowered lowered_operators(const Exported& e);

}  // namespace cameo::api
