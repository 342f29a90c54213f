// What a Program holds. Only the files that build or serve one include this.
#pragma once

#include "formats/zip.h"
#include "frontends/pt2/program.h"
#include "frontends/torchscript/saved.h"

namespace cameo::pt2 {

// Where the tensors of one store (weights or constants) are.
struct Store {
  std::string folder;                           // "net/data/weights/"
  std::optional<json::Document> config;         // 2.9 and later
  std::optional<torchscript::SavedFile> saved;  // before: one torch.save file
};

struct ProgramState {
  ProgramState(Bytes file, const std::string& path) : archive(std::move(file), path) {}

  zip::Archive archive;
  std::string folder, name = "model";
  std::vector<std::string> models;
  std::optional<json::Document> document;
  json::Value graph_module;
  std::string torch_version;
  int major = 0, minor = 0;
  bool training = false;
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  std::vector<Range> ranges;
  std::vector<std::string> output_paths;
  Store weights, constants;

  const zip::Entry* find(std::string_view record) const { return archive.find(record); }
  Loc place(std::string_view record) const { return {.file = cat(archive.path(), "!", record)}; }
};

void read_signature(ProgramState& state);  // signature.cpp
void read_stores(ProgramState& state);     // payload.cpp
// The leaves of a pytree specification by path: keys, fields and indices joined by dots.
std::vector<std::string> leaf_paths(std::string_view spec, json::Value namedtuple_fields);

}  // namespace cameo::pt2
