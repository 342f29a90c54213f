// From a PyTorch archive to a model: everything `cameo export` does, for every face.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/onnx/writer.h"
#include "runtime/arrays.h"
#include "staging/export.h"

namespace cameo::api {

struct ArchiveExport {
  ExportOptions options;
  std::string inputs;  // example inputs: .npz, .npy or a test_data_set folder; empty: none
  std::string rules;   // user lowerings, a text file (docs/export.md); empty: none
  std::optional<std::vector<std::string>>
      functions;                          // module classes that become functions; empty list: all; unset: none
  std::vector<std::string> keep_outputs;  // patterns of module paths and value names that become outputs too
  std::map<std::string, int64_t> custom_opsets;
  bool simplify = true;         // rewrite rules; false: the graph as recorded
  bool linger = true;           // its nodes get whole numbers as weights, Quant and Dequant
  bool doc_strings = false;     // the user's file and line in every node's doc string
  bool number_weights = false;  // weights are called 0, 1, ...
  bool trace = false;           // remember what each node was made from
  WriteOptions write;
};

struct Exported {
  ir::Model model;
  ExportTrace trace;     // nodes only where asked for
  std::string recorded;  // likewise: the graph before it was simplified, with source lines
  std::map<std::string, std::set<std::string>> lowered;  // likewise: which ONNX operators each torch overload became
  std::vector<NamedDatum> examples;                      // what `inputs` held
};

// Throws what reading and staging throw; notes and warnings go to `sink`.
Exported export_archive(const std::string& path, const ArchiveExport& how, DiagSink& sink);
// The same of an archive in memory; `name` is what findings call it.
Exported export_archive(const Bytes& file, const std::string& name, const ArchiveExport& how, DiagSink& sink);

}  // namespace cameo::api
