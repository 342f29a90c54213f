// From staging's end to a model that can be saved: the steps of an export, in their order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/export_archive.h"
#include "passes/outline.h"

namespace cameo::api {

struct Finishing {
  Exported& out;                        // what staging left; the steps change it
  const ArchiveExport& how;             // what was asked for
  std::vector<OutlinedModule> modules;  // of the archive; only where how.functions is set
  const Bytes& file;                    // the archive
  const std::string& path;
  bool dims_renamed = false;  // sizes have the user's names already, as those of a .pt2 archive do
  DiagSink& sink;

  Graph& graph() const { return out.model.graph; }
};

struct FinishStep {
  std::string_view name;
  bool (*wanted)(const Finishing& f);  // null: always
  void (*run)(Finishing& f);
};
std::span<const FinishStep> finish_steps();

void finish_export(Finishing f);

}  // namespace cameo::api
