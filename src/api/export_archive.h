// From a PyTorch archive to a model in a file: everything `cameo export` does, for every face.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/onnx/writer.h"
#include "runtime/arrays.h"
#include "runtime/compare.h"
#include "staging/export.h"

namespace cameo::api {

struct ArchiveExport {
  ExportOptions options;
  std::string inputs;    // example inputs: .npz, .npy or a test_data_set folder; empty: none
  std::string expected;  // recorded outputs, compared with what the result gives on `inputs`; empty: none
  Tolerance tolerance;   // of that comparison
  std::string rules;     // user lowerings, a text file (docs/export.md); empty: none
  std::optional<std::vector<std::string>>
      functions;                          // module classes that become functions; empty list: all; unset: none
  std::vector<std::string> keep_outputs;  // patterns of module paths and value names that become outputs too
  std::map<std::string, int64_t> custom_opsets;
  bool simplify = true;                // rewrite rules; false: the graph as recorded
  bool check = true;                   // hold the written file against ONNX's rules
  bool doc_strings = false;            // the user's file and line in every node's doc string
  bool number_weights = false;         // weights are called 0, 1, ...
  bool trace = false;                  // remember what each node was made from
  std::optional<std::string> command;  // for the file's metadata: the flags; unset: no provenance at all
  WriteOptions write;
};

struct Exported {
  ir::Model model;
  ExportTrace trace;     // nodes only where asked for
  std::string recorded;  // likewise: the graph before it was simplified, with source lines
  std::map<std::string, std::set<std::string>> lowered;  // likewise: which ONNX operators each torch overload became
  std::vector<NamedDatum> examples;                      // what `inputs` held
};

struct Verified {
  size_t outputs = 0;
  double worst = 0;  // the largest difference
};

// Throws what reading and staging throw; notes and warnings go to `sink`.
Exported export_archive(const std::string& path, const ArchiveExport& how, DiagSink& sink);
// The same of an archive in memory; `name` is what findings call it.
Exported export_archive(const Bytes& file, const std::string& name, const ArchiveExport& how, DiagSink& sink);

// Writes the file ("-" is standard output), and checks it unless told not to: throws export.check with all findings.
void save_exported(const Exported& e, const std::string& target, const ArchiveExport& how, DiagSink& sink);

// Runs what was written to `target` on the examples. Throws verify.mismatch for outputs that differ.
Verified verify_exported(const Exported& e, const std::string& target, const ArchiveExport& how);

}  // namespace cameo::api
