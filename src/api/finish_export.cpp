#include "api/finish_export.h"

#include "api/export_functions.h"
#include "api/export_names.h"
#include "api/export_report.h"
#include "api/weights_in_place.h"
#include "backends/onnx/simplify_for_opset.h"
#include "cameo/version.h"
#include "formats/mapped_file.h"
#include "ops/schema.h"
#include "ops/linger/grids.h"
#include "passes/linger/settle.h"
#include "passes/rename_dims.h"
#include "staging/export/assumptions.h"
#include "support/error.h"
#include "support/progress.h"

namespace cameo::api {

namespace {

SimplifyOptions simplify_options(const ExportOptions& options) {
  SimplifyOptions o;
  o.fold = options.stage.fold;
  if (!o.fold)
    o.skip = {"batchnorm-into-linear", "scale-into-linear", "shift-into-linear", "scale-into-norm",
              "shift-into-norm"};  // these compute weights
  return o;
}

void simplify_graph(Finishing& f) {
  simplify_for_opset(f.out.model, f.how.write.opset.value_or(newest_released_opset), simplify_options(f.how.options),
                     f.how.write.lossy, &f.sink);
}

void rename_sizes(Finishing& f) {
  staging::rename_assumptions(f.out.model, f.how.options.rename_dims);
  rename_dims(f.graph(), f.how.options.rename_dims);
}

void keep_trace(Finishing& f) {
  f.out.recorded = recorded_text(f.out);
  f.out.lowered = lowered_operators(f.out);
}

void set_custom_opsets(Finishing& f) {
  Model& m = f.out.model;
  if (const auto& host = f.how.options.stage.host; host && host->versions)
    m.opsets.insert(host->versions->begin(), host->versions->end());
  for (const auto& [domain, version] : f.how.custom_opsets) {
    bool used = false;
    for (uint32_t i = 0; i < m.graph.node_capacity() && !used; ++i)
      used = !m.graph[NodeId(i)].dead && m.graph[NodeId(i)].op->domain == domain;
    if (used) m.opsets[domain] = version;
    else f.sink.warn("export.custom-opset", cat("no node is of the domain '", domain, "', so it is not imported"));
  }
}

// What the target opset lacks is expanded by `simplify`, or else when the file is written. Saving checks operands
// before and the file after (save_export.cpp).
constexpr FinishStep steps[] = {
    {"producer", nullptr, [](Finishing& f) { f.out.model.producer_version = std::string(version); }},
    {"name values", nullptr, [](Finishing& f) { name_values(f.graph()); }},
    {"user's places", [](const Finishing& f) { return f.how.trace || f.how.doc_strings; },
     [](Finishing& f) { user_places(f.graph(), f.out.trace); }},
    {"keep trace", [](const Finishing& f) { return f.how.trace; }, keep_trace},
    {"keep outputs", nullptr, [](Finishing& f) { keep_outputs(f.graph(), f.how.keep_outputs); }},
    {"linger", [](const Finishing& f) { return f.how.linger && ops::linger::has_linger(f.graph()); },
     [](Finishing& f) { settle_linger(f.out.model); }},
    {"simplify", [](const Finishing& f) { return f.how.simplify; }, simplify_graph},
    {"rename sizes", [](const Finishing& f) { return !f.dims_renamed; }, rename_sizes},
    {"functions", [](const Finishing& f) { return f.how.functions.has_value(); },
     [](Finishing& f) { make_functions(std::move(f.modules), f.out.model, f.how, f.sink); }},
    {"doc strings", [](const Finishing& f) { return f.how.doc_strings; }, [](Finishing& f) { doc_strings(f.graph()); }},
    {"number weights", [](const Finishing& f) { return f.how.number_weights; },
     [](Finishing& f) { number_weights(f.graph()); }},
    {"custom opsets", nullptr, set_custom_opsets},
    {"weights in place", [](const Finishing& f) { return f.how.write.weights == WeightMode::in_place; },
     [](Finishing& f) { weights_in_place(f.graph(), f.file, f.path, f.sink); }},
    {"archive still whole", nullptr, [](Finishing&) { require_whole_files(); }},
};

}  // namespace

std::span<const FinishStep> finish_steps() { return steps; }

void finish_export(Finishing f) {
  const auto all = finish_steps();
  for (size_t i = 0; i < all.size(); ++i) {
    tell_progress("finishing", i, all.size());
    if (!all[i].wanted || all[i].wanted(f)) all[i].run(f);
  }
}

}  // namespace cameo::api
